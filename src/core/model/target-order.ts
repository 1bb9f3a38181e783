/** The order in which a request asks the models of a route. Pure: health, time and the seed are given. */
import type { ModelRoute } from './route.ts';
import { pauseLeftMs, runningAt, targetState, type TargetHealth } from './target-health.ts';

/** Why a model was asked. `context`: the conversation did not fit the one before. `all-down`: every model that is left is put aside. */
export type TargetReason = NonNullable<ModelRoute['strategy']> | 'sticky' | 'fallback' | 'context' | 'all-down';

export type TargetCandidate = { model: string; why: TargetReason; health: TargetHealth };

/** Of an older measurement nothing is known: the model is asked by one request. */
const maxMeasuredMs = 60_000;

export type OrderFor = {
  healthOf(model: string): TargetHealth;
  now: number;
  /** Requests with the same seed get the same target of those that are up, by the weights. */
  seed: string;
  /** Whether the seed is that of what the route is sticky for. */
  isSticky: boolean;
  /** The target that the same seed had, for strategies that depend on the moment. */
  kept?: string | null | undefined;
};

/** Returns the targets in the order of the strategy, and then the fallbacks. Whether they are up is decided when the next one is taken. */
export function orderTargets({ targets, strategy = 'in-order', fallbacks = [] }: ModelRoute, order: OrderFor): TargetCandidate[] {
  const { healthOf, now, seed, isSticky, kept = null } = order;
  const others = fallbacks.map((model): TargetCandidate => ({ model, why: 'fallback', health: healthOf(model) }));
  if (strategy === 'in-order') {
    const inOrder = targets.map(
      ({ model }, index): TargetCandidate => ({ model, why: index === 0 ? strategy : 'fallback', health: healthOf(model) }),
    );
    return [...inOrder, ...others];
  }
  const seedHash = hashOf(seed);
  const rated = targets.map(({ model, weight = 1 }) => {
    const health = healthOf(model);
    return {
      model,
      health,
      isUnused: weight === 0,
      rank: rankOf(strategy, { health, weight, now }),
      draw: drawOf(seedHash, model, weight),
    };
  });
  rated.sort((a, b) => Number(a.isUnused) - Number(b.isUnused) || a.rank - b.rank || a.draw - b.draw);
  const first = strategy === 'weighted' && isSticky ? 'sticky' : strategy;
  const ordered = rated.map(({ model, health }, index): TargetCandidate => ({ model, health, why: index === 0 ? first : 'fallback' }));
  const own = kept === null || strategy === 'weighted' ? -1 : ordered.findIndex(({ model }) => model === kept);
  if (own >= 0) ordered.unshift(...ordered.splice(own, 1).map((found) => ({ ...found, why: 'sticky' as const })));
  return [...ordered, ...others];
}

/** Removes and returns the first candidate that is up, or whose pause has ended; null: none is. */
export function takeNext<One extends TargetCandidate>(candidates: One[], now: number): One | null {
  const index = candidates.findIndex(({ health }) => {
    const state = targetState(health, now);
    return state === 'up' || state === 'due';
  });
  return (index < 0 ? undefined : candidates.splice(index, 1)[0]) ?? null;
}

/** Removes and returns the candidate whose pause ends first: it may be up again. null: there are no candidates. */
export function takeLeastDown<One extends TargetCandidate>(candidates: One[], now: number): One | null {
  const least = leastPauseMs(candidates, now);
  const index = candidates.findIndex(({ health }) => pauseLeftMs(health, now) === least);
  const [found] = index < 0 ? [] : candidates.splice(index, 1);
  return found === undefined ? null : { ...found, why: 'all-down' };
}

/** Infinity without candidates. */
export function leastPauseMs(candidates: readonly TargetCandidate[], now: number): number {
  return Math.min(...candidates.map(({ health }) => pauseLeftMs(health, now)));
}

type Rated = { health: TargetHealth; weight: number; now: number };

/** The lowest comes first. */
function rankOf(strategy: Exclude<ModelRoute['strategy'], 'in-order' | undefined>, { health, weight, now }: Rated): number {
  switch (strategy) {
    case 'weighted':
      return 0;
    case 'least-busy':
      return weight === 0 ? 0 : runningAt(health, now) / weight;
    case 'lowest-latency': {
      const age = now - health.measuredAt;
      if (health.firstOutputMs !== null && age >= 0 && age <= maxMeasuredMs) return health.firstOutputMs;
      // One request measures it.
      return runningAt(health, now) === 0 ? -1 : Number.MAX_VALUE;
    }
    default:
      return strategy satisfies never;
  }
}

/**
 * Weighted rendezvous hashing: of all models the one with the lowest value is drawn with the probability of its weight, and a model that is left
 * out moves only its own requests (Thaler and Ravishankar 1998; weights as in draft-ietf-bess-weighted-hrw).
 */
function drawOf(seedHash: number, model: string, weight: number): number {
  const drawn = (mixed(hashOf(model, seedHash)) + 0.5) / 2 ** 32;
  return weight === 0 ? Number.MAX_VALUE : -Math.log(drawn) / weight;
}

/** FNV-1a: 32 bits, without a secret, for distribution only. `before`: of the text before. */
function hashOf(text: string, before = 0x811c9dc5): number {
  let hash = before;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

/** The final mix of MurmurHash3, so that texts that differ in their last character are far apart. */
function mixed(given: number): number {
  let hash = Math.imul(given ^ (given >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
