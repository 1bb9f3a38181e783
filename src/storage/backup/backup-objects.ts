/**
 * The RPC interfaces of the Durable Objects for backups, and their clients. The classes are on a higher floor, where `implements` checks
 * them.
 */
import { type BackedUpObject, nameOfObject, type TableRows } from '../../core/backup/archive.ts';
import type { Outcome } from '../../core/problem.ts';
import { byName, type MethodTable, type ObjectBinding, objectClient, type ObjectPlace } from '../../objects/shared/object-client.ts';
import type { ArgumentsOf, Remote, ResultOf } from '../../ports/remote.ts';
import type { Bindings } from '../bindings.ts';
import { objectPlace } from '../../objects/shared/object-place.ts';
import { sessionObjectId } from '../../objects/session/client/session-client.ts';
import type { ReadPage, ReadPosition } from './table-reader.ts';

/** One call reads or writes some megabytes. */
const callTimeoutMs = 60_000;

/** Which object is meant; it refuses to be another one. */
export type BackupName = { workspace: string; object: BackedUpObject };

/**
 * `mark`: the object refuses other requests from now on. `reset`: ends the object's instance, so that nothing of an earlier request writes to
 * restored tables; the call fails. `begin`: deletes all rows. `part`: writes rows, with `first` after `begin`. The `last`
 * rows of a session complete it; it stays unavailable until `activate`. `mark` of a session, before it is restored alone: throws `conflict` if it
 * exists. `isAlone`: the lists of the workspace have to learn of it.
 */
export type RestoreStep =
  | { step: 'begin'; schema: number }
  | { step: 'part'; schema: number; first: boolean; last: boolean; tables: readonly TableRows[] }
  | { step: 'mark' | 'end' | 'abandon' | 'reset' }
  | { step: 'activate'; isAlone: boolean };

export interface BackupMethods {
  /** Returns null if there is no such object. */
  readBackup(at: ReadPosition | null): Promise<ReadPage | 'changed' | null>;
  restoreStep(step: RestoreStep): Promise<void>;
}
export type BackupRpc = Remote<BackupMethods, [name: BackupName]>;

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
  sessionIds(after: number, limit: number): Promise<ListedId[]>;
  restoreStatus(): Promise<CatalogRestoreStatus>;
  /** Deletes some of the compiled editions in KV, which no later sweep would know. Returns whether there may be more. */
  clearEditions(): Promise<boolean>;
  /** Throws `conflict` if the workspace is not empty. */
  beginRestore(options: { replace: boolean; progress: string }): Promise<void>;
  saveProgress(progress: string): Promise<void>;
  /** A session that was not restored, or was cleared, leaves the lists. */
  dropSession(id: string): Promise<void>;
  endRestore(options: EndOptions): Promise<SkippedDocument[]>;
  /** Records a backup of the workspace, or the restore of one session, in the audit. */
  noteBackup(keyId: string, session?: string): Promise<void>;
}
export type CatalogBackupMethod = keyof CatalogBackupMethods;

export type CatalogBackupRpc = BackupRpc & {
  runBackup<Name extends CatalogBackupMethod>(
    workspace: string,
    method: Name,
    args: ArgumentsOf<CatalogBackupMethods, Name>,
  ): Promise<Outcome<ResultOf<CatalogBackupMethods, Name>>>;
};

/** `newestSession`: the last one that the archive can have. */
export type EndOptions = { keyId: string; allowCommands: boolean; newestSession: number };
export type SkippedDocument = { kind: string; name: string; reason: string };

const safe = { retry: true } as const;

const backupMethods: MethodTable<BackupMethods> = {
  readBackup: safe,
  // A reset ends the call, too.
  restoreStep: { retry: ({ step }) => step !== 'reset' },
};

const catalogMethods: MethodTable<CatalogBackupMethods> = {
  ...{ sessionIds: safe, restoreStatus: safe, clearEditions: safe, beginRestore: safe },
  ...{ saveProgress: safe, dropSession: safe, endRestore: safe, noteBackup: safe },
};

const calls = { timeoutMs: callTimeoutMs, lateCode: 'unavailable', maxRetries: 3 } as const;

/** Returns an object's client for backups. */
export function backupObject(bindings: Bindings, name: BackupName): BackupMethods {
  const what = `The ${nameOfObject(name.object)}`;
  return objectClient({ ...calls, what, ...placeOfObject(bindings, name), send: byName<BackupMethods, [BackupName]>(name) }, backupMethods);
}

export function catalogBackup(bindings: Bindings, workspace: string): CatalogBackupMethods {
  const send: ObjectBinding<CatalogBackupMethods, CatalogBackupRpc>['send'] = (catalog, method, args) =>
    catalog.runBackup(workspace, method, args);
  return objectClient({ ...calls, what: 'The catalog', ...objectPlace(bindings.CATALOG, workspace, 'catalog', ''), send }, catalogMethods);
}

/** Throws a problem if the session cannot be made available at all. */
export async function activateSession(bindings: Bindings, workspace: string, id: string, isAlone = false): Promise<void> {
  await backupObject(bindings, { workspace, object: { kind: 'session', id } }).restoreStep({ step: 'activate', isAlone });
}

function placeOfObject({ CATALOG, SESSION, AUDIT_SHARD, USAGE }: Bindings, { workspace, object: { kind, id } }: BackupName): ObjectPlace {
  switch (kind) {
    case 'catalog':
      return objectPlace(CATALOG, workspace, 'catalog', '');
    case 'audit':
      return objectPlace(AUDIT_SHARD, workspace, 'audit-shard', id);
    case 'usage':
      return objectPlace(USAGE, workspace, 'usage', id);
    case 'session':
      return { namespace: SESSION, id: () => sessionObjectId(SESSION, id) };
    default:
      return kind satisfies never;
  }
}
