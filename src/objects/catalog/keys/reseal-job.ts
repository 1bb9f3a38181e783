/**
 * The rotation of the master key, in the Catalog of the first workspace: keeps the previous key among the retired ones, then has every
 * workspace sealed again, one step after the other. Each step's progress is stored, so the job continues after a crash and retries a
 * workspace that fails, without limit, because the previous key must not be removed before.
 */
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import type { MasterKeyState, ResealPosition, ResealStep, UnreadableValue, WorkspaceReseal } from '../../../ports/master-key.ts';
import { createMasterKey } from '../../../storage/keys/master-key.ts';
import { openRetiredKeys, sealRetiredKeys, withRetired } from '../../../storage/keys/retired-keys.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, DueRows, dueTime } from '../../shared/due-job.ts';
import { isoTime } from '../documents/documents.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';
import { backoffMs } from '../../../core/limits/backoff.ts';

const stepsPerRun = 50;
const maxShownUnreadable = 20;
/** Those that are not done come first. */
const maxShownWorkspaces = 100;
/** After this many failures of one step the status is `failed`; it is retried nevertheless. */
const failedAfter = 5;
/** KV may return a value that the previous key sealed for about this long. */
const kvSettleMs = 90_000;

export function readRetiredKeys(sql: SqlStorage): string | null {
  return sql.exec<{ sealed: string }>('SELECT sealed FROM retired_keys').toArray()[0]?.sealed ?? null;
}

export async function startReseal(context: CatalogContext, by: string): Promise<void> {
  const { sql, master, settings } = context;
  if (master.previous === null) {
    const detail = 'MONIKER_MASTER_KEY_PREVIOUS is not set, so there is nothing to seal again. Set it to the key before the current one.';
    throw new Problem('conflict', detail);
  }
  const stored = readRetiredKeys(sql);
  const texts = withRetired(stored === null ? [] : await openRetiredKeys(master, stored), settings.previousMasterKey);
  const sealed = await sealRetiredKeys(master, texts);
  const id = await master.id();
  const now = context.now();
  context.record(() => {
    sql.exec('INSERT OR REPLACE INTO retired_keys (id, sealed) VALUES (1, ?)', sealed);
    enqueuePublish(context, 'retired-keys', '');
    sql.exec('DELETE FROM reseals');
    const insert = `INSERT INTO reseals (workspace, master, started_at, step, after, done, unreadable, attempts, due_at)
      VALUES (?, ?, ?, 0, '', 0, '[]', 0, ?)`;
    const others = sql.exec<{ name: string }>("SELECT name FROM workspaces WHERE status = 'active'").toArray();
    for (const workspace of [context.workspace, ...others.map(({ name }) => name)]) sql.exec(insert, workspace, id, now, now);
    recordChange(context, { by, action: 'rotate', resource: 'master-key', name: id });
  });
}

export async function readMasterKeyState({ sql, master }: CatalogContext): Promise<MasterKeyState> {
  const current = await master.id();
  const stored = readRetiredKeys(sql);
  const retired = stored === null ? [] : await openRetiredKeys(master, stored);
  const query = "SELECT * FROM reseals WHERE master = ? ORDER BY (ended_at IS NOT NULL AND unreadable = '[]'), workspace LIMIT ?";
  const rows = sql.exec<Row>(query, current, maxShownWorkspaces).toArray();
  const sums = sql.exec<Sums>(sumsQuery, failedAfter, current).one();
  const isClean = sums.unclean === 0;
  const endedAt = sums.running === 0 ? sums.ended_at : null;
  const status =
    sums.count === 0 ? 'none' : sums.running > 0 && sums.failing === 0 ? 'running' : endedAt !== null && isClean ? 'done' : 'failed';
  return {
    current,
    previous: master.previous === null ? null : await master.previous.id(),
    retired: await Promise.all(retired.map((text) => createMasterKey(text).id())),
    reseal: {
      status,
      startedAt: sums.started_at === null ? null : isoTime(sums.started_at),
      finishedAt: endedAt === null ? null : isoTime(endedAt),
      removableAt: endedAt === null || !isClean ? null : isoTime(endedAt + kvSettleMs),
      done: sums.done,
      left: sums.left,
      workspaces: rows.map(toView),
    },
  };
}

const sumsQuery = `SELECT count(*) AS count, coalesce(sum(done), 0) AS done, coalesce(sum(remaining), 0) AS left,
  coalesce(sum(ended_at IS NULL), 0) AS running, coalesce(sum(attempts >= ?), 0) AS failing, coalesce(sum(unreadable <> '[]'), 0) AS unclean,
  min(started_at) AS started_at, max(ended_at) AS ended_at FROM reseals WHERE master = ?`;
type Sums = Record<'count' | 'done' | 'left' | 'running' | 'failing' | 'unclean', number> &
  Record<'started_at' | 'ended_at', number | null>;

/** `reseal`: one step in a workspace. */
export function createResealJob(
  context: CatalogContext,
  reseal: (workspace: string, position: ResealPosition) => Promise<ResealStep>,
): DueJob {
  const { sql } = context;
  const runStep = async (row: Row): Promise<void> => {
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

  const failed = (row: Row, error: unknown): void => {
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
  const write = (row: Row): void => {
    const statement = `UPDATE reseals SET ended_at = ?, step = ?, after = ?, done = ?, remaining = ?, unreadable = ?, fault = ?, attempts = ?,
      due_at = ? WHERE workspace = ? AND started_at = ?`;
    const { ended_at, step, after, done, remaining, unreadable, fault, attempts, due_at, workspace, started_at } = row;
    sql.exec(statement, ended_at, step, after, done, remaining, unreadable, fault, attempts, due_at, workspace, started_at);
  };

  return new DueRows<Row>({
    ...{ log: context.log, atOnce: 1, perRun: stepsPerRun, work: runStep, failed },
    nextDue: () => dueTime(sql, 'SELECT min(due_at) AS due FROM reseals'),
    due: (count) => {
      const query = 'SELECT * FROM reseals WHERE due_at <= ? ORDER BY due_at, workspace LIMIT ?';
      return sql.exec<Row>(query, context.now(), count).toArray();
    },
    id: ({ workspace }) => workspace,
  });
}

type Row = {
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

function toView({ workspace, done, remaining, ended_at, fault, unreadable }: Row): WorkspaceReseal {
  // Written by `runStep`.
  return { workspace, done, left: remaining, isDone: ended_at !== null, fault, unreadable: JSON.parse(unreadable) as UnreadableValue[] };
}
