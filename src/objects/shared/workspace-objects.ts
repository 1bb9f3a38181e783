/**
 * The objects of a workspace that no list has: sessions of chat requests, MCP sessions, open calls, files of keys and counters of limits. For every workspace
 * except `default`, which cannot be deleted, a usage shard notes each of them before it is created, so that the deletion of the workspace finds it.
 */
import { limits } from '../../core/limits/limits.ts';
import { defaultWorkspace, unknownWorkspace } from '../../core/people/workspace.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { type ObjectKind, usageShard, usageShardCount } from '../usage/client/usage-shard-client.ts';

/** How an object erases what it has of a workspace. May be repeated. Afterwards it is as if it had never been used. */
export interface ErasableRpc {
  eraseWorkspace(workspace: string): Promise<void>;
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
    const shard = usageShard(bindings, workspace, Number.parseInt(id.slice(-4), 16) % usageShardCount);
    if (!(await shard.noteObject(workspace, { kind, id }, at + notedMs[kind]))) throw unknownWorkspace(workspace);
    if (noted.size >= limits.maxCachedNames) noted.clear();
    noted.set(key, at);
  };
}
