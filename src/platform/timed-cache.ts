/**
 * A cache in isolate memory for small values: each is cached for the TTL that its loader returns, concurrent misses of one key load
 * once, and the number of entries is limited. Used for published documents, tokens of servers and metadata of clients.
 */
import { limits } from '../core/limits/limits.ts';
import { nullIfNotFound } from '../core/problem.ts';
import { abandoned, joinWork } from '../engine/timeout.ts';
import { systemClock } from './clock.ts';

export interface TimedCache<T> {
  /** Returns the cached value unless it has expired or was loaded more than `maxAgeMs` ago (no limit by default). Synchronous. */
  read(key: string, maxAgeMs?: number): T | undefined;
  /**
   * Returns what `read` returns, or else what the loader returns. `before`: the cached value, which may have expired. Nothing is cached when
   * the loader throws or the TTL is 0.
   */
  load(key: string, loader: (before?: T) => Promise<Loaded<T>>, maxAgeMs?: number): Promise<T>;
  /**
   * Loads a cached value that is older than `ageMs` again, while it stays readable. Returns null if there is nothing to do, or it is being
   * loaded; never throws.
   */
  refresh(key: string, ageMs: number, loader: (before?: T) => Promise<Loaded<T>>): Promise<unknown> | null;
  /** Invalidates the key, including the result of a load in flight. */
  invalidate(key: string): void;
  invalidateWhere(matches: (key: string, value: T) => boolean): void;
}

/** `ttlMs` counts from the start of the load, since a value may only have been current then. */
export type Loaded<T> = { value: T; ttlMs: number };

/**
 * `joinMs`: how long a caller waits for a load that another request has started. Default: the time-out of the Catalog. `weigh`: the least
 * recently read values are dropped when all weigh more than `max`; the newest stays even if it alone does, since it is about to be used.
 */
type CacheOptions<T> = { maxEntries: number; now: () => number; joinMs?: number; weigh?: { of(value: T): number; max: number } };

export function createTimedCache<T>(options: CacheOptions<T>): TimedCache<T> {
  const { maxEntries, weigh } = options;
  const entries = new Map<string, { value: T; askedAt: number; until: number; weight: number }>();
  let total = 0;
  const loads = new Map<string, Promise<T>>();

  const read = (key: string, maxAgeMs = Number.POSITIVE_INFINITY): T | undefined => {
    const entry = entries.get(key);
    const now = options.now();
    if (entry === undefined || now >= entry.until || now - entry.askedAt > maxAgeMs) return undefined;
    if (weigh !== undefined) {
      entries.delete(key);
      entries.set(key, entry);
    }
    return entry.value;
  };

  const drop = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };

  const keep = (key: string, { value, ttlMs }: Loaded<T>, askedAt: number): void => {
    drop(key);
    if (ttlMs <= 0) return;
    const weight = weigh?.of(value) ?? 0;
    entries.set(key, { value, askedAt, until: askedAt + ttlMs, weight });
    total += weight;
    for (const oldest of entries.keys()) {
      if (oldest === key || (entries.size <= maxEntries && total <= (weigh?.max ?? 0))) break;
      drop(oldest);
    }
  };

  const start = (key: string, loader: (before?: T) => Promise<Loaded<T>>): Promise<T> => {
    const askedAt = options.now();
    const load: Promise<T> = loader(entries.get(key)?.value).then(
      (loaded) => {
        // When invalidated during the load, the callers that waited receive the value, but it is not cached.
        if (loads.get(key) === load) {
          loads.delete(key);
          keep(key, loaded, askedAt);
        }
        return loaded.value;
      },
      (error: unknown) => {
        if (loads.get(key) === load) loads.delete(key);
        throw error;
      },
    );
    loads.set(key, load);
    return load;
  };

  const cache: TimedCache<T> = {
    read,
    refresh: (key, ageMs, loader) => {
      const entry = entries.get(key);
      if (entry === undefined || options.now() - entry.askedAt < ageMs || loads.has(key)) return null;
      return start(key, loader).catch(() => undefined);
    },
    load: (key, loader, maxAgeMs) => {
      const kept = read(key, maxAgeMs);
      if (kept !== undefined) return Promise.resolve(kept);
      const inFlight = loads.get(key);
      if (inFlight !== undefined)
        return joinInFlight(
          inFlight,
          () => {
            if (loads.get(key) === inFlight) loads.delete(key);
            return cache.load(key, loader, maxAgeMs);
          },
          options.joinMs,
        );
      return start(key, loader);
    },
    invalidate: (key) => {
      drop(key);
      loads.delete(key);
    },
    invalidateWhere: (matches) => {
      for (const [key, entry] of entries) if (matches(key, entry.value)) drop(key);
      // The results of loads in flight are not known yet, so none of them is cached.
      loads.clear();
    },
  };
  return cache;
}

/** Joins a load that another request has started. If that request has ended, the caller starts its own: `reload`. */
async function joinInFlight<T>(inFlight: Promise<T>, reload: () => Promise<T>, joinMs: number = limits.catalogTimeoutMs): Promise<T> {
  const answer = await joinWork(systemClock, inFlight, joinMs);
  return answer === abandoned ? await reload() : answer;
}

/** Waits for a value to be cached for `ttlMs`, or for `limits.missTtlMs` if it does not exist (`not_found`), as null. */
export async function loadIfFound<T>(ttlMs: number, work: Promise<T>): Promise<Loaded<T | null>> {
  const value = await nullIfNotFound(work);
  return { value, ttlMs: value === null ? limits.missTtlMs : ttlMs };
}
