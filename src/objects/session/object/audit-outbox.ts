/** The outbox for audit rows of a session: stores a row with its call and sends the rows to the audit in order, at least once. */
import type { AuditRow } from '../../../core/records/audit.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Outbox, type OutboxHost, tableRows } from '../../shared/outbox.ts';
import type { Timers } from './timers.ts';

/** Audit rows sent in one call. */
const auditBatchRows = 100;
/** Numbers of rows that are reserved with one write. A process that ends leaves out the rest of them. */
const reservedNumbers = 100;

type AuditParts = OutboxHost & { sql: SqlStorage; timers: Timers; send(rows: AuditRow[]): Promise<void> };

const statements = {
  next: 'SELECT sequence, body FROM audit ORDER BY sequence LIMIT ?',
  remove: 'DELETE FROM audit WHERE sequence = ? AND body = ?',
};

type StoredRow = { sequence: number; body: string };

export class AuditOutbox {
  readonly #sql: SqlStorage;
  readonly #parts: Pick<AuditParts, 'isGone' | 'send'>;
  readonly outbox: Outbox<StoredRow>;
  /** Row numbers of calls without an outcome, by call id. */
  readonly #begun = new Map<string, number>();
  #lastNumber = 0;
  #lastReserved = 0;

  constructor({ sql, timers, send, ...host }: AuditParts) {
    this.#sql = sql;
    this.#parts = { isGone: host.isGone, send };
    this.outbox = new Outbox({
      ...host,
      // An intent that was sent may have been replaced by its outcome in the meantime.
      rows: tableRows<StoredRow>(sql, { ...statements, changes: 'body', batch: auditBatchRows }),
      // Only `AuditOutbox` writes them.
      send: (rows) => send(rows.map(({ sequence, body }) => ({ ...(JSON.parse(body) as Omit<AuditRow, 'sequence'>), sequence }))),
      what: 'audit rows',
      timer: timers.of('audit'),
      retryMs: limits.auditRetryMs,
      waitMs: limits.auditWaitMs,
    });
  }

  /** Stores the intent of a direct call, which `add` replaces with the outcome. If the process dies before that, the audit receives the intent. */
  begin(row: Omit<AuditRow, 'sequence'>): void {
    if (this.#parts.isGone()) throw new Error('the session was deleted');
    this.#begun.set(row.callId, this.#begun.get(row.callId) ?? this.#insert(row));
  }

  /** Stores the row, under the number of its intent if there is one. When the session was deleted during the call, sends it directly. */
  add(row: Omit<AuditRow, 'sequence'>): void | Promise<void> {
    if (this.#parts.isGone()) return this.#parts.send([{ ...row, sequence: null }]);
    const sequence = this.#begun.get(row.callId);
    if (sequence === undefined) this.#insert(row);
    else {
      this.outbox.added();
      this.#sql.exec('INSERT OR REPLACE INTO audit (sequence, body) VALUES (?, ?)', sequence, JSON.stringify(row));
    }
    // A waiting call is started again later under the same id.
    if (row.verdict !== 'waiting') this.#begun.delete(row.callId);
  }

  #insert(row: Omit<AuditRow, 'sequence'>): number {
    this.outbox.added();
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
}
