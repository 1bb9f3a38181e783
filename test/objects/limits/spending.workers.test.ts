/**
 * What calls of models spend of a limit that several isolates share: at most the limit and the largest single call, whatever starts at once, ends
 * in any order, reports nothing, or dies.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LimitedHolder, UsageLimits } from '../../../src/core/usage-limits.ts';
import { createLimiter } from '../../../src/objects/limits/client/limit-counters.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { testEnv } from '../../storage/workspace.ts';
import { createWorld, minuteMs, simulate } from './spending.ts';

afterEach(() => void vi.restoreAllMocks());

describe.each([{ dailyCost: 40 }, { monthlyCost: 40 }, { tokensPerMinute: 40 }] as UsageLimits[])('calls under %j', (limits) => {
  it.each([
    [1, 39, 1],
    [1, 1, 1],
    [3, 39, 1],
    [3, 7, 0.5],
    [6, 0.3, 1],
    [6, 100, 1],
  ])('in %i isolates, 60 at once, each of which may use %f and uses %f of it: at most one is too much', async (isolates, amount, used) => {
    const world = createWorld(limits, isolates);
    const calls = await Promise.all(Array.from({ length: 60 }, (_, n) => world.begin(n % isolates, amount)));
    for (const call of calls) if (call !== null) await world.end(call, used);
    expect(world.spent).toBeGreaterThan(0);
    expect(world.spent).toBeLessThanOrEqual(40 + amount);
    const admitted = calls.filter((call) => call !== null).length;
    expect(admitted).toBeGreaterThanOrEqual(Math.min(60, Math.floor((40 / amount) * (isolates === 1 ? 1 : 0.7)), 60));
    for (const refused of world.refused) expect(refused).toMatchObject({ code: 'rate_limited', extra: { max: 40 } });
  });

  it('are admitted again when others return what they did not use', async () => {
    const world = createWorld(limits, 2);
    const first = await world.begin(0, 60);
    expect(await world.begin(1, 1)).toBeNull();
    expect(world.refused).toMatchObject([{ extra: { used: 0, reserved: 60, retryAfterMs: 5_000 } }]);
    if (first !== null) await world.end(first, 0.1);
    await world.pass(1_000);
    expect(await world.begin(1, 1)).not.toBeNull();
  });
});

describe('a budget', () => {
  it('keeps the reservation of a stream that is open for hours, also in other isolates', async () => {
    const world = createWorld({ dailyCost: 10 }, 2);
    const long = await world.begin(0, 10);
    for (let hour = 0; hour < 8; hour += 1) {
      await world.pass(60 * minuteMs);
      expect(await world.begin(1, 1), `after ${hour + 1} hours`).toBeNull();
    }
    if (long !== null) await world.end(long, 1);
    await world.pass(minuteMs);
    expect(await world.used()).toBe(10);
  });

  it('counts the whole reservation of a call that reports nothing', async () => {
    const world = createWorld({ dailyCost: 10 }, 1);
    const call = await world.begin(0, 4);
    if (call !== null) await world.end(call, 0.5, false);
    await world.pass(minuteMs);
    expect(await world.used()).toBe(4);
  });

  it('counts the whole reservation of a call whose request the platform has ended, and only once', async () => {
    const world = createWorld({ dailyCost: 10 }, 1);
    const call = await world.begin(0, 4);
    world.drop(0);
    await world.pass(16 * minuteMs);
    expect(await world.begin(0, 5)).not.toBeNull();
    await world.pass(1_000);
    expect(await world.used()).toBe(4);
    call?.reservation.settle({ tokens: 1, cost: 1 });
    await world.pass(1_000);
    expect(await world.used()).toBe(4);
  });

  it('counts what was spent although the request that was to report it has ended', async () => {
    let now = Date.UTC(2026, 4, 15, 12, 0, 30);
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    const work: Promise<unknown>[] = [];
    // The platform runs no more of a request that has ended: its timer never fires.
    const sleep = vi.fn(async () => undefined).mockReturnValueOnce(new Promise(() => undefined));
    const clock = { now: () => now, after: () => () => undefined, sleep };
    const limiter = createLimiter({ bindings: testEnv, clock, log: keptLog(), background: (one) => void work.push(one) });
    const holders: LimitedHolder[] = [{ of: 'key', name: 'k1', limits: { sandboxSecondsPerMinute: 60 } }];
    const workspace = `w-${crypto.randomUUID().slice(0, 8)}`;
    limiter.spendSandboxSeconds(workspace, holders, 3);
    now += 6_000;
    limiter.spendSandboxSeconds(workspace, holders, 4);
    await work.at(-1);
    expect(await limiter.uses(workspace, holders)).toMatchObject([{ used: 7 }]);
  });

  it('is not exceeded by what runs out at midnight', async () => {
    const world = createWorld({ dailyCost: 10 }, 2);
    await world.pass(11 * 60 * minuteMs + 29 * minuteMs);
    const late = await world.begin(0, 10);
    await world.pass(2 * minuteMs);
    const next = await Promise.all([world.begin(1, 6), world.begin(0, 6), world.begin(1, 6)]);
    expect(next.filter((call) => call !== null).length).toBeLessThanOrEqual(2);
    if (late !== null) await world.end(late, 1);
  });
});

describe('limits of tokens', () => {
  it('count a call in the minute in which it began', async () => {
    const world = createWorld({ tokensPerMinute: 100 }, 2);
    const long = await world.begin(0, 100);
    expect(await world.begin(1, 1)).toBeNull();
    await world.pass(minuteMs);
    const next = await world.begin(1, 100);
    expect(next).not.toBeNull();
    if (long !== null) await world.end(long, 1);
    await world.pass(1_000);
    expect(await world.begin(0, 1)).toBeNull();
    expect(world.refused.at(-1)).toMatchObject({ extra: { limit: 'tokensPerMinute', max: 100 } });
  });
});

/** `spending.all.workers.test.ts` has many more. */
describe('any mixture of bursts, ends, lost reports, killed isolates and time', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed + 1))('spends at most the budget and one call (seed %i)', async (seed) => {
    await simulate(seed);
  });
});
