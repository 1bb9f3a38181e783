/**
 * Webhooks in isolate memory, compiled and ready to check deliveries. Each is read again when it expires, and decrypted again only if
 * it was written in the meantime. Missing webhooks are not cached, so that guessed names cannot evict existing ones. Used by
 * `directory.ts`. Also decrypts and compiles them.
 */
import { compileHook, type CompiledHook } from '../../core/triggers/compiled-hook.ts';
import type { SealedHook } from '../published-values.ts';
import { createTimedCache, type Loaded } from '../../platform/timed-cache.ts';
import { Problem } from '../../core/problem.ts';
import type { WebhookSecrets } from '../../core/triggers/webhook.ts';
import type { MasterKey } from '../keys/master-key.ts';
import { openValue } from '../keys/secret-box.ts';

export type HookCache = {
  /** `notOlderThan`: loads the webhook again, whether or not a cached one was read since that time. */
  read(key: string, source: HookSource, notOlderThan?: number): Promise<CompiledHook | null>;
  /** Invalidates the webhook, including the result of a load in flight. */
  invalidate(key: string): void;
};

export type HookSource = {
  /** `known`: the cached webhook. `recheck`: it is loaded again; `fresh`: though it was just read. */
  load(known: SealedHook | null, recheck?: 'cached' | 'fresh'): Promise<Loaded<SealedHook | null>>;
  compile(stored: SealedHook): Promise<CompiledHook>;
};

export function createHookCache(options: { maxEntries: number; now(): number }): HookCache {
  const cache = createTimedCache<{ stored: SealedHook | null; hook: CompiledHook | null }>(options);
  return {
    async read(key, { load, compile }, notOlderThan) {
      const isFresh = notOlderThan !== undefined && cache.read(key, options.now() - notOlderThan) !== undefined;
      const recheck = notOlderThan === undefined ? undefined : isFresh ? 'fresh' : 'cached';
      const { hook } = await cache.load(
        key,
        async (before) => {
          const { value: stored, ttlMs } = await load(before?.stored ?? null, recheck);
          if (stored === null) return { value: { stored, hook: null }, ttlMs };
          const known = before?.hook?.version === stored.version ? before.hook : null;
          return { value: { stored, hook: known ?? (await compile(stored)) }, ttlMs };
        },
        recheck === undefined ? undefined : -1,
      );
      return hook;
    },
    invalidate: cache.invalidate,
  };
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
