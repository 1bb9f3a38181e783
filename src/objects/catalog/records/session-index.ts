/** The index of sessions, with what lists show of them. Sessions are separate objects; an entry here grants no access. */
import { noUsage, type Usage } from '../../../core/model/chat-event.ts';
import type { SessionFilter, SessionStatus, SessionUpdate } from '../../../core/turn/session-summary.ts';
import type { ListedSession } from '../../../ports/session.ts';
import type { Page, PageRequest, SessionIndexRow } from '../../../ports/catalog.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';
import { isoTime } from '../documents/documents.ts';
import { recordChange } from './audit.ts';
import { overwrite, requestClose } from './close-database.ts';
import { eraseSession } from './erasure.ts';
import { eraseWaits, storeWaits } from './session-waits.ts';

/** Indexing a session twice has no effect. */
export function indexSession(context: CatalogContext, row: SessionIndexRow): void {
  const { id, keyId, agent, model, toolset, createdAt } = row;
  const statement =
    'INSERT OR IGNORE INTO sessions (id, key_id, agent, model, toolset, created_at, active_at, usage) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
  context.sql.exec(statement, id, keyId, agent, model, toolset, createdAt, createdAt, JSON.stringify(noUsage));
}

/** Also adds a session that could not be indexed when it was created. */
export function updateSession(context: CatalogContext, update: SessionUpdate): void {
  const { id, keyId, agent, model, toolset, createdAt, summary, open, replay = null } = update;
  const { revision, status, title, activeAt, usage } = summary;
  const statement = `INSERT INTO sessions (id, key_id, agent, model, toolset, created_at, status, title, active_at, usage, revision, questions, queued, replay)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, title = excluded.title, active_at = excluded.active_at, usage = excluded.usage,
      revision = excluded.revision, questions = excluded.questions, queued = excluded.queued,
      replay = excluded.replay WHERE excluded.revision >= revision`;
  context.record(() => {
    // The row moves within the file when it grows, and its old place keeps the bytes.
    if (context.settings.closeAfterDelete) overwrite(context.sql, 'sessions', 'title', 'id = ? AND revision <= ?', id, revision);
    const about = [id, keyId, agent, model, toolset, createdAt];
    const counts = [open.pendingQuestions, open.queuedTurns];
    context.sql.exec(statement, ...about, status, title, activeAt, JSON.stringify(usage), revision, ...counts, replay);
    storeWaits(context, update);
  });
}

/**
 * Removes the row of a deleted session, and the Catalog's copies of its text. Returns whether it had a row. `by`: the key that deleted it, for the
 * audit; null: none.
 */
export function forgetSession(context: CatalogContext, id: string, by: string | null): boolean {
  const { sql } = context;
  return context.record(() => {
    if (overwrite(sql, 'sessions', 'title', 'id = ?', id)) requestClose(sql);
    const [row] = sql.exec<{ isReplay: number }>('DELETE FROM sessions WHERE id = ? RETURNING replay IS NOT NULL AS isReplay', id);
    const resource = row?.isReplay === 1 ? 'replay' : 'session';
    if (row !== undefined && by !== null) recordChange(context, { by, action: 'delete', resource, name: id });
    eraseWaits(sql, id);
    eraseSession(context, id);
    return row !== undefined;
  });
}

/** Newest first. */
export function listSessions({ sql }: CatalogContext, filter: SessionFilter, page: PageRequest): Page<ListedSession> {
  const { keyId, status, agent, trigger } = filter;
  const conditions: [string, ...string[]][] = [];
  if (keyId !== null) conditions.push(['key_id = ?', keyId]);
  if (agent !== undefined) conditions.push(['agent = ?', agent]);
  if (trigger?.includes(':')) conditions.push(['key_id = ?', trigger]);
  // ";" follows ":".
  else if (trigger !== undefined) conditions.push(['key_id > ? AND key_id < ?', `${trigger}:`, `${trigger};`]);
  if (status === 'idle' || status === 'completed') conditions.push(['status = ?', status]);
  // In the words of the partial index.
  else if (status !== undefined) conditions.push([`status = ? AND status NOT IN ('idle', 'completed')`, status]);
  const where = conditions.map(([text]) => `${text} AND `).join('');
  const query = `SELECT * FROM sessions WHERE ${where}replay IS NULL AND number < ? ORDER BY number DESC LIMIT ?`;
  const values = conditions.flatMap(([, ...given]) => given);
  return newestFirst('sessions', page, (...end) => sql.exec<SqlRow>(query, ...values, ...end), toListed);
}

type SqlRow = {
  number: number;
  id: string;
  key_id: string;
  agent: string | null;
  model: string | null;
  toolset: string | null;
  created_at: number;
  status: SessionStatus;
  title: string | null;
  active_at: number;
  usage: string;
};

function toListed(row: SqlRow): ListedSession {
  return {
    id: row.id,
    keyId: row.key_id,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.model !== null && { model: row.model }),
    ...(row.toolset !== null && { toolset: row.toolset }),
    createdAt: isoTime(row.created_at),
    title: row.title,
    status: row.status,
    lastActivityAt: isoTime(row.active_at),
    // Written only by `indexSession` and `updateSession`.
    usage: JSON.parse(row.usage) as Usage,
  };
}

/** Sessions whose alarm may have been set while the clock was ahead of `now`: they are at work, or were then. Newest first. */
export function sessionsAhead({ sql, now }: CatalogContext, limit: number): { id: string; key_id: string }[] {
  const query = `SELECT id, key_id FROM sessions WHERE active_at > ?1 OR (status NOT IN ('idle', 'completed') AND status IN ('running', 'waiting'))
      OR id IN (SELECT session FROM deliveries WHERE status = 'running' AND session IS NOT NULL) ORDER BY number DESC LIMIT ?2`;
  return sql.exec<{ id: string; key_id: string }>(query, now(), limit).toArray();
}
