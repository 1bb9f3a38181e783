/**
 * Places for what is in use at a time, shared fairly between keys and workspaces (`core/limits/fair-share.ts`), in the memory of an isolate.
 * A place may count for more than one, such as the bytes of a body. A caller that finds none is refused, or waits a while: the
 * one whose workspace, and then whose key, uses least is next.
 */
import { findShortage, type GrantedShare, type ShareOwner, type ShareShortage } from '../core/limits/fair-share.ts';
import { type poolBounds, poolBoundsFor, type PoolBounds } from '../core/limits/pools.ts';
import { Problem } from '../core/problem.ts';
import type { Clock } from '../ports/runtime.ts';

type TakeOptions = { amount?: number; granted?: GrantedShare };

export type Place = {
  /** May be called more than once. */
  release(): void;
  /** Counts as used for the time of the pool from now on. */
  renew(): void;
  /** Changes how much it counts for. Returns why it cannot grow. */
  resize(amount: number): ShareShortage | null;
};

export type FairPool = ReturnType<typeof createFairPool>;
type WaitOptions = TakeOptions & { signal?: AbortSignal | undefined };

export function isShortage(taken: Place | ShareShortage): taken is ShareShortage {
  return 'limit' in taken;
}

/** Throws the problem of a shortage. */
export function requireTaken(taken: Place | ShareShortage, retryAfterMs?: number): Place {
  if (isShortage(taken)) throw shortageProblem(taken, retryAfterMs);
  return taken;
}

type HeldPlace = { owner: ShareOwner; amount: number; until: number };
type Waiter = { owner: ShareOwner; options: TakeOptions; until: number; enter(place: Place): void };

export function createFairPool(bounds: PoolBounds, clock: Pick<Clock, 'now' | 'after'>) {
  /** By key (`workspace keyId`) and by workspace; what uses nothing has no entry. */
  const used = new Map<string, number>();
  let total = 0;
  /** In the order of their ends, since all are held equally long. */
  const places = new Set<HeldPlace>();
  /** By key, in order of arrival. */
  const waiting = new Map<string, Set<Waiter>>();

  const usedOf = (name: string): number => used.get(name) ?? 0;
  const add = (name: string, amount: number): void => {
    const sum = usedOf(name) + amount;
    if (sum > 0) used.set(name, sum);
    else used.delete(name);
  };
  const count = ({ workspace, keyId }: ShareOwner, amount: number): void => {
    total += amount;
    add(keyName(workspace, keyId), amount);
    add(workspace, amount);
  };

  const shortageOf = (owner: ShareOwner, { amount = 1, granted }: TakeOptions): ShareShortage | null => {
    const use = { key: usedOf(keyName(owner.workspace, owner.keyId)), workspace: usedOf(owner.workspace), total };
    return findShortage(bounds, owner, use, amount, granted);
  };

  const hold = (owner: ShareOwner, amount: number): Place => {
    const held: HeldPlace = { owner, amount, until: clock.now() + bounds.holdMs };
    places.add(held);
    count(owner, amount);
    return {
      release() {
        if (drop(held)) admit();
      },
      renew() {
        if (!places.delete(held)) return;
        held.until = clock.now() + bounds.holdMs;
        places.add(held);
      },
      resize(to) {
        const more = to - held.amount;
        if (!places.has(held) || more === 0) return null;
        const shortage = more < 0 ? null : shortageOf(owner, { amount: more });
        if (shortage !== null) return shortage;
        held.amount = to;
        count(owner, more);
        if (more < 0) admit();
        return null;
      },
    };
  };

  const drop = (held: HeldPlace): boolean => {
    if (!places.delete(held)) return false;
    count(held.owner, -held.amount);
    return true;
  };

  const dropExpired = (): boolean => {
    const now = clock.now();
    let isAny = false;
    for (const held of places) {
      // Also if the clock was set back.
      if (held.until > now && held.until <= now + bounds.holdMs) break;
      isAny = drop(held) || isAny;
    }
    return isAny;
  };

  /** Gives free places to those who wait. */
  const admit = (): void => {
    while (waiting.size > 0) {
      const next = nextWaiter();
      if (next === null) return;
      leave(next);
      next.enter(hold(next.owner, next.options.amount ?? 1));
    }
  };

  const nextWaiter = (): Waiter | null => {
    const now = clock.now();
    let best: Waiter | null = null;
    for (const queue of waiting.values()) {
      const first = firstIn(queue, now);
      if (first === null || shortageOf(first.owner, first.options) !== null) continue;
      if (best === null || usesLess(first.owner, best.owner)) best = first;
    }
    return best;
  };

  /** Drops those whose request has ended without a trace. */
  const firstIn = (queue: Set<Waiter>, now: number): Waiter | null => {
    for (const waiter of queue) {
      if (waiter.until >= now) return waiter;
      leave(waiter);
    }
    return null;
  };

  const usesLess = (one: ShareOwner, other: ShareOwner): boolean => {
    const difference = usedOf(one.workspace) - usedOf(other.workspace);
    return (
      difference < 0 || (difference === 0 && usedOf(keyName(one.workspace, one.keyId)) < usedOf(keyName(other.workspace, other.keyId)))
    );
  };

  const leave = (waiter: Waiter): void => {
    const name = keyName(waiter.owner.workspace, waiter.owner.keyId);
    const queue = waiting.get(name);
    queue?.delete(waiter);
    if (queue?.size === 0) waiting.delete(name);
  };

  /** Takes a place, or returns why no place is free. */
  const take = (owner: ShareOwner, options: TakeOptions = {}): Place | ShareShortage => {
    let shortage = shortageOf(owner, options);
    if (shortage !== null && dropExpired()) {
      admit();
      shortage = shortageOf(owner, options);
    }
    return shortage ?? hold(owner, options.amount ?? 1);
  };

  return {
    take,
    /** Takes a place even if all are in use, for work that was accepted before. */
    takeBeyondLimit: (owner: ShareOwner, amount = 1): Place => hold(owner, amount),
    /** Returns how much a key uses, or all keys of a workspace. */
    usedBy: ({ workspace, keyId }: { workspace: string; keyId?: string }): number =>
      usedOf(keyId === undefined ? workspace : keyName(workspace, keyId)),
    /** Takes a place as soon as there is one, within the time of the pool. Throws the reason of `signal` when it aborts. */
    async wait(owner: ShareOwner, { signal, ...options }: WaitOptions = {}): Promise<Place | ShareShortage> {
      signal?.throwIfAborted();
      const { waitMs = 0, maxWaiting = 0 } = bounds;
      const name = keyName(owner.workspace, owner.keyId);
      const queue = waiting.get(name) ?? new Set();
      const taken = queue.size > 0 ? (shortageOf(owner, options) ?? ownShortage(owner)) : take(owner, options);
      if (!isShortage(taken) || queue.size >= maxWaiting) return taken;
      const { promise, resolve, reject } = Promise.withResolvers<Place | ShareShortage>();
      // Later than its timer, which ends it.
      const waiter: Waiter = { owner, options, until: clock.now() + 2 * waitMs, enter: resolve };
      waiting.set(name, queue.add(waiter));
      const disarm = clock.after(waitMs, () => {
        leave(waiter);
        resolve(shortageOf(owner, options) ?? taken);
      });
      const stop = (): void => {
        leave(waiter);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', stop, { once: true });
      try {
        return await promise;
      } finally {
        disarm();
        signal?.removeEventListener('abort', stop);
      }
    },
  };

  /** For one whose key has others waiting before it. */
  function ownShortage({ workspace, keyId }: ShareOwner): ShareShortage {
    const { limit, what, perKey: max } = bounds;
    return { limit, what, of: 'key', name: keyId, max, used: usedOf(keyName(workspace, keyId)) };
  }
}

/** Neither part can contain a blank. */
function keyName(workspace: string, keyId: string): string {
  return `${workspace} ${keyId}`;
}

/** The pools of an isolate. `maxOpenFiles`: as in the settings. */
export type Pools = Readonly<Record<keyof typeof poolBounds, FairPool>>;

export function createPools(clock: Pick<Clock, 'now' | 'after'>, maxOpenFiles: number | null = null): Pools {
  const entries = Object.entries(poolBoundsFor(maxOpenFiles)).map(([name, bounds]) => [name, createFairPool(bounds, clock)] as const);
  // It has a pool for each name.
  return Object.fromEntries(entries) as Record<keyof typeof poolBounds, FairPool>;
}

/** The sentence for a refused caller: what is used up, and what to do. */
export function shortageText({ what, of, name, max, used }: Pick<ShareShortage, 'what' | 'of' | 'name' | 'max' | 'used'>): string {
  if (of === 'service') return `The service has too many ${what} at the moment. Try again in a few seconds.`;
  const whose = of === 'workspace' ? `The workspace ${name}` : `This key (${name})`;
  const left = of === 'workspace' && used < max ? ', and the rest is for other keys' : '';
  return `${whose} has too many ${what}: ${used} of at most ${max}${left}. Wait until some have ended.`;
}

/** 429 for what the key or the workspace uses up, 503 for what all of them do. */
export function shortageProblem({ limit, of, name, max, used, what }: ShareShortage, retryAfterMs = 1_000): Problem {
  const detail = shortageText({ what, of, name, max, used });
  if (of === 'service') return new Problem('unavailable', detail, { retryAfterMs });
  return new Problem('rate_limited', detail, { limit, of, name, max, used, retryAfterMs });
}
