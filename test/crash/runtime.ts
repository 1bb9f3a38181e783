/** Starts, controls and kills the process of `runtime-process.ts`. */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { claimPort } from '../../src/local/launch/port.ts';
import type { Order, Report, RuntimeSettings } from './runtime-process.ts';

export type RunningRuntime = {
  url: string;
  /** All output so far. */
  printed(): string;
  order(order: Order): Promise<void>;
  /** Ends it with the signal; resolves when no process is left. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
};

const orderTimeoutMs = 120_000;
const endTimeoutMs = 60_000;
const maxStarts = 3;

/** Resolves when it accepts requests. A free port may be taken before it is used; then another one is tried. */
export async function startRuntimeProcess(settings: Omit<RuntimeSettings, 'port'>): Promise<RunningRuntime> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(settings);
    } catch (error) {
      if (attempt === maxStarts || !String(error).includes('took the port')) throw error;
    }
  }
}

async function startOnce(settings: Omit<RuntimeSettings, 'port'>): Promise<RunningRuntime> {
  const port = await claimPort(0);
  const child = fork(join(import.meta.dirname, 'runtime-process.ts'), [JSON.stringify({ ...settings, port })], {
    // Its own process group, so that a kill reaches workerd too.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  });
  let output = '';
  const print = (chunk: Buffer): void => {
    output += chunk.toString('utf8');
  };
  child.stdout?.on('data', print);
  child.stderr?.on('data', print);
  const runtime: RunningRuntime = {
    url: `http://127.0.0.1:${port}`,
    printed: () => output,
    order: async (order) => {
      const done = report(child, () => output);
      child.send(order);
      await done;
    },
    kill: (signal) => kill(child, signal),
  };
  try {
    await report(child, () => output);
  } catch (error) {
    await kill(child, 'SIGKILL');
    throw error;
  }
  return runtime;
}

function report(child: ChildProcess, printed: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (reason: string | null): void => {
      clearTimeout(timer);
      child.off('message', hear);
      child.off('exit', fail);
      if (reason === null) resolve();
      else reject(new Error(`the runtime: ${reason}\n${printed()}`));
    };
    const hear = (message: Report): void => settle(message.report === 'done' ? null : message.reason);
    const fail = (): void => settle('it ended');
    const timer = setTimeout(() => settle('no response in time'), orderTimeoutMs);
    child.on('message', hear);
    child.once('exit', fail);
  });
}

async function kill(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  // SIGTERM goes to the launcher, which has to end the other processes.
  if (signal === 'SIGKILL') signalGroup(pid, 'SIGKILL');
  else if (child.exitCode === null) child.kill('SIGTERM');
  const deadline = Date.now() + endTimeoutMs;
  while (signalGroup(pid, 0)) {
    if (Date.now() > deadline) {
      signalGroup(pid, 'SIGKILL');
      throw new Error(`the runtime did not end within ${endTimeoutMs / 1000} s of ${signal}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Returns false when no process of the group is left. */
function signalGroup(pid: number, signal: 'SIGKILL' | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false; // fs and process errors carry a code
    throw error;
  }
}
