/**
 * One command as a child process: lines in, lines out. It is started without a shell, in a process group of its own that ends
 * with it. On POSIX a small supervisor ends the group when the launcher dies, even by SIGKILL.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { StdioRun } from '../../core/servers/stdio.ts';
import { MB } from '../../core/limits/units.ts';
import { sendSignal } from '../send-signal.ts';
import { createLineReader } from './line-reader.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';

/** One message. The Worker accepts results up to 16 MB. */
const maxMessageBytes = 20 * MB;
const maxStderrLineBytes = 2_000;
/** Messages that the command has not read yet. */
const maxUnreadBytes = 32 * MB;
/** After the end of its input a server has this long to exit; then, after SIGTERM, the same again. */
const endGraceMs = 1_500;

/** Why a command was not started: a fault that another attempt does not fix. */
export class CommandFault extends Error {
  override name = 'CommandFault';
}

export type ChildEvents = {
  onLine(line: string): void;
  /** A line over the limit was discarded. `edges`: its beginning and end. */
  onLongLine(edges: string): void;
  onStderr(line: string): void;
  /** Called once. `how`: such as "exited with code 1". */
  onExit(how: string): void;
};

export type Child = {
  /** Returns false if the command does not read its input. */
  write(line: string): boolean;
  /** Ends the process group; resolves when the command has ended. */
  end(): Promise<void>;
};

type Run = Pick<StdioRun, 'command' | 'args' | 'env' | 'cwd'>;

/**
 * Runs in `sh`: the command gets the input and output of the shell. The watcher reads descriptor 3, whose other end the launcher holds: it
 * ends when the launcher does. Asynchronous commands of a shell read /dev/null unless their input is redirected, hence descriptor 4.
 */
const supervisor = `exec 4<&0
trap : TERM
"$@" <&4 3<&- 4<&- &
command=$!
{ trap '' TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0; } </dev/null >/dev/null 2>&1 4<&- &
exec 3<&- 4<&- </dev/null
wait "$command"
status=$?
while kill -0 "$command" 2>/dev/null; do wait "$command"; status=$?; done
exit "$status"`;

export async function startChild(run: Run, { variables, home }: ProgramEnvironment, events: ChildEvents): Promise<Child> {
  const env = { ...variables, ...run.env };
  const cwd = run.cwd ?? home;
  if (!isFolder(cwd)) throw new CommandFault(`its working folder ${cwd} does not exist. Change \`cwd\`.`);
  const process_ = process.platform === 'win32' ? await spawnOnWindows(run, env, cwd) : spawnSupervised(run, env, cwd);
  return attach(process_, events);
}

function spawnSupervised({ command, args }: Run, env: Record<string, string>, cwd: string): ChildProcess {
  requireCommand(command, env.PATH ?? '', cwd);
  return spawn('/bin/sh', ['-c', supervisor, 'moniker', command, ...args], {
    ...{ cwd, env, detached: true },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
}

/** `npx` and most other commands are `.cmd` files there, which only cross-spawn starts safely. */
async function spawnOnWindows({ command, args }: Run, env: Record<string, string>, cwd: string): Promise<ChildProcess> {
  const { default: crossSpawn } = await import('cross-spawn');
  return crossSpawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
}

function attach(child: ChildProcess, events: ChildEvents): Child {
  let isOver = false;
  const ended = new Promise<void>((resolve) => {
    const over = (how: string): void => {
      if (isOver) return;
      isOver = true;
      // What the command has started, and the supervisor.
      killGroup(child, 'SIGKILL');
      events.onExit(how);
      resolve();
    };
    child.once('error', (error: NodeJS.ErrnoException) => over(`could not be started (${error.code ?? error.message})`));
    // 'exit', not 'close': a process that it leaves behind may hold its output open.
    child.once('exit', (code, signal) => over(describeExit(code, signal)));
  });
  child.stdout?.on('data', createLineReader(maxMessageBytes, events.onLine, events.onLongLine));
  child.stderr?.on('data', createLineReader(maxStderrLineBytes, events.onStderr, events.onStderr));
  // A command that ends while it is written to: `onExit` reports it.
  for (const stream of child.stdio) stream?.on('error', () => {});
  return {
    write(line) {
      const input = child.stdin;
      if (isOver || input === null || !input.writable || input.writableLength > maxUnreadBytes) return false;
      input.write(`${line}\n`);
      return true;
    },
    async end() {
      child.stdin?.end();
      await withTimeout(systemClock, ended, endGraceMs, () => undefined);
      if (!isOver) killGroup(child, 'SIGTERM');
      await withTimeout(systemClock, ended, endGraceMs, () => undefined);
      if (!isOver) killGroup(child, 'SIGKILL');
      await withTimeout(systemClock, ended, endGraceMs, () => undefined);
    },
  };
}

/** The status of the supervisor is that of the command: 128 and more are signals. */
function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (code === null) return `was ended by ${signal ?? 'a signal'}`;
  return process.platform !== 'win32' && code > 128 ? `was ended by signal ${code - 128}` : `exited with code ${code}`;
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
    return;
  }
  sendSignal(-child.pid, signal);
}

function requireCommand(command: string, path: string, cwd: string): void {
  const isPath = command.includes('/');
  const places = isPath
    ? [command.startsWith('/') ? command : join(cwd, command)]
    : path.split(delimiter).map((folder) => join(folder, command));
  const found = places.filter((place) => isFile(place));
  if (found.length === 0) {
    const remedy = `Install it, or give its full path as \`command\`.`;
    throw new CommandFault(`the command ${JSON.stringify(command)} does not exist${isPath ? '' : ' in PATH'}. ${remedy}`);
  }
  if (!found.some((place) => isExecutable(place))) throw new CommandFault(`${found[0]} is not executable. Try: chmod +x ${found[0]}`);
}

function isExecutable(path: string): boolean {
  return tested(() => accessSync(path, constants.X_OK) === undefined);
}

function isFile(path: string): boolean {
  return tested(() => statSync(path).isFile());
}

function isFolder(path: string): boolean {
  return tested(() => statSync(path).isDirectory());
}

function tested(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    // Missing, or not accessible: for the caller the same.
    return false;
  }
}
