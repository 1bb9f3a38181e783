/**
 * Reads published documents after a cache miss: from KV first, then from the Catalog when KV has nothing, an unknown format, or a
 * value that may be older than a write of this isolate. Stores only the times of those writes; used by `directory.ts`.
 */
import type { Edition, EditionPointer, ToolsetStanding } from '../../core/toolset/edition-tool.ts';
import { sha256Hex } from '../../core/hash.ts';
import { isRecord, tryParse } from '../../core/json/wire-value.ts';
import { createAllowance } from '../../core/limits/allowance.ts';
import { limits } from '../../core/limits/limits.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Bindings } from '../bindings.ts';
import { callCatalog } from '../../objects/catalog/client/catalog-client.ts';
import { kvKeys } from '../keys.ts';
import { publishedFormat } from '../published-values.ts';
import type {
  PublishedKind,
  PublishedPointer,
  PublishedTombstone,
  PublishedValue,
  PublishedValues,
  SealedHook,
} from '../published-values.ts';
import { loadIfFound, type Loaded } from '../../platform/timed-cache.ts';

export const pointerCacheTtlSeconds = 30;
export const editionCacheTtlSeconds = 86_400;
/** Of one isolate. A published webhook needs none of them. */
const lookupsOfStrangers = { burst: 20, everyMs: 1_000 };
/** KV responds in tens of milliseconds; after this the Catalog is asked. */
export const kvReadTimeoutMs = 3_000;
const missingEdition =
  'A compiled toolset is missing from the store: start a new turn if this one waited for more than 30 days, otherwise PUT the toolset again.';
/** `toolset@version`: the pointer only changes by a revision, which may be visible this late. */
const pinnedPointerTtlMs = 60_000;

/** An edition of a toolset, and what applies to all of its versions. */
export type ToolsetHead = EditionPointer & ToolsetStanding;

/**
 * `known`: the previous result. `recheck`: that was not what the request is signed with; `fresh`: though it was just read. `catalog`: the
 * workspace whose Catalog is asked; instead of an unknown workspace another one, for the same cost.
 */
export type HookLookup = { known: SealedHook | null; recheck?: 'cached' | 'fresh' | undefined; catalog(): Promise<string> };

export function createPublishedReader(options: { env: Bindings; clock: Clock; log?: Logger }) {
  const { env, clock, log } = options;
  /** KV keys and prefixes written here → the time until which KV may have an older value. */
  const writes = new Map<string, number>();
  const strangers = createAllowance(() => clock.now(), lookupsOfStrangers);

  const isFresh = (key: string, prefix: string): boolean => {
    const until = Math.max(writes.get(key) ?? 0, writes.get(prefix) ?? 0);
    return until > clock.now();
  };

  const readKv = (key: string, cacheTtl: number): Promise<string | null> =>
    withTimeout(systemClock, env.KV.get(key, { type: 'text', cacheTtl }), kvReadTimeoutMs, silent);

  const fromKv = async <T extends { format: number }>(key: string): Promise<FromKv<T>> => {
    try {
      const text = await readKv(key, pointerCacheTtlSeconds);
      if (text === null) return { value: null, isLost: true };
      const value = tryParse(text);
      // Only the Catalog writes these keys, so checking the format number is enough.
      if (isRecord(value) && value.format === publishedFormat) return { value: value as T, isLost: false };
      log?.error('KV holds another format', { key });
      return { value: null, isLost: true };
    } catch (error) {
      log?.error('KV could not be read', { key, cause: String(error) });
      return unasked;
    }
  };

  /** `ask` calls the Catalog, and is passed whether KV has lost the document. */
  const readDocument = async <Value, Published extends { format: number }>(
    key: string,
    prefix: string,
    pick: (published: Published) => Value,
    ask: (isLost: boolean) => Promise<Value>,
  ): Promise<Loaded<Value | null>> => {
    const { value: published, isLost } = isFresh(key, prefix) ? unasked : await fromKv<Published | PublishedTombstone>(key);
    // Only tombstones have a `deleted` field.
    const value = published === null ? undefined : 'deleted' in published ? null : pick(published as Published);
    if (value !== undefined) return { value, ttlMs: limits.publishedTtlMs };
    return await loadIfFound(limits.publishedTtlMs, ask(isLost || published !== null));
  };

  const askValue = async <Kind extends PublishedKind>(
    kind: Kind,
    workspace: string,
    name: string,
    isLost: boolean,
  ): Promise<PublishedValues[Kind]> =>
    // The type of a method's result loses its type parameter; the Catalog returns the value of the kind that it was asked for.
    (await callCatalog(env, workspace, 'published', [kind, name, isLost])) as PublishedValues[Kind];

  return {
    /** Returns null when the toolset or version does not exist. */
    pointer: async (workspace: string, toolset: string, version: number | undefined): Promise<Loaded<ToolsetHead | null>> => {
      const ask = (isLost: boolean) => callCatalog(env, workspace, 'pointer', [toolset, version, isLost]);
      if (version !== undefined) return await loadIfFound(pinnedPointerTtlMs, ask(false));
      return await readDocument(kvKeys.toolset(workspace, toolset), kvKeys.toolset(workspace, ''), pointerOf(toolset), ask);
    },

    /** Returns null if it does not exist. `name`: `''` for kinds with one value in a workspace. */
    value: async <Kind extends PublishedKind>(
      kind: Kind,
      workspace: string,
      name: string,
    ): Promise<Loaded<PublishedValues[Kind] | null>> => {
      const key = kvKeys.published(kind, workspace, name);
      const pick = (published: PublishedValue<Kind>) => (published as Pick<PublishedValues, Kind>)[kind];
      return await readDocument(key, key, pick, (isLost) => askValue(kind, workspace, name, isLost));
    },

    /** Like `value`, from the Catalog. */
    newest: <Kind extends PublishedKind>(kind: Kind, workspace: string, name: string): Promise<Loaded<PublishedValues[Kind] | null>> =>
      loadIfFound(limits.publishedTtlMs, askValue(kind, workspace, name, false)),

    /** Returns the newest pointer of the Catalog; KV is read only when the Catalog cannot be reached. */
    newestPointer: async (workspace: string, toolset: string): Promise<ToolsetHead | null> => {
      try {
        return await nullIfNotFound(callCatalog(env, workspace, 'pointer', [toolset, undefined, false]));
      } catch (error) {
        log?.error('the newest pointer could not be read from the Catalog: using KV, which may be older', {
          workspace,
          toolset,
          cause: String(error),
        });
        const { value } = await fromKv<PublishedPointer | PublishedTombstone>(kvKeys.toolset(workspace, toolset));
        return value === null || 'deleted' in value ? null : pointerOf(toolset)(value);
      }
    },

    /**
     * Like `value`, for requests of strangers: the Catalog is asked while their allowance lasts, if KV has nothing, and again for the newest
     * (`recheck`), so that a webhook whose signature is wrong costs what an unknown one costs. Throws `upstream_timeout` when it cannot be
     * known whether the webhook exists.
     */
    hook: async (workspace: string, name: string, { known, recheck, catalog }: HookLookup): Promise<Loaded<SealedHook | null>> => {
      const key = kvKeys.published('hook', workspace, name);
      const isNew = isFresh(key, key);
      const cached = (value: SealedHook | null) => ({ value, ttlMs: value === null ? 0 : limits.hookTtlMs });
      // Who writes it here is no stranger, and KV may not have it yet.
      if (isNew && known === null) return cached(await nullIfNotFound(askValue('hook', workspace, name, false)));
      const { value: found, isLost: isMissing } =
        recheck === 'fresh' ? unasked : await fromKv<PublishedValue<'hook'> | PublishedTombstone>(key);
      // If it is new, `known` is from the Catalog, and KV may not have it yet.
      const isKnown = recheck === 'fresh' || (isNew && known !== null && (found?.version ?? 0) <= known.version);
      const published = isKnown ? known : found === null ? undefined : 'deleted' in found ? null : found.hook;
      const isLost = isMissing || (found !== null && published === undefined);
      if (published !== undefined && recheck === undefined) return cached(published);
      if (!strangers.take()) return published === undefined && !isLost ? hooksUnavailable() : cached(published ?? null);
      try {
        const asked = isNew ? workspace : await catalog();
        const value = await nullIfNotFound(askValue('hook', asked, name, isLost && asked === workspace));
        return cached(asked === workspace ? value : null);
      } catch (cause) {
        return published === undefined ? hooksUnavailable(cause) : cached(published);
      }
    },

    /** `bytes`: length of its text. Throws `internal` when it does not exist: a pointer never names an edition that is not stored. */
    edition: async (workspace: string, hash: string): Promise<{ edition: Edition; bytes: number }> => {
      const key = kvKeys.edition(workspace, hash);
      try {
        const text = await readKv(key, editionCacheTtlSeconds);
        const read = text === null ? null : await readEdition(text, workspace, hash);
        if (read !== null) return read;
        if (text !== null) log?.error('KV holds another edition than its key says', { key });
      } catch (error) {
        log?.error('KV could not be read', { key, cause: String(error) });
      }
      const text = await nullIfNotFound(callCatalog(env, workspace, 'editionText', [hash]));
      const read = text === null ? null : await readEdition(text, workspace, hash);
      if (read === null) throw new Problem('internal', missingEdition);
      return read;
    },

    /** Notes a write of this isolate to this KV key. */
    noteWrite: (key: string) => note(writes, key, clock.now()),
    /** Notes a write of this isolate to any KV key with this prefix. */
    noteWritesUnder: (prefix: string) => note(writes, prefix, clock.now()),
  };
}

export type PublishedReader = ReturnType<typeof createPublishedReader>;

/** `isLost`: KV responded and does not have the value that it should have. False when KV did not respond. */
type FromKv<T> = { value: T | null; isLost: boolean };

const unasked = { value: null, isLost: false } as const;

function silent(): never {
  throw new Error('KV did not respond in time');
}

function hooksUnavailable(cause?: unknown): never {
  const retry = { retryAfterMs: limits.defaultRetryAfterMs };
  throw new Problem('upstream_timeout', 'The webhook store did not respond in time. Send the delivery again.', retry, { cause });
}

function pointerOf(toolset: string): (published: PublishedPointer) => ToolsetHead {
  return ({ format: _format, ...head }) => ({ toolset, ...head });
}

function note(writes: Map<string, number>, key: string, now: number): void {
  for (const [known, until] of writes) if (until <= now || writes.size >= limits.maxCachedNames) writes.delete(known);
  writes.set(key, now + limits.freshReadMs);
}

/** Returns null when the text is not the edition of this hash. Only the Catalog can have written a text with this hash. */
async function readEdition(text: string, workspace: string, hash: string): Promise<{ edition: Edition; bytes: number } | null> {
  if ((await sha256Hex(text)) !== hash) return null;
  const edition = JSON.parse(text) as Edition;
  return edition.format === 1 && edition.workspace === workspace ? { edition, bytes: utf8Length(text) } : null;
}
