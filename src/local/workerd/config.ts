/**
 * The configuration of workerd for the bundle: the bindings of wrangler.toml, with state on disk. It contains no secrets: settings and keys
 * are read from workerd's environment.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, rootCertificates } from 'node:tls';
import { blockedNetworks } from '../../net/address.ts';
import { StartFailure } from '../launch/start-failure.ts';
import { mainModule, modulesFolder, pagesFolder, readWorkerConfig, type WorkerConfig } from '../launch/worker-config.ts';
import { type CapnpValue, Raw, toCapnp } from './capnp.ts';
import { bucketService, kvService, pagesService } from './services.ts';

/**
 * The only network of the Worker itself, which uses named ones for its requests. workerd passes CONNECT requests of clients on to it, since it
 * cannot refuse them: the launcher responds 405 there. Its address is set on the command line.
 */
export const refusalService = 'refusal';

/** The socket that requests come in through. Its address is set on the command line. */
export const entrySocket = 'http';

export type ConfigOptions = {
  /** The bundle's folder. */
  bundle: string;
  stateDir: string;
  /** Names of the environment variables that become text bindings of the Worker. */
  variables: readonly string[];
  /** It connects to nothing. */
  isIsolated?: boolean;
};

type Struct = { [field: string]: CapnpValue };
type Service = { name: string } & Struct;

/** Returns the text of the configuration, and the folders that it expects to exist. Modules are embedded from `modulesFolder` of the bundle. */
export function workerdConfig({ bundle, stateDir, variables, isIsolated = false }: ConfigOptions): { text: string; folders: string[] } {
  const config = readWorkerConfig(bundle);
  const folders: string[] = [];
  const disk = (name: string, path: string): Service => {
    folders.push(path);
    return { name, disk: { path, writable: true } };
  };
  const services: Service[] = [];
  const bindings: CapnpValue[] = [
    { name: 'PUBLIC_NETWORK', service: publicNetwork },
    { name: 'PRIVATE_NETWORK', service: privateNetwork },
    ...variables.map((name) => ({ name, fromEnvironment: name })),
    ...config.durable_objects.bindings.map(({ name, class_name }) => ({ name, durableObjectNamespace: class_name })),
  ];
  const add = (made: { binding: CapnpValue; services: Service[] }): void => {
    bindings.push(made.binding);
    services.push(...made.services);
  };
  if (config.kv_namespaces.length > 0) services.push(...kvServices(config, disk, stateDir));
  for (const { binding } of config.kv_namespaces) bindings.push({ name: binding, kvNamespace: 'kv' });
  for (const bucket of config.r2_buckets ?? []) add(bucketServices(bucket.binding, bucket.bucket_name ?? bucket.binding, disk, stateDir));
  const pages = join(bundle, pagesFolder);
  if (config.assets?.binding !== undefined && existsSync(pages)) add(pagesServices(config, config.assets.binding, pages));
  const main: Service = {
    name: 'main',
    worker: {
      modules: modulesOf(bundle),
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: [...config.compatibility_flags, 'connect_pass_through'],
      bindings,
      globalOutbound: refusalService,
      durableObjectNamespaces: objectClasses(config),
      durableObjectStorage: { localDisk: 'objects' },
    },
  };
  const text = toCapnp({
    services: [
      main,
      disk('objects', objectsFolder(stateDir)),
      ...services,
      ...networks(isIsolated),
      { name: refusalService, external: { http: {} } },
    ],
    sockets: [{ name: entrySocket, http: {}, service: 'main' }],
    logging: { structuredLogging: true },
  });
  return { text: `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${text};\n`, folders };
}

/** The entry module first, as workerd expects. */
function modulesOf(bundle: string): CapnpValue[] {
  const others = readdirSync(join(bundle, modulesFolder)).filter((file) => /\.(?:mjs|wasm)$/.test(file) && file !== mainModule);
  // Found in the import path.
  return [mainModule, ...others].map((name) => ({ name, [name.endsWith('.wasm') ? 'wasm' : 'esModule']: new Raw(`embed "/${name}"`) }));
}

function objectClasses({ name, durable_objects, exports = {} }: WorkerConfig): CapnpValue[] {
  return durable_objects.bindings.map(({ class_name }) => {
    if (exports[class_name]?.storage !== 'sqlite')
      throw new StartFailure(
        `wrangler.toml: [exports.${class_name}] with storage = "sqlite" is missing for the class of a Durable Object.`,
      );
    return { className: class_name, uniqueKey: `${name}-${class_name}`, enableSql: true };
  });
}

type Disk = (name: string, path: string) => Service;

function kvServices({ compatibility_date }: WorkerConfig, disk: Disk, stateDir: string): Service[] {
  const worker: Struct = {
    modules: [{ name: 'index.js', esModule: kvService }],
    compatibilityDate: compatibility_date,
    bindings: [{ name: 'FILES', service: 'kv-files' }],
  };
  return [{ name: 'kv', worker }, disk('kv-files', kvFolder(stateDir))];
}

/** A folder for each class of Durable Objects, `<name of the Worker>-<class>`. Where `wrangler dev --persist-to` stores them. */
export function objectsFolder(stateDir: string): string {
  return join(stateDir, 'v3/do');
}

export function kvFolder(stateDir: string): string {
  return join(stateDir, 'kv/values');
}

function bucketServices(binding: string, bucket: string, disk: Disk, stateDir: string): { binding: CapnpValue; services: Service[] } {
  const name = `bucket:${bucket}`;
  return {
    binding: { name: binding, r2Bucket: name },
    services: [fileWorker(name, bucketService, '2026-11-17', `${name}-files`), disk(`${name}-files`, join(stateDir, 'r2', bucket))],
  };
}

function pagesServices({ compatibility_date }: WorkerConfig, binding: string, path: string): { binding: CapnpValue; services: Service[] } {
  return {
    binding: { name: binding, service: 'pages' },
    services: [fileWorker('pages', pagesService, compatibility_date, 'page-files'), { name: 'page-files', disk: { path } }],
  };
}

function fileWorker(name: string, source: string, compatibilityDate: string, files: string): Service {
  return {
    name,
    worker: { modules: [{ name: 'index.js', esModule: source }], compatibilityDate, bindings: [{ name: 'FILES', service: files }] },
  };
}

// The networks that the Worker may connect to on this machine. workerd checks the address after DNS resolution, so a public name with a
// private address, a redirect and DNS rebinding are all blocked here. `net/guard.ts` checks the text of a URL; `net/outbound.ts` chooses the
// network of a request.

const publicNetwork = 'public-network';
const privateNetwork = 'private-network';

function networks(isIsolated: boolean): Service[] {
  if (isIsolated) return [publicNetwork, privateNetwork, 'internet'].map((name) => ({ name, network: { allow: [] } }));
  // The certificate authorities that browsers trust, and those in NODE_EXTRA_CA_CERTS. Windows has no store that workerd reads.
  const trustedCertificates = [...(process.platform === 'win32' ? rootCertificates : []), ...getCACertificates('extra')];
  const tlsOptions = { trustBrowserCas: true, trustedCertificates };
  return [
    // workerd's own list of private addresses lacks many special-purpose ranges, such as 192.0.2.0/24 and NAT64 prefixes.
    { name: publicNetwork, network: { allow: ['public'], deny: blockedNetworks(), tlsOptions } },
    // For the hosts in MONIKER_ALLOW_PRIVATE_HOSTS. workerd treats 240.0.0.0/4 as neither public nor private.
    { name: privateNetwork, network: { allow: ['public', 'private', '240.0.0.0/4'], tlsOptions } },
    // workerd would define it, for Workers that name no network.
    { name: 'internet', network: { allow: [] } },
  ];
}
