/** The workspace's audit: rows are appended and read, never changed. Arguments are in them by hash only. */
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import type { AuditQuery, Page } from '../ports/catalog.ts';
import { decodeNumberCursor, encodeCursor } from '../storage/cursor.ts';
import type { CatalogContext } from './context.ts';

/** All or none. A row of a session that is there already is left as it is. */
export function appendAudit(context: CatalogContext, rows: readonly AuditRow[]): void {
  if (rows.length > limits.maxAuditRowsPerAppend) {
    throw invalidRequest([{ path: '', message: `at most ${limits.maxAuditRowsPerAppend} audit rows at a time` }]);
  }
  context.transact(() => {
    for (const row of rows) {
      const stored = { ...row, requested: row.requested.slice(0, limits.maxToolNameBytes) };
      context.sql.exec(
        'INSERT OR IGNORE INTO audit (session, number, tool, row) VALUES (?, ?, ?, ?)',
        row.session,
        row.sequence,
        row.canonical ?? stored.requested,
        JSON.stringify(stored),
      );
    }
  });
}

/** Newest first. `tool`: the canonical name, or the name that was asked for where it meant no tool. */
export function listAudit(context: CatalogContext, query: AuditQuery): Page<AuditRow> {
  const before = decodeNumberCursor('audit', query.cursor) ?? Number.MAX_SAFE_INTEGER;
  const limit = Math.min(query.limit, limits.maxPageItems);
  const rows = select(context.sql, query, before, limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return {
    // Rows are written above only.
    items: items.map(({ row }) => JSON.parse(row) as AuditRow),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor('audit', last.sequence) : null,
  };
}

type SqlRow = { sequence: number; row: string };

/** A statement for each filter, so that each has its index. */
function select(sql: SqlStorage, { session, tool }: AuditQuery, before: number, count: number): SqlRow[] {
  if (session !== undefined && tool !== undefined) {
    const query = 'SELECT sequence, row FROM audit WHERE session = ? AND tool = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?';
    return sql.exec<SqlRow>(query, session, tool, before, count).toArray();
  }
  if (session !== undefined) {
    return sql
      .exec<SqlRow>(
        'SELECT sequence, row FROM audit WHERE session = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?',
        session,
        before,
        count,
      )
      .toArray();
  }
  if (tool !== undefined) {
    return sql
      .exec<SqlRow>('SELECT sequence, row FROM audit WHERE tool = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?', tool, before, count)
      .toArray();
  }
  return sql.exec<SqlRow>('SELECT sequence, row FROM audit WHERE sequence < ? ORDER BY sequence DESC LIMIT ?', before, count).toArray();
}
