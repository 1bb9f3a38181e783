/** Starts the service as a user does (`npm start`'s script) in a new folder, and calls it over real HTTP. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createDocumentCheck, type ApiDocument, type DocumentCheck } from '../http/document-check.ts';

export const root = resolve(import.meta.dirname, '../..');
const startTimeoutMs = 90_000;

export type RunningService = {
  url: string;
  /** Of the launcher, which leads its process group. */
  pid: number;
  key: string;
  /** All output so far. */
  printed(): string;
  /** Sends JSON and returns the parsed JSON (or null); does not throw for error statuses. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Stops the service and returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

// Tests read responses of many shapes; their assertions check them.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Answer = { status: number; headers: Headers; text: string; json: any };

/** Where `global-setup.ts` builds the bundle, laid out as in a data folder. */
export const builtBundles = join(root, 'node_modules', '.cache', 'e2e-bundle');

/** `isNew`: without a bundle, so that the first start builds one, as on a new machine. */
export function makeDataDir({ isNew = false } = {}): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'moniker-e2e-'));
  // Others of this folder may be of other trees, or be written or deleted at this moment.
  const built = process.env.MONIKER_TEST_BUNDLE ?? '';
  if (!isNew && existsSync(built)) cpSync(built, join(dataDir, 'bundle', basename(built)), { recursive: true });
  return dataDir;
}

export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
}

/**
 * Whether this process can give a service its own host names: a mount namespace in which a file of the test replaces /etc/hosts. Requires
 * root (or CAP_SYS_ADMIN) on Linux.
 */
export const canNameHosts = spawnSync('unshare', ['-m', 'true']).status === 0;

/** For `launch`: with this file as /etc/hosts. Requires `canNameHosts`. */
export function withHosts(file: string): string[] {
  return ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', file];
}

/** Runs the start script; `ended` resolves to its exit code, `printed` returns all of its output. `within`: a command that runs it. */
export function launch(
  dataDir: string,
  environment: Record<string, string> = {},
  within: readonly string[] = [],
): { child: ChildProcess; printed(): string; ended: Promise<number | null> } {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(MONIKER_|OTEL_|npm_|PORT$|OLLAMA_HOST$|.*_API_KEY$)/.test(name)),
  );
  const [command = '', ...parameters] = [...within, process.execPath, join(root, 'src/cli/main.ts'), 'start'];
  const child = spawn(command, parameters, {
    cwd: root,
    // Nothing listens on port 9, so that tests do not use an Ollama of this machine.
    // Upstreams of tests may never answer: a stop does not wait for them as long as for those of users.
    env: { ...inherited, OLLAMA_HOST: '127.0.0.1:9', PORT: '0', MONIKER_DATA_DIR: dataDir, MONIKER_DRAIN_SECONDS: '2', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that `kill` below ends the runtime too.
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  const ended = new Promise<number | null>((resolveEnd) => child.once('close', resolveEnd));
  return { child, printed: () => output, ended };
}

const addressInUse = 'took the port';

/** Another process can take the free port before the service listens on it: retries with another port. */
export async function startService(
  dataDir: string,
  environment: Record<string, string> = {},
  within?: readonly string[],
): Promise<RunningService> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(dataDir, environment, within);
    } catch (error) {
      if (attempt === 3 || environment.PORT !== undefined || !String(error).includes(addressInUse)) throw error;
    }
  }
}

async function startOnce(dataDir: string, environment: Record<string, string>, within?: readonly string[]): Promise<RunningService> {
  const { child, printed, ended } = launch(dataDir, environment, within);
  const ending = (): string => `exit code ${child.exitCode}, signal ${child.signalCode}`;
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const deadline = Date.now() + startTimeoutMs;
  while (!printed().includes('Ctrl-C stops it.')) {
    if (over || Date.now() > deadline || printed().includes(addressInUse)) {
      killGroup(child);
      throw new Error(`The service did not start:\n${printed()}`);
    }
    await new Promise((resolveWait) => setTimeout(resolveWait, 50));
  }
  const url = /Moniker is ready at (\S+)/.exec(printed())?.[1] ?? '';
  const key = environment.MONIKER_ROOT_KEY ?? /^MONIKER_ROOT_KEY=(.*)$/m.exec(readFileSync(join(dataDir, 'keys'), 'utf8'))?.[1] ?? '';
  return {
    url,
    pid: child.pid ?? 0,
    key,
    printed,
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(120_000),
      }).catch((error: unknown) => {
        // Without what it printed last, nobody could tell why it has ended.
        throw over ? new Error(`The service has ended (${ending()}):\n${printed().slice(-4_000)}`, { cause: error }) : error;
      });
      const text = await response.text();
      await compareWithDocument(url, method, path, response, text);
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const timer = setTimeout(() => killGroup(child), 60_000);
      const code = await ended;
      clearTimeout(timer);
      killGroup(child);
      return code;
    },
  };
}

/** All services that a process starts have the same bundle, so the first one's document is that of all. */
let documentCheck: Promise<DocumentCheck> | undefined;

/** Every response of these tests must be as the OpenAPI document says. */
async function compareWithDocument(url: string, method: string, path: string, response: Response, text: string): Promise<void> {
  documentCheck ??= readDocument(url);
  const check = await documentCheck;
  const operation = check.find(method, new URL(path, url).pathname);
  const differences = operation === null ? [] : check.differences(operation, response, text);
  if (differences.length > 0)
    throw new Error(`${operation?.operationId} differs from the OpenAPI document: ${differences.join('; ')}\n${text}`);
}

async function readDocument(url: string): Promise<DocumentCheck> {
  try {
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(30_000) });
    return createDocumentCheck((await response.json()) as ApiDocument);
  } catch (error) {
    // The next response reads it again: this service may have been stopped meanwhile.
    documentCheck = undefined;
    throw error;
  }
}

/** The server-sent events of a whole stream, in order. */
export type StreamEvent = { id: number; type: string; data: Record<string, unknown> };

export function parseEvents(text: string): StreamEvent[] {
  return text
    .split('\n\n')
    .map(
      (record) => new Map(record.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])),
    )
    .filter((fields) => fields.has('event'))
    .map((fields) => ({ id: Number(fields.get('id')), type: fields.get('event') ?? '', data: JSON.parse(fields.get('data') ?? '{}') }));
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: all processes have ended
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An event stream, a page or a file: the test reads the text.
    return null;
  }
}
