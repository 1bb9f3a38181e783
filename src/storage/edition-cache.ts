/**
 * Editions in isolate memory, parsed and with their name tables built: what makes a warm call cost no I/O and no parse.
 * Bounded by weight, least recently used out first. An edition is immutable by its hash, so none ever goes stale.
 */
import type { AliasMap } from '../core/alias-map.ts';

export interface EditionCache {
  get(workspace: string, hash: string): AliasMap | undefined;
  /** `bytes`: of the edition's text; what is kept weighs more (`limits.parsedEditionWeight`). */
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
      // The newest stays even when it alone is over the bound: somebody is about to use it.
      for (const [oldest, entry] of entries) {
        if (total <= options.maxBytes || oldest === key) break;
        entries.delete(oldest);
        total -= entry.weight;
      }
    },
  };
}
