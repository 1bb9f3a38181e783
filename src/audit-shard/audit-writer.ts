/**
 * Writes the rows of an audit shard. Every call without a session waits for its rows, and a commit takes several times as long as a row, so
 * rows that arrive during a commit are written together in the next one, in order.
 */
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';

export interface AuditWriter {
  /** Stores all rows or none, durably. */
  append(rows: readonly AuditRow[]): Promise<void>;
}

/** `insert`: in one transaction, synchronous. `sync`: resolves when writes are on disk. */
export function createAuditWriter(insert: (rows: readonly AuditRow[]) => void, sync: () => Promise<void>): AuditWriter {
  let gathered: AuditRow[] = [];
  let next: Promise<void> | null = null;
  let current: Promise<void> = Promise.resolve();

  const writeGathered = async (): Promise<void> => {
    // Even after a failed commit, whose error its own callers receive.
    await current.catch(() => undefined);
    const rows = gathered;
    gathered = [];
    next = null;
    insert(rows.map((row) => ({ ...row, requested: row.requested.slice(0, limits.maxToolNameLength) })));
    current = sync();
    await current;
  };

  return {
    async append(rows) {
      gathered.push(...rows);
      next ??= writeGathered();
      await next;
    },
  };
}
