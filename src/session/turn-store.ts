/**
 * The accepted turns of one session, in order, with what they were asked: stored before anyone is answered. Also the
 * idempotency keys that named them.
 */
import type { EditionPointer } from '../core/edition-tool.ts';
import { limits } from '../core/limits.ts';
import type { InputPart } from '../core/message.ts';
import type { Plan } from '../core/plan.ts';
import { idempotencyMismatch, Problem } from '../core/problem.ts';
import { logFormat, type TurnEndReason, type TurnStatus } from '../core/session-event.ts';
import { writeChunks } from './event-log.ts';

/** `waiting`: for somebody outside; nothing runs, and the turns behind it stay queued. */
export type TurnState = 'queued' | 'running' | 'waiting' | 'ended';

/** What a waiting turn waits for; a person's word, or answer to a server, goes before a result of the caller's tools. */
export type WaitReason = 'approval_required' | 'client_tool_required';

export type TurnRow = {
  id: string;
  state: TurnState;
  status: TurnStatus | null;
  reason: TurnEndReason | WaitReason | null;
  plan: Plan;
  /** Milliseconds that it has worked, as last written down; waits are left out. */
  spentMs: number;
  /** `logFormat` of the release that accepted it. */
  format: number;
  /** Number of the event before the turn's first; null while queued. */
  before: number | null;
  lastEvent: number | null;
  acceptedAt: number;
};

/** The turn that a key named; `session` is where it is, if not here but in a fork. */
export type KeyedTurn = { turn: string; session: string | null; edition: EditionPointer | null; completion: string | null };

type StoredTurn = {
  id: string;
  state: TurnState;
  status: TurnStatus | null;
  reason: TurnEndReason | WaitReason | null;
  plan: string;
  spent_ms: number;
  format: number;
  input_event: number | null;
  last_event: number | null;
  accepted_at: number;
};

const columns = 'id, state, status, reason, plan, spent_ms, format, input_event, last_event, accepted_at';

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
    this.#sql.exec(
      'INSERT INTO turns (id, state, plan, format, accepted_at) VALUES (?, ?, ?, ?, ?)',
      id,
      'queued',
      JSON.stringify(plan),
      logFormat,
      this.#now(),
    );
    writeChunks(JSON.stringify(input), (seq, part) =>
      this.#sql.exec('INSERT INTO turn_inputs (turn, seq, part) VALUES (?, ?, ?)', id, seq, part),
    );
  }

  get(id: string): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE id = ?`, id);
  }

  /** The running or waiting turn, else the next in the queue, else the last that ended. */
  current(): TurnRow | null {
    return this.open() ?? this.nextQueued() ?? this.#row(`SELECT ${columns} FROM turns ORDER BY seq DESC LIMIT 1`);
  }

  running(): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'running' LIMIT 1`);
  }

  waiting(): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'waiting' LIMIT 1`);
  }

  /** The turn that was begun and has not ended: the queue stands behind it. */
  open(): TurnRow | null {
    return this.running() ?? this.waiting();
  }

  isWaiting(): boolean {
    return this.#sql.exec(`SELECT id FROM turns WHERE state = 'waiting' LIMIT 1`).toArray().length > 0;
  }

  stateOf(id: string): TurnState | null {
    return this.#sql.exec<{ state: TurnState }>('SELECT state FROM turns WHERE id = ?', id).toArray()[0]?.state ?? null;
  }

  /** Ids of those that ended and were not completed. */
  brokenOff(): ReadonlySet<string> {
    const rows = this.#sql.exec<{ id: string }>(`SELECT id FROM turns WHERE state = 'ended' AND status <> 'completed'`);
    return new Set([...rows].map(({ id }) => id));
  }

  nextQueued(): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'queued' ORDER BY seq LIMIT 1`);
  }

  queued(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM turns WHERE state = 'queued'`).one().count;
  }

  /** How many come before it; 0 for one that was begun. */
  ahead(id: string): number {
    return this.#sql
      .exec<{ count: number }>(
        `SELECT count(*) AS count FROM turns WHERE state IN ('queued', 'running', 'waiting') AND seq < (SELECT seq FROM turns WHERE id = ? AND state = 'queued')`,
        id,
      )
      .one().count;
  }

  /** The input, handed over to the log when the turn begins. */
  takeInput(id: string): InputPart[] {
    const parts = [...this.#sql.exec<{ part: string }>('SELECT part FROM turn_inputs WHERE turn = ? ORDER BY seq', id)];
    this.#sql.exec('DELETE FROM turn_inputs WHERE turn = ?', id);
    return JSON.parse(parts.map(({ part }) => part).join('')) as InputPart[];
  }

  /** Begins it; answers the epoch of this run. */
  begun(id: string, before: number): number {
    this.#sql.exec(`UPDATE turns SET state = 'running', input_event = ? WHERE id = ?`, before, id);
    return this.raiseEpoch(id);
  }

  /** From here on, whatever an earlier run of this turn still says is too late. */
  raiseEpoch(id: string): number {
    return this.#sql.exec<{ epoch: number }>('UPDATE turns SET epoch = epoch + 1 WHERE id = ? RETURNING epoch', id).one().epoch;
  }

  isEpoch(id: string, epoch: number): boolean {
    return this.#sql.exec('SELECT id FROM turns WHERE id = ? AND epoch = ?', id, epoch).toArray().length > 0;
  }

  /** An older log was brought to what this release goes on from. */
  adopt(id: string): void {
    this.#sql.exec('UPDATE turns SET format = ? WHERE id = ?', logFormat, id);
  }

  worked(id: string, spentMs: number): void {
    this.#sql.exec('UPDATE turns SET spent_ms = ? WHERE id = ?', spentMs, id);
  }

  rested(id: string, reason: WaitReason): void {
    this.#sql.exec(`UPDATE turns SET state = 'waiting', reason = ? WHERE id = ?`, reason, id);
  }

  /** False when it was told before of this question, by the number of its event, or a later one. */
  asks(id: string, event: number): boolean {
    return (
      this.#sql.exec('UPDATE turns SET asked_event = ? WHERE id = ? AND asked_event < ? RETURNING id', event, id, event).toArray().length >
      0
    );
  }

  /** Whether it was ever told that it waits. */
  hasAsked(id: string): boolean {
    return this.#sql.exec('SELECT id FROM turns WHERE id = ? AND asked_event > 0', id).toArray().length > 0;
  }

  wentOn(id: string): void {
    this.#sql.exec(`UPDATE turns SET state = 'running', reason = NULL WHERE id = ?`, id);
  }

  ended(id: string, status: TurnStatus, reason: TurnEndReason, lastEvent: number): void {
    this.#sql.exec(`UPDATE turns SET state = 'ended', status = ?, reason = ?, last_event = ? WHERE id = ?`, status, reason, lastEvent, id);
  }

  /** The turn that this key named in the last 24 h, and its session if that is a fork; another body under the same key is `idempotency_mismatch`. */
  findByKey(key: string, bodyHash: string): KeyedTurn | null {
    this.#sql.exec('DELETE FROM idempotency WHERE at < ?', this.#now() - limits.idempotencyTtlMs);
    const [row] = [
      ...this.#sql.exec<{ body_hash: string; turn: string; session: string | null; edition: string | null; completion: string | null }>(
        'SELECT body_hash, turn, session, edition, completion FROM idempotency WHERE key = ?',
        key,
      ),
    ];
    if (row === undefined) return null;
    if (row.body_hash !== bodyHash) {
      throw idempotencyMismatch();
    }
    const edition = row.edition === null ? null : (JSON.parse(row.edition) as EditionPointer);
    return { turn: row.turn, session: row.session, edition, completion: row.completion };
  }

  rememberKey(key: string, bodyHash: string, { turn, session, edition, completion }: KeyedTurn): void {
    this.#sql.exec(
      'INSERT INTO idempotency (key, body_hash, turn, session, edition, completion, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      key,
      bodyHash,
      turn,
      session,
      edition === null ? null : JSON.stringify(edition),
      completion,
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
      spentMs: row.spent_ms,
      format: row.format,
      before: row.input_event,
      lastEvent: row.last_event,
      acceptedAt: row.accepted_at,
    };
  }
}
