/**
 * Limits the number of open change streams per key in this isolate: each polls its toolset, its key and its servers. Streams of revision
 * 2026-07-28 and of sessions count alike.
 */
import { limits } from '../../core/limits.ts';
import type { Principal } from '../../core/principal.ts';
import { Problem } from '../../core/problem.ts';

/** Concurrent listening streams of one key in an isolate: one for each client that shares it. */
export const maxMcpListeners = 256;

/** Shared by the isolate. */
export const listeners = createOpenListeners();

type Key = Pick<Principal, 'workspace' | 'keyId'>;

type OpenListeners = {
  /** Throws `rate_limited`. */
  requireCapacity(key: Key, now: number): void;
  during(key: Key, now: number, listening: Promise<void>): Promise<void>;
};

function createOpenListeners(): OpenListeners {
  /** By key, with the latest end of each stream: if the platform ends a request, no code of it runs any more to remove the entry. */
  const open = new Map<string, Set<{ until: number }>>();

  const countOf = (name: string, now: number): number => {
    const own = open.get(name);
    if (own === undefined) return 0;
    for (const one of own) if (one.until <= now) own.delete(one);
    if (own.size === 0) open.delete(name);
    return own.size;
  };

  return {
    requireCapacity(key, now) {
      if (countOf(nameOf(key), now) < maxMcpListeners) return;
      const detail = `This key already has ${maxMcpListeners} open change streams. Close one, or use another key.`;
      throw new Problem('rate_limited', detail, { retryAfterMs: limits.mcpListenRetryMs });
    },
    async during(key, now, listening) {
      const name = nameOf(key);
      if (open.size >= limits.maxCachedNames) open.clear();
      const own = open.get(name) ?? new Set();
      open.set(name, own);
      const one = { until: now + limits.mcpStreamMs };
      own.add(one);
      try {
        await listening;
      } finally {
        own.delete(one);
      }
    },
  };
}

function nameOf({ workspace, keyId }: Key): string {
  return JSON.stringify([workspace, keyId]);
}
