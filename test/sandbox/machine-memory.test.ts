/** The memory of all machines: one key cannot take all of it, and its machines cannot grow into what the others have. */
import { expect, it } from 'vitest';
import type { SandboxEnd } from '../../src/core/turn/run-code.ts';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { textResult } from '../../src/core/tools/tool.ts';
import { createFairPool } from '../../src/engine/fair-pool.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

const signal = new AbortController().signal;

function createRuns() {
  const memory = createFairPool({ ...poolBounds.machineBytes, waitMs: 300 }, systemClock);
  let answer: () => void = () => undefined;
  /** Runs that ask, or that have ended without. */
  const at = { rest: 0 };
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const run = (workspace: string, keyId: string, source: string): Promise<SandboxEnd> => {
    let isAsking = false;
    const call = async () => {
      isAsking = true;
      at.rest += 1;
      await answered;
      return { waits: false, result: textResult('answered') } as const;
    };
    const ended = createSandbox(memory, { workspace, keyId }).run({ source, args: {}, tools: ['ask'], now: 0, seed: 'x', call }, signal);
    return ended.finally(() => (at.rest += isAsking ? 0 : 1));
  };
  const untilAtRest = async (runs: number): Promise<void> => await expect.poll(() => at.rest, { timeout: 30_000 }).toBe(runs);
  /** Answers as soon as all of these runs ask or have ended. */
  const answerWhenAtRest = async (runs: number): Promise<void> => {
    await untilAtRest(runs);
    answer();
  };
  return { memory, run, untilAtRest, answerWhenAtRest };
}

it('is shared: a key whose machines wait takes a part, further ones are refused in words, and other keys and workspaces run', async () => {
  const { memory, run, answerWhenAtRest } = createRuns();
  const flood = Array.from({ length: 60 }, () => run('a', 'flood', 'return (await tools.ask({})).output'));
  const others = [run('a', 'other', 'return 1'), run('b', 'k', 'return 2')];
  expect(await Promise.all(others)).toMatchObject([
    { end: 'returned', value: 1 },
    { end: 'returned', value: 2 },
  ]);
  await answerWhenAtRest(62);
  const ends = Object.groupBy(await Promise.all(flood), ({ end }) => end);
  expect(ends.returned?.length).toBeGreaterThanOrEqual(20);
  expect(ends.limit).toEqual(
    ends.limit?.map(() => ({
      end: 'limit',
      limit: 'queue',
      console: '',
      message: expect.stringContaining('This key (flood) has too many bytes of running code'),
    })),
  );
  expect((ends.returned?.length ?? 0) + (ends.limit?.length ?? 0)).toBe(60);
  expect(memory.usedBy({ workspace: 'a' })).toBe(0);
});

it('stops a machine that grows beyond the share of its key, and no machine of another key', async () => {
  const { memory, run, untilAtRest, answerWhenAtRest } = createRuns();
  const grow = `const parts = []; for (let n = 0; n < 12; n++) parts.push(new Uint8Array(1_000_000).fill(n)); for (let n = 0; n < 3_000_000; n++); await tools.ask({}); return parts.length`;
  // Five that grow in step can all come to the end of the share together: the first has what it needs before the others begin.
  const first = run('a', 'flood', grow);
  await untilAtRest(1);
  const flood = [first, ...[2, 3, 4, 5].map(() => run('a', 'flood', grow))];
  const other = run('a', 'other', 'await tools.ask({}); return new Uint8Array(2_000_000).length');
  await answerWhenAtRest(6);
  const ends = Object.groupBy(await Promise.all(flood), ({ end }) => end);
  expect(ends.limit?.length).toBeGreaterThanOrEqual(2);
  expect(ends.returned?.length).toBeGreaterThanOrEqual(1);
  expect(await other).toMatchObject({ end: 'returned', value: 2_000_000 });
  expect(memory.usedBy({ workspace: 'a' })).toBe(0);
});

it('is free again after a run that was aborted, failed or never began', async () => {
  const { memory, run } = createRuns();
  await run('a', 'k', 'throw new Error("x")');
  await run('a', 'k', '}}');
  const aborted = createSandbox(memory, { workspace: 'a', keyId: 'k' });
  const gone = new AbortController();
  gone.abort();
  const call = () => new Promise<never>(() => undefined);
  expect(await aborted.run({ source: 'return 1', args: {}, tools: [], now: 0, seed: 'x', call }, gone.signal)).toEqual({
    end: 'aborted',
    console: '',
  });
  expect(memory.usedBy({ workspace: 'a' })).toBe(0);
});
