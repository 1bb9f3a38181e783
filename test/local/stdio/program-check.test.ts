import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProgramCheck, type FindUnwanted } from '../../../src/local/stdio/program-check.ts';

const files = { workspace: 'w', server: 'files', key: 'a'.repeat(64) };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function newCheck(find: FindUnwanted) {
  const running = new Map([[files.key, files]]);
  const log: string[] = [];
  const check = createProgramCheck({
    find,
    running: () => [...running.values()],
    end: (key) => void running.delete(key),
    onLog: (line) => void log.push(line),
  });
  return { check, running, log };
}

it('finds out within 15 s that a program is to end, if the notice was lost', async () => {
  const unwanted = new Set<string>();
  const find = vi.fn<FindUnwanted>(async (programs) => programs.map(({ key }) => key).filter((key) => unwanted.has(key)));
  const { check, running } = newCheck(find);
  check.check();
  await vi.advanceTimersByTimeAsync(100);
  unwanted.add(files.key);
  await vi.advanceTimersByTimeAsync(15_000);
  expect([running.size, find.mock.calls.length]).toEqual([0, 2]);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(find).toHaveBeenCalledTimes(2);
});

it('retries after 1, 2, 4 and 8 s, then every 15 s, and logs the failure once', async () => {
  const times: number[] = [];
  const { check, log } = newCheck(async () => {
    times.push(Date.now());
    throw new Error('no response');
  });
  check.check();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(times.map((at, index) => at - (times[index - 1] ?? at))).toEqual([0, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  expect(log).toEqual([expect.stringContaining('no response')]);
  check.close();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(times).toHaveLength(8);
});
