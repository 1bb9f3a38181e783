/** Stores results of tools that only read in KV (`ports/result-store.ts`), until they expire. */
import { isRecord, tryParse } from '../core/json/wire-value.ts';
import { KB } from '../core/limits/units.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { WaitUntil } from '../platform/background.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { StoredResult, StoredResults } from '../ports/result-store.ts';
import { isErased, readErased } from './erased-caches.ts';
import { kvKeys } from './keys.ts';

const maxStoredCharacters = 512 * KB;
const readTimeoutMs = 3_000;
/** KV keeps nothing for less; the age is checked when a result is read. */
const leastKvSeconds = 60;
/** Of one workspace and isolate, so that calls with ever new arguments do not fill KV. */
const maxWritesEachMinute = 600;

type StoreDeps = { kv: KVNamespace; log: Logger; background: WaitUntil; clock: Clock };

export function createStoredResults({ kv, log, background, clock }: StoreDeps, workspace: string): StoredResults {
  let writes = { since: 0, count: 0 };
  const failed = (error: unknown): null => {
    log.error('a result of a tool could not be stored or read', { error: String(error) });
    return null;
  };
  return {
    async get(toolset, hash) {
      const read = Promise.all([kv.get(kvKeys.result(workspace, `${toolset}:${hash}`)), readErased(kv, workspace)]);
      const [text, erased] = (await withTimeout(clock, read, readTimeoutMs, () => null).catch(failed)) ?? [null, {}];
      const stored = text === null ? null : tryParse(text);
      // Written below.
      return isRecord(stored) && !isErased(erased, { ...(stored as StoredResult), toolset }) ? (stored as StoredResult) : null;
    },
    put(toolset, hash, stored, ttlSeconds) {
      const now = clock.now();
      if (now - writes.since > 60_000) writes = { since: now, count: 0 };
      writes.count += 1;
      if (writes.count === maxWritesEachMinute + 1) log.info('results of tools are not stored until the next minute', { workspace });
      const text = JSON.stringify(stored);
      if (writes.count > maxWritesEachMinute || text.length > maxStoredCharacters) return;
      const key = kvKeys.result(workspace, `${toolset}:${hash}`);
      background(kv.put(key, text, { expirationTtl: Math.max(leastKvSeconds, ttlSeconds) }).catch(failed));
    },
  };
}
