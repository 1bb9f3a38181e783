/**
 * The RPC interfaces of the Durable Objects for backups, and their clients. The classes are on a higher floor, where `implements` checks
 * them.
 */
import type { BackedUpObject, TableRows } from '../../core/backup/archive.ts';
import { Problem, unwrap, type Outcome } from '../../core/problem.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Bindings } from '../bindings.ts';
import { isRetryable, wasClosed } from '../catalog-client.ts';
import { objectName } from '../keys.ts';
import { sessionObjectId } from '../session-client.ts';
import type { ReadPage, ReadPosition } from './table-reader.ts';

/** One call reads or writes some megabytes. */
const callTimeoutMs = 60_000;
const maxRetries = 3;

/** Which object is meant; it refuses to be another one. */
export type BackupName = { workspace: string; object: BackedUpObject };

/**
 * `mark`: the object refuses other requests from now on. `reset`: ends the object's instance, so that nothing of an earlier request writes to
 * restored tables; the call fails. `begin`: deletes all rows. `part`: writes rows, with `first` after `begin`. The `last`
 * rows of a session complete it; it stays unavailable until `activate`.
 */
export type RestoreStep =
  | { step: 'begin'; schema: number }
  | { step: 'part'; schema: number; first: boolean; last: boolean; tables: readonly TableRows[] }
  | { step: 'mark' | 'end' | 'activate' | 'abandon' | 'reset' };

export interface BackupRpc {
  /** Returns null if there is no such object. */
  readBackup(name: BackupName, at: ReadPosition | null): Promise<Outcome<ReadPage | 'changed' | null>>;
  restoreStep(name: BackupName, step: RestoreStep): Promise<Outcome<void>>;
}

export type ListedId = { number: number; id: string };

/** `progress`: JSON of the restore, null if none is in progress. `notEmpty`: why nothing may be restored into the workspace. */
export type CatalogRestoreStatus = {
  progress: string | null;
  finishing: number;
  notEmpty: string | null;
  auditShards: number;
  /** Its number in the list; 0 without sessions. */
  newestSession: number;
};

/** What the Catalog does for a backup or restore besides `BackupRpc`. Each method may be repeated. */
export interface CatalogBackupMethods {
  /** Sessions with a number above `after`, in their order. */
  sessionIds(after: number, limit: number): ListedId[];
  restoreStatus(): CatalogRestoreStatus;
  /** Deletes some of the compiled editions in KV, which no later sweep would know. Returns whether there may be more. */
  clearEditions(): Promise<boolean>;
  /** Throws `conflict` if the workspace is not empty. */
  beginRestore(options: { replace: boolean; progress: string }): Promise<void>;
  saveProgress(progress: string): void;
  /** A session that was not restored, or was cleared, leaves the lists. */
  dropSession(id: string): void;
  endRestore(options: EndOptions): Promise<SkippedDocument[]>;
  /** Records a backup in the audit. */
  noteBackup(keyId: string): void;
}
export type CatalogBackupMethod = keyof CatalogBackupMethods;

export interface CatalogBackupRpc extends BackupRpc {
  runBackup<Name extends CatalogBackupMethod>(
    workspace: string,
    method: Name,
    args: Parameters<CatalogBackupMethods[Name]>,
  ): Promise<Outcome<Awaited<ReturnType<CatalogBackupMethods[Name]>>>>;
}

/** `newestSession`: the last one that the archive can have. */
export type EndOptions = { keyId: string; allowCommands: boolean; newestSession: number };
export type SkippedDocument = { kind: string; name: string; reason: string };

/** Calls an object. A failure of the platform is retried: all calls may be repeated. */
export async function callObject<T>(stub: () => Promise<BackupRpc>, work: (object: BackupRpc) => Promise<Outcome<T>>): Promise<T> {
  return unwrap(await attempt(stub, work));
}

export async function callCatalogBackup<Name extends CatalogBackupMethod>(
  bindings: Bindings,
  workspace: string,
  method: Name,
  ...args: Parameters<CatalogBackupMethods[Name]>
): Promise<Awaited<ReturnType<CatalogBackupMethods[Name]>>> {
  const stub = async (): Promise<CatalogBackupRpc> =>
    // The class is on a higher floor, where `implements` is checked.
    (await untypedStub(bindings, workspace, { kind: 'catalog', id: '' })) as unknown as CatalogBackupRpc;
  return unwrap(await attempt(stub, (catalog) => catalog.runBackup(workspace, method, args)));
}

/** Throws a problem if the session cannot be made available at all. */
export async function activateSession(bindings: Bindings, workspace: string, id: string): Promise<void> {
  const name: BackupName = { workspace, object: { kind: 'session', id } };
  await callObject(
    () => stubOf(bindings, name),
    (session) => session.restoreStep(name, { step: 'activate' }),
  );
}

async function attempt<Rpc, T>(stub: () => Promise<Rpc>, work: (object: Rpc) => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const late = (): never => {
    throw new Problem('unavailable', 'An object of the workspace did not respond in time. Continue the backup or restore.');
  };
  const once = async (): Promise<Outcome<T>> => await withTimeout(systemClock, work(await stub()), callTimeoutMs, late);
  for (let failures = 0; ; failures += 1) {
    try {
      return await once();
    } catch (error) {
      if (failures >= maxRetries || !(isRetryable(error) || wasReset(error) || wasClosed(error))) throw error;
    }
  }
}

/** The reason with which an object ends its instance. */
export const resetReason = 'the object is being restored';

export function wasReset(error: unknown): boolean {
  return error instanceof Error && error.message.includes(resetReason);
}

export async function stubOf(bindings: Bindings, { workspace, object }: BackupName): Promise<BackupRpc> {
  return (await untypedStub(bindings, workspace, object)) as unknown as BackupRpc;
}

async function untypedStub({ CATALOG, SESSION, AUDIT_SHARD, USAGE }: Bindings, workspace: string, { kind, id }: BackedUpObject) {
  switch (kind) {
    case 'catalog':
      return CATALOG.get(CATALOG.idFromName(await objectName(workspace, 'catalog', '')));
    case 'audit':
      return AUDIT_SHARD.get(AUDIT_SHARD.idFromName(await objectName(workspace, 'audit-shard', id)));
    case 'usage':
      return USAGE.get(USAGE.idFromName(await objectName(workspace, 'usage', id)));
    case 'session':
      return SESSION.get(sessionObjectId(SESSION, id));
    default:
      return kind satisfies never;
  }
}
