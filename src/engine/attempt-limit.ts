/**
 * Limits failed attempts of strangers, in the memory of an isolate: by the address that a request comes from, and by what it tries, such as
 * a webhook. Costs a few lookups, and no storage: a flood is refused before anything is read, verified or stored for it. An attempt counts as
 * failed from its begin until it succeeds, so that slow ones count as well. Strangers cannot shut out from a target those who succeeded there.
 */
import { setNewest } from '../core/memoize.ts';
import { networkOfHost } from '../core/ip-address.ts';
import { Problem } from '../core/problem.ts';

const windowMs = 60_000;
/** Entries of each kind; the oldest one is forgotten first. */
const maxEntries = 20_000;
/** How long an address that has succeeded at a target is known there. */
const knownMs = 24 * 60 * 60_000;

export type AttemptLimit = ReturnType<typeof createAttemptLimit>;
export type Attempt = ReturnType<AttemptLimit['begin']>;

/** `perAddress`, `perTarget`: failed attempts per minute. */
export function createAttemptLimit(now: () => number, { perAddress, perTarget }: { perAddress: number; perTarget: number }) {
  const counts = new Map<string, Count>();
  /** When an address has succeeded at a target. */
  const known = new Map<string, number>();

  const current = (key: string): Count | undefined => {
    const entry = counts.get(key);
    const age = entry === undefined ? 0 : now() - entry.since;
    // Also forgotten if the clock was set back.
    if (age >= 0 && age < windowMs) return entry;
    counts.delete(key);
    return undefined;
  };

  const add = (key: string): Count => {
    const entry = current(key) ?? { since: now(), failed: 0 };
    if (entry.failed === 0) setNewest(counts, key, entry, maxEntries);
    entry.failed += 1;
    return entry;
  };

  const isKnown = (address: string | null, target: string): boolean => {
    const at = address === null ? undefined : known.get(knownName(address, target));
    return at !== undefined && Math.abs(now() - at) < knownMs;
  };

  const remember = (address: string, target: string): void => {
    setNewest(known, knownName(address, target), now(), maxEntries);
  };

  return {
    /** Throws `rate_limited` while the address, or `target`, has too many failed attempts. */
    require(address: string | null, target: string): void {
      for (const [key, max] of keysOf(address, target)) {
        const entry = current(key);
        if (entry === undefined || entry.failed < max || (max === perTarget && isKnown(address, target))) continue;
        const retryAfterMs = Math.max(1_000, entry.since + windowMs - now());
        const detail = `Too many failed attempts. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`;
        throw new Problem('rate_limited', detail, { retryAfterMs });
      }
    },
    /** Counts an attempt as failed, until it is known to be another. */
    begin(address: string | null, target: string) {
      const begun = keysOf(address, target).map(([key]) => add(key));
      const forget = (): void => {
        for (const entry of begun.splice(0)) entry.failed -= 1;
      };
      return {
        /** It was not the fault of the address that it did not succeed. */
        forget,
        succeed(): void {
          forget();
          if (address !== null) remember(address, target);
        },
      };
    },
  };

  function keysOf(address: string | null, target: string): [key: string, max: number][] {
    const ofTarget: [string, number] = [`to ${target}`, perTarget];
    return address === null ? [ofTarget] : [ofTarget, [`from ${networkOfHost(address)}`, perAddress]];
  }
}

type Count = { since: number; failed: number };

function knownName(address: string, target: string): string {
  return `${networkOfHost(address)} ${target}`;
}
