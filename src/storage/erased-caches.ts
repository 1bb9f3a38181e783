/** Erases cached replies and stored results from KV. What KV still returns of them is not used: one key of the workspace says since when. */
import { recordOf, tryParse } from '../core/json/wire-value.ts';
import { cacheSeconds } from '../core/model/cache/cache-policy.ts';
import type { CachedReplies } from '../engine/proxy/reply-cache.ts';
import type { Clock } from '../ports/runtime.ts';
import { kvKeys } from './keys.ts';

/** Each is a request of the Worker to KV. */
const maxErasedAtOnce = 400;
/** Of keys and of toolsets. Beyond it everything is erased, since none may be forgotten. */
const maxMarks = 500;

/** When (ms): of the whole workspace, of keys by id, and of toolsets by name. */
export type Erased = { all?: number; keys?: Record<string, number>; toolsets?: Record<string, number> };
type Cached = { at: number; keyId?: string; toolset?: string };

export async function readErased(kv: KVNamespace, workspace: string): Promise<Erased> {
  return recordOf(tryParse((await kv.get(kvKeys.erasedCache(workspace, ''))) ?? '{}'));
}

export function isErased({ all = 0, keys = {}, toolsets = {} }: Erased, { at, keyId = '', toolset = '' }: Cached): boolean {
  return at <= Math.max(all, ownMark(keys, keyId), ownMark(toolsets, toolset));
}

function ownMark(marks: Record<string, number>, name: string): number {
  return Object.hasOwn(marks, name) ? (marks[name] ?? 0) : 0;
}

export async function eraseCached(
  { kv, clock }: { kv: KVNamespace; clock: Clock },
  workspace: string,
  { key, toolset }: Parameters<CachedReplies['erase']>[1],
): ReturnType<CachedReplies['erase']> {
  const now = clock.now();
  const before = await readErased(kv, workspace);
  const marked = (marks: Record<string, number> = {}, name: string | undefined) =>
    Object.fromEntries([
      ...Object.entries(marks).filter(([, at]) => at > now - cacheSeconds.max * 1_000),
      ...(name === undefined ? [] : [[name, now]]),
    ]);
  const next = { ...before, keys: marked(before.keys, key), toolsets: marked(before.toolsets, toolset) };
  const isFull = [next.keys, next.toolsets].some((marks) => Object.keys(marks).length > maxMarks);
  const isAll = isFull || (key === undefined && toolset === undefined);
  const text = JSON.stringify(isAll ? { all: now } : next);
  await kv.put(kvKeys.erasedCache(workspace, ''), text, { expirationTtl: cacheSeconds.max });
  const prefixes = [
    ...(isAll ? [kvKeys.cached(workspace, ''), kvKeys.result(workspace, '')] : []),
    ...(isAll || key === undefined ? [] : [kvKeys.cached(workspace, `${key}:`)]),
    ...(isAll || toolset === undefined ? [] : [kvKeys.result(workspace, `${toolset}:`)]),
  ];
  let erased = 0;
  for (const prefix of prefixes) {
    const limit = maxErasedAtOnce - erased;
    if (limit === 0) return { erased, isDone: false };
    const page = await kv.list({ prefix, limit });
    await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
    erased += page.keys.length;
    if (!page.list_complete) return { erased, isDone: false };
  }
  return { erased, isDone: true };
}
