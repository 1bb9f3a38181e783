import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../src/core/limits/backoff.ts';
import { retry, type RetryPolicy } from '../../src/engine/retry.ts';

/** Runs work that fails with these errors, one after another, and then returns `done`. */
async function run(errors: readonly string[], policy: Partial<RetryPolicy>, signal?: AbortSignal) {
  const left = [...errors];
  const slept: number[] = [];
  const noted: [string, number][] = [];
  let attempts = 0;
  const result = await retry(
    { clock: { sleep: async (ms) => void slept.push(ms) }, signal },
    { maxRetries: 3, delayMs: () => 0, onRetry: (error, failures) => void noted.push([String(error), failures]), ...policy },
    async () => {
      attempts += 1;
      const error = left.shift();
      if (error !== undefined) throw error;
      return 'done';
    },
  ).catch((error: unknown) => `threw ${String(error)}`);
  return { result, attempts, slept, noted };
}

describe('work that may fail', () => {
  it.each<[string, string[], Partial<RetryPolicy>, { result: string; attempts: number; slept?: number[] }]>([
    ['is done once if it succeeds', [], {}, { result: 'done', attempts: 1 }],
    ['is repeated until it succeeds', ['a', 'b'], {}, { result: 'done', attempts: 3 }],
    ['throws its last error after the last retry', ['a', 'b', 'c', 'd'], {}, { result: 'threw d', attempts: 4 }],
    ['is not repeated without retries', ['a'], { maxRetries: 0 }, { result: 'threw a', attempts: 1 }],
    [
      'is not repeated after an error that ends it',
      ['a', 'final', 'c'],
      { delayMs: (error) => (error === 'final' ? null : 0) },
      { result: 'threw final', attempts: 2 },
    ],
    [
      'waits as long as the policy says for the number of failures',
      ['a', 'b', 'c'],
      { delayMs: (_error, failures) => backoffMs({ firstMs: 10 }, failures) },
      { result: 'done', attempts: 4, slept: [10, 20, 40] },
    ],
  ])('%s', async (_what, errors, policy, expected) => {
    expect(await run(errors, policy)).toMatchObject({ slept: [], ...expected });
  });

  it('reports each failure that is retried, and no other', async () => {
    expect((await run(['a', 'b', 'c'], { maxRetries: 2 })).noted).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('ends with the reason of a signal that aborted meanwhile, unless it was not to be repeated', async () => {
    const aborted = AbortSignal.abort('nobody waits');
    expect(await run(['a'], {}, aborted)).toMatchObject({ result: 'threw nobody waits', attempts: 1, noted: [] });
    expect((await run(['a'], { delayMs: () => null }, aborted)).result).toBe('threw a');
    expect((await run([], {}, aborted)).result).toBe('done');
  });
});
