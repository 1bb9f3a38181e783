/** One workerd process: spawned with a configuration, ready when it listens, with its log line by line; and what an earlier one left behind. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, isOwnProcess, type Owner, readOwnerFile, writeOwnerFile } from '../launch/owner-file.ts';
import { StartFailure } from '../launch/start-failure.ts';
import { sendSignal } from '../send-signal.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';

export type LogLine = { message: string; level: string };

/** Returns the line for the log of the service: records of the Worker unchanged (`platform/log.ts`), other texts as a record. */
export function toLogRecord({ message, level }: LogLine): string {
  if (message.startsWith('{"level":"')) return message;
  return JSON.stringify({ level: level === 'error' ? 'error' : 'info', message, at: new Date().toISOString(), from: 'runtime' });
}

export type WorkerdProcess = {
  /** Resolves when it listens, rejects with its first errors if it ends or is not ready in time. */
  ready: Promise<void>;
  /** Resolves with the reason when the process has ended. */
  ended: Promise<string>;
  /** Requests in flight have `graceMs` to end. */
  stop(graceMs: number): Promise<void>;
};

export type ProcessOptions = {
  configFile: string;
  /** Whether the file has the binary form (`compiled-config.ts`). */
  isBinary: boolean;
  /** Where modules are embedded from. */
  importPath: string;
  /** Of the socket `name`, as `host:port`. */
  socket: { name: string; address: string };
  /** The same of an external service. */
  external: { name: string; address: string };
  environment: Readonly<Record<string, string>>;
  /** Remembers the process, for `killOrphanedRuntime`. */
  pidFile: string;
  onLog: (line: LogLine) => void;
};

const readyTimeoutMs = 60_000;
/** The kernel takes a moment to end a killed process. */
const killTimeoutMs = 5_000;
const maxFailureLines = 20;

export function spawnWorkerd(options: ProcessOptions): WorkerdProcess {
  const parameters = ['serve', '--experimental', ...(options.isBinary ? ['--binary'] : ['--import-path', options.importPath])];
  const { socket, external } = options;
  const addresses = ['--socket-addr', `${socket.name}=${socket.address}`, '--external-addr', `${external.name}=${external.address}`];
  const [command, ...prefix] = commandLine();
  const child = spawn(command, [...prefix, ...parameters, ...addresses, '--control-fd', '3', options.configFile], {
    env: { ...inherited(), ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // Not in the terminal's process group: Ctrl-C is for the launcher, which stops it.
    detached: process.platform !== 'win32',
  });
  if (child.pid !== undefined) writeOwnerFile(options.pidFile, child.pid);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const failures: string[] = [];
  const onLine = (text: string): void => {
    const line = parseLogLine(text);
    if (line.level === 'error' && failures.length < maxFailureLines) failures.push(line.message);
    options.onLog(line);
  };
  const [, stdout, stderr, control] = child.stdio as unknown as [null, Readable, Readable, Readable]; // all pipes, see above
  for (const stream of [stdout, stderr]) createInterface({ input: stream }).on('line', onLine);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      process.off('exit', kill);
      rmSync(options.pidFile, { force: true });
      resolve(`exit ${signal ?? code}`);
    });
  });
  return { ready: waitForListen(control, ended, failures), ended, stop: (graceMs) => stop(child, ended, graceMs) };
}

/** On Linux, the kernel ends workerd with its parent, even if that is killed. Elsewhere, `killOrphanedRuntime` finds it at the next start. */
function commandLine(): [string, ...string[]] {
  const binary = workerdBinary();
  const canFollow = process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0;
  return canFollow ? ['setpriv', '--pdeathsig', 'KILL', binary] : [binary];
}

/** The path of the program for this machine. Throws `StartFailure` if npm has not installed it, as with `--omit=optional`. */
export function workerdBinary(): string {
  try {
    // The package has no types: its default export is the path.
    const { default: path } = createRequire(import.meta.url)('workerd') as { default: string };
    accessSync(path, constants.X_OK);
    return path;
  } catch (error) {
    const why = String(error instanceof Error ? error.message : error).split('\n')[0];
    throw new StartFailure(
      `workerd, the runtime of Cloudflare Workers, is not installed for ${process.platform} ${process.arch}. Run \`npm install\` here, without --omit=optional. (${why})`,
    );
  }
}

/** What programs need of the environment; the settings and keys are given by name. */
function inherited(): Record<string, string> {
  const names = ['PATH', 'TZ', 'TMPDIR', 'SYSTEMROOT', 'TEMP', 'TMP', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

async function waitForListen(control: Readable, ended: Promise<string>, failures: readonly string[]): Promise<void> {
  const listens = new Promise<null>((resolve) => {
    createInterface({ input: control }).on('line', (line) => (line.includes('"listen"') ? resolve(null) : undefined));
  });
  const late = (): string => `not ready within ${readyTimeoutMs / 1000} s`;
  const reason = await withTimeout(systemClock, Promise.race([listens, ended]), readyTimeoutMs, late);
  if (reason !== null) throw new Error(`The Workers runtime did not start (${reason}).\n${failures.join('\n')}`);
}

async function stop(child: ChildProcess, ended: Promise<string>, graceMs: number): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(timer);
}

/** Structured logs are JSON lines. workerd's own are among them, and in plain text before it has read its configuration. */
export function parseLogLine(text: string): LogLine {
  // Instead of a stack of addresses, for each write that fails.
  if (text.includes('SQLITE_FULL')) return { message: diskFull, level: 'error' };
  try {
    const { message, level } = JSON.parse(text) as Partial<LogLine>;
    if (typeof message === 'string' && typeof level === 'string') return { message, level };
  } catch {
    // Plain text.
  }
  return { message: text, level: 'error' };
}

const diskFull = 'The disk of the data folder is full: requests that store something fail until there is room again.';

/**
 * Ends the workerd of a launcher that was killed: it would use the data folder, and the port, of the next one. The file may have come with a
 * copy of a folder whose service runs, and its process id may have been given to another program: neither is ended.
 */
export async function killOrphanedRuntime(pidFile: string): Promise<void> {
  const owner = readOwnerFile(pidFile);
  if (owner !== null && isOwnProcess(owner) && isWorkerdOf(pidFile, owner)) {
    sendSignal(owner.pid, 'SIGKILL');
    for (let waitedMs = 0; isOwnProcess(owner) && waitedMs < killTimeoutMs; waitedMs += 20) await sleep(20);
  }
  rmSync(pidFile, { force: true });
}

/** Its command line names workerd; and the folder, if the file does not say where it was written. */
function isWorkerdOf(pidFile: string, { pid, folder }: Owner): boolean {
  const line = commandLineOf(pid);
  return line === null ? folder !== '' : line.includes(folder === '' ? join(dirname(pidFile), 'workerd') : 'workerd');
}
