/**
 * Limits failed attempts of strangers, in the memory of an isolate: by the address that a request comes from, and by what it tries, such as
 * a webhook. Costs two lookups, and no storage: a flood is refused before anything is read, verified or stored for it.
 */
import { networkOfHost } from '../core/ip-address.ts';
import { Problem } from '../core/problem.ts';

const windowMs = 60_000;
/** Entries of both kinds; the oldest one is forgotten first. */
const maxEntries = 20_000;

export type AttemptLimit = {
  /** Throws `rate_limited` while the address, or `target`, has too many failed attempts. */
  require(address: string | null, target: string): void;
  /** Call it when an attempt has failed. */
  fail(address: string | null, target: string): void;
};

/** `perAddress`, `perTarget`: failed attempts per minute. */
export function createAttemptLimit(now: () => number, { perAddress, perTarget }: { perAddress: number; perTarget: number }): AttemptLimit {
  const counts = new Map<string, { since: number; failed: number }>();

  const current = (key: string): { since: number; failed: number } | undefined => {
    const entry = counts.get(key);
    const age = entry === undefined ? 0 : now() - entry.since;
    // Also forgotten if the clock was set back.
    if (age >= 0 && age < windowMs) return entry;
    counts.delete(key);
    return undefined;
  };

  const add = (key: string): void => {
    const entry = current(key) ?? { since: now(), failed: 0 };
    entry.failed += 1;
    counts.set(key, entry);
    const oldest = counts.keys().next();
    if (counts.size > maxEntries && oldest.done !== true) counts.delete(oldest.value);
  };

  const keysOf = (address: string | null, target: string): [key: string, max: number][] => [
    [`to ${target}`, perTarget],
    ...(address === null ? [] : ([[`from ${networkOfHost(address)}`, perAddress]] as [string, number][])),
  ];

  return {
    require(address, target) {
      for (const [key, max] of keysOf(address, target)) {
        const entry = current(key);
        if (entry === undefined || entry.failed < max) continue;
        const retryAfterMs = Math.max(1_000, entry.since + windowMs - now());
        const detail = `Too many failed attempts. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
        throw new Problem('rate_limited', detail, { retryAfterMs });
      }
    },
    fail(address, target) {
      for (const [key] of keysOf(address, target)) add(key);
    },
  };
}
