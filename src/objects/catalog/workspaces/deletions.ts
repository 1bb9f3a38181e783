/**
 * The job that erases deleted workspaces, in the Catalog of `default`: a bounded step at a time, each of which may be repeated, so that a
 * deletion continues after a crash. When nothing is left it waits until no cached key, value or request can write any more, looks again, and
 * erases the audit, the usage and the Catalog.
 */
import { limits } from '../../../core/limits/limits.ts';
import { systemKeyId } from '../../../core/people/principal.ts';
import { isClockSettled } from '../../../platform/settled-clock.ts';
import type { WorkspaceEraser } from '../../../storage/backup/workspace-eraser.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, DueRows, dueTime } from '../../shared/due-job.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';
import { type ErasureProgress, readProgress, type WorkspaceRow } from './registry.ts';

/** Longer than a key (30 s) or a value of KV (90 s) is cached. Then no isolate has anything of the workspace, and its name is free again. */
const settleMs = limits.freshReadMs + 10_000;
const retryMs = 10_000;
const nextStepMs = 500;
const shownMs = 30 * 24 * 60 * 60_000;

export function createWorkspaceDeletions(context: CatalogContext, eraser: WorkspaceEraser): DueJob {
  const { sql, now, log } = context;
  const store = (name: string, progress: ErasureProgress, dueAt: number): void => {
    sql.exec('UPDATE workspaces SET progress = ?, due_at = ? WHERE name = ?', JSON.stringify(progress), dueAt, name);
  };

  const erase = async ({ name, progress }: WorkspaceRow): Promise<void> => {
    const { settleAt } = readProgress(progress);
    const left = await eraser.step(name);
    const isEmpty = Object.values(left).every((count) => count === 0);
    if (!isEmpty) return store(name, { left, ...(settleAt !== undefined && { settleAt }) }, now() + nextStepMs);
    const until = settleAt ?? now() + settleMs;
    if (until > now()) return store(name, { left, settleAt: until }, until);
    await eraser.finish(name);
    context.record(() => {
      const at = now();
      const update = "UPDATE workspaces SET status = 'deleted', finished_at = ?, due_at = ?, progress = ? WHERE name = ?";
      sql.exec(update, at, at + shownMs, JSON.stringify({ left }), name);
      sql.exec('DELETE FROM joined WHERE workspace = ?', name);
      recordChange(context, { by: systemKeyId, action: 'erase', resource: 'workspace', name });
      enqueuePublish(context, 'workspace-status', name);
    });
  };

  const forget = async ({ name, progress }: WorkspaceRow): Promise<void> => {
    if (!(await isClockSettled())) return store(name, readProgress(progress), now() + settleMs);
    context.record(() => {
      sql.exec('DELETE FROM workspaces WHERE name = ?', name);
      enqueuePublish(context, 'workspace-status', name);
    });
  };

  return new DueRows<WorkspaceRow>({
    ...{ log, atOnce: 1, perRun: 1 },
    nextDue: () => dueTime(sql, 'SELECT min(due_at) AS due FROM workspaces'),
    due: (count) => sql.exec<WorkspaceRow>('SELECT * FROM workspaces WHERE due_at <= ? ORDER BY due_at LIMIT ?', now(), count).toArray(),
    id: ({ name }) => name,
    work: async (row) => (row.status === 'deleted' ? await forget(row) : await erase(row)),
    failed: ({ name, progress }, error) => {
      log.error('a workspace is not erased yet; it will be retried', { workspace: name, cause: String(error) });
      store(name, readProgress(progress), now() + retryMs);
    },
  });
}
