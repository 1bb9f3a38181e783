/**
 * The workspace's audit. Rows are appended and read; only the intent of a call is replaced, by its outcome. Rows contain hashes of
 * arguments, not arguments.
 */
import type { AuditChange, AuditEntry, AuditRow } from '../../core/audit.ts';
import { limits } from '../../core/limits.ts';
import { invalidRequest } from '../../core/problem.ts';
import type { AuditQuery, Page } from '../../ports/catalog.ts';
import { newestFirst } from '../../storage/cursor.ts';
import type { CatalogContext } from '../context.ts';

const maxAuditRowsPerAppend = 200;

export interface AuditWriter {
  /** Stores all rows or none, durably. A row that is already stored stays unchanged, unless it is an intent. */
  append(rows: readonly AuditRow[]): Promise<void>;
}

/**
 * Every call without a session waits for its row, and a commit takes several times as long as the row, so rows that arrive during a commit
 * are written together in the next one, in order. `sync`: resolves when writes are on disk.
 */
export function createAuditWriter(context: CatalogContext, sync: () => Promise<void>): AuditWriter {
  let gathered: AuditRow[] = [];
  let next: Promise<void> | null = null;
  let current: Promise<void> = Promise.resolve();

  const writeGathered = async (): Promise<void> => {
    // Even after a failed commit, whose error its own callers receive.
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
      if (rows.length > maxAuditRowsPerAppend) {
        throw invalidRequest([{ path: '', message: `at most ${maxAuditRowsPerAppend} audit rows at a time` }]);
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
      const stored = { ...row, requested: row.requested.slice(0, limits.maxToolNameLength) };
      const tool = row.canonical ?? stored.requested;
      const isOpen = row.verdict === 'outcome_unknown' || row.verdict === 'waiting' ? 1 : 0;
      const text = JSON.stringify(stored);
      if (row.session === null) putCall(context.sql, { callId: row.callId, tool, text, isOpen });
      else context.sql.exec(putRow, row.session, row.sequence, tool, text, isOpen);
    }
  });
}

const putRow = `INSERT INTO audit (session, number, tool, row, is_open) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (session, number) DO UPDATE SET row = excluded.row, tool = excluded.tool, is_open = excluded.is_open WHERE is_open = 1`;

/** Replaces the intent by the outcome. A row that is written twice stays unchanged; a call that is repeated under its id gets a new row. */
function putCall(sql: SqlStorage, { callId, tool, text, isOpen }: { callId: string; tool: string; text: string; isOpen: 0 | 1 }): void {
  const query = 'SELECT sequence, row, is_open FROM audit WHERE call_id = ?';
  const known = sql.exec<{ sequence: number; row: string; is_open: number }>(query, callId).toArray()[0];
  if (known?.is_open === 1) {
    sql.exec('UPDATE audit SET tool = ?, row = ?, is_open = ? WHERE sequence = ?', tool, text, isOpen, known.sequence);
    return;
  }
  if (known?.row === text) return;
  if (known !== undefined) sql.exec('UPDATE audit SET call_id = NULL WHERE sequence = ?', known.sequence);
  sql.exec('INSERT INTO audit (call_id, tool, row, is_open) VALUES (?, ?, ?, ?)', callId, tool, text, isOpen);
}

/**
 * Records a change and the id of the key that made it (`by`), in the transaction of the change, so that neither is stored without the
 * other.
 */
export function recordChange(
  context: Pick<CatalogContext, 'sql' | 'now'>,
  { by, action, resource, name, version }: Pick<AuditChange, 'action' | 'resource' | 'name'> & { by: string; version?: number },
): void {
  const row: AuditChange = {
    kind: 'change',
    at: new Date(context.now()).toISOString(),
    keyId: by,
    action,
    resource,
    name,
    version: version ?? null,
  };
  context.sql.exec("INSERT INTO audit (kind, tool, row) VALUES ('change', '', ?)", JSON.stringify(row));
}

/** Newest first. `tool`: the canonical name, or the called name if it matched no tool. */
export function listAudit({ sql }: CatalogContext, query: AuditQuery): Page<AuditEntry> {
  return newestFirst('audit', query, (before, count) => select(sql, query, before, count), toEntry);
}

type SqlRow = { number: number; kind: AuditEntry['kind']; row: string };

/** Rows are written only above; calls stored before nested calls existed have no parent. */
function toEntry({ kind, row }: SqlRow): AuditEntry {
  if (kind === 'change') return JSON.parse(row) as AuditChange;
  return { parent: null, ...(JSON.parse(row) as Omit<AuditRow, 'parent'> & Partial<AuditRow>), kind };
}

/** One statement per filter, so that each uses its index. A missing `kind` is null, and matches every row. */
function select(sql: SqlStorage, { session, tool, kind: only }: AuditQuery, before: number, count: number): SqlRow[] {
  const kind = only ?? null;
  const end = [kind, before, count] as const;
  const read = (query: string, ...values: (string | number | null)[]): SqlRow[] => sql.exec<SqlRow>(query, ...values).toArray();
  if (session !== undefined && tool !== undefined) return read(bySessionAndTool, session, tool, ...end);
  if (session !== undefined) return read(bySession, session, ...end);
  if (tool !== undefined) return read(byTool, tool, ...end);
  return kind === null ? read(newest, before, count) : read(byKind, ...end);
}

const bySessionAndTool = `SELECT sequence AS number, kind, row FROM audit
  WHERE session = ? AND tool = ? AND coalesce(kind = ?, 1) AND sequence < ? ORDER BY sequence DESC LIMIT ?`;
const bySession = `SELECT sequence AS number, kind, row FROM audit
  WHERE session = ? AND coalesce(kind = ?, 1) AND sequence < ? ORDER BY sequence DESC LIMIT ?`;
const byTool = `SELECT sequence AS number, kind, row FROM audit
  WHERE tool = ? AND coalesce(kind = ?, 1) AND sequence < ? ORDER BY sequence DESC LIMIT ?`;
const byKind = 'SELECT sequence AS number, kind, row FROM audit WHERE kind = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?';
const newest = 'SELECT sequence AS number, kind, row FROM audit WHERE sequence < ? ORDER BY sequence DESC LIMIT ?';
