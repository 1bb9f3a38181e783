/**
 * How a command finds the running service and a key for it: the options, then the environment, then the data folder of the service on this
 * machine (docs/cli.md). Keys go to an address that was named, or to a service that has proved to be the one of the data folder.
 */
import type { Command } from 'commander';
import { createClient, type MonikerClient } from '../../client/src/index.ts';
import { dataFolderOf } from '../local/launch/environment.ts';
import { storedRootKey } from '../local/launch/keys.ts';
import type { Launcher } from '../local/launch/launcher-file.ts';
import { isLoopbackAddress } from '../local/launch/port.ts';
import { findRunningService, hasToken } from '../local/launch/running-service.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { abortAfter } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';

export type ConnectionOptions = { url?: string; key?: string; data?: string; workspace?: string };

export type Address = {
  /** Without a slash at the end. */
  url: string;
  /** Absolute path of the data folder, whether it exists or not. */
  dataDir: string;
  /** Null: none was found. */
  key: string | null;
  /** Headers of all requests: the key, the workspace if one is named, and the token if the service is the one of the data folder. */
  headers: Record<string, string>;
  /** The service of the data folder, which proves that it is this one before each request. Null: the address was named, or no service runs. */
  local: Launcher | null;
  /** Why no key is sent: no service was found, or no key for it. Null: there is one. */
  missing: { check: 'service' | 'key'; what: string; advice: string } | null;
};

/** The time for a response to begin. */
const responseTimeoutMs = 60_000;

export function addConnectionOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the service (default: MONIKER_URL, else the service of the data folder)')
    .option('--key <key>', 'API key (default: MONIKER_KEY, else the root key of the data folder)')
    .option('--workspace <name>', 'workspace, for the root key (default: MONIKER_WORKSPACE, else that of the key)')
    .option('--data <folder>', 'data folder of the service (default: MONIKER_DATA_DIR, else .moniker)');
}

/** Throws if no key is found. `timeoutMs`: for a response to begin. */
export function connectService(
  options: ConnectionOptions,
  timeoutMs = responseTimeoutMs,
): Address & { client: MonikerClient; send: (request: Request) => Promise<Response> } {
  const address = findService(options, process.env);
  if (address.missing !== null) throw new CommandFailure(address.missing.what, address.missing.advice);
  const send = serviceFetch(address, timeoutMs);
  return { ...address, send, client: createClient({ baseUrl: address.url, headers: address.headers, fetch: send }) };
}

/** Reads the options, the environment and the data folder. Sends nothing. */
export function findService(options: ConnectionOptions, environment: NodeJS.ProcessEnv): Address {
  const folder = dataFolderOf(environment, options.data);
  const given = options.url ?? environment.MONIKER_URL?.trim();
  const named = given ? readUrl(given) : null;
  const found = findRunningService(folder, environment);
  const local = found !== null && 'token' in found && (named === null || isSameService(named, found.url)) ? found : null;
  const url = local?.url ?? named ?? `http://127.0.0.1:${Number(environment.PORT) || 8787}`;
  const isChosen = local !== null || named !== null;
  // The keys of this machine must not reach another one, and those of a folder only its service.
  const rootKey = isLoopback(new URL(url).hostname) ? environment.MONIKER_ROOT_KEY?.trim() : undefined;
  const stored = local === null ? null : storedRootKey(folder.path);
  // Any program of this machine could listen at the usual address.
  const key = isChosen ? options.key?.trim() || environment.MONIKER_KEY?.trim() || rootKey || stored : null;
  const workspace = options.workspace?.trim() || environment.MONIKER_WORKSPACE?.trim();
  const fault = found !== null && 'fault' in found ? ` ${folder.path} is not used: ${found.fault}.` : '';
  return {
    url,
    dataDir: folder.path,
    key,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(workspace && { 'x-moniker-workspace': workspace }),
      ...(local !== null && { 'x-moniker-launcher': local.token }),
    },
    local,
    missing: key !== null ? null : isChosen ? missingKey(url, folder.path, fault) : missingService(url, folder.path, fault),
  };
}

type Missing = NonNullable<Address['missing']>;

function missingKey(url: string, dataDir: string, fault: string): Missing {
  return {
    check: 'key',
    what: `No key for ${url} was found.${fault}`,
    advice: isLoopback(new URL(url).hostname)
      ? `Pass --key, set MONIKER_KEY, or name the data folder of the service with --data: it is not the one that runs in ${dataDir}.`
      : 'Pass --key or set MONIKER_KEY. The keys of this machine are not sent to another one.',
  };
}

function missingService(url: string, dataDir: string, fault: string): Missing {
  return {
    check: 'service',
    what: fault === '' ? `No service is running in ${dataDir}.` : `No service was found.${fault}`,
    advice: `Start one with \`moniker start\`, name its data folder with --data, or name its address and give a key: --url ${url} and MONIKER_KEY.`,
  };
}

/** Both on this machine, at the same port. `localhost` may be another address of it. */
function isSameService(named: string, local: string): boolean {
  const [one, other] = [new URL(named), new URL(local)];
  return one.protocol === other.protocol && one.pathname === '/' && one.port === other.port && isLoopback(one.hostname);
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.search !== '')
    throw new CommandFailure(
      `"${text}" is not an address of a service.`,
      'Give an http(s) URL without a password, for example https://moniker.example.com.',
      exitCodes.usage,
    );
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || isLoopbackAddress(hostname);
}

/**
 * Sends a request to the service of the address and to no other: redirects are not followed, and the service of a data folder proves first
 * that it still runs. The body of the response may take longer than `timeoutMs`: streams have their own timeouts.
 */
export function serviceFetch({ url, dataDir, local }: Pick<Address, 'url' | 'dataDir' | 'local'>, timeoutMs: number) {
  return async (request: Request): Promise<Response> => {
    const late = () =>
      new CommandFailure(`${url} did not respond within ${timeoutMs / 1_000} s.`, 'Try again, or see `moniker logs` and `moniker doctor`.');
    const { signal, disarm } = abortAfter(systemClock, timeoutMs, late, request.signal);
    try {
      if (local !== null && !(await hasToken(local, signal)))
        throw new CommandFailure(
          `The program at ${url} is not the service of ${dataDir}: it does not have the token of its launcher.`,
          'Nothing was sent to it. Restart the service; another program may use its port.',
        );
      const response = await fetch(request, { redirect: 'manual', signal });
      if (response.status < 300 || response.status >= 400) return response;
      await response.body?.cancel();
      throw new CommandFailure(
        `${url} redirects to ${response.headers.get('location') ?? 'another address'}.`,
        'Keys are sent to the named address only. If the other one is right, pass it with --url.',
      );
    } finally {
      disarm();
    }
  };
}
