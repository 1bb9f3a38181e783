/** What the launcher makes of the disk and of the log of workerd, and how it stops the service. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { HostReport } from '../../../src/core/host-report.ts';
import { createHostWatch, hostSystem, type HostSystem, openFilesLimit } from '../../../src/local/launch/host-watch.ts';
import { parseLogLine, toLogRecord } from '../../../src/local/workerd/process.ts';

const GB = 1024 ** 3;
let space: ReturnType<HostSystem['space']>;
let isWritable: boolean;
let lines: string[];
const system: HostSystem = { space: () => space, isWritable: () => isWritable, files: () => ({ open: 50, limit: 1_024 }) };
const newWatch = () => createHostWatch(system, (message) => lines.push(message));

beforeEach(() => {
  vi.useFakeTimers();
  space = { freeBytes: 10 * GB, totalBytes: 20 * GB, isOutOfFiles: false };
  isWritable = true;
  lines = [];
});
afterEach(() => void vi.useRealTimers());

it('stops writes at the reserve, lets them begin again with more than it, and says both once', () => {
  const watch = newWatch();
  const faultWith = (freeBytes: number, totalBytes = 20 * GB): string | null => {
    space = { freeBytes, totalBytes, isOutOfFiles: false };
    return watch.report().disk.fault;
  };
  expect(faultWith(0.26 * GB)).toBeNull();
  expect(faultWith(0.24 * GB)).toBe('full');
  expect(faultWith(0.26 * GB)).toBe('full');
  expect(faultWith(0.32 * GB)).toBeNull();
  // A small disk has a small reserve.
  expect(faultWith(6e6, 1e8)).toBeNull();
  expect(faultWith(4e6, 1e8)).toBe('full');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain('nothing more is stored');
});

it('stops writes without room for another file, and while the folder cannot be written', () => {
  const watch = newWatch();
  space = { freeBytes: 10 * GB, totalBytes: 20 * GB, isOutOfFiles: true };
  expect(watch.report().disk.fault).toBe('full');
  isWritable = false;
  expect(watch.report().disk.fault).toBe('read-only');
  [space, isWritable] = [null, true];
  expect(watch.report().disk).toEqual({ freeBytes: null, totalBytes: null, fault: null });
});

it.each(['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_READONLY'])(
  'expects writes to fail for a while after workerd has logged %s',
  async (code) => {
    const watch = newWatch();
    watch.noteLine(toLogRecord(parseLogLine(`workerd/util/sqlite.c++:1827: failed: SQLite failed; disk error: ${code}`)));
    expect(watch.report().disk.fault).toBe('failing');
    await vi.advanceTimersByTimeAsync(15_001);
    expect(watch.report().disk.fault).toBeNull();
  },
);

it('reports a change within two seconds, and otherwise every ten', async () => {
  const watch = newWatch();
  const sent: HostReport[] = [];
  watch.start(async (report) => {
    sent.push(report);
    return { busy: 0 };
  });
  await vi.advanceTimersByTimeAsync(9_000);
  expect(sent).toHaveLength(1);
  space = { freeBytes: 0, totalBytes: 20 * GB, isOutOfFiles: false };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent.at(-1)?.disk.fault).toBe('full');
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sent).toHaveLength(4);
});

it.each([
  ['the work has ended', 500, 0],
  ['the time is over', 60_000, 1],
])('drains until %s, and then ends what is open', async (_when, workMs, left) => {
  const watch = newWatch();
  const stopping: string[] = [];
  const startedAt = performance.now();
  watch.start(async (report) => {
    if (stopping.at(-1) !== report.stopping) stopping.push(report.stopping);
    return { busy: performance.now() - startedAt < workMs ? 1 : 0 };
  });
  await vi.advanceTimersByTimeAsync(10);
  const drained = watch.drain(5_000);
  await vi.advanceTimersByTimeAsync(10_000);
  await drained;
  expect(stopping).toEqual(['no', 'draining', 'ending']);
  expect(lines.some((line) => line.includes('did not end in time'))).toBe(left > 0);
});

it('stops at once when the service does not answer, and says so', async () => {
  const watch = newWatch();
  watch.start(() => Promise.reject(new Error('refused')));
  await watch.drain(5_000);
  expect(lines).toEqual([expect.stringContaining('refused')]);
});

it.runIf(process.platform === 'linux')('reads the disk and the open files of a process of this machine', () => {
  const found = hostSystem('/', () => process.pid);
  expect(found.space()?.totalBytes).toBeGreaterThan(0);
  expect(found.files()?.open).toBeGreaterThan(3);
  expect(openFilesLimit(process.pid)).toBe(found.files()?.limit);
  expect(hostSystem('/none', () => null).isWritable()).toBe(false);
});

it.runIf(process.platform === 'linux')('what the launcher starts may open as many files as the hard limit allows', () => {
  const read = `console.log(require('node:child_process').execFileSync('sh', ['-c', 'ulimit -Sn; ulimit -Hn'], { encoding: 'utf8' }))`;
  const printed = execFileSync('sh', ['-c', 'ulimit -Sn 256; exec "$0" -e "$1"', process.execPath, read], { encoding: 'utf8' });
  const [soft, hard] = printed.trim().split('\n');
  expect(soft).toBe(hard);
});
