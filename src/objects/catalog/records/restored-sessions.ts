/** Which tables of the Catalog a backup has, and the job that makes restored sessions available. `workspace-backup.ts` restores. */
import { Problem } from '../../../core/problem.ts';
import type { ListedId } from '../../../storage/backup/backup-objects.ts';
import type { BackupPlan } from '../../../storage/backup/object-backup.ts';
import { catalogMigrations } from '../schema.ts';
import type { CatalogContext } from '../context.ts';
import type { DueJob } from '../../shared/due-job.ts';

const activatedPerRun = 50;
const activationRetryMs = 30_000;

/**
 * The loose tables may be large, or are written by most requests. Their rows belong to rows of others or are independent; `dropVoidRows`
 * deletes those that were added or deleted between pages. All names are published again.
 */
export const catalogBackupPlan: BackupPlan = {
  migrations: catalogMigrations,
  loose: [
    ...['toolset_versions', 'document_versions', 'edition_chunks', 'sessions', 'session_waits', 'deliveries', 'delivery_parts'],
    ...['callbacks', 'callback_attempts', 'callback_bodies', 'audit_log', 'audit_heads', 'provider_items'],
  ],
  // Grants: an archive must not make tokens valid that were revoked since.
  skipped: ['publications', 'oauth_records', 'reseals'],
};

export function listSessionIds(sql: SqlStorage, after: number, limit: number): ListedId[] {
  return sql.exec<ListedId>('SELECT number, id FROM sessions WHERE number > ? ORDER BY number LIMIT ?', after, limit).toArray();
}

function readActivated(sql: SqlStorage): number | null {
  const row = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'restored'").toArray()[0];
  return row === undefined ? null : Number(row.value);
}

export function countUnavailable(sql: SqlStorage): number {
  const after = readActivated(sql);
  if (after === null) return 0;
  return Math.max(1, sql.exec<{ count: number }>('SELECT count(*) AS count FROM sessions WHERE number > ?', after).one().count);
}

/** Makes the restored sessions available, in the order of their creation; continues after a crash. `activate`: may be repeated. */
export function createSessionActivation({ sql, now, log }: CatalogContext, activate: (id: string) => Promise<void>): DueJob {
  let retryAt = 0;
  return {
    nextDue: () => (readActivated(sql) === null ? null : Math.max(retryAt, now())),
    runDue: async () => {
      const after = readActivated(sql);
      if (after === null || retryAt > now()) return;
      const ids = listSessionIds(sql, after, activatedPerRun);
      const failures = await Promise.all(
        ids.map(
          async ({ id }) =>
            await activate(id).then(
              () => null,
              (error: unknown) => error,
            ),
        ),
      );
      const failed = failures.find((failure) => failure !== null && !(failure instanceof Problem));
      if (failed !== undefined) {
        retryAt = now() + activationRetryMs;
        return log.error('restored sessions could not be made available; it will be retried', { cause: String(failed) });
      }
      for (const problem of failures) if (problem !== null) log.error('a restored session is not available', { cause: String(problem) });
      const last = ids.at(-1);
      if (last === undefined) sql.exec("DELETE FROM meta WHERE key = 'restored'");
      else sql.exec("UPDATE meta SET value = ? WHERE key = 'restored'", String(last.number));
    },
  };
}
