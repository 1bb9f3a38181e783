/**
 * The service of the ledger, which is killed, stopped and starved while it works: started as users start it, on a folder of its own size, with
 * a clock that the test moves. What this machine does not permit is left out, and said.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  openSync,
  writeSync,
  closeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtBundles, type RunningService, startService } from '../e2e/service.ts';

export type LedgerService = {
  dataDir: string;
  /** The running service, or the one that is being restarted. */
  now(): RunningService;
  faults: readonly Fault[];
  /** Why faults are left out. */
  leftOut: string[];
  /** When processes were ended, stopped or starved: from, to. */
  troubles: (readonly [number, number])[];
  /** Runs a fault, and returns when the service responds again. */
  strike(fault: Fault): Promise<void>;
  /** Starts it again if it has ended. */
  revive(): Promise<void>;
  close(): Promise<void>;
};

export type Fault = { name: string; run(): Promise<void> };

export const stdioScript = join(import.meta.dirname, 'stdio-tool.mjs');
const settings = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*', MONIKER_ALLOW_STDIO: 'api' };
const hour = 3_600;
const respondMs = 60_000;

export async function openLedgerService(minutes: number): Promise<LedgerService> {
  const folder = mkdtempSync(join(tmpdir(), 'moniker-ledger-'));
  const dataDir = join(folder, 'data');
  const stateDir = join(dataDir, 'state');
  mkdirSync(stateDir, { recursive: true });
  const leftOut: string[] = [];
  const megabytes = 64 + 16 * Math.ceil(minutes);
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', stateDir]).status === 0;
  if (!isMounted) leftOut.push('the full disk: this user may not mount a file system');
  if (existsSync(builtBundles)) cpSync(builtBundles, join(dataDir, 'bundle'), { recursive: true });
  const clock = openClock(folder);
  if (typeof clock === 'string') leftOut.push(`the clock that jumps: ${clock}`);

  const start = (): Promise<RunningService> => startService(dataDir, settings, typeof clock === 'string' ? [] : clock.within);
  const unmount = async (): Promise<void> => {
    for (let tries = 0; isMounted && tries < 50 && spawnSync('umount', [stateDir]).status !== 0; tries += 1) await sleep(100);
    rmSync(folder, { recursive: true, force: true });
  };
  let service = await start().catch(async (error: unknown) => {
    await unmount();
    throw error;
  });
  const troubles: [number, number][] = [];

  const workerd = (): number[] => {
    const file = join(stateDir, 'workerd.pid');
    return existsSync(file) ? [Number(readFileSync(file, 'utf8').split(' ')[0])] : [];
  };
  const stdio = (): number[] => processesWith(stdioScript, dataDir);
  const all = (): number[] => [service.pid, ...workerd(), ...stdio()];
  const kill = (name: string, pids: () => number[], signal: NodeJS.Signals = 'SIGKILL'): Fault => ({
    name,
    run: async () => {
      for (const pid of pids()) signalProcess(pid, signal);
    },
  });
  const jump = (name: string, seconds: number): Fault => ({
    name,
    run: async () => {
      if (typeof clock === 'string') return;
      clock.set(seconds);
      await sleep(4_000);
      clock.set(0);
    },
  });
  const faults: Fault[] = [
    kill('SIGKILL of workerd', workerd),
    kill('SIGKILL of the stdio servers', stdio),
    {
      name: 'SIGSTOP and SIGCONT of all',
      run: async () => {
        const stopped = all();
        for (const pid of stopped) signalProcess(pid, 'SIGSTOP');
        await sleep(3_000);
        for (const pid of stopped) signalProcess(pid, 'SIGCONT');
      },
    },
    kill('SIGKILL of all', all),
    ...(typeof clock === 'string'
      ? []
      : [jump('a clock of +1 h', hour), jump('a clock of -1 h', -hour), jump('a clock of +365 d', 365 * 24 * hour)]),
    kill('SIGTERM', () => [service.pid], 'SIGTERM'),
    ...(isMounted ? [{ name: 'a full disk', run: () => fillDisk(join(stateDir, 'filler')) }] : []),
    kill('SIGKILL of the launcher', () => [service.pid]),
  ];

  const responds = async (): Promise<boolean> => {
    try {
      return (await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
    } catch {
      return false;
    }
  };
  const revive = async (): Promise<void> => {
    for (const end = performance.now() + respondMs; !(await responds()); await sleep(200)) {
      if (isAlive(service.pid) && performance.now() < end) continue;
      await service.stop('SIGKILL');
      service = await start();
      return;
    }
  };
  return {
    dataDir,
    now: () => service,
    faults,
    leftOut,
    troubles,
    strike: async ({ run }) => {
      const trouble: [number, number] = [performance.now(), Number.POSITIVE_INFINITY];
      troubles.push(trouble);
      await run();
      // A process that gets a signal takes a moment to end.
      await sleep(300);
      await revive();
      trouble[1] = performance.now();
    },
    revive,
    close: async () => {
      await service.stop('SIGKILL');
      for (const pid of [...workerd(), ...stdio()]) signalProcess(pid, 'SIGKILL');
      await unmount();
    },
  };
}

/** The seconds by which the clock of the service is wrong are in a file; returns why there is none. */
function openClock(folder: string): string | { within: string[]; set(seconds: number): void } {
  if (process.platform !== 'linux' || spawnSync('unshare', ['-m', 'true']).status !== 0) return 'this user may not make a mount namespace';
  const [library, file, etc] = [join(folder, 'clock.so'), join(folder, 'clock'), join(folder, 'etc')];
  const compiler = spawnSync('cc', [
    ...['-shared', '-fPIC', '-O2', `-DCLOCK_FILE="${file}"`],
    ...['-o', library, join(import.meta.dirname, 'clock.c')],
  ]);
  if (compiler.status !== 0) return 'there is no C compiler';
  const set = (seconds: number): void => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // The same file: it is mapped.
    const handle = openSync(file, existsSync(file) ? 'r+' : 'w');
    writeSync(handle, bytes, 0, 8, 0);
    closeSync(handle);
  };
  set(0);
  cpSync('/etc', etc, { recursive: true, verbatimSymlinks: true, filter: isReadable });
  writeFileSync(join(etc, 'ld.so.preload'), `${library}\n`);
  return { within: ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc && exec "$@"', etc], set };
}

function isReadable(path: string): boolean {
  return spawnSync('test', ['-r', path, '-o', '-L', path]).status === 0;
}

async function fillDisk(file: string): Promise<void> {
  const handle = openSync(file, 'w');
  try {
    for (let size = 1024 * 1024; size >= 4_096; ) {
      try {
        writeSync(handle, Buffer.alloc(size));
      } catch {
        // Full for pieces of this size.
        size /= 2;
      }
    }
    await sleep(3_000);
  } finally {
    closeSync(handle);
    rmSync(file, { force: true });
  }
}

/** Processes whose command line has all of these words. */
function processesWith(...words: string[]): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words.every((word) => line.includes(word));
      } catch {
        return false; // It has ended meanwhile.
      }
    })
    .map(Number);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: it has ended
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
