import { expect, it } from 'vitest';
import { createDelayedFlush } from '../../src/engine/delayed-flush.ts';
import { fakeClock } from '../fakes/runtime.ts';

type Next = Parameters<typeof createDelayedFlush>[0]['next'];

/** `sent`: one promise for each flush, which the test ends. */
function make(next: Next) {
  const clock = fakeClock();
  const work: Promise<unknown>[] = [];
  const sent: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const flush = async (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    sent.push(one);
    await one.promise;
  };
  const wake = createDelayedFlush({
    ...{ clock, background: (added) => void work.push(added), delayMs: 500, takeOverMs: 5_000, next, flush },
    failed: (error) => void errors.push(error),
  });
  return { clock, work, sent, errors, wake };
}

it('sends once what comes within the delay', async () => {
  const { clock, sent, work, wake } = make('taken');
  for (let report = 0; report < 10; report += 1) wake();
  await clock.advance(499);
  expect([sent.length, work.length]).toEqual([0, 1]);
  await clock.advance(1);
  expect(sent).toHaveLength(1);
});

it.each<[Next, number, number]>([
  ['taken', 2, 2],
  ['ended', 1, 2],
  ['later', 1, 1],
])('begins another flush when the one before it is %s', async (next, whileSending, afterEnd) => {
  const { clock, work, sent, wake } = make(next);
  wake();
  await clock.advance(500);
  wake();
  expect(work).toHaveLength(whileSending);
  sent[0]?.resolve();
  await work[0];
  wake();
  expect(work).toHaveLength(afterEnd);
});

it.each([
  ['its time is over', 5_000],
  ['the clock was set back', -5_000],
])('takes over from a flush whose request the platform has ended, when %s', (_when, ms) => {
  const { clock, work, wake } = make('taken');
  wake();
  const now = clock.now();
  // The timer of the first never fires.
  Object.assign(clock, { now: () => now + ms / 2 });
  wake();
  expect(work).toHaveLength(1);
  Object.assign(clock, { now: () => now + ms });
  wake();
  expect(work).toHaveLength(2);
});

it('reports a failed flush, and begins the next one', async () => {
  const { clock, work, sent, errors, wake } = make('ended');
  wake();
  await clock.advance(500);
  sent[0]?.reject(new Error('unreachable'));
  await work[0];
  expect(errors).toEqual([new Error('unreachable')]);
  wake();
  expect(work).toHaveLength(2);
});
