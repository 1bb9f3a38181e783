/**
 * The many timers of a session on the one alarm an object has: a table of what is due when, the alarm at its minimum. An
 * alarm outlives the process, so what is written here happens even if nobody asks again.
 */

/**
 * `approval`: the next one, or the next question of a tool, expires. `notice`: the Catalog was not told of a turn. `erase`: a deletion that
 * was begun is not done.
 */
export type TimerKind = 'turn' | 'expire' | 'audit' | 'approval' | 'notice' | 'erase';

export class Timers {
  readonly #storage: DurableObjectStorage;
  #armedFor: number | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  set(kind: TimerKind, due: number): void {
    this.#storage.sql.exec('INSERT INTO timers (kind, due) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET due = excluded.due', kind, due);
    this.arm();
  }

  /** Not before `due`: one that is set for later stays. */
  postpone(kind: TimerKind, due: number): void {
    const [row] = this.#storage.sql.exec<{ due: number }>('SELECT due FROM timers WHERE kind = ?', kind);
    if (row === undefined || row.due < due) this.set(kind, due);
  }

  clear(kind: TimerKind): void {
    this.#storage.sql.exec('DELETE FROM timers WHERE kind = ?', kind);
  }

  /** Nothing but a deletion is left to do. */
  clearAll(): void {
    this.#storage.sql.exec('DELETE FROM timers');
  }

  due(now: number): TimerKind[] {
    const rows = this.#storage.sql.exec<{ kind: TimerKind }>('SELECT kind FROM timers WHERE due <= ? ORDER BY due', now);
    return [...rows].map(({ kind }) => kind);
  }

  /** Sets the alarm to the earliest timer. An alarm that rings early finds nothing due and arms again: cheaper than moving it back. */
  arm(): void {
    const earliest = this.#earliest();
    if (earliest === null || (this.#armedFor !== null && this.#armedFor <= earliest)) return;
    this.#armedFor = earliest;
    void this.#storage.setAlarm(earliest);
  }

  /** The alarm at exactly the earliest timer, and none without one: for a session that may now sleep for long. */
  settle(): void {
    const earliest = this.#earliest();
    if (earliest === this.#armedFor) return;
    this.#armedFor = earliest;
    void (earliest === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(earliest));
  }

  /** The alarm has rung: it is no longer set. */
  rang(): void {
    this.#armedFor = null;
  }

  #earliest(): number | null {
    return this.#storage.sql.exec<{ earliest: number | null }>('SELECT min(due) AS earliest FROM timers').one().earliest;
  }
}
