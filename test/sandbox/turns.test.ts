import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/sandbox/turns.ts';

const bounds = { fuel: 10, ms: 10, restMs: 1, waitMs: 20 };
const never = new AbortController().signal;

describe('turns', () => {
  it.each([
    ['fuel', 11, 0],
    ['time', 0, 11],
  ])('lets no machine work after so much %s, until a timer has fired', async (_, fuel, ms) => {
    const join = createTurns(() => 0, bounds);
    const [one, other] = [join(), join()];
    one.spend(fuel, ms);
    expect([one.isResting(), other.isResting()]).toEqual([true, true]);
    await Promise.resolve();
    expect(other.isResting()).toBe(true);
    expect(await other.take(never)).toBe(true);
    expect(other.isResting()).toBe(false);
  });

  it('adds up what all machines use', () => {
    const join = createTurns(() => 0, bounds);
    const [one, other] = [join(), join()];
    one.spend(6, 0);
    expect(one.isResting()).toBe(false);
    other.spend(6, 0);
    expect(one.isResting()).toBe(true);
  });

  it('does not count a rest as over because time has passed while the thread was held', () => {
    let at = 0;
    const turns = createTurns(() => at, bounds)();
    turns.spend(11, 0);
    at += 1_000;
    expect(turns.isResting()).toBe(true);
  });

  it('lets the others go first after a machine that has used the thread', async () => {
    const join = createTurns(() => 0, { ...bounds, restMs: 5 });
    const [one, other] = [join(), join()];
    one.spend(11, 0);
    const order: string[] = [];
    const take = async (name: string, turns: typeof one): Promise<void> => {
      await turns.take(never);
      order.push(name);
    };
    await Promise.all([take('one', one), take('other', other)]);
    expect(order).toEqual(['other', 'one']);
  });

  it('gives up when others use the thread for too long, and at once when it is aborted', async () => {
    const join = createTurns(() => 0, bounds);
    const [busy, waiting] = [join(), join()];
    const isBusy = setInterval(() => busy.spend(11, 0), 0);
    busy.spend(11, 0);
    try {
      let isGiven = true;
      // Whatever turns it gets in between, all its waiting counts.
      for (let turn = 0; turn < 1_000 && isGiven; turn++) {
        isGiven = await waiting.take(never);
        busy.spend(11, 0);
      }
      expect(isGiven).toBe(false);
      expect(await join().take(AbortSignal.abort())).toBe(true);
    } finally {
      clearInterval(isBusy);
    }
  });
});
