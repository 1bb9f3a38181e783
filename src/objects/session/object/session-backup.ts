/** The backup and restore of a session's object. */
import { hasTable } from '../../shared/migrate.ts';
import { isRecord, tryParse } from '../../../core/json/wire-value.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { BackupName, RestoreStep } from '../../../storage/backup/backup-objects.ts';
import { type ObjectBackup, type BackupPlan, requireWorkspace } from '../../../storage/backup/object-backup.ts';
import type { ReadPage, ReadPosition } from '../../../storage/backup/table-reader.ts';
import type { SessionLifecycle } from './session-lifecycle.ts';
import { loadReplays } from './alarm.ts';
import { readSessionState } from './open-session.ts';
import { sessionMigrations } from './schema.ts';

export const sessionBackupPlan: BackupPlan = { migrations: sessionMigrations, loose: [], skipped: [] };

/** The id that clients know: of the object, or of the session in the installation that it was restored from. */
export function publicId({ storage, id }: Pick<DurableObjectState, 'storage' | 'id'>): string {
  if (!hasTable(storage.sql, 'restored_as')) return id.toString();
  return storage.sql.exec<{ id: string }>('SELECT id FROM restored_as').one().id;
}

/** Returns null if there is no such session, and no parts of one that is being deleted. */
export function readSessionBackup(
  storage: DurableObjectStorage,
  backup: ObjectBackup,
  { workspace, object }: BackupName,
  at: ReadPosition | null,
): ReadPage | 'changed' | null {
  backup.requireUsable();
  const state = readSessionState(storage);
  if (state === 'leaving') return { parts: [], next: null };
  if (state === 'none' || storedMeta(storage.sql)?.workspace !== workspace) return null;
  return backup.read(object, at);
}

type Parts = { ctx: DurableObjectState; backup: ObjectBackup; life(): SessionLifecycle };

export async function restoreSession({ ctx, backup, life }: Parts, { workspace, object }: BackupName, request: RestoreStep): Promise<void> {
  const { storage } = ctx;
  switch (request.step) {
    case 'part':
      if (request.first) {
        await storage.deleteAlarm();
        backup.mark();
        backup.begin(request.schema);
      }
      backup.write(request.tables);
      if (request.last) complete(ctx, backup, { workspace, object });
      return;
    case 'activate': {
      const replays = await loadReplays();
      // Repeated after a lost response.
      if (!backup.isRestoring) return;
      backup.end(() => markUnsent(storage.sql));
      life().openRestored(replays, request.isAlone);
      return;
    }
    case 'abandon':
      if (!backup.isRestoring) return await life().destroyAny();
      await storage.deleteAlarm();
      return backup.abandon();
    case 'mark':
      if (!backup.isRestoring && readSessionState(storage) !== 'none')
        throw new Problem('conflict', `The session ${object.id} exists. Delete it before it is restored.`);
      return;
    case 'begin':
    case 'end':
    case 'reset':
      return;
    default:
      return request satisfies never;
  }
}

/** The session stays unavailable until the whole workspace is restored. */
function complete({ storage, id }: DurableObjectState, backup: ObjectBackup, { workspace, object }: BackupName): void {
  backup.migrate();
  checkMeta(storage.sql, workspace);
  if (object.id === id.toString()) return;
  storage.sql.exec('CREATE TABLE IF NOT EXISTS restored_as (id TEXT NOT NULL)');
  storage.sql.exec('DELETE FROM restored_as');
  storage.sql.exec('INSERT INTO restored_as (id) VALUES (?)', object.id);
}

type StoredMeta = { workspace: string; setup: string };

function storedMeta(sql: SqlStorage): StoredMeta | undefined {
  return sql.exec<StoredMeta>('SELECT workspace, setup FROM meta').toArray()[0];
}

function checkMeta(sql: SqlStorage, workspace: string): void {
  const meta = storedMeta(sql);
  requireWorkspace(meta?.workspace, workspace);
  if (!isRecord(tryParse(meta?.setup ?? ''))) throw invalidRequest([{ path: 'meta', message: 'the setup of the session is invalid' }]);
}

/** More than the rows that a session adds to the audit between a backup and its restore: a number that was used names another row there. */
const skippedAuditNumbers = 1_000_000;

/** The Catalog was read before the session, so it may lack questions and the newest state. */
function markUnsent(sql: SqlStorage): void {
  sql.exec('UPDATE meta SET audit_reserved = audit_reserved + ?', skippedAuditNumbers);
  sql.exec("UPDATE waits SET indexed = 0 WHERE state = 'pending'");
  sql.exec('UPDATE summary SET revision = max(revision, sent) + 1 WHERE EXISTS (SELECT 1 FROM waits WHERE indexed = 0)');
}
