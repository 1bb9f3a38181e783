/**
 * Tokens in an isolate's memory, so that a call costs no question to the Catalog; and who is getting one just now, so that twenty
 * calls get one. A flight belongs to the request that began it, which the platform may end: who joins one has patience of its own.
 */
import { limits } from '../../core/limits.ts';
import { withTimeLimit } from '../../net/time-limit.ts';

/** `token` null: nobody has signed in. */
type Kept = { token: string | null; until: number };

export type TokenMemory = {
  /** undefined: it is not known. */
  read(key: string, now: number): string | null | undefined;
  keep(key: string, kept: Kept): void;
  forget(key: string): void;
  /** The answer of whoever works on `flight` already; else of `work`. */
  join<T>(flight: string, work: () => Promise<T>): Promise<T>;
};

export function createTokenMemory(): TokenMemory {
  const kept = new Map<string, Kept>();
  const flights = new Map<string, Promise<unknown>>();
  return {
    read(key, now) {
      const known = kept.get(key);
      return known !== undefined && now < known.until ? known.token : undefined;
    },
    keep(key, value) {
      if (kept.size >= limits.maxCachedNames) kept.clear();
      kept.set(key, value);
    },
    forget: (key) => void kept.delete(key),
    async join<T>(flight: string, work: () => Promise<T>): Promise<T> {
      // Of one name are flights of one type: both are said by who calls.
      const underWay = flights.get(flight) as Promise<T> | undefined;
      if (underWay !== undefined) {
        const answer = await withTimeLimit<{ value: T } | null>(
          underWay.then((value) => ({ value })),
          limits.tokenLeaseMs,
          () => null,
        );
        if (answer !== null) return answer.value;
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
