/**
 * The timers of a session on the one alarm of its object: a table of due times, with the alarm at the earliest. An alarm outlives
 * the process, so that a stored timer fires even if no request comes.
 */

/**
 * `approval`: the next approval or question of a tool expires. `notice`: the Catalog has not received a notice. `summary`, `usage`: the Catalog
 * has not received an update of its lists, or usage is not sent; either timer sends both. `erase`: a deletion is not finished.
 */
export type TimerKind = 'turn' | 'expire' | 'audit' | 'approval' | 'notice' | 'usage' | 'summary' | 'erase';

export class Timers {
  readonly #storage: DurableObjectStorage;
  #armedFor: number | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  set(kind: TimerKind, due: number): void {
    this.#storage.sql.exec('INSERT INTO timers (kind, due) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET due = excluded.due', kind, due);
    // The alarm is not later, so the other timers need not be read.
    if (this.#armedFor === null || this.#armedFor > due) this.arm();
  }

  isSet(kind: TimerKind): boolean {
    return this.#storage.sql.exec('SELECT kind FROM timers WHERE kind = ?', kind).toArray().length > 0;
  }

  /** Sets the timer to `due`, unless it is set for later. */
  postpone(kind: TimerKind, due: number): void {
    const [row] = this.#storage.sql.exec<{ due: number }>('SELECT due FROM timers WHERE kind = ?', kind);
    if (row === undefined || row.due < due) this.set(kind, due);
  }

  clear(kind: TimerKind): void {
    this.#storage.sql.exec('DELETE FROM timers WHERE kind = ?', kind);
  }

  /** Clears `usage` and `summary` once nothing is left to send: an idle session is not woken for what was sent. */
  clearSent(): void {
    const isLeft = 'SELECT 1 FROM usage_ranges UNION ALL SELECT 1 FROM summary WHERE revision > sent';
    const clear = `DELETE FROM timers WHERE kind IN ('usage', 'summary') AND NOT EXISTS (${isLeft}) RETURNING kind`;
    if (this.#storage.sql.exec(clear).toArray().length > 0) this.armExactly();
  }

  /** Deletes all timers, before the session is deleted. */
  clearAll(): void {
    this.#storage.sql.exec('DELETE FROM timers');
  }

  due(now: number): TimerKind[] {
    const rows = this.#storage.sql.exec<{ kind: TimerKind }>('SELECT kind FROM timers WHERE due <= ? ORDER BY due', now);
    return [...rows].map(({ kind }) => kind);
  }

  /** Sets the alarm to the earliest timer. An alarm that fires early finds nothing due and is set again, which is cheaper than moving it. */
  arm(): void {
    const earliest = this.#earliest();
    if (earliest === null || (this.#armedFor !== null && this.#armedFor <= earliest)) return;
    this.#armedFor = earliest;
    void this.#storage.setAlarm(earliest);
  }

  /** Sets the alarm exactly to the earliest timer, or deletes it without one: for a session that may be idle for long. */
  armExactly(): void {
    const earliest = this.#earliest();
    if (earliest === this.#armedFor) return;
    this.#armedFor = earliest;
    void (earliest === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(earliest));
  }

  /** Marks the alarm as fired, so that it is no longer set. */
  markFired(): void {
    this.#armedFor = null;
  }

  #earliest(): number | null {
    return this.#storage.sql.exec<{ earliest: number | null }>('SELECT min(due) AS earliest FROM timers').one().earliest;
  }
}
