/** Isolates that share a limit, and what their calls have really spent, with a clock and failures of the test. */
import { expect, vi } from 'vitest';
import type { LimitedHolder, UsageLimits } from '../../../src/core/usage-limits.ts';
import { dayOf, type UsageReport } from '../../../src/core/records/usage.ts';
import type { Limiter, Reservation } from '../../../src/ports/limiter.ts';
import { createLimiter } from '../../../src/objects/limits/client/limit-counters.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { testEnv } from '../../storage/workspace.ts';

export const minuteMs = 60_000;
/** The middle of a minute of the middle of a month. */
const start = Date.UTC(2026, 4, 15, 12, 0, 30);

type Call = { isolate: number; reserved: number; minute: number; reservation: Reservation };

/** One limit of one key, several isolates, and what their calls have really spent. */
export function createWorld(limits: UsageLimits, isolates: number) {
  let now = start;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  const workspace = `w-${crypto.randomUUID().slice(0, 8)}`;
  const holder: LimitedHolder = { of: 'key', name: 'k1', limits };
  const timers = new Set<{ at: number; run(): void; isolate: object }>();
  const work: Promise<unknown>[] = [];
  const newIsolate = (): Limiter => {
    const self = {};
    const clock = {
      now: () => now,
      after(ms: number, run: () => void) {
        const timer = { at: now + ms, run, isolate: self };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      sleep: async () => undefined,
    };
    const limiter = createLimiter({ bindings: testEnv, clock, log: keptLog(), background: (one) => void work.push(one) });
    living.set(limiter, self);
    return limiter;
  };
  const living = new Map<Limiter, object>();
  const limiters = Array.from({ length: isolates }, newIsolate);
  const open = new Set<Call>();
  const killed: { at: number; amount: number }[] = [];
  let reports = 0;
  const world = {
    spent: 0,
    /** What calls of isolates that were killed in the last 10 minutes have spent, which nobody can report. */
    lost: () => killed.reduce((sum, { at, amount }) => (now - at < 10 * minuteMs ? sum + amount : sum), 0),
    largest: 0,
    refused: [] as unknown[],
    open,
    settled: async (): Promise<void> => {
      while (work.length > 0) await Promise.allSettled(work.splice(0));
    },
    async begin(isolate: number, amount: number): Promise<Call | null> {
      const limiter = limiters[isolate] as Limiter;
      try {
        const reservation = await limiter.reserveCall(workspace, [holder], { tokens: amount, cost: amount });
        const call = { isolate, reserved: amount, minute: Math.floor(now / minuteMs), reservation };
        open.add(call);
        world.largest = Math.max(world.largest, amount);
        return call;
      } catch (error) {
        world.refused.push(error);
        return null;
      }
    },
    /** `used`: of the reservation, 0 to 1; null: nothing is reported. The call has spent it in any case. */
    async end(call: Call, used: number, isReported = true): Promise<void> {
      if (!open.delete(call)) return;
      const amount = call.reserved * used;
      world.spent += amount;
      call.reservation.settle(isReported ? { tokens: amount, cost: amount } : 'unknown');
      if (!isReported || limits.tokensPerMinute !== undefined) return;
      reports += 1;
      const report = { id: `r${reports}`, part: 1, budgets: [holder], models: [{ day: dayOf(now), cost: amount }], tools: [] };
      await (limiters[call.isolate] as Limiter).charge(workspace, [report as unknown as UsageReport]);
    },
    /** The platform ends the requests of an isolate, with all that they wait for. */
    drop(isolate: number): void {
      for (const timer of [...timers]) if (timer.isolate === living.get(limiters[isolate] as Limiter)) timers.delete(timer);
    },
    /** Its calls end; what they have spent is not reported. */
    kill(isolate: number, used: number): void {
      world.drop(isolate);
      for (const call of [...open]) {
        if (call.isolate !== isolate) continue;
        open.delete(call);
        killed.push({ at: now, amount: call.reserved * used });
      }
      limiters[isolate] = newIsolate();
    },
    async pass(ms: number): Promise<void> {
      const until = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
        await world.settled();
      }
      now = until;
      await world.settled();
    },
    used: async (): Promise<number> => (await limiters[0]?.uses(workspace, [holder]))?.[0]?.used ?? 0,
  };
  return world;
}

/** A small generator, so that a failure can be repeated. */
function createRandom(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), state | 1) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A mixture of bursts, ends, lost reports, killed isolates and time. Expects after each step that at most one call is too much. */
export async function simulate(seed: number, steps = 120): Promise<void> {
  const random = createRandom(seed);
  const isolates = 1 + Math.floor(random() * 5);
  const max = 20 + Math.floor(random() * 200);
  const world = createWorld(random() < 0.5 ? { monthlyCost: max } : { monthlyCost: max, dailyCost: max }, isolates);
  const anyOf = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const check = (): void => {
    const inFlight = [...world.open].reduce((sum, { reserved }) => sum + reserved, 0);
    expect(world.spent, `seed ${seed}`).toBeLessThanOrEqual(max + world.largest + 1e-6);
    // Also if all calls in flight use everything; and with what died in the last minutes, whose reservations are kept for a time.
    expect(world.spent + inFlight + world.lost(), `seed ${seed}`).toBeLessThanOrEqual(max + world.largest + 1e-6);
  };
  for (let step = 0; step < steps; step += 1) {
    const what = random();
    if (what < 0.45) {
      const burst = 1 + Math.floor(random() * (random() < 0.2 ? 60 : 4));
      await Promise.all(
        Array.from({ length: burst }, () => world.begin(Math.floor(random() * isolates), random() * max * (random() < 0.1 ? 2 : 0.2))),
      );
    } else if (what < 0.8) {
      const ends = Array.from({ length: 1 + Math.floor(random() * 5) }, () => anyOf([...world.open]));
      await Promise.all(ends.map((call) => (call === undefined ? undefined : world.end(call, random(), random() > 0.1))));
    } else if (what < 0.97) await world.pass(random() < 0.8 ? random() * 3_000 : random() * 6 * minuteMs);
    else world.kill(Math.floor(random() * isolates), random());
    check();
  }
  for (const call of [...world.open]) await world.end(call, 1);
  check();
}
