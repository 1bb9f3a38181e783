/**
 * The accepted turns of one session, in order, with what they were asked: stored before anyone is answered. Also the
 * idempotency keys that named them.
 */
import type { EditionPointer } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import type { InputPart } from '../core/message.ts';
import type { Plan } from '../core/plan.ts';
import { Problem } from '../core/problem.ts';
import type { TurnEndReason, TurnStatus } from '../core/session-event.ts';
import { writeChunks } from './event-log.ts';

export type TurnState = 'queued' | 'running' | 'ended';

export type TurnRow = {
  id: string;
  state: TurnState;
  status: TurnStatus | null;
  reason: TurnEndReason | null;
  plan: Plan;
  /** Number of the event before the turn's first; null while queued. */
  before: number | null;
  lastEvent: number | null;
  acceptedAt: number;
};

/** The turn that a key named; `session` is where it is, if not here but in a fork. */
export type KeyedTurn = { turn: string; session: string | null; edition: EditionPointer | null };

type StoredTurn = {
  id: string;
  state: TurnState;
  status: TurnStatus | null;
  reason: TurnEndReason | null;
  plan: string;
  input_event: number | null;
  last_event: number | null;
  accepted_at: number;
};

const columns = 'id, state, status, reason, plan, input_event, last_event, accepted_at';

export class TurnStore {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Throws `rate_limited` when the queue is full. */
  accept(id: string, plan: Plan, input: InputPart[]): void {
    if (this.queued() >= limits.maxQueuedTurns) {
      throw new Problem(
        'rate_limited',
        `This session already has ${limits.maxQueuedTurns} turns waiting. Try again when some have ended.`,
        { retryAfterMs: 5_000 },
      );
    }
    this.#sql.exec('INSERT INTO turns (id, state, plan, accepted_at) VALUES (?, ?, ?, ?)', id, 'queued', JSON.stringify(plan), this.#now());
    writeChunks(JSON.stringify(input), (seq, part) =>
      this.#sql.exec('INSERT INTO turn_inputs (turn, seq, part) VALUES (?, ?, ?)', id, seq, part),
    );
  }

  get(id: string): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE id = ?`, id);
  }

  hasEnded(id: string): boolean {
    return this.#sql.exec(`SELECT id FROM turns WHERE id = ? AND state = 'ended'`, id).toArray().length > 0;
  }

  /** The running turn, else the next in the queue, else the last that ended. */
  current(): TurnRow | null {
    return this.running() ?? this.nextQueued() ?? this.#row(`SELECT ${columns} FROM turns ORDER BY seq DESC LIMIT 1`);
  }

  running(): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'running' LIMIT 1`);
  }

  nextQueued(): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'queued' ORDER BY seq LIMIT 1`);
  }

  queued(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM turns WHERE state = 'queued'`).one().count;
  }

  /** The input, handed over to the log when the turn begins. */
  takeInput(id: string): InputPart[] {
    const parts = [...this.#sql.exec<{ part: string }>('SELECT part FROM turn_inputs WHERE turn = ? ORDER BY seq', id)];
    this.#sql.exec('DELETE FROM turn_inputs WHERE turn = ?', id);
    return JSON.parse(parts.map(({ part }) => part).join('')) as InputPart[];
  }

  begun(id: string, before: number): void {
    this.#sql.exec(`UPDATE turns SET state = 'running', input_event = ? WHERE id = ?`, before, id);
  }

  ended(id: string, status: TurnStatus, reason: TurnEndReason, lastEvent: number): void {
    this.#sql.exec(`UPDATE turns SET state = 'ended', status = ?, reason = ?, last_event = ? WHERE id = ?`, status, reason, lastEvent, id);
  }

  /** The turn that this key named in the last 24 h, and its session if that is a fork; another body under the same key is `idempotency_mismatch`. */
  findByKey(key: string, bodyHash: string): KeyedTurn | null {
    this.#sql.exec('DELETE FROM idempotency WHERE at < ?', this.#now() - limits.idempotencyTtlMs);
    const [row] = [
      ...this.#sql.exec<{ body_hash: string; turn: string; session: string | null; edition: string | null }>(
        'SELECT body_hash, turn, session, edition FROM idempotency WHERE key = ?',
        key,
      ),
    ];
    if (row === undefined) return null;
    if (row.body_hash !== bodyHash) {
      throw new Problem(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another body in the last 24 hours. Use a new key for a new request.',
      );
    }
    return { turn: row.turn, session: row.session, edition: row.edition === null ? null : (JSON.parse(row.edition) as EditionPointer) };
  }

  rememberKey(key: string, bodyHash: string, { turn, session, edition }: KeyedTurn): void {
    this.#sql.exec(
      'INSERT INTO idempotency (key, body_hash, turn, session, edition, at) VALUES (?, ?, ?, ?, ?, ?)',
      key,
      bodyHash,
      turn,
      session,
      edition === null ? null : JSON.stringify(edition),
      this.#now(),
    );
  }

  #row(query: string, ...bindings: string[]): TurnRow | null {
    const [row] = [...this.#sql.exec<StoredTurn>(query, ...bindings)];
    if (row === undefined) return null;
    const { id, state, status, reason } = row;
    return {
      id,
      state,
      status,
      reason,
      plan: JSON.parse(row.plan) as Plan,
      before: row.input_event,
      lastEvent: row.last_event,
      acceptedAt: row.accepted_at,
    };
  }
}
