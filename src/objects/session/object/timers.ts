/**
 * The timers of a session on the one alarm of its object, which is set to the earliest. An alarm outlives the process, so that a timer fires
 * even if no request comes. Most timers are only in memory: the tables of what is open or unsent tell a new process to set them again.
 *
 * It is not `shared/alarm-driver.ts`, which reads the next due time of every job with queries and awaits the storage: a turn sets timers many
 * times, in the transactions of its rows, which are synchronous, and reads none of them for it. A due session runs its jobs one after the
 * other, since the deletion of the session ends the rest.
 */
import { limits } from '../../../core/limits/limits.ts';

/**
 * `approval`: the next approval or question of a tool expires. `audit`, `notice`, `summary`, `usage`: rows of the audit, notices, an update of
 * the Catalog's lists or usage are not sent. `turn`: a turn runs. `erase`: a deletion is not finished. `replay`: a replay runs, or is to look for
 * recordings that are gone.
 */
export type TimerKind = 'turn' | 'expire' | 'audit' | 'approval' | 'notice' | 'usage' | 'summary' | 'erase' | 'replay';

type StoredKind = 'expire' | 'approval' | 'erase' | 'replay';
type ImpliedKind = Exclude<TimerKind, StoredKind>;

const stored: ReadonlySet<TimerKind> = new Set<StoredKind>(['expire', 'approval', 'erase', 'replay']);

/** What is left to do, by the kind of its timer. Turns are selected as in `turn/turn-store.ts`. */
const pendingWorkQuery = `SELECT EXISTS (SELECT 1 FROM audit) AS audit,
  EXISTS (SELECT 1 FROM usage_ranges) AS usage, EXISTS (SELECT 1 FROM summary WHERE revision > sent) AS summary,
  EXISTS (SELECT 1 FROM turns WHERE state IN ('running', 'queued') AND state <> 'ended') AS turn`;

/** A postponed timer is set for this much later, so that it is not written with each request. */
const postponedMs = 5 * 60_000;
/** Further ahead than any retry of what is unsent. */
const farMs = 60 * 60_000;

export class Timers {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** The timers that are not stored. */
  readonly #implied = new Map<TimerKind, number>();
  #armedFor: number | null = null;
  #isClosed = false;

  constructor(storage: DurableObjectStorage, sql = storage.sql) {
    this.#storage = storage;
    this.#sql = sql;
  }

  /** Sets the timers of what an earlier process has left. What it has not sent is due; a turn is resumed by the caller, or later by its timer. */
  restore(now: number): void {
    const left = this.#sql.exec<Record<Exclude<ImpliedKind, 'notice'>, number>>(pendingWorkQuery).one();
    for (const kind of ['audit', 'usage', 'summary'] as const) if (left[kind] === 1) this.set(kind, now);
    if (this.#sql.exec('SELECT sequence FROM notices LIMIT 1').toArray().length > 0) this.set('notice', now);
    if (left.turn === 1) this.set('turn', now + limits.turnAlarmMs);
  }

  /** Call with each request: timers that were set while the clock was ahead come too late, and are set again. */
  followClock(now: number): void {
    const isLate = [...this.#implied].some(([kind, due]) => due > now + (kind === 'turn' ? 2 * limits.turnAlarmMs : farMs));
    if (!isLate) return;
    this.#implied.clear();
    this.#armedFor = null;
    this.restore(now);
    this.arm();
  }

  /** The timer of one kind. */
  of(kind: TimerKind): { set(due: number): void; clear(): void } {
    return { set: (due) => this.set(kind, due), clear: () => this.clear(kind) };
  }

  set(kind: TimerKind, due: number): void {
    if (this.#isClosed) return;
    if (!stored.has(kind)) this.#implied.set(kind, due);
    else this.#sql.exec('INSERT INTO timers (kind, due) VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET due = excluded.due', kind, due);
    // The alarm is not later, so the other timers need not be read.
    if (this.#armedFor === null || this.#armedFor > due) this.arm();
  }

  /** Sets the timer to `due` or a little later, unless it is set for later. */
  postpone(kind: StoredKind, due: number): void {
    const [row] = this.#sql.exec<{ due: number }>('SELECT due FROM timers WHERE kind = ?', kind);
    if (row === undefined || row.due < due) this.set(kind, due + postponedMs);
  }

  clear(kind: TimerKind): void {
    if (this.#isClosed) return;
    if (stored.has(kind)) this.#sql.exec('DELETE FROM timers WHERE kind = ?', kind);
    // A session with nothing left to do is idle, maybe for long, and is not woken.
    else if (this.#implied.delete(kind) && this.#implied.size === 0) this.#armExactly();
  }

  /** Leaves only the timer of the deletion, which continues it if the process dies. From then on no other is set. */
  close(due: number): void {
    this.#implied.clear();
    this.#sql.exec('DELETE FROM timers');
    this.set('erase', due);
    this.#isClosed = true;
  }

  due(now: number): TimerKind[] {
    const rows = this.#sql.exec<{ kind: TimerKind; due: number }>('SELECT kind, due FROM timers WHERE due <= ?', now);
    const all = [...[...this.#implied].map(([kind, due]) => ({ kind, due })), ...rows];
    return all
      .filter(({ due }) => due <= now)
      .sort((one, other) => one.due - other.due)
      .map(({ kind }) => kind);
  }

  /** Sets the alarm to the earliest timer. An alarm that fires early finds nothing due and is set again, which is cheaper than moving it. */
  arm(): void {
    const earliest = this.#earliest();
    if (earliest === null || (this.#armedFor !== null && this.#armedFor <= earliest)) return;
    this.#armedFor = earliest;
    void this.#storage.setAlarm(earliest);
  }

  /** Sets the alarm exactly to the earliest timer, or deletes it without one. */
  #armExactly(): void {
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
    const { earliest } = this.#sql.exec<{ earliest: number | null }>('SELECT min(due) AS earliest FROM timers').one();
    const all = earliest === null ? [...this.#implied.values()] : [earliest, ...this.#implied.values()];
    return all.length === 0 ? null : Math.min(...all);
  }
}
