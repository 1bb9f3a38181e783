/** Audit rows of a session on their way to the Catalog: written with the call, handed over in order, at least once. */
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { withTimeLimit } from '../net/time-limit.ts';

export class AuditOutbox {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Numbers and stores the row. The table counts on even when it is empty, so a number names one row for good. */
  add(row: Omit<AuditRow, 'sequence'>): void {
    this.#sql.exec('INSERT INTO audit (body) VALUES (?)', JSON.stringify(row));
  }

  waiting(): boolean {
    return this.#sql.exec('SELECT sequence FROM audit LIMIT 1').toArray().length > 0;
  }

  /** As `flush`, but not for longer than somebody can wait: answers the fault when something is left, else null. */
  async handOver(send: (rows: AuditRow[]) => Promise<void>): Promise<Error | null> {
    const late = (): never => {
      throw new Error('the Catalog took too long');
    };
    try {
      await withTimeLimit(this.flush(send), limits.auditWaitMs, late);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Sends all that is waiting; what was taken is forgotten here (the Catalog keeps it by session and sequence). */
  async flush(send: (rows: AuditRow[]) => Promise<void>): Promise<void> {
    for (;;) {
      const stored = [
        ...this.#sql.exec<{ sequence: number; body: string }>(
          'SELECT sequence, body FROM audit ORDER BY sequence LIMIT ?',
          limits.auditBatchRows,
        ),
      ];
      const last = stored.at(-1);
      if (last === undefined) return;
      await send(stored.map(({ sequence, body }) => ({ ...(JSON.parse(body) as Omit<AuditRow, 'sequence'>), sequence })));
      this.#sql.exec('DELETE FROM audit WHERE sequence <= ?', last.sequence);
    }
  }
}
