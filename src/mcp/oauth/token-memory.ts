/**
 * Tokens in the memory of an isolate, so that a call needs no Catalog request; and renewals in flight, so that twenty calls cause one. A
 * flight belongs to the request that started it, which the platform may end, so joining requests have their own timeout.
 */
import { limits } from '../../core/limits.ts';
import { abandoned, joinWork } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';

/** `token` null: not signed in. */
type CachedToken = { token: string | null; until: number };

export type TokenMemory = {
  /** undefined: not cached. */
  read(key: string, now: number): string | null | undefined;
  store(key: string, cached: CachedToken): void;
  forget(key: string): void;
  /** Returns the result of the running `flight`, or starts `work`. */
  join<T>(flight: string, work: () => Promise<T>): Promise<T>;
};

export function createTokenMemory(): TokenMemory {
  const cached = new Map<string, CachedToken>();
  const flights = new Map<string, Promise<unknown>>();
  return {
    read(key, now) {
      const known = cached.get(key);
      return known !== undefined && now < known.until ? known.token : undefined;
    },
    store(key, value) {
      if (cached.size >= limits.maxCachedNames) cached.clear();
      cached.set(key, value);
    },
    forget: (key) => void cached.delete(key),
    async join<T>(flight: string, work: () => Promise<T>): Promise<T> {
      // Callers use one result type per flight name.
      const running = flights.get(flight) as Promise<T> | undefined;
      if (running !== undefined) {
        const answer = await joinWork(systemClock, running, limits.tokenLeaseMs);
        if (answer !== abandoned) return answer;
      }
      const own = work();
      flights.set(flight, own);
      try {
        return await own;
      } finally {
        if (flights.get(flight) === own) flights.delete(flight);
      }
    },
  };
}
