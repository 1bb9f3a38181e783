/** Stores in KV the replies that equal requests are answered with (`engine/proxy/reply-cache.ts`), until they expire or are erased. */
import type { CachedReplies, CachedReply } from '../engine/proxy/reply-cache.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { WaitUntil } from '../platform/background.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import { eraseCached, isErased, readErased } from './erased-caches.ts';
import { kvKeys } from './keys.ts';

/** A request to a model waits at most this long for it. */
const readTimeoutMs = 1_000;
/** An error of KV is logged: the request is sent to its model. */
export function createCachedReplies(deps: { kv: KVNamespace; log: Logger; background: WaitUntil; clock: Clock }): CachedReplies {
  const { kv, log, background, clock } = deps;
  const failed = (error: unknown): null => {
    log.error('a cached reply could not be stored or read', { error: String(error) });
    return null;
  };
  return {
    async get(workspace, name) {
      const read = Promise.all([kv.get(kvKeys.cached(workspace, name)), readErased(kv, workspace)]);
      const [text, erased] = (await withTimeout(clock, read, readTimeoutMs, () => null).catch(failed)) ?? [null, {}];
      // Written by `put`.
      const reply = text === null ? null : (JSON.parse(text) as CachedReply);
      return reply === null || isErased(erased, reply) ? null : reply;
    },
    put(workspace, name, reply, ttlSeconds) {
      background(kv.put(kvKeys.cached(workspace, name), JSON.stringify(reply), { expirationTtl: ttlSeconds }).catch(failed));
    },
    erase: (workspace, of) => eraseCached({ kv, clock }, workspace, of),
  };
}
