/** Starts a rotation of the master key, which keeps the previous key among the retired ones, and shows how far it is (`reseal-job.ts`). Rarely used. */
import { Problem } from '../../../core/problem.ts';
import type { MasterKeyState, UnreadableValue, WorkspaceReseal } from '../../../ports/master-key.ts';
import { createMasterKey } from '../../../storage/keys/master-key.ts';
import { openRetiredKeys, sealRetiredKeys, withRetired } from '../../../storage/keys/retired-keys.ts';
import type { CatalogContext } from '../context.ts';
import { isoTime } from '../documents/documents.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';
import { readRetiredKeys, type ResealRow } from './reseal-job.ts';

/** Those that are not done come first. */
const maxShownWorkspaces = 100;
/** KV may return a value that the previous key sealed for about this long. */
const kvSettleMs = 90_000;
/** After this many failures of one step the status is `failed`; it is retried nevertheless. */
const failedAfter = 5;

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
  const rows = sql.exec<ResealRow>(query, current, maxShownWorkspaces).toArray();
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

function toView({ workspace, done, remaining, ended_at, fault, unreadable }: ResealRow): WorkspaceReseal {
  // Written by `runStep`.
  return { workspace, done, left: remaining, isDone: ended_at !== null, fault, unreadable: JSON.parse(unreadable) as UnreadableValue[] };
}
