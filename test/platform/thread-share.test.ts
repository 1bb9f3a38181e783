import { describe, expect, it } from 'vitest';
import { createThreadShares } from '../../src/platform/thread-share.ts';

const bounds = { fuel: 10, ms: 10, restMs: 1, waitMs: 20 };
const never = new AbortController().signal;

describe('turns', () => {
  it.each([
    ['fuel', 11, 0],
    ['time', 0, 11],
  ])('pauses all machines after this much %s, until a timer has fired', async (_, fuel, ms) => {
    const join = createThreadShares(() => 0, bounds);
    const [one, other] = [join(), join()];
    one.recordUse(fuel, ms);
    expect([one.isResting(), other.isResting()]).toEqual([true, true]);
    await Promise.resolve();
    expect(other.isResting()).toBe(true);
    expect(await other.acquire(never)).toBe(true);
    expect(other.isResting()).toBe(false);
  });

  it('adds up the use of all machines', () => {
    const join = createThreadShares(() => 0, bounds);
    const [one, other] = [join(), join()];
    one.recordUse(6, 0);
    expect(one.isResting()).toBe(false);
    other.recordUse(6, 0);
    expect(one.isResting()).toBe(true);
  });

  it('does not end a pause because time passed while the thread was blocked', () => {
    let at = 0;
    const turns = createThreadShares(() => at, bounds)();
    turns.recordUse(11, 0);
    at += 1_000;
    expect(turns.isResting()).toBe(true);
  });

  it('lets the others run first after a machine that used the thread', async () => {
    const join = createThreadShares(() => 0, { ...bounds, restMs: 5 });
    const [one, other] = [join(), join()];
    one.recordUse(11, 0);
    const order: string[] = [];
    const take = async (name: string, turns: typeof one): Promise<void> => {
      await turns.acquire(never);
      order.push(name);
    };
    await Promise.all([take('one', one), take('other', other)]);
    expect(order).toEqual(['other', 'one']);
  });

  it('gives up when others use the thread for too long, and at once when aborted', async () => {
    const join = createThreadShares(() => 0, bounds);
    const [busy, waiting] = [join(), join()];
    const isBusy = setInterval(() => busy.recordUse(11, 0), 0);
    busy.recordUse(11, 0);
    try {
      let isGiven = true;
      // All its waiting counts, even with turns in between.
      for (let turn = 0; turn < 1_000 && isGiven; turn++) {
        isGiven = await waiting.acquire(never);
        busy.recordUse(11, 0);
      }
      expect(isGiven).toBe(false);
      expect(await join().acquire(AbortSignal.abort())).toBe(true);
    } finally {
      clearInterval(isBusy);
    }
  });
});

it('lets a key with one machine run as often as a key with many', async () => {
  const join = createThreadShares(() => 0, { ...bounds, restMs: 4, waitMs: 1_000_000 });
  const turns = new Map<string, number>();
  const end = new AbortController();
  const compute = async (keyId: string): Promise<void> => {
    const share = join({ workspace: 'default', keyId });
    while (!end.signal.aborted) {
      await share.acquire(end.signal);
      if (end.signal.aborted) return;
      turns.set(keyId, (turns.get(keyId) ?? 0) + 1);
      share.recordUse(11, 0);
      if ((turns.get('modest') ?? 0) >= 20 || (turns.get('greedy') ?? 0) >= 200) end.abort();
    }
  };
  await Promise.all([...Array.from({ length: 15 }, () => compute('greedy')), compute('modest')]);
  // About every second turn. Without the order it would be every sixteenth.
  expect(turns.get('greedy') ?? 0).toBeLessThan(100);
});
