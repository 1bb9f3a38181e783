/** The index of sessions by owner. Sessions are separate objects; an entry here grants no access. */
import type { Page, PageRequest, SessionIndexRow } from '../../ports/catalog.ts';
import { newestFirst } from '../../storage/cursor.ts';
import type { CatalogContext } from '../context.ts';
import { isoTime } from '../documents/documents.ts';
import { eraseSession } from './erasure.ts';

/** Indexing a session twice has no effect. */
export function indexSession(context: CatalogContext, row: SessionIndexRow): void {
  const { id, keyId, agent = null, model = null, toolset = null, createdAt } = row;
  const statement = 'INSERT OR IGNORE INTO sessions (id, key_id, agent, model, toolset, created_at) VALUES (?, ?, ?, ?, ?, ?)';
  context.sql.exec(statement, id, keyId, agent, model, toolset, Date.parse(createdAt));
}

/** Removes the row of a deleted session, and the Catalog's copies of its text. */
export function forgetSession(context: CatalogContext, id: string): void {
  context.record(() => {
    context.sql.exec('DELETE FROM sessions WHERE id = ?', id);
    eraseSession(context, id);
  });
}

/** Newest first. `keyId` null: sessions of every key. */
export function listSessions({ sql }: CatalogContext, keyId: string | null, page: PageRequest): Page<SessionIndexRow> {
  const all = 'SELECT * FROM sessions WHERE number < ? ORDER BY number DESC LIMIT ?';
  const own = 'SELECT * FROM sessions WHERE key_id = ? AND number < ? ORDER BY number DESC LIMIT ?';
  const read = (...end: [number, number]) => (keyId === null ? sql.exec<SqlRow>(all, ...end) : sql.exec<SqlRow>(own, keyId, ...end));
  return newestFirst('sessions', page, read, toRow);
}

type SqlRow = {
  number: number;
  id: string;
  key_id: string;
  agent: string | null;
  model: string | null;
  toolset: string | null;
  created_at: number;
};

function toRow(row: SqlRow): SessionIndexRow {
  return {
    id: row.id,
    keyId: row.key_id,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.model !== null && { model: row.model }),
    ...(row.toolset !== null && { toolset: row.toolset }),
    createdAt: isoTime(row.created_at),
  };
}
