/**
 * The objects of a workspace that no list has: sessions of chat requests, MCP sessions, open calls, files of keys and counters of limits. For every workspace
 * except `default`, which cannot be deleted, a usage shard notes each of them before it is created, so that the deletion of the workspace finds it.
 */
import { limits } from '../core/limits.ts';
import { Problem, quoted } from '../core/problem.ts';
import { defaultWorkspace } from '../core/workspace.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { Bindings } from './bindings.ts';
import { objectName } from './keys.ts';
import { usageShardCount } from './usage-shards.ts';

/** `session`: by the id of the session; the others by the name of the object. */
export type ObjectKind = 'session' | 'mcp-session' | 'limits';
export type NotedObject = { kind: ObjectKind; id: string };

/** How an object erases what it has of a workspace. May be repeated. Afterwards it is as if it had never been used. */
export interface ErasableRpc {
  eraseWorkspace(workspace: string): Promise<void>;
}

export interface ObjectIndexRpc extends ErasableRpc {
  /** Returns false if the workspace does not exist, or is being deleted. */
  noteObject(workspace: string, object: NotedObject, until: number): Promise<boolean>;
  /** From now on, nothing is noted or recorded. Returns some of the noted objects, and how many there are. */
  closeWorkspace(workspace: string, limit: number): Promise<{ objects: NotedObject[]; count: number }>;
  forgetObjects(ids: readonly string[]): Promise<void>;
}

const dayMs = 24 * 60 * 60_000;
/** Longer than an object lives after its last note: a session of a chat request waits up to a week for an approval. */
const notedMs: Readonly<Record<ObjectKind, number>> = {
  session: limits.approvalTtlMs + 2 * dayMs,
  'mcp-session': 3 * dayMs,
  limits: 70 * dayMs,
};
/** An isolate notes an object in use again after this time. */
const noteAgainMs = 60 * 60_000;

/** Notes an object before it is created or used. Throws `not_found` if the workspace does not exist. */
export type NoteObject = (workspace: string, kind: ObjectKind, id: string) => Promise<void>;

export function createObjectNotes(bindings: Pick<Bindings, 'USAGE'>, now: () => number): NoteObject {
  const noted = new Map<string, number>();
  return async (workspace, kind, id) => {
    if (workspace === defaultWorkspace) return;
    const key = `${kind}:${id}`;
    const at = now();
    if ((noted.get(key) ?? 0) > at - noteAgainMs) return;
    const shard = await usageShard(bindings, workspace, Number.parseInt(id.slice(-4), 16) % usageShardCount);
    if (!(await inTime(shard.noteObject(workspace, { kind, id }, at + notedMs[kind]))))
      throw new Problem('not_found', `There is no workspace ${quoted(workspace)}.`);
    if (noted.size >= limits.maxCachedNames) noted.clear();
    noted.set(key, at);
  };
}

export async function usageShard({ USAGE }: Pick<Bindings, 'USAGE'>, workspace: string, shard: number): Promise<ObjectIndexRpc> {
  // The class is on a higher floor; this is its interface.
  return USAGE.get(USAGE.idFromName(await objectName(workspace, 'usage', String(shard)))) as unknown as ObjectIndexRpc;
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  return await withTimeout(systemClock, work, limits.catalogTimeoutMs, () => {
    throw new Error('a usage shard did not respond in time');
  });
}
