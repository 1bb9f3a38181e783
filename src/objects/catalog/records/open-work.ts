/**
 * How many questions wait and how many turns are queued in all sessions of a key and of the workspace. A session asks here before it stores
 * more, and each update of its lists has its numbers, so that the count follows it.
 */
import { findShortage, type ShareShortage } from '../../../core/limits/fair-share.ts';
import { storedBounds } from '../../../core/limits/pools.ts';
import { rootKeyId } from '../../../core/people/principal.ts';
import type { OpenWork, OpenWorkRequest } from '../../../core/turn/session-summary.ts';
import type { CatalogContext } from '../context.ts';

const columnOf = { pendingQuestions: 'questions', queuedTurns: 'queued' } as const satisfies Record<keyof OpenWork, string>;

/** In the words of the partial index. */
const withOpenWork = 'FROM sessions WHERE (questions > 0 OR queued > 0)';

/** Returns why a session may not have more; null: it may, and is counted with it. */
export function admitOpenWork({ workspace, sql }: CatalogContext, request: OpenWorkRequest): ShareShortage | null {
  const { session, keyId, of, has, more, granted } = request;
  const column = columnOf[of];
  const sums = `SELECT coalesce(sum(${column}), 0) AS everyone, coalesce(sum(CASE WHEN key_id = ? THEN ${column} END), 0) AS own ${withOpenWork} AND id <> ?`;
  const others = sql.exec<{ everyone: number; own: number }>(sums, keyId, session).one();
  const used = { key: others.own + has, workspace: others.everyone + has, total: others.everyone + has };
  const bounds = storedBounds[of];
  const ofKey = keyId === rootKeyId ? { ...bounds, perKey: bounds.perWorkspace } : bounds;
  const shortage = findShortage(ofKey, { workspace, keyId }, used, more, granted);
  // A session that was deleted meanwhile is not in the index.
  const count = `UPDATE sessions SET ${column} = ? WHERE id = ?`;
  if (shortage === null) sql.exec(count, has + more, session);
  return shortage;
}

export function questionsByKey({ sql }: CatalogContext): ReadonlyMap<string, number> {
  const query = `SELECT key_id AS keyId, sum(questions) AS count ${withOpenWork} GROUP BY key_id`;
  return new Map([...sql.exec<{ keyId: string; count: number }>(query)].map(({ keyId, count }) => [keyId, count]));
}
