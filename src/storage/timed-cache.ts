/**
 * Isolate memory for small answers: each is kept for the time its loader says, concurrent misses of one key load once, and
 * the number of entries is bounded. Used by `directory.ts`.
 */
import { joinFlight } from './single-flight.ts';

export interface TimedCache<T> {
  /** What is kept and fresh, with no promise in between. */
  read(key: string): T | undefined;
  /** What is kept, or what the loader gives. A loader that throws leaves nothing behind. */
  load(key: string, loader: () => Promise<Loaded<T>>): Promise<T>;
  /** Forgets, also what a load under way will bring. */
  drop(key: string): void;
  dropWhere(matches: (key: string, value: T) => boolean): void;
}

/** `ttlMs` counts from the question: an answer that was long under way may have been true only at its start. */
export type Loaded<T> = { value: T; ttlMs: number };

export function createTimedCache<T>(options: { maxEntries: number; now: () => number }): TimedCache<T> {
  const entries = new Map<string, { value: T; until: number }>();
  const loads = new Map<string, Promise<T>>();

  const read = (key: string): T | undefined => {
    const entry = entries.get(key);
    return entry !== undefined && options.now() < entry.until ? entry.value : undefined;
  };

  const keep = (key: string, { value, ttlMs }: Loaded<T>, askedAt: number): void => {
    entries.delete(key);
    entries.set(key, { value, until: askedAt + ttlMs });
    if (entries.size <= options.maxEntries) return;
    const oldest = entries.keys().next();
    if (oldest.done !== true) entries.delete(oldest.value);
  };

  const cache: TimedCache<T> = {
    read,
    load: (key, loader) => {
      const kept = read(key);
      if (kept !== undefined) return Promise.resolve(kept);
      const underWay = loads.get(key);
      if (underWay !== undefined)
        return joinFlight(underWay, () => {
          loads.delete(key);
          return cache.load(key, loader);
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
