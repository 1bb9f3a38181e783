/** One kind of published values in isolate memory, opened for use: from KV, else from the Catalog (`published-reader.ts`). */
import type { ZodType } from 'zod';
import { limits } from '../../core/limits/limits.ts';
import type { Clock } from '../../ports/runtime.ts';
import { kvKeys } from '../keys.ts';
import type { PublishedReader } from './published-reader.ts';
import type { PublishedKind, PublishedValues } from '../published-values.ts';
import { createTimedCache, type Loaded } from '../../platform/timed-cache.ts';

/** `name`: `''` for kinds with one value in a workspace. */
export interface PublishedCache<Value> {
  /** Returns null if it does not exist. */
  read(workspace: string, name?: string): Promise<Value | null>;
  /** Like `read`, but loads the value from the Catalog, because the cached one or that of KV may be outdated. */
  reload(workspace: string, name: string): Promise<Value | null>;
  /** This isolate wrote it: the Catalog is read until KV has the new value. */
  noteWrite(workspace: string, name?: string): void;
  /** Forgets the values of a workspace, because something that they were opened with has changed. */
  forget(workspace: string): void;
}

export type PublishedCacheParts<Kind extends PublishedKind, Value> = {
  reader: PublishedReader;
  clock: Clock;
  kind: Kind;
  /** Names that do not match exist nowhere, and are not looked up. */
  names?: ZodType;
  /** `stored`: null if it does not exist. */
  open?(workspace: string, name: string, stored: PublishedValues[Kind] | null): Promise<Value | null>;
  /** Replaces a value that cannot be loaded, for `limits.missTtlMs`. */
  fallback?(workspace: string, error: unknown): Value;
  maxEntries?: number;
};

export function createPublishedCache<Kind extends PublishedKind, Value = PublishedValues[Kind]>(
  parts: PublishedCacheParts<Kind, Value>,
): PublishedCache<Value> {
  const { reader, clock, kind, names, fallback, maxEntries = limits.maxCachedNames } = parts;
  // Without `open`, `Value` is the stored type.
  const open = parts.open ?? (async (_workspace, _name, stored) => stored as Value | null);
  const cache = createTimedCache<Value | null>({ maxEntries, now: () => clock.now() });
  const keyOf = (workspace: string, name: string): string => kvKeys.published(kind, workspace, name);

  const load = async (workspace: string, name: string, from: 'value' | 'newest'): Promise<Loaded<Value | null>> => {
    try {
      const { value, ttlMs } = await reader[from](kind, workspace, name);
      return { value: await open(workspace, name, value), ttlMs };
    } catch (error) {
      if (fallback === undefined) throw error;
      return { value: fallback(workspace, error), ttlMs: limits.missTtlMs };
    }
  };
  const isName = (name: string): boolean => names === undefined || names.safeParse(name).success;

  return {
    read: async (workspace, name = '') => {
      const key = keyOf(workspace, name);
      const cached = cache.read(key);
      if (cached !== undefined) return cached;
      return isName(name) ? await cache.load(key, () => load(workspace, name, 'value')) : null;
    },
    reload: async (workspace, name) => {
      if (!isName(name)) return null;
      const key = keyOf(workspace, name);
      cache.invalidate(key);
      return await cache.load(key, () => load(workspace, name, 'newest'));
    },
    noteWrite: (workspace, name = '') => {
      const key = keyOf(workspace, name);
      reader.noteWrite(key);
      cache.invalidate(key);
    },
    forget: (workspace) => cache.invalidateWhere((key) => key.startsWith(keyOf(workspace, ' ').slice(0, -1))),
  };
}
