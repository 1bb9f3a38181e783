/**
 * Editions in isolate memory, parsed and with their name tables built, so that a warm call needs no I/O and no parsing. Limited by
 * weight; the least recently used are dropped first. An edition is immutable by its hash, so none becomes stale.
 */
import { MB } from '../../core/limits/units.ts';
import { buildAliasMap, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { Edition, EditionPointer } from '../../core/toolset/edition-tool.ts';
import { joinInFlight } from '../../platform/timed-cache.ts';

const editionCacheBytes = 32 * MB;
/** A parsed edition with its tables takes about this many times its bytes. */
const parsedEditionSizeFactor = 3;

/** Returns the names of an edition: cached, else by `load`, once for concurrent callers. `bytes`: of the edition's text. */
export function createEditionNames(options: {
  load(workspace: string, hash: string): Promise<{ edition: Edition; bytes: number }>;
  aliases: boolean;
}): (workspace: string, pointer: EditionPointer) => Promise<AliasMap> {
  const editions = createEditionCache({ maxBytes: editionCacheBytes, weight: parsedEditionSizeFactor });
  const loads = new Map<string, Promise<AliasMap>>();

  const names = async (workspace: string, pointer: EditionPointer): Promise<AliasMap> => {
    const cached = editions.get(workspace, pointer.hash);
    if (cached !== undefined) return cached;
    const key = `${workspace}:${pointer.hash}`;
    const inFlight = loads.get(key);
    if (inFlight !== undefined)
      return joinInFlight(inFlight, () => {
        if (loads.get(key) === inFlight) loads.delete(key);
        return names(workspace, pointer);
      });
    const load: Promise<AliasMap> = options
      .load(workspace, pointer.hash)
      .then(({ edition, bytes }) => {
        const built = buildAliasMap(edition, { aliases: options.aliases });
        editions.set(workspace, pointer.hash, built, bytes);
        return built;
      })
      .finally(() => {
        if (loads.get(key) === load) loads.delete(key);
      });
    loads.set(key, load);
    return load;
  };
  return names;
}

export interface EditionCache {
  get(workspace: string, hash: string): AliasMap | undefined;
  /** `bytes`: of the edition's text; the parsed form weighs more (`weight`). */
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
