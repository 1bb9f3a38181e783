/**
 * Webhooks in isolate memory, ready to judge what is sent to them. Each is read again when its time is over, and opened
 * again only where it was written meanwhile. What there is not is not kept, so that strangers who try names cannot push out what
 * there is. Used by `directory.ts`.
 */
import type { CompiledHook } from '../core/triggers/compiled-hook.ts';
import type { SealedHook } from './catalog-rpc.ts';
import { joinFlight } from './single-flight.ts';
import type { Loaded } from './timed-cache.ts';

export type HookCache = {
  /** `notOlderThan`: when it must have been read, at the earliest; absent: as its time allows. */
  read(key: string, source: HookSource, notOlderThan?: number): Promise<CompiledHook | null>;
  /** Forgets, also what a load under way will bring. */
  drop(key: string): void;
};

export type HookSource = {
  /** `kept`: what is in memory. */
  load(kept: SealedHook | null): Promise<Loaded<SealedHook | null>>;
  compile(stored: SealedHook): Promise<CompiledHook>;
};

type Entry = { readAt: number; until: number; stored: SealedHook | null; hook: CompiledHook | null };

export function createHookCache(options: { maxEntries: number; now(): number }): HookCache {
  const entries = new Map<string, Entry>();
  const loads = new Map<string, Promise<CompiledHook | null>>();

  const keep = (key: string, entry: Entry): void => {
    entries.delete(key);
    if (entry.until <= entry.readAt) return;
    entries.set(key, entry);
    if (entries.size <= options.maxEntries) return;
    const oldest = entries.keys().next();
    if (oldest.done !== true) entries.delete(oldest.value);
  };

  const load = async (key: string, source: HookSource, isWanted: () => boolean): Promise<CompiledHook | null> => {
    const before = entries.get(key);
    const readAt = options.now();
    const { value: stored, ttlMs } = await source.load(before?.stored ?? null);
    const isSame = stored !== null && before?.hook != null && stored.version === before.hook.version;
    const hook = isSame ? before.hook : stored === null ? null : await source.compile(stored);
    if (isWanted()) keep(key, { readAt, until: readAt + ttlMs, stored, hook });
    return hook;
  };

  const cache: HookCache = {
    read: async (key, source, notOlderThan = 0) => {
      const entry = entries.get(key);
      if (entry !== undefined && options.now() < entry.until && entry.readAt >= notOlderThan) return entry.hook;
      const underWay = loads.get(key);
      if (underWay !== undefined)
        return await joinFlight(underWay, () => {
          loads.delete(key);
          return cache.read(key, source, notOlderThan);
        });
      const flight: Promise<CompiledHook | null> = load(key, source, () => loads.get(key) === flight).finally(() => {
        if (loads.get(key) === flight) loads.delete(key);
      });
      loads.set(key, flight);
      return await flight;
    },
    drop: (key) => {
      entries.delete(key);
      loads.delete(key);
    },
  };
  return cache;
}
