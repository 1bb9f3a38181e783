/**
 * Isolate memory for small answers: each is kept for the time its loader says, concurrent misses of one key load once, and
 * the number of entries is bounded. Used by `directory.ts`.
 */
import { joinFlight } from './single-flight.ts';

export interface TimedCache<T> {
  /** What is stored and fresh, and was asked for at most `maxAgeMs` ago (absent: however long ago), with no promise in between. */
  read(key: string, maxAgeMs?: number): T | undefined;
  /** What `read` gives, or else what the loader gives. A loader that throws leaves nothing behind. */
  load(key: string, loader: () => Promise<Loaded<T>>, maxAgeMs?: number): Promise<T>;
  /** Forgets, also what a load under way will bring. */
  drop(key: string): void;
  dropWhere(matches: (key: string, value: T) => boolean): void;
}

/** `ttlMs` counts from the question: an answer that was long under way may have been true only at its start. */
export type Loaded<T> = { value: T; ttlMs: number };

export function createTimedCache<T>(options: { maxEntries: number; now: () => number }): TimedCache<T> {
  const entries = new Map<string, { value: T; askedAt: number; until: number }>();
  const loads = new Map<string, Promise<T>>();

  const read = (key: string, maxAgeMs = Number.POSITIVE_INFINITY): T | undefined => {
    const entry = entries.get(key);
    const now = options.now();
    return entry !== undefined && now < entry.until && now - entry.askedAt <= maxAgeMs ? entry.value : undefined;
  };

  const keep = (key: string, { value, ttlMs }: Loaded<T>, askedAt: number): void => {
    entries.delete(key);
    entries.set(key, { value, askedAt, until: askedAt + ttlMs });
    if (entries.size <= options.maxEntries) return;
    const oldest = entries.keys().next();
    if (oldest.done !== true) entries.delete(oldest.value);
  };

  const cache: TimedCache<T> = {
    read,
    load: (key, loader, maxAgeMs) => {
      const kept = read(key, maxAgeMs);
      if (kept !== undefined) return Promise.resolve(kept);
      const underWay = loads.get(key);
      if (underWay !== undefined)
        return joinFlight(underWay, () => {
          loads.delete(key);
          return cache.load(key, loader, maxAgeMs);
        });
      const askedAt = options.now();
      const load: Promise<T> = loader().then(
        (loaded) => {
          // Dropped meanwhile: the callers that waited get it, nobody after them.
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
    },
    drop: (key) => {
      entries.delete(key);
      loads.delete(key);
    },
    dropWhere: (matches) => {
      for (const [key, entry] of entries) if (matches(key, entry.value)) entries.delete(key);
      // What a load under way will bring is not known yet, so none of them is kept.
      loads.clear();
    },
  };
  return cache;
}
