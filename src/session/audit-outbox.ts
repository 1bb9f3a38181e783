/** Audit rows of a session on their way to the Catalog: written with the call, handed over in order, at least once. */
import type { AuditRow } from '../core/audit.ts';
import { limits } from '../core/limits.ts';
import { withTimeLimit } from '../net/time-limit.ts';

export class AuditOutbox {
  readonly #sql: SqlStorage;
  /** By call id: numbers of rows whose calls have no outcome yet. */
  readonly #begun = new Map<string, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores the intent of a direct call, which `add` replaces by its outcome. If the process dies before that, the Catalog gets the intent. */
  begin(row: Omit<AuditRow, 'sequence'>): void {
    this.#begun.set(row.callId, this.#begun.get(row.callId) ?? this.#insert(row));
  }

  /** Numbers and stores the row, under the number of its intent if it has one. The table never uses a number twice. */
  add(row: Omit<AuditRow, 'sequence'>): void {
    const sequence = this.#begun.get(row.callId);
    if (sequence === undefined) this.#insert(row);
    else this.#sql.exec('INSERT OR REPLACE INTO audit (sequence, body) VALUES (?, ?)', sequence, JSON.stringify(row));
    // A call that waits is begun again under its id.
    if (row.verdict !== 'waiting') this.#begun.delete(row.callId);
  }

  #insert(row: Omit<AuditRow, 'sequence'>): number {
    const query = 'INSERT INTO audit (body) VALUES (?) RETURNING sequence';
    return this.#sql.exec<{ sequence: number }>(query, JSON.stringify(row)).one().sequence;
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
      // By its text, too: an intent that was sent may have become an outcome meanwhile.
      for (const { sequence, body } of stored) this.#sql.exec('DELETE FROM audit WHERE sequence = ? AND body = ?', sequence, body);
    }
  }
}
