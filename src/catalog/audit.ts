/** The workspace's audit: rows are appended and read, never changed. Arguments are in them by hash only. */
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import type { AuditQuery, Page } from '../ports/catalog.ts';
import { decodeNumberCursor, encodeCursor } from '../storage/cursor.ts';
import type { CatalogContext } from './context.ts';

export interface AuditWriter {
  /** All or none, and on the disk when it resolves. A row of a session that is there already is left as it is. */
  append(rows: readonly AuditRow[]): Promise<void>;
}

/**
 * Every call without a session waits for its row, and a commit takes several times as long as the row: those that come while one is on its
 * way are written together, in the order they came. `sync`: until what was written is on the disk.
 */
export function createAuditWriter(context: CatalogContext, sync: () => Promise<void>): AuditWriter {
  let gathered: AuditRow[] = [];
  let next: Promise<void> | null = null;
  let current: Promise<void> = Promise.resolve();

  const writeGathered = async (): Promise<void> => {
    // However the commit before ended: its callers are told of that.
    await current.catch(() => undefined);
    const rows = gathered;
    gathered = [];
    next = null;
    insert(context, rows);
    current = sync();
    await current;
  };

  return {
    async append(rows) {
      if (rows.length > limits.maxAuditRowsPerAppend) {
        throw invalidRequest([{ path: '', message: `at most ${limits.maxAuditRowsPerAppend} audit rows at a time` }]);
      }
      gathered.push(...rows);
      next ??= writeGathered();
      await next;
    },
  };
}

function insert(context: CatalogContext, rows: readonly AuditRow[]): void {
  context.record(() => {
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
    // Rows are written above only; those from before tools called tools name no parent.
    items: items.map(({ row }) => ({ parent: null, ...(JSON.parse(row) as Omit<AuditRow, 'parent'> & Partial<AuditRow>) })),
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
