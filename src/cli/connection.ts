/**
 * How a command finds the running service and a key for it: the options, then the environment, then the data folder of the service on this
 * machine (docs/cli.md).
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { createClient, type MonikerClient } from '../../client/src/index.ts';
import { runningService } from '../local/data-lock.ts';
import { dataDirOf } from '../local/environment.ts';
import { storedRootKey } from '../local/keys.ts';
import { readLauncherFile } from '../local/launcher-file.ts';
import { CommandFailure, exitCodes } from './failure.ts';

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
export function connectService(options: ConnectionOptions, timeoutMs = responseTimeoutMs): Address & { client: MonikerClient } {
  const address = findService(options, process.env);
  const { url, headers, key, dataDir } = address;
  if (key === null)
    throw new CommandFailure(
      `No key for ${url} was found.`,
      isLoopback(new URL(url).hostname)
        ? `Pass --key, set MONIKER_KEY, or name the data folder of the service with --data: ${dataDir} has no keys. On a new machine run \`moniker start\` first.`
        : 'Pass --key or set MONIKER_KEY. The keys of this machine are not sent to another one.',
    );
  return { ...address, client: createClient({ baseUrl: url, headers, fetch: (request) => fetchWithin(request, timeoutMs) }) };
}

/** Reads the options, the environment and the data folder. Sends nothing. */
export function findService(options: ConnectionOptions, environment: NodeJS.ProcessEnv): Address {
  const dataDir = options.data === undefined ? dataDirOf(environment) : resolve(options.data);
  const launcher = runningService(dataDir) === null ? null : readLauncherFile(dataDir);
  const given = options.url ?? environment.MONIKER_URL?.trim();
  const url = given ? readUrl(given) : (launcher?.url ?? `http://127.0.0.1:${Number(environment.PORT) || 8787}`);
  // The keys of this machine must not reach another one.
  const isLocal = isLoopback(new URL(url).hostname);
  const local = isLocal ? environment.MONIKER_ROOT_KEY?.trim() || storedRootKey(dataDir) : null;
  const key = options.key?.trim() || environment.MONIKER_KEY?.trim() || local;
  const workspace = options.workspace?.trim() || environment.MONIKER_WORKSPACE?.trim();
  return {
    url,
    dataDir,
    key,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(workspace && { 'x-moniker-workspace': workspace }),
      ...(launcher !== null && launcher.url === url && { 'x-moniker-launcher': launcher.token }),
    },
  };
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
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The body of the response may take longer: streams have their own timeouts. */
async function fetchWithin(request: Request, timeoutMs: number): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(
    () =>
      late.abort(
        new CommandFailure(
          `${new URL(request.url).origin} did not respond within ${timeoutMs / 1_000} s.`,
          'Try again, or see `moniker logs` and `moniker doctor`.',
        ),
      ),
    timeoutMs,
  );
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, late.signal]) });
  } finally {
    clearTimeout(timer);
  }
}
