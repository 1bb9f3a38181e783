/** Stores in KV the replies that equal requests are answered with (`engine/proxy/reply-cache.ts`), until they expire or are erased. */
import { recordOf, tryParse } from '../core/json/wire-value.ts';
import { cacheSeconds } from '../core/model/cache/cache-policy.ts';
import type { CachedReplies, CachedReply } from '../engine/proxy/reply-cache.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { WaitUntil } from '../platform/background.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import { kvKeys } from './keys.ts';

/** A request to a model waits at most this long for it. */
const readTimeoutMs = 1_000;
/** Each is a request of the Worker to KV. */
const maxErasedAtOnce = 400;

/** When the replies of all keys, and of some, were erased (ms): a copy that KV still returns is not used. */
type Erased = { all?: number; keys?: Record<string, number> };

/** An error of KV is logged: the request is sent to its model. */
export function createCachedReplies(deps: { kv: KVNamespace; log: Logger; background: WaitUntil; clock: Clock }): CachedReplies {
  const { kv, log, background, clock } = deps;
  const failed = (error: unknown): null => {
    log.error('a cached reply could not be stored or read', { error: String(error) });
    return null;
  };
  const erasedIn = async (workspace: string): Promise<Erased> =>
    recordOf(tryParse((await kv.get(kvKeys.erasedCache(workspace, ''))) ?? '{}'));
  return {
    async get(workspace, name) {
      const read = Promise.all([kv.get(kvKeys.cached(workspace, name)), erasedIn(workspace)]);
      const [text, erased] = (await withTimeout(clock, read, readTimeoutMs, () => null).catch(failed)) ?? [null, {}];
      // Written by `put`.
      const reply = text === null ? null : (JSON.parse(text) as CachedReply);
      return reply === null || reply.at <= Math.max(erased.all ?? 0, erased.keys?.[reply.keyId] ?? 0) ? null : reply;
    },
    put(workspace, name, reply, ttlSeconds) {
      background(kv.put(kvKeys.cached(workspace, name), JSON.stringify(reply), { expirationTtl: ttlSeconds }).catch(failed));
    },
    async erase(workspace, keyId) {
      const now = clock.now();
      const erased = await erasedIn(workspace);
      const keys = Object.entries(erased.keys ?? {}).filter(([, at]) => at > now - cacheSeconds.max * 1_000);
      const next: Erased = keyId === undefined ? { all: now } : { ...erased, keys: { ...Object.fromEntries(keys), [keyId]: now } };
      await kv.put(kvKeys.erasedCache(workspace, ''), JSON.stringify(next), { expirationTtl: cacheSeconds.max });
      const page = await kv.list({ prefix: kvKeys.cached(workspace, keyId === undefined ? '' : `${keyId}:`), limit: maxErasedAtOnce });
      await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
      return { erased: page.keys.length, isDone: page.list_complete };
    },
  };
}
