/**
 * Routes over targets that fail, in simulated time: the real rules of routes and retries, with targets that have outages, flap, limit their rate and
 * fail now and then. The same failures for every strategy, and for each target alone. Used by `bench/routes.ts` and its test.
 */
import type { ModelRoute } from '../src/core/model/route.ts';
import { Problem } from '../src/core/problem.ts';
import { firstReply } from '../src/engine/first-reply.ts';
import type { Clock } from '../src/ports/runtime.ts';
import { withRetries } from '../src/providers/retry.ts';

export type Simulated = {
  name: string;
  requests: number;
  failed: number;
  availability: number;
  /** Requests that were sent to targets, per request. */
  attempts: number;
  /** Requests that were sent to a target while it was down, per request. */
  wasted: number;
  medianMs: number;
  p99Ms: number;
};

type Target = {
  model: string;
  latencyMs: number;
  /** Returns the failure of a request that begins now; null: it succeeds. */
  failure(nowMs: number, dice: number): Problem | null;
};

const second = 1_000;
const minute = 60 * second;
const failure = (status: number, retryAfterMs?: number): Problem =>
  new Problem(status === 429 ? 'rate_limited' : 'upstream_error', 'No.', {
    ...{ provider: 'p', upstreamStatus: status, retryable: true },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

/** Down for a minute every ten; flapping every second for five minutes of twenty; limited for 20 s of every two minutes. All fail at random, too. */
function targets(): Target[] {
  return [
    {
      model: 'steady/m',
      latencyMs: 300,
      failure: (now, dice) => (now % (10 * minute) > 9 * minute || dice < 0.005 ? failure(500) : null),
    },
    {
      model: 'flapping/m',
      latencyMs: 200,
      failure: (now, dice) =>
        (now % (20 * minute) < 5 * minute && Math.floor(now / second) % 2 === 0) || dice < 0.01 ? failure(503) : null,
    },
    {
      model: 'limited/m',
      latencyMs: 500,
      failure: (now, dice) => {
        const phase = now % (2 * minute);
        return phase < 20 * second ? failure(429, 20 * second - phase) : dice < 0.01 ? failure(502) : null;
      },
    },
  ];
}

export type Runner = { name: string; route: Pick<ModelRoute, 'strategy' | 'sticky'> | string };

export const runners: readonly Runner[] = [
  ...targets().map(({ model }) => ({ name: `${model} alone`, route: model })),
  ...(['in-order', 'weighted', 'least-busy', 'lowest-latency'] as const).map((strategy) => ({
    name: strategy,
    route: { strategy, sticky: 'none' as const },
  })),
  { name: 'weighted, sticky', route: { strategy: 'weighted', sticky: 'session' } },
];

/** `perSecond`: arrivals in simulated time. */
export async function simulate(
  { name, route }: Runner,
  { requests, perSecond = 20 }: { requests: number; perSecond?: number },
): Promise<Simulated> {
  const time = virtualTime();
  const random = seededRandom(1);
  const known = new Map(targets().map((target) => [target.model, target]));
  const model = typeof route === 'string' ? route : { name, targets: targets().map((target) => ({ model: target.model })), ...route };
  // Another workspace for each run: the health of targets is remembered in the process.
  const workspace = `simulated ${name} ${requests}`;
  let count = 0;
  const ids = {
    next(prefix: string) {
      count += 1;
      return `${prefix}_${count}_${random()}`;
    },
  };
  let attempts = 0;
  let wasted = 0;
  let failed = 0;
  const durations: number[] = [];
  const ask = async (ref: string): Promise<void> => {
    const target = known.get(ref) as Target;
    attempts += 1;
    const problem = target.failure(time.clock.now(), random());
    if (problem !== null) wasted += 1;
    await time.clock.sleep(problem === null ? target.latencyMs * (0.5 + random()) : 20);
    if (problem !== null) throw problem;
  };
  const request = async (index: number): Promise<void> => {
    const began = time.clock.now();
    const routing = { clock: time.clock, ids, workspace, keyId: 'k', session: `session ${index % 500}` };
    try {
      await firstReply([model], routing, async (ref, attempt) => {
        await withRetries({ clock: time.clock, timeouts: attempt?.limits }, () => ask(ref));
        attempt?.begun();
        attempt?.over(false);
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      failed += 1;
    }
    durations.push(time.clock.now() - began);
  };
  // Loads the rules of routes, during which simulated time must not pass.
  const first = { clock: time.clock, ids, workspace: 'first', keyId: 'k', session: null };
  await firstReply([{ name: 'first', targets: [{ model: 'first/m' }] }], first, async () => undefined);
  const running: Promise<void>[] = [];
  for (let index = 0; index < requests; index += 1) {
    await time.advanceTo((index * second) / perSecond);
    running.push(request(index));
  }
  await time.advanceTo(Number.POSITIVE_INFINITY);
  await Promise.all(running);
  durations.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(durations[Math.floor(share * (durations.length - 1))] ?? 0);
  return {
    ...{ name, requests, failed, availability: 1 - failed / requests },
    ...{ attempts: attempts / requests, wasted: wasted / requests, medianMs: at(0.5), p99Ms: at(0.99) },
  };
}

/** Time that passes only when all work at an instant has been done. */
function virtualTime(): { clock: Clock; advanceTo(ms: number): Promise<void> } {
  let now = 0;
  const due: { at: number; run: () => void }[] = [];
  const add = (ms: number, run: () => void): void => {
    const at = now + ms;
    let [low, high] = [0, due.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((due[middle] as { at: number }).at <= at) high = middle;
      else low = middle + 1;
    }
    due.splice(low, 0, { at, run });
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    clock: {
      now: () => now,
      after: () => () => undefined,
      sleep: (ms) => new Promise((resolve) => add(ms, resolve)),
    },
    async advanceTo(ms) {
      for (let next = due.at(-1); next !== undefined && next.at <= ms; next = due.at(-1)) {
        due.pop();
        now = Math.max(now, next.at);
        next.run();
        await settle();
      }
      if (ms !== Number.POSITIVE_INFINITY) now = Math.max(now, ms);
      await settle();
    },
  };
}

/** Mulberry32: the same numbers in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
