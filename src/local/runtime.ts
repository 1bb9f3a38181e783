/**
 * The Workers runtime on this machine: miniflare with the built bundle, bindings from wrangler.toml, and state on disk in the same place as
 * `wrangler dev --persist-to`. Requests go directly to workerd (`unsafeDirectSockets`), because they are many times slower through
 * miniflare's proxy.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Miniflare, type MiniflareOptions } from 'miniflare';
import { type Bundle, pagesFolder } from './bundle.ts';
import { StartFailure } from './start-failure.ts';
import { loopback } from './port.ts';
import { readWorkerConfig, type WorkerConfig } from './worker-config.ts';
import { getCACertificates, rootCertificates } from 'node:tls';
import { blockedNetworks } from '../net/address.ts';

export type RuntimeOptions = {
  bundle: Bundle;
  /** Folder for the files of KV and the Durable Objects. */
  stateDir: string;
  port: number;
  /** Settings and keys, as text bindings. */
  variables: Readonly<Record<string, string>>;
  /** One line of the Worker's log. */
  onLog: (line: string, level: string) => void;
};

export type Runtime = { reload(bundle: Bundle): Promise<void>; dispose(): Promise<void> };

export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  // If the bundle fails to load, the runtime logs the error and its consequences; `startFailure` reports the error once.
  let early: Parameters<RuntimeOptions['onLog']>[] | null = [];
  const onLog: RuntimeOptions['onLog'] = (line, level) => (early === null ? options.onLog(line, level) : void early.push([line, level]));
  const release = (): void => {
    const lines = early ?? [];
    early = null;
    for (const line of lines) options.onLog(...line);
  };
  const miniflare = new Miniflare(toMiniflareOptions({ ...options, onLog }));
  try {
    await miniflare.ready;
  } catch (error) {
    // Otherwise its open handles keep the process alive. The first error is the one to report.
    await miniflare.dispose().catch(() => undefined);
    const failure = startFailure(error);
    if (failure === null) release();
    throw failure ?? error;
  }
  release();
  return {
    reload: async (bundle) => {
      try {
        await miniflare.setOptions(toMiniflareOptions({ ...options, bundle }));
      } catch (error) {
        throw startFailure(error) ?? error;
      }
    },
    dispose: () => miniflare.dispose(),
  };
}

/** Returns the error that the Worker threw while it was loaded, such as a tool that cannot be registered; null for any other failure. */
export function startFailure(error: unknown): StartFailure | null {
  const thrown = /Uncaught (?:Error|TypeError|RangeError|ReferenceError|ZodError): ((?:[^"\\\n]|\\[^n])+)/.exec(
    error instanceof Error ? error.message : '',
  );
  return thrown?.[1] === undefined ? null : new StartFailure(`The service cannot start: ${thrown[1].replaceAll('\\"', '"').trim()}`);
}

export function toMiniflareOptions(options: RuntimeOptions): MiniflareOptions {
  const config = readWorkerConfig(options.bundle.directory);
  const name = config.name;
  const pages = pagesWorker(config, options.bundle.directory);
  const sqliteClasses = new Set(config.migrations.flatMap((migration) => migration.new_sqlite_classes ?? []));
  return {
    host: loopback,
    port: 0,
    cf: false,
    logRequests: false,
    resourcePersistencePath: join(options.stateDir, 'v3'),
    handleStructuredLogs: ({ level, message }) => options.onLog(message, level),
    workers: [
      {
        config: {
          name,
          compatibilityDate: config.compatibility_date,
          compatibilityFlags: config.compatibility_flags,
          manifest: { mainModule: options.bundle.mainModule, modules: readModules(options.bundle.directory) },
          env: {
            ...networkBindings,
            ...pages?.bindings,
            // Without an id (created on deploy), the binding's name is used, as in `wrangler dev`.
            ...Object.fromEntries(config.kv_namespaces.map(({ binding, id }) => [binding, { type: 'kv' as const, id: id ?? binding }])),
            // Simulated in the data folder.
            ...Object.fromEntries(
              (config.r2_buckets ?? []).map((bucket) => [
                bucket.binding,
                { type: 'r2' as const, name: bucket.bucket_name ?? bucket.binding },
              ]),
            ),
            ...Object.fromEntries(
              config.durable_objects.bindings.map((binding) => [
                binding.name,
                { type: 'durable-object' as const, worker: name, exportName: binding.class_name },
              ]),
            ),
            ...Object.fromEntries(Object.entries(options.variables).map(([key, value]) => [key, { type: 'text' as const, value }])),
          },
          exports: Object.fromEntries(
            config.durable_objects.bindings.map(({ class_name }) => [
              class_name,
              { type: 'durable-object' as const, storage: sqliteClasses.has(class_name) ? ('sqlite' as const) : notSqlite(class_name) },
            ]),
          ),
        },
        dev: { unsafeDirectSockets: [{ host: loopback, port: options.port }], outboundService: globalOutbound },
      },
      globalOutboundWorker,
      ...(pages === null ? [] : [pages.worker]),
    ],
  };
}

/**
 * The built pages as a Worker of their own. As assets of the main Worker, miniflare would send every request through its proxy, which
 * doubles the response time. Returns null for a bundle without pages.
 */
function pagesWorker({ assets, compatibility_date: compatibilityDate }: WorkerConfig, bundleDirectory: string) {
  const directory = join(bundleDirectory, pagesFolder);
  if (assets?.binding === undefined || !existsSync(directory)) return null;
  const contents = 'export default { fetch: () => new Response(null, { status: 404 }) };';
  return {
    bindings: { [assets.binding]: { type: 'worker' as const, worker: 'pages' } },
    worker: {
      config: {
        name: 'pages',
        compatibilityDate,
        manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm' as const, contents } } },
        env: {},
        assets: { directory, hasUserWorker: false, htmlHandling: assets.html_handling, notFoundHandling: 'none' as const },
      },
    },
  };
}

type Module = { type: 'esm'; contents: string } | { type: 'wasm'; contents: Uint8Array<ArrayBuffer> };

/** The modules of a bundle: its scripts and its `.wasm` files, by file name. */
export function readModules(directory: string): Record<string, Module> {
  const modules: Record<string, Module> = {};
  for (const file of readdirSync(directory)) {
    const path = join(directory, file);
    if (extname(file) === '.mjs') modules[file] = { type: 'esm', contents: readFileSync(path, 'utf8') };
    if (extname(file) === '.wasm') modules[file] = { type: 'wasm', contents: new Uint8Array(readFileSync(path)) };
  }
  return modules;
}

function notSqlite(className: string): never {
  throw new StartFailure(`wrangler.toml: the Durable Object class ${className} is not in \`new_sqlite_classes\` of any migration.`);
}

// The networks that the Worker may connect to on this machine. workerd checks the address after DNS resolution, so a public name with a
// private address, a redirect and DNS rebinding are all blocked here. `net/guard.ts` checks the text of a URL; `net/outbound.ts` chooses the
// network of a request.

/** workerd's own list of private addresses lacks many special-purpose ranges, such as 192.0.2.0/24 and NAT64 prefixes. */
const publicNetwork = { type: 'network' as const, allow: ['public'], deny: blockedNetworks(), tlsOptions: tlsOptions() };

/** For the hosts in MONIKER_ALLOW_PRIVATE_HOSTS. workerd treats 240.0.0.0/4 as neither public nor private. */
const privateNetwork = { type: 'network' as const, allow: ['public', 'private', '240.0.0.0/4'], tlsOptions: tlsOptions() };

/** Bindings that `net/outbound.ts` sends through. */
export const networkBindings = { PUBLIC_NETWORK: publicNetwork, PRIVATE_NETWORK: privateNetwork };

const name = 'public-network';

/** Receives the Worker's global `fetch`, which could otherwise reach every address of this machine and its network. */
export const globalOutbound = { type: 'worker' as const, worker: name };
export const globalOutboundWorker = {
  config: {
    name,
    compatibilityDate: '2026-11-17',
    manifest: {
      mainModule: 'index.js',
      modules: {
        'index.js': { type: 'esm' as const, contents: 'export default { fetch: (request, env) => env.NETWORK.fetch(request) };' },
      },
    },
    env: { NETWORK: publicNetwork },
  },
};

/** The certificate authorities that browsers trust, and those in NODE_EXTRA_CA_CERTS. Windows has no store that workerd reads. */
function tlsOptions(): { trustBrowserCas: boolean; trustedCertificates: string[] } {
  const trustedCertificates = [...(process.platform === 'win32' ? rootCertificates : []), ...getCACertificates('extra')];
  return { trustBrowserCas: true, trustedCertificates };
}
