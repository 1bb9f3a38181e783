/**
 * Erases a workspace in bounded steps that may be repeated: `step` until nothing is left, and `finish` some time later, when nothing can be
 * written any more. The Catalog of `default` drives it (`catalog/workspaces/deletions.ts`).
 */
import { limits } from '../core/limits.ts';
import { nullIfNotFound, Problem, unwrap, type Outcome } from '../core/problem.ts';
import { systemKeyId, type Principal } from '../core/principal.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Sessions } from '../ports/session.ts';
import { callObject, stubOf } from './backup/backup-objects.ts';
import type { Bindings } from './bindings.ts';
import { callCatalog, isRetryable, wasClosed } from './catalog-client.ts';
import { kvPrefixes, kvSingles, objectName } from './keys.ts';
import { eraseCounter } from './limit-counter-client.ts';
import { usageShardCount } from './usage-shards.ts';
import { type ErasableRpc, type NotedObject, usageShard } from './workspace-objects.ts';

/** Each is ended and deleted at the same time. */
const sessionsPerStep = 25;
const objectsPerShard = 10;
/** Each is a request to KV. */
const valuesPerStep = 200;
const callTimeoutMs = 30_000;
const maxRetries = 3;

/** What `closeWorkspace` of a Catalog returns: some of its sessions, how many there are, and how many audit shards have rows. */
export type ClosedCatalog = { sessions: string[]; count: number; auditShards: number };

export interface ErasableCatalogRpc extends ErasableRpc {
  /** From now on, keys are refused, nothing is started or published, and only what ends sessions is accepted. */
  closeWorkspace(workspace: string, limit: number): Promise<Outcome<ClosedCatalog>>;
}

export interface WorkspaceEraser {
  /** Returns how much is left, by kind; all zero: nothing. Throws if something could not be erased now. */
  step(workspace: string): Promise<Record<string, number>>;
  /** Erases the audit, the usage and, last, the Catalog. */
  finish(workspace: string): Promise<void>;
}

type Deps = { bindings: Bindings; sessions: Sessions; auditShards: number; log: Logger };

export function createWorkspaceEraser(deps: Deps): WorkspaceEraser {
  const { bindings, log } = deps;
  return {
    async step(workspace) {
      const catalog = await closeCatalog(bindings, workspace, sessionsPerStep);
      const shards = await Promise.all(
        usageShards.map(async (shard) => await (await usageShard(bindings, workspace, shard)).closeWorkspace(workspace, objectsPerShard)),
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
        await (await usageShard(bindings, workspace, shard)).forgetObjects(done.map(({ id }) => id));
      const ended = await Promise.all(catalog.sessions.map(async (id) => await attempt(log, eraseSession(deps, workspace, id))));
      const objects = shards.reduce((sum, { count }) => sum + count, 0);
      return {
        sessions: catalog.count - ended.filter(Boolean).length,
        objects: objects - erased.filter((item) => item !== null).length,
        values,
      };
    },

    async finish(workspace) {
      const { auditShards } = await closeCatalog(bindings, workspace, 0);
      const { AUDIT_SHARD, USAGE } = bindings;
      for (let shard = 0; shard < Math.max(auditShards, deps.auditShards); shard += 1)
        await eraseNamed(AUDIT_SHARD, await objectName(workspace, 'audit-shard', String(shard)), workspace);
      for (const shard of usageShards) await eraseNamed(USAGE, await objectName(workspace, 'usage', String(shard)), workspace);
      await eraseNamed(bindings.CATALOG, await objectName(workspace, 'catalog', ''), workspace);
    },
  };
}

const usageShards = Array.from({ length: usageShardCount }, (_, shard) => shard);

async function closeCatalog({ CATALOG }: Bindings, workspace: string, limit: number): Promise<ClosedCatalog> {
  const id = CATALOG.idFromName(await objectName(workspace, 'catalog', ''));
  // The class is on a higher floor, where `implements` is checked.
  return unwrap(await retried(() => (CATALOG.get(id) as unknown as ErasableCatalogRpc).closeWorkspace(workspace, limit)));
}

async function eraseNamed(namespace: DurableObjectNamespace, name: string, workspace: string): Promise<void> {
  await retried(() => (namespace.get(namespace.idFromName(name)) as unknown as ErasableRpc).eraseWorkspace(workspace));
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

async function eraseObject(deps: Deps, workspace: string, { kind, id }: NotedObject): Promise<void> {
  if (kind === 'mcp-session') return await eraseNamed(deps.bindings.MCP_SESSION, id, workspace);
  if (kind === 'limits') return await eraseCounter(deps.bindings, id);
  await eraseSession(deps, workspace, id);
  const caller = administrator(workspace);
  if ((await nullIfNotFound(deps.sessions.get(id).view(caller))) !== null) throw new Error('a session is not deleted yet');
}

/** Ends its turns and deletes it with its row in the index. */
async function eraseSession({ bindings, sessions }: Deps, workspace: string, id: string): Promise<void> {
  try {
    await sessions.get(id).remove(administrator(workspace));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // A session that a restore has not made available yet.
    if (error.code === 'unavailable') {
      const name = { workspace, object: { kind: 'session', id } } as const;
      await callObject(
        () => stubOf(bindings, name),
        (session) => session.restoreStep(name, { step: 'abandon' }),
      );
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

/** All calls may be repeated. */
async function retried<T>(call: () => Promise<T>): Promise<T> {
  const late = (): never => {
    throw new Problem('unavailable', 'An object of the workspace did not respond in time.');
  };
  for (let failures = 0; ; failures += 1) {
    try {
      return await withTimeout(systemClock, call(), Math.max(callTimeoutMs, limits.catalogTimeoutMs), late);
    } catch (error) {
      if (failures >= maxRetries || !(isRetryable(error) || wasClosed(error))) throw error;
    }
  }
}
