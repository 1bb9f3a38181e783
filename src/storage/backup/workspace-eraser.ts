/**
 * Erases a workspace in bounded steps that may be repeated: `step` until nothing is left, and `finish` some time later, when nothing can be
 * written any more. The Catalog of `default` drives it (`objects/catalog/workspaces/deletions.ts`).
 */
import { limits } from '../../core/limits/limits.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import { systemKeyId, type Principal } from '../../core/people/principal.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import { byName, objectClient, type ObjectPlace, plainByName } from '../../objects/shared/object-client.ts';
import { backupObject } from './backup-objects.ts';
import type { Bindings } from '../bindings.ts';
import { callCatalog } from '../../objects/catalog/client/catalog-client.ts';
import { kvPrefixes, kvSingles } from '../keys.ts';
import { objectPlace } from '../../objects/shared/object-place.ts';
import { eraseCounter } from '../../objects/limits/client/limit-counter-client.ts';
import { type NotedObject, usageShard, usageShardCount } from '../../objects/usage/client/usage-shard-client.ts';
import type { ErasableRpc } from '../../objects/shared/workspace-objects.ts';

/** Each is ended and deleted at the same time. */
const sessionsPerStep = 25;
const objectsPerShard = 10;
/** Each is a request to KV. */
const valuesPerStep = 200;
const callTimeoutMs = 30_000;

/** What `closeWorkspace` of a Catalog returns: some of its sessions, how many there are, and how many audit shards have rows. */
export type ClosedCatalog = { sessions: string[]; count: number; auditShards: number };

export interface ClosablePort {
  /** From now on, keys are refused, nothing is started or published, and only what ends sessions is accepted. May be repeated. */
  closeWorkspace(workspace: string, limit: number): Promise<ClosedCatalog>;
}

export interface WorkspaceEraser {
  /** Returns how much is left, by kind; all zero: nothing. Throws if something could not be erased now. */
  step(workspace: string): Promise<Record<string, number>>;
  /** Erases the audit, the usage and, last, the Catalog. */
  finish(workspace: string): Promise<void>;
}

export type EraserDeps = { bindings: Bindings; sessions: Sessions; auditShards: number; log: Logger };

export function createWorkspaceEraser(deps: EraserDeps): WorkspaceEraser {
  const { bindings, log } = deps;
  return {
    async step(workspace) {
      const catalog = await catalogOf(bindings, workspace).closeWorkspace(workspace, sessionsPerStep);
      const shards = await Promise.all(
        usageShards.map((shard) => usageShard(bindings, workspace, shard).closeWorkspace(workspace, objectsPerShard)),
      );
      const values = await eraseValues(bindings.KV, workspace);
      const noted = shards.flatMap(({ objects }, shard) => objects.map((object) => ({ shard, object })));
      const erased = await Promise.all(
        noted.map(async ({ shard, object }) =>
          (await attempt(log, eraseObject(deps, workspace, object))) ? { shard, id: object.id } : null,
        ),
      );
      for (const [shard, done] of Map.groupBy(
        erased.filter((item) => item !== null),
        (item) => item.shard,
      ))
        await usageShard(bindings, workspace, shard).forgetObjects(done.map(({ id }) => id));
      const ended = await Promise.all(catalog.sessions.map(async (id) => await attempt(log, eraseSession(deps, workspace, id))));
      const objects = shards.reduce((sum, { count }) => sum + count, 0);
      return {
        sessions: catalog.count - ended.filter(Boolean).length,
        objects: objects - erased.filter((item) => item !== null).length,
        values,
      };
    },

    async finish(workspace) {
      const { auditShards } = await catalogOf(bindings, workspace).closeWorkspace(workspace, 0);
      const { AUDIT_SHARD, USAGE } = bindings;
      for (let shard = 0; shard < Math.max(auditShards, deps.auditShards); shard += 1)
        await erase(objectPlace(AUDIT_SHARD, workspace, 'audit-shard', String(shard)), workspace);
      for (const shard of usageShards) await erase(objectPlace(USAGE, workspace, 'usage', String(shard)), workspace);
      await erase(objectPlace(bindings.CATALOG, workspace, 'catalog', ''), workspace);
    },
  };
}

const usageShards = Array.from({ length: usageShardCount }, (_, shard) => shard);

const calls = {
  what: 'An object of the workspace',
  timeoutMs: Math.max(callTimeoutMs, limits.catalogTimeoutMs),
  lateCode: 'unavailable',
  maxRetries: 3,
} as const;

function catalogOf({ CATALOG }: Bindings, workspace: string): ClosablePort {
  const place = objectPlace(CATALOG, workspace, 'catalog', '');
  return objectClient({ ...calls, ...place, send: byName<ClosablePort>() }, { closeWorkspace: { retry: true } });
}

async function erase(place: ObjectPlace, workspace: string): Promise<void> {
  const object = objectClient({ ...calls, ...place, send: plainByName<ErasableRpc>() }, { eraseWorkspace: { retry: true } });
  await object.eraseWorkspace(workspace);
}

/** Returns how many values are left; those that another list has are not counted before it is reached. */
async function eraseValues(kv: KVNamespace, workspace: string): Promise<number> {
  await Promise.all(kvSingles(workspace).map((key) => kv.delete(key)));
  let erased = 0;
  for (const prefix of kvPrefixes(workspace)) {
    const listed = await kv.list({ prefix, limit: valuesPerStep - erased });
    await Promise.all(listed.keys.map(({ name }) => kv.delete(name)));
    erased += listed.keys.length;
    if (!listed.list_complete || erased >= valuesPerStep) return 1;
  }
  return erased;
}

async function eraseObject(deps: EraserDeps, workspace: string, { kind, id }: NotedObject): Promise<void> {
  const { MCP_SESSION } = deps.bindings;
  if (kind === 'mcp-session') return await erase({ namespace: MCP_SESSION, id: () => MCP_SESSION.idFromName(id) }, workspace);
  if (kind === 'limits') return await eraseCounter(deps.bindings, id);
  await eraseSession(deps, workspace, id);
  const caller = administrator(workspace);
  if ((await nullIfNotFound(deps.sessions.get(id).view(caller))) !== null) throw new Error('a session is not deleted yet');
}

/** Ends its turns and deletes it with its row in the index. */
async function eraseSession({ bindings, sessions }: EraserDeps, workspace: string, id: string): Promise<void> {
  try {
    await sessions.get(id).remove(administrator(workspace), 'any');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // A session that a restore has not made available yet.
    if (error.code === 'unavailable') {
      await backupObject(bindings, { workspace, object: { kind: 'session', id } }).restoreStep({ step: 'abandon' });
    } else if (error.code !== 'not_found') throw error;
    await callCatalog(bindings, workspace, 'forgetSession', [id, null]);
  }
}

function administrator(workspace: string): Principal {
  return { workspace, keyId: systemKeyId, scopes: ['admin'] };
}

/** One that fails must not delay the others; it is tried again. Returns whether it was done. */
async function attempt(log: Logger, work: Promise<void>): Promise<boolean> {
  const late = (): never => {
    throw new Error('it did not respond in time');
  };
  try {
    await withTimeout(systemClock, work, callTimeoutMs, late);
    return true;
  } catch (error) {
    log.error('an object of a deleted workspace could not be erased; it will be retried', { cause: String(error) });
    return false;
  }
}
