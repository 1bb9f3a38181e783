/**
 * Editions in isolate memory, parsed and with their name tables built, so that a warm call needs no I/O and no parsing. Limited by
 * weight; the least recently used are dropped first. An edition is immutable by its hash, so none becomes stale.
 */
import type { AliasMap } from '../core/toolset/alias-map.ts';

export interface EditionCache {
  get(workspace: string, hash: string): AliasMap | undefined;
  /** `bytes`: of the edition's text; the parsed form weighs more (`limits.parsedEditionWeight`). */
  set(workspace: string, hash: string, names: AliasMap, bytes: number): void;
}

export function createEditionCache(options: { maxBytes: number; weight: number }): EditionCache {
  const entries = new Map<string, { names: AliasMap; weight: number }>();
  let total = 0;

  return {
    get: (workspace, hash) => {
      const key = `${workspace}:${hash}`;
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.names;
    },
    set: (workspace, hash, names, bytes) => {
      const key = `${workspace}:${hash}`;
      const weight = bytes * options.weight;
      total += weight - (entries.get(key)?.weight ?? 0);
      entries.delete(key);
      entries.set(key, { names, weight });
      // The newest stays even if it alone exceeds the limit, since it is about to be used.
      for (const [oldest, entry] of entries) {
        if (total <= options.maxBytes || oldest === key) break;
        entries.delete(oldest);
        total -= entry.weight;
      }
    },
  };
}
