/**
 * The backup of the Catalog's object, and the restore of a workspace: its state, and what becomes of restored rows. Rarely used, so the Catalog
 * loads it on demand. `storage/backup/restore-archive.ts` drives a restore.
 */
import { Problem } from '../../../core/problem.ts';
import { changedLaunch, changedSecret } from '../../../core/servers/launched-settings.ts';
import type { SecretBinding } from '../../../core/secrets/secret.ts';
import { readTimeRule } from '../../../core/triggers/schedules/next-run.ts';
import type { ScheduleDocument } from '../../../core/triggers/schedules/schedule.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import { dropLaterHeads } from '../../shared/audit-log.ts';
import type { CatalogBackupMethods, CatalogRestoreStatus, EndOptions, SkippedDocument } from '../../../storage/backup/backup-objects.ts';
import { type ObjectBackup, requireWorkspace } from '../../../storage/backup/object-backup.ts';
import { kvKeys } from '../../../storage/keys.ts';
import { hasTable } from '../../shared/migrate.ts';
import type { CatalogContext } from '../context.ts';
import { allRows } from '../documents/documents.ts';
import { recordChange, shardHeads } from './audit.ts';
import { enqueueDocument, enqueuePublish } from './publications.ts';
import { whyRefused } from '../servers/require-launcher.ts';
import { countUnavailable, listSessionIds } from './restored-sessions.ts';
import { eraseWaits } from './session-waits.ts';

/** Deletions in KV for one call. */
const clearedEditions = 100;

type Host = {
  storage: DurableObjectStorage;
  backup: ObjectBackup;
  context(): CatalogContext;
  kv(): KVNamespace;
  /** The documents are gone. The object is ended after the call, so the work must be done before. */
  begun(): Promise<void>;
  /** Opens the Catalog with the restored rows. */
  ended(): Promise<void>;
};

export function createBackupMethods({ storage, backup, context, kv, begun, ended }: Host): CatalogBackupMethods {
  const { sql } = storage;
  return {
    sessionIds: async (after, limit) => listSessionIds(sql, after, limit),
    restoreStatus: async () => readRestoreStatus(sql, backup),
    clearEditions: () => clearEditions(context(), kv()),
    beginRestore: async (given) => {
      await storage.deleteAlarm();
      beginRestore(storage, backup, given);
      await begun();
    },
    saveProgress: async (progress) => backup.saveState(progress),
    dropSession: async (id) => {
      eraseWaits(sql, id);
      sql.exec('DELETE FROM sessions WHERE id = ?', id);
    },
    endRestore: async (given) => {
      // Repeated after a lost response.
      if (!backup.isRestoring) return [];
      const skipped = endRestore(context(), backup, given);
      await ended();
      return skipped;
    },
    noteBackup: async (keyId, session) => {
      backup.requireUsable();
      const { record, workspace } = context();
      const [action, resource] = session === undefined ? (['backup', 'workspace'] as const) : (['restore', 'session'] as const);
      record(() => recordChange(context(), { by: keyId, action, resource, name: session ?? workspace }));
    },
  };
}

function readRestoreStatus(sql: SqlStorage, backup: ObjectBackup): CatalogRestoreStatus {
  if (backup.isRestoring) return { progress: backup.state(), finishing: 0, notEmpty: null, auditShards: 0, newestSession: 0 };
  const shards = shardHeads({ sql }).map(([shard]) => shard + 1);
  const newestSession = sql.exec<{ number: number | null }>('SELECT max(number) AS number FROM sessions').one().number ?? 0;
  return {
    newestSession,
    progress: null,
    finishing: countUnavailable(sql),
    notEmpty: whyNotEmpty(sql),
    auditShards: Math.max(1, ...shards),
  };
}

/** What the first start of `npm start` makes does not count: the toolset and the agent `demo`, and a session without a turn. */
function whyNotEmpty(sql: SqlStorage): string | null {
  const first = (query: string): string | null => sql.exec<{ what: string }>(query).toArray()[0]?.what ?? null;
  return (
    first(`SELECT kind || ' "' || name || '"' AS what FROM documents
      WHERE deleted = 0 AND name NOT LIKE '.%' AND NOT (kind IN ('toolset', 'agent') AND name = 'demo' AND version = 1) LIMIT 1`) ??
    first(`SELECT 'key "' || name || '"' AS what FROM keys WHERE revoked_at IS NULL LIMIT 1`) ??
    first(`SELECT 'session ' || id AS what FROM sessions WHERE title IS NOT NULL OR status <> 'idle' LIMIT 1`)
  );
}

async function clearEditions({ sql, workspace }: CatalogContext, kv: KVNamespace): Promise<boolean> {
  const query = 'SELECT hash FROM editions WHERE published_at IS NOT NULL LIMIT ?';
  const found = sql.exec<{ hash: string }>(query, clearedEditions).toArray();
  for (const { hash } of found) {
    await kv.delete(kvKeys.edition(workspace, hash));
    sql.exec('UPDATE editions SET published_at = NULL WHERE hash = ?', hash);
  }
  return found.length === clearedEditions;
}

/** Remembers the names of documents: KV has their values, which the restore replaces or deletes. */
function beginRestore(
  storage: DurableObjectStorage,
  backup: ObjectBackup,
  { replace, progress }: { replace: boolean; progress: string },
): void {
  const { sql } = storage;
  if (!backup.isRestoring) {
    const found = whyNotEmpty(sql);
    if (found !== null && !replace) throw new Problem('conflict', `The workspace is no longer empty: it has the ${found}.`);
    if (listSessionIds(sql, 0, 1).length > 0) throw new Problem('conflict', 'The workspace has new sessions. Send the same lines again.');
    sql.exec('CREATE TABLE IF NOT EXISTS restoring_names (kind TEXT NOT NULL, name TEXT NOT NULL)');
    sql.exec('INSERT INTO restoring_names (kind, name) SELECT kind, name FROM documents');
  }
  backup.mark(progress);
}

/** Completes the restore in one transaction. Returns what was left out. */
function endRestore(context: CatalogContext, backup: ObjectBackup, { keyId, allowCommands, newestSession }: EndOptions): SkippedDocument[] {
  const { sql } = context;
  backup.migrate();
  const workspace = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'workspace'").toArray()[0]?.value;
  requireWorkspace(workspace, context.workspace);
  const skipped: SkippedDocument[] = [];
  backup.end(() => {
    checkDocuments(sql);
    dropVoidRows(sql, newestSession);
    dropLaterHeads(sql);
    if (!allowCommands) skipped.push(...dropCommands(context));
    stopDeliveries(context);
    skipMissedRuns(context);
    publishEverything(context);
    recordChange(context, { by: keyId, action: 'restore', resource: 'workspace', name: context.workspace });
    sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('restored', '0')");
  });
  return skipped;
}

/** Documents are read without a check elsewhere. Throws `conflict`, and nothing is restored. */
function checkDocuments(sql: SqlStorage): void {
  const invalid = "SELECT kind, name FROM documents WHERE NOT json_valid(body) OR json_type(body) <> 'object' LIMIT 1";
  const found = sql.exec<{ kind: string; name: string }>(invalid).toArray()[0];
  if (found !== undefined)
    throw new Problem('conflict', `The ${found.kind} ${JSON.stringify(found.name)} of the archive is not valid JSON.`);
}

/** Rows that were added or deleted between the pages of the backup. */
function dropVoidRows(sql: SqlStorage, newestSession: number): void {
  sql.exec(`DELETE FROM toolset_versions WHERE version > (SELECT coalesce(max(version), 0) FROM documents
    WHERE kind = 'toolset' AND documents.name = toolset_versions.name)`);
  sql.exec(`DELETE FROM document_versions WHERE version >= (SELECT coalesce(max(version), 0) FROM documents
    WHERE documents.kind = document_versions.kind AND documents.name = document_versions.name)`);
  sql.exec('DELETE FROM edition_chunks WHERE hash NOT IN (SELECT hash FROM editions)');
  // A compilation would take its text for stored.
  sql.exec('DELETE FROM editions WHERE hash NOT IN (SELECT hash FROM edition_chunks)');
  sql.exec('DELETE FROM sessions WHERE number > ?', newestSession);
  sql.exec('DELETE FROM session_waits WHERE session NOT IN (SELECT id FROM sessions)');
  sql.exec('DELETE FROM delivery_parts WHERE delivery NOT IN (SELECT number FROM deliveries)');
  sql.exec('DELETE FROM callback_attempts WHERE callback NOT IN (SELECT number FROM callbacks)');
  sql.exec('DELETE FROM callback_bodies WHERE callback NOT IN (SELECT number FROM callbacks)');
}

/** What gives something to a program of the machine: only its administrator may add it. */
function dropCommands(context: CatalogContext): SkippedDocument[] {
  const { sql } = context;
  const reason = whyRefused(context);
  const servers = allRows(sql, 'server').filter(({ body }) => changedLaunch(null, body).length > 0);
  // Written only by the writer of secrets, or signed by a service that did so.
  const secrets = allRows(sql, 'secret').filter(({ body }) => changedSecret((body as SecretBinding).hosts).length > 0);
  return [...servers, ...secrets].map(({ kind, name }) => {
    sql.exec("UPDATE documents SET deleted = 1, body = '{}', sealed = NULL, version = version + 1 WHERE kind = ? AND name = ?", kind, name);
    return { kind, name, reason };
  });
}

/** The service that was backed up has probably started these turns and sent these callbacks. Both can be repeated manually. */
function stopDeliveries({ sql, now }: CatalogContext): void {
  const reason = 'It was pending when the workspace was backed up. Replay it if it did not run.';
  sql.exec(
    "UPDATE deliveries SET status = 'failed', reason = ?, ended_at = ?, due_at = NULL, held = 0 WHERE status = 'pending'",
    reason,
    now(),
  );
  sql.exec("UPDATE callbacks SET status = 'dead', ended_at = ?, due_at = NULL WHERE status = 'pending'", now());
  sql.exec('DELETE FROM callback_loads');
  sql.exec(
    'INSERT INTO callback_loads (kind, name, pending, bytes, ended) SELECT kind, name, 0, 0, count(*) FROM callbacks GROUP BY kind, name',
  );
}

/** Schedules continue with their next time after the restore. */
function skipMissedRuns({ sql, now }: CatalogContext): void {
  const documents = new Map(
    sql
      .exec<{ name: string; body: string }>("SELECT name, body FROM documents WHERE kind = 'schedule' AND deleted = 0")
      .toArray()
      .map(({ name, body }) => [name, body]),
  );
  const due = sql.exec<{ schedule: string; due_at: number; since: number | null }>(
    'SELECT schedule, due_at, since FROM schedule_state WHERE due_at <= ?',
    now(),
  );
  for (const { schedule, due_at: dueAt, since } of due.toArray()) {
    // Checked above; a schedule without a document is deleted when it is due.
    const read = readTimeRule(JSON.parse(documents.get(schedule) ?? '{}') as ScheduleDocument);
    const next = 'issue' in read ? null : read.rule.since(since ?? dueAt, now()).next;
    sql.exec('UPDATE schedule_state SET due_at = ?, since = NULL WHERE schedule = ?', next, schedule);
  }
}

function publishEverything(context: CatalogContext): void {
  const { sql } = context;
  sql.exec('UPDATE editions SET published_at = NULL');
  const before = hasTable(sql, 'restoring_names') ? 'UNION SELECT kind, name FROM restoring_names' : '';
  const query = `SELECT kind, name FROM documents ${before}`;
  for (const { kind, name } of sql.exec<{ kind: DocumentKind; name: string }>(query).toArray()) {
    if (kind === 'toolset') enqueuePublish(context, 'toolset', name);
    else enqueueDocument(context, kind, name);
  }
  for (const kind of ['providers', 'model-aliases', 'rules', 'subscriptions', 'settings', 'members'] as const)
    enqueuePublish(context, kind, '');
}
