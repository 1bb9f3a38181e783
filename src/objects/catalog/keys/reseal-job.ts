/**
 * The rotation of the master key, in the Catalog of the first workspace (`reseal-state.ts` starts it): has every workspace sealed again, one
 * step after the other. Each step's progress is stored, so the job continues after a crash and retries a workspace that fails, without limit,
 * because the previous key must not be removed before.
 */
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import type { ResealPosition, ResealStep, UnreadableValue } from '../../../ports/master-key.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, DueRows, dueTime } from '../../shared/due-job.ts';
import { backoffMs } from '../../../core/limits/backoff.ts';

const stepsPerRun = 50;
const maxShownUnreadable = 20;

export function readRetiredKeys(sql: SqlStorage): string | null {
  return sql.exec<{ sealed: string }>('SELECT sealed FROM retired_keys').toArray()[0]?.sealed ?? null;
}

/** `reseal`: one step in a workspace. */
export function createResealJob(
  context: CatalogContext,
  reseal: (workspace: string, position: ResealPosition) => Promise<ResealStep>,
): DueJob {
  const { sql } = context;
  const runStep = async (row: ResealRow): Promise<void> => {
    const { next, done, left, publishing, unreadable } = await reseal(row.workspace, { step: row.step, after: row.after });
    const known = JSON.parse(row.unreadable) as UnreadableValue[];
    const isNew = ({ kind, name }: UnreadableValue) => !known.some((one) => one.kind === kind && one.name === name);
    const noted = { ...row, done: row.done + done, remaining: left, fault: null, attempts: 0 };
    noted.unreadable = JSON.stringify([...known, ...unreadable.filter(isNew)].slice(0, maxShownUnreadable));
    if (next !== null) return write({ ...noted, ...next, due_at: context.now() });
    // The values in KV have to be those that were sealed again.
    if (publishing > 0) return write({ ...noted, due_at: context.now() + limits.publishIntervalMs });
    write({ ...noted, ended_at: context.now(), due_at: null });
  };

  const failed = (row: ResealRow, error: unknown): void => {
    if (error instanceof Problem && error.code === 'not_found') {
      // It was deleted meanwhile.
      write({ ...row, remaining: 0, ended_at: context.now(), due_at: null });
      return;
    }
    const attempts = row.attempts + 1;
    const fault = error instanceof Problem ? error.detail : 'The workspace did not respond.';
    context.log.error('a workspace could not be sealed again; it will be retried', { workspace: row.workspace, cause: String(error) });
    const delayMs = backoffMs({ firstMs: limits.publishIntervalMs, maxMs: limits.maxPublishBackoffMs }, attempts);
    write({ ...row, fault, attempts, due_at: context.now() + delayMs });
  };

  /** A rotation that started meanwhile is not changed. */
  const write = (row: ResealRow): void => {
    const statement = `UPDATE reseals SET ended_at = ?, step = ?, after = ?, done = ?, remaining = ?, unreadable = ?, fault = ?, attempts = ?,
      due_at = ? WHERE workspace = ? AND started_at = ?`;
    const { ended_at, step, after, done, remaining, unreadable, fault, attempts, due_at, workspace, started_at } = row;
    sql.exec(statement, ended_at, step, after, done, remaining, unreadable, fault, attempts, due_at, workspace, started_at);
  };

  return new DueRows<ResealRow>({
    ...{ log: context.log, atOnce: 1, perRun: stepsPerRun, work: runStep, failed },
    nextDue: () => dueTime(sql, 'SELECT min(due_at) AS due FROM reseals'),
    due: (count) => {
      const query = 'SELECT * FROM reseals WHERE due_at <= ? ORDER BY due_at, workspace LIMIT ?';
      return sql.exec<ResealRow>(query, context.now(), count).toArray();
    },
    id: ({ workspace }) => workspace,
  });
}

export type ResealRow = {
  workspace: string;
  started_at: number;
  ended_at: number | null;
  step: number;
  after: string;
  done: number;
  remaining: number | null;
  unreadable: string;
  fault: string | null;
  attempts: number;
  due_at: number | null;
};
