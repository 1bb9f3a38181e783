/**
 * Watches what the Worker cannot see and reports it (`core/host-report.ts`): room on the disk of the data folder, whether it can be written, the
 * open files of workerd. At the end it has the service finish its work first.
 */
import { accessSync, constants, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostReport } from '../../core/host-report.ts';
import { MB } from '../../core/limits/units.ts';
import { isStorageFailure } from '../workerd/process.ts';

/** Kept free of new work, for what is in progress, for deletions and for the databases themselves; of a small disk, a part. */
const reserveBytes = 256 * MB;
const reserveShare = 0.05;
/** Writes begin again with this much more than the reserve, so that they do not stop and begin all the time. */
const resumeFactor = 1.25;
/** A write that failed is expected to fail again for this long, whatever the disk says of itself (quotas, a failing device). */
const failingMs = 15_000;

const checkMs = 2_000;
/** Without a change. workerd may have been started again meanwhile. */
const repeatMs = 10_000;
const drainPollMs = 100;
/** Streams write their last frames. */
const endingMs = 100;

export type HostWatch = {
  /** What is known of the machine now. */
  report(): HostReport;
  /** Call it with each line of the log: workerd reports writes that have failed. */
  noteLine(line: string): void;
  /** Reports from now on. `send` resolves with how much is in progress that a stop waits for. */
  start(send: (report: HostReport) => Promise<{ busy: number }>): void;
  /** Takes no new work, waits for what is in progress, at most `drainMs`, and ends what is still open. */
  drain(drainMs: number): Promise<void>;
};

/** What the system reports of a folder and a process; given by tests. */
export type HostSystem = {
  /** null: not known. `isOutOfFiles`: the file system has no room for another file. */
  space(): { freeBytes: number; totalBytes: number; isOutOfFiles: boolean } | null;
  isWritable(): boolean;
  files(): HostReport['files'];
};

export function createHostWatch(system: HostSystem, onLog: (message: string, level: 'info' | 'error') => void): HostWatch {
  let stopping: HostReport['stopping'] = 'no';
  let fault: HostReport['disk']['fault'] = null;
  let failedAt = Number.NEGATIVE_INFINITY;
  let send: ((report: HostReport) => Promise<{ busy: number }>) | null = null;
  let timer: NodeJS.Timeout | undefined;
  let sent = { of: '', at: Number.NEGATIVE_INFINITY };

  const faultOf = (space: ReturnType<HostSystem['space']>): HostReport['disk']['fault'] => {
    if (!system.isWritable()) return 'read-only';
    if (space !== null) {
      const reserve = Math.min(reserveBytes, space.totalBytes * reserveShare) * (fault === 'full' ? resumeFactor : 1);
      if (space.freeBytes < reserve || space.isOutOfFiles) return 'full';
    }
    return performance.now() - failedAt < failingMs ? 'failing' : null;
  };
  const report = (): HostReport => {
    const space = system.space();
    const next = faultOf(space);
    if (next !== fault)
      onLog(next === null ? 'The disk of the data folder takes writes again.' : faultLines[next], next === null ? 'info' : 'error');
    fault = next;
    return { disk: { freeBytes: space?.freeBytes ?? null, totalBytes: space?.totalBytes ?? null, fault }, files: system.files(), stopping };
  };
  const sendNow = async (): Promise<number> => {
    const now = report();
    const answer = await send?.(now);
    sent = { of: JSON.stringify([now.disk.fault, now.stopping]), at: performance.now() };
    return answer?.busy ?? 0;
  };
  const check = async (): Promise<void> => {
    const now = report();
    const isNew = JSON.stringify([now.disk.fault, now.stopping]) !== sent.of;
    // A service that is just being started again gets the next one, and asks before it first stores something.
    if (isNew || performance.now() - sent.at >= repeatMs) await sendNow().catch(() => undefined);
  };

  return {
    report,
    noteLine(line) {
      if (isStorageFailure(line)) failedAt = performance.now();
    },
    start(given) {
      send = given;
      timer = setInterval(() => void check(), checkMs).unref();
      void check();
    },
    async drain(drainMs) {
      clearInterval(timer);
      if (send === null) return;
      const until = performance.now() + drainMs;
      try {
        stopping = 'draining';
        let busy = await sendNow();
        if (busy > 0 && drainMs > 0)
          onLog(
            `The service stops when ${busy} calls and replies in progress have ended, and after ${drainMs / 1_000} s at the latest.`,
            'info',
          );
        while (busy > 0 && performance.now() < until) {
          await sleep(drainPollMs);
          busy = await sendNow();
        }
        if (busy > 0) onLog(`${busy} calls and replies did not end in time. Turns continue at the next start.`, 'error');
        stopping = 'ending';
        await sendNow();
        await sleep(endingMs);
      } catch (error) {
        onLog(`The service could not be asked to finish its work: ${String(error)}`, 'error');
      }
    },
  };
}

const faultLines = {
  full: 'The disk of the data folder is full up to the reserve: nothing more is stored until there is room again.',
  'read-only': 'The data folder cannot be written: nothing is stored until it can.',
  failing: 'The disk of the data folder did not take a write: nothing is stored for some seconds.',
} as const;

/** The data folder, and the process of workerd. */
export function hostSystem(dataDir: string, pid: () => number | null): HostSystem {
  return {
    space() {
      try {
        const { bavail, bsize, blocks, files, ffree } = statfsSync(dataDir);
        return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, isOutOfFiles: files > 0 && ffree === 0 };
      } catch {
        // Not every file system says it.
        return null;
      }
    },
    isWritable() {
      try {
        accessSync(dataDir, constants.W_OK);
        return true;
      } catch {
        return false;
      }
    },
    files() {
      const own = pid();
      try {
        const limit = openFilesLimit(own ?? process.pid);
        return own === null || limit === null ? null : { open: readdirSync(`/proc/${own}/fd`).length, limit };
      } catch {
        // Only Linux has /proc.
        return null;
      }
    },
  };
}

/**
 * How many files a process may have open; null: not known. Node raises its own limit to the hard one when it starts, and workerd inherits
 * that: the hard limit of the launcher counts (`ulimit -Hn`, `LimitNOFILE=`, `ulimits` of Docker).
 */
export function openFilesLimit(pid: number): number | null {
  try {
    const [, soft = ''] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
    return /^\d+$/.test(soft) ? Number(soft) : null;
  } catch {
    return null;
  }
}
