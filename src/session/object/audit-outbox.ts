/** The outbox for audit rows of a session: stores a row with its call and sends the rows to the audit in order, at least once. */
import type { AuditRow } from '../../core/audit.ts';
import { limits } from '../../core/limits.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';

/** Audit rows sent in one call. */
const auditBatchRows = 100;
/** Numbers of rows that are reserved with one write. A process that ends leaves out the rest of them. */
const reservedNumbers = 100;

export class AuditOutbox {
  readonly #sql: SqlStorage;
  /** Row numbers of calls without an outcome, by call id. */
  readonly #begun = new Map<string, number>();
  #lastNumber = 0;
  #lastReserved = 0;
  /** null: not known. Only this object writes rows. */
  #hasRows: boolean | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores the intent of a direct call, which `add` replaces with the outcome. If the process dies before that, the audit receives the intent. */
  begin(row: Omit<AuditRow, 'sequence'>): void {
    this.#begun.set(row.callId, this.#begun.get(row.callId) ?? this.#insert(row));
  }

  /** Stores the row, under the number of its intent if there is one. */
  add(row: Omit<AuditRow, 'sequence'>): void {
    const sequence = this.#begun.get(row.callId);
    if (sequence === undefined) this.#insert(row);
    else {
      this.#hasRows = true;
      this.#sql.exec('INSERT OR REPLACE INTO audit (sequence, body) VALUES (?, ?)', sequence, JSON.stringify(row));
    }
    // A waiting call is started again later under the same id.
    if (row.verdict !== 'waiting') this.#begun.delete(row.callId);
  }

  #insert(row: Omit<AuditRow, 'sequence'>): number {
    this.#hasRows = true;
    const sequence = this.#nextNumber();
    this.#sql.exec('INSERT INTO audit (sequence, body) VALUES (?, ?)', sequence, JSON.stringify(row));
    return sequence;
  }

  /** Returns a number that no row of this session had: the audit identifies rows by it after they were deleted here. */
  #nextNumber(): number {
    if (this.#lastNumber === this.#lastReserved) {
      const reserve = 'UPDATE meta SET audit_reserved = audit_reserved + ? RETURNING audit_reserved AS reserved';
      this.#lastReserved = this.#sql.exec<{ reserved: number }>(reserve, reservedNumbers).one().reserved;
      this.#lastNumber = this.#lastReserved - reservedNumbers;
    }
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  hasRows(): boolean {
    this.#hasRows ??= this.#sql.exec('SELECT sequence FROM audit LIMIT 1').toArray().length > 0;
    return this.#hasRows;
  }

  /** Like `flush`, but waits at most `limits.auditWaitMs`. Returns the error when rows are left, else null. */
  async handOver(send: (rows: AuditRow[]) => Promise<void>): Promise<Error | null> {
    if (!this.hasRows()) return null;
    return await faultOf(withCatalogTimeout(this.flush(send), limits.auditWaitMs));
  }

  /** Sends all stored rows and deletes those that were stored. The audit identifies a row by session and sequence. */
  async flush(send: (rows: AuditRow[]) => Promise<void>): Promise<void> {
    while (this.hasRows()) {
      const query = 'SELECT sequence, body FROM audit ORDER BY sequence LIMIT ?';
      const stored = this.#sql.exec<{ sequence: number; body: string }>(query, auditBatchRows).toArray();
      await send(stored.map(({ sequence, body }) => ({ ...(JSON.parse(body) as Omit<AuditRow, 'sequence'>), sequence })));
      // Compares the text too: an intent that was sent may have been replaced by its outcome in the meantime.
      for (const { sequence, body } of stored) this.#sql.exec('DELETE FROM audit WHERE sequence = ? AND body = ?', sequence, body);
      this.#hasRows = null;
    }
  }
}

/** Returns the value of `work`, or throws after `ms`. */
export async function withCatalogTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  return await withTimeout(systemClock, work, ms, () => {
    throw new Error('no response in time');
  });
}

/** Returns what `work` throws; null when it succeeds. */
export async function faultOf(work: Promise<unknown>): Promise<Error | null> {
  return await work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}
