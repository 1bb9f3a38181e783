/**
 * Webhooks in isolate memory, compiled and ready to check deliveries. Each is read again when it expires, and decrypted again only if
 * it was written in the meantime. Missing webhooks are not cached, so that guessed names cannot evict existing ones. Used by
 * `directory.ts`. Also decrypts and compiles them.
 */
import { compileHook, type CompiledHook } from '../core/triggers/compiled-hook.ts';
import type { SealedHook } from './catalog-methods.ts';
import { joinInFlight, type Loaded } from './timed-cache.ts';
import { Problem } from '../core/problem.ts';
import type { WebhookSecrets } from '../core/triggers/webhook.ts';
import type { MasterKey } from './master-key.ts';
import { openValue } from './secret-box.ts';

export type HookCache = {
  /** `notOlderThan`: the earliest time at which a cached webhook may have been read; by default its TTL decides. */
  read(key: string, source: HookSource, notOlderThan?: number): Promise<CompiledHook | null>;
  /** Invalidates the webhook, including the result of a load in flight. */
  invalidate(key: string): void;
};

export type HookSource = {
  /** `kept`: the cached webhook. */
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
      const inFlight = loads.get(key);
      if (inFlight !== undefined)
        return await joinInFlight(inFlight, () => {
          loads.delete(key);
          return cache.read(key, source, notOlderThan);
        });
      const flight: Promise<CompiledHook | null> = load(key, source, () => loads.get(key) === flight).finally(() => {
        if (loads.get(key) === flight) loads.delete(key);
      });
      loads.set(key, flight);
      return await flight;
    },
    invalidate: (key) => {
      entries.delete(key);
      loads.delete(key);
    },
  };
  return cache;
}

/** Throws `internal` for a webhook that cannot be decrypted or compiled; the reason is in the cause. */
export async function openHook(master: MasterKey, workspace: string, name: string, stored: SealedHook): Promise<CompiledHook> {
  try {
    const text = await openValue(master, { workspace, kind: 'webhook', name }, stored.sealed);
    // Only the writer of webhooks seals values of this kind.
    const { secrets } = JSON.parse(text) as WebhookSecrets;
    return compileHook(stored, secrets);
  } catch (cause) {
    // The reason is not returned to the sender of the delivery.
    throw new Problem(
      'internal',
      'This delivery cannot be checked because of an internal error. The service log has the reason.',
      {},
      { cause },
    );
  }
}
