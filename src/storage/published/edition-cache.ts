/**
 * Editions in isolate memory, parsed and with their name tables built, so that a warm call needs no I/O and no parsing. Limited by
 * weight; the least recently used are dropped first. An edition is immutable by its hash, so none becomes stale.
 */
import { MB } from '../../core/limits/units.ts';
import { buildAliasMap, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { Edition, EditionPointer } from '../../core/toolset/edition-tool.ts';
import { createTimedCache } from '../../platform/timed-cache.ts';

const editionCacheBytes = 32 * MB;
/** A parsed edition with its tables takes about this many times its bytes. */
const parsedEditionSizeFactor = 3;

/** Returns the names of an edition: cached, else by `load`, once for concurrent callers. `bytes`: of the edition's text. */
export function createEditionNames(options: {
  load(workspace: string, hash: string): Promise<{ edition: Edition; bytes: number }>;
  aliases: boolean;
  /** Given by tests. */
  maxBytes?: number;
}): (workspace: string, pointer: EditionPointer) => Promise<AliasMap> {
  const { load, aliases, maxBytes: max = editionCacheBytes } = options;
  const of = ({ bytes }: { bytes: number }): number => bytes * parsedEditionSizeFactor;
  // An edition does not expire.
  const cache = createTimedCache<{ names: AliasMap; bytes: number }>({ maxEntries: Infinity, now: () => 0, weigh: { of, max } });
  return async (workspace, { hash }) => {
    const loader = async () => {
      const { edition, bytes } = await load(workspace, hash);
      return { value: { names: buildAliasMap(edition, { aliases }), bytes }, ttlMs: Infinity };
    };
    return (await cache.load(`${workspace}:${hash}`, loader)).names;
  };
}
