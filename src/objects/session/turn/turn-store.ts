/**
 * The accepted turns of one session, in order, with their inputs: stored before the response. Also the idempotency keys of the
 * turns.
 */
import type { EditionPointer } from '../../../core/toolset/edition-tool.ts';
import { limits } from '../../../core/limits/limits.ts';
import { sha256HexSync } from '../../../core/hash.ts';
import type { InputPart } from '../../../core/model/message.ts';
import { type AskedOfTurn, askedOf, type Plan } from '../../../core/turn/plan.ts';
import { idempotencyMismatch, Problem } from '../../../core/problem.ts';
import type { TurnEndReason, TurnStatus } from '../../../core/turn/session-event.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import { readChunks, writeChunks } from '../../shared/text-rows.ts';

export const maxQueuedTurns = 100;

/** `waiting`: for a decision or result from outside; nothing runs, and later turns stay queued. */
export type TurnRowState = 'queued' | 'running' | 'waiting' | 'ended';

/** What a waiting turn waits for; a decision or input of a person takes precedence over a result of the client's tools. */
export type WaitReason = 'approval_required' | 'client_tool_required';

/**
 * What is read of the plan of an ended turn; the rest is deleted with its end. `request`: hash of what its request had, which is stored once for all
 * turns that had the same.
 */
type EndedPlan = Pick<Plan, 'agent' | 'edition' | 'trigger' | 'limited'> & { request?: string };

const sessionIsFull = `This session stores more than ${limits.maxSessionBytes / 1024 ** 3} GB and accepts nothing more. It can be read; continue in a new one.`;

/** Throws `conflict` for a session that may not store more. */
export function requireRoom(sql: SqlStorage): void {
  if (sql.databaseSize > limits.maxSessionBytes) throw new Problem('conflict', sessionIsFull);
}

export type TurnRow = {
  id: string;
  state: TurnRowState;
  status: TurnStatus | null;
  reason: TurnEndReason | WaitReason | null;
  plan: EndedPlan;
  /** Milliseconds that it has worked, without waits, as last stored. */
  spentMs: number;
  /** Number of the event before the turn's first; null while queued. */
  before: number | null;
  lastEvent: number | null;
  acceptedAt: number;
};

/** The row of a turn that has not ended. */
export type OpenTurnRow = TurnRow & { plan: Plan };

/** The turn of an idempotency key; `session` is the fork that has it, null for this session. */
export type KeyedTurn = { turn: string; session: string | null; edition: EditionPointer | null; completion: string | null };

/* Queries of turns in one open state also contain `state <> 'ended'`, without which SQLite does not use the index of open turns. */

const columns =
  'id, state, status, reason, plan, spent_ms AS spentMs, input_event AS before, last_event AS lastEvent, accepted_at AS acceptedAt';

export class TurnStore {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  #changes = 0;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Counts the changes of states of turns in this object, so that a reader knows when to read them again. */
  get changes(): number {
    return this.#changes;
  }

  /** Throws `rate_limited` when the queue is full, and `conflict` when the session is. Call it before `accept`. */
  requireAcceptable(): void {
    requireRoom(this.#sql);
    if (this.countQueued() >= maxQueuedTurns) {
      throw new Problem('rate_limited', `This session already has ${maxQueuedTurns} turns waiting. Try again when some have ended.`, {
        retryAfterMs: 5_000,
      });
    }
  }

  /** Queues the turn. */
  accept(id: string, plan: Plan, input: InputPart[]): void {
    const insert = `INSERT INTO turns (id, state, plan, accepted_at) VALUES (?, 'queued', ?, ?)`;
    this.#sql.exec(insert, id, JSON.stringify(plan), this.#now());
    writeChunks(JSON.stringify(input), (seq, part) =>
      this.#sql.exec('INSERT INTO turn_inputs (turn, seq, part) VALUES (?, ?, ?)', id, seq, part),
    );
  }

  /** Stores a turn that starts now. `before`: number of the event before its first, which has its input. Returns the epoch of its run. */
  acceptStarted(id: string, plan: Plan, before: number): number {
    const insert = `INSERT INTO turns (id, state, plan, accepted_at, input_event, epoch) VALUES (?, 'running', ?, ?, ?, 1)`;
    this.#sql.exec(insert, id, JSON.stringify(plan), this.#now(), before);
    return 1;
  }

  get(id: string): TurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE id = ?`, id);
  }

  /** The running or waiting turn, else the next in the queue, else the last that ended. */
  current(): TurnRow | null {
    const started = `state <> 'ended' ORDER BY CASE state WHEN 'running' THEN 0 WHEN 'waiting' THEN 1 ELSE 2 END, seq`;
    return (
      this.#row(`SELECT ${columns} FROM turns WHERE ${started} LIMIT 1`) ??
      this.#row(`SELECT ${columns} FROM turns ORDER BY seq DESC LIMIT 1`)
    );
  }

  running(): OpenTurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'running' AND state <> 'ended' LIMIT 1`);
  }

  waiting(): OpenTurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'waiting' AND state <> 'ended' LIMIT 1`);
  }

  /** Returns the turn that was started and has not ended; queued turns wait for it. */
  open(): OpenTurnRow | null {
    return this.running() ?? this.waiting();
  }

  /** True when every accepted turn has ended. */
  isIdle(): boolean {
    return this.#sql.exec(`SELECT id FROM turns WHERE state <> 'ended' LIMIT 1`).toArray().length === 0;
  }

  isWaiting(): boolean {
    return this.#sql.exec(`SELECT id FROM turns WHERE state = 'waiting' AND state <> 'ended' LIMIT 1`).toArray().length > 0;
  }

  stateOf(id: string): TurnRowState | null {
    return this.#sql.exec<{ state: TurnRowState }>('SELECT state FROM turns WHERE id = ?', id).toArray()[0]?.state ?? null;
  }

  /** Returns the ids of the turns that ended without completing. */
  endedIncomplete(): ReadonlySet<string> {
    const rows = this.#sql.exec<{ id: string }>(`SELECT id FROM turns WHERE state = 'ended' AND status <> 'completed'`);
    return new Set([...rows].map(({ id }) => id));
  }

  nextQueued(): OpenTurnRow | null {
    return this.#row(`SELECT ${columns} FROM turns WHERE state = 'queued' AND state <> 'ended' ORDER BY seq LIMIT 1`);
  }

  countQueued(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM turns WHERE state = 'queued' AND state <> 'ended'`).one().count;
  }

  /** Returns the number of turns ahead of a queued turn; 0 for a turn that was started. */
  countAhead(id: string): number {
    const query = `SELECT count(*) AS count FROM turns WHERE state <> 'ended' AND seq < (SELECT seq FROM turns WHERE id = ? AND state = 'queued')`;
    return this.#sql.exec<{ count: number }>(query, id).one().count;
  }

  /** Returns the input and deletes it here: the turn starts, and its first event has the input. */
  takeInput(id: string): InputPart[] {
    const text = readChunks(this.#sql.exec('SELECT part FROM turn_inputs WHERE turn = ? ORDER BY seq', id)) ?? '';
    this.#sql.exec('DELETE FROM turn_inputs WHERE turn = ?', id);
    return JSON.parse(text) as InputPart[];
  }

  /** Marks the turn as started and returns the epoch of its run. */
  markStarted(id: string, before: number): number {
    this.#changes += 1;
    const query = `UPDATE turns SET state = 'running', input_event = ?, epoch = epoch + 1 WHERE id = ? RETURNING epoch`;
    return this.#sql.exec<{ epoch: number }>(query, before, id).one().epoch;
  }

  /** Starts a new epoch: earlier runs of this turn can no longer write. */
  raiseEpoch(id: string): number {
    return this.#sql.exec<{ epoch: number }>('UPDATE turns SET epoch = epoch + 1 WHERE id = ? RETURNING epoch', id).one().epoch;
  }

  /** Yields the events before the first ones of the started turns, newest first. Read it in one transaction. */
  *starts(): Generator<number> {
    const query = 'SELECT input_event AS before FROM turns WHERE input_event IS NOT NULL ORDER BY seq DESC';
    for (const { before } of this.#sql.exec<{ before: number }>(query)) yield before;
  }

  recordTimeSpent(id: string, spentMs: number): void {
    this.#sql.exec('UPDATE turns SET spent_ms = ? WHERE id = ?', spentMs, id);
  }

  markWaiting(id: string, reason: WaitReason): void {
    this.#changes += 1;
    this.#sql.exec(`UPDATE turns SET state = 'waiting', reason = ? WHERE id = ?`, reason, id);
  }

  /** Stores that a notice for this question, by the number of its event, exists. Returns false when it or a later one already has a notice. */
  claimNotice(id: string, event: number): boolean {
    const query = 'UPDATE turns SET asked_event = ? WHERE id = ? AND asked_event < ? RETURNING id';
    return this.#sql.exec(query, event, id, event).toArray().length > 0;
  }

  /** True when a notice was ever stored that the turn waits. */
  hasWaitedNotice(id: string): boolean {
    return this.#sql.exec('SELECT id FROM turns WHERE id = ? AND asked_event > 0', id).toArray().length > 0;
  }

  markRunning(id: string): void {
    this.#changes += 1;
    this.#sql.exec(`UPDATE turns SET state = 'running', reason = NULL WHERE id = ?`, id);
  }

  /** `plan`: of the turn, where it is known. */
  markEnded(
    id: string,
    status: TurnStatus,
    reason: TurnEndReason,
    lastEvent: number,
    plan: EndedPlan | Plan | undefined = this.get(id)?.plan,
  ): void {
    this.#changes += 1;
    const { agent, edition, trigger, limited }: EndedPlan = plan ?? {};
    const request = plan !== undefined && 'model' in plan ? this.#keepRequest(plan) : undefined;
    const query = `UPDATE turns SET state = 'ended', status = ?, reason = ?, last_event = ?, plan = ? WHERE id = ?`;
    this.#sql.exec(query, status, reason, lastEvent, JSON.stringify({ agent, edition, trigger, limited, request }), id);
  }

  /** What follows the last turn belongs to it. */
  extendLast(event: number): void {
    const query = `UPDATE turns SET last_event = ? WHERE seq = (SELECT max(seq) FROM turns WHERE input_event IS NOT NULL)`;
    this.#sql.exec(query, event);
  }

  #keepRequest(plan: Plan): string | undefined {
    const asked = askedOf(plan);
    if (asked === null) return undefined;
    const text = JSON.stringify(asked);
    const hash = sha256HexSync(new TextEncoder().encode(text));
    if (this.#sql.exec('SELECT 1 FROM turn_requests WHERE hash = ? LIMIT 1', hash).toArray().length === 0)
      writeChunks(text, (seq, part) => this.#sql.exec('INSERT INTO turn_requests (hash, seq, part) VALUES (?, ?, ?)', hash, seq, part));
    return hash;
  }

  /** Returns what the request of an ended turn had; null: nothing, or it is not stored. */
  askedOf(id: string): AskedOfTurn | null {
    const { request } = this.get(id)?.plan ?? {};
    if (request === undefined) return null;
    const text = readChunks(this.#sql.exec('SELECT part FROM turn_requests WHERE hash = ? ORDER BY seq', request));
    // Written by `#keepRequest`.
    return text === null ? null : (JSON.parse(text) as AskedOfTurn);
  }

  /** Returns the turn that used this key in the last 24 h. Throws `idempotency_mismatch` for another body under the same key. */
  findByKey(key: string, bodyHash: string): KeyedTurn | null {
    if (wasClockSettled()) this.#sql.exec('DELETE FROM idempotency WHERE at < ?', this.#now() - limits.idempotencyTtlMs);
    const query = 'SELECT body_hash AS hash, turn, session, edition, completion FROM idempotency WHERE key = ?';
    const [row] = this.#sql.exec<Omit<KeyedTurn, 'edition'> & { hash: string; edition: string | null }>(query, key);
    if (row === undefined) return null;
    const { hash, edition, ...keyed } = row;
    if (hash !== bodyHash) throw idempotencyMismatch();
    return { ...keyed, edition: edition === null ? null : (JSON.parse(edition) as EditionPointer) };
  }

  rememberKey(key: string, bodyHash: string, { turn, session, edition, completion }: KeyedTurn): void {
    const insert = 'INSERT INTO idempotency (key, body_hash, turn, session, edition, completion, at) VALUES (?, ?, ?, ?, ?, ?, ?)';
    this.#sql.exec(insert, key, bodyHash, turn, session, edition && JSON.stringify(edition), completion, this.#now());
  }

  /** The plan is whole when the query selects turns that have not ended. */
  #row(query: string, ...bindings: string[]): OpenTurnRow | null {
    const row = this.#sql.exec<Omit<TurnRow, 'plan'> & { plan: string }>(query, ...bindings).toArray()[0];
    return row === undefined ? null : { ...row, plan: JSON.parse(row.plan) as Plan };
  }
}
