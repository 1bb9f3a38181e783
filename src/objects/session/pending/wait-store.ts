/**
 * What the calls of this session wait for: an approval, input that a tool's server requested, or a result of a client tool. One row
 * for each question; ended ones are stored for a while, so that a repeated answer is recognized. For calls of turns the table follows
 * the event log; approvals of direct calls are only in this table. `decide.ts`, `submit-input.ts` and `accept-results.ts` check the
 * answers.
 */
import { limits } from '../../../core/limits/limits.ts';
import type { ApprovalVerdict, GivenApproval } from '../../../core/policy/approval.ts';
import { innerIdRange } from '../../../core/toolset/composite-tool.ts';
import { questionText, type ElicitationAnswer } from '../../../core/servers/elicitation.ts';
import { toGiven, type GivenInput, type InputRequired } from '../../../core/tools/mcp-input.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import { readChunks, writeChunks } from '../../shared/text-rows.ts';
import {
  readWaits,
  toApproved,
  toStoredQuestion,
  verdictStates,
  type Approval,
  type NewApproval,
  type RequestedInput,
  type Wait,
  type WaitOf,
} from './wait.ts';

/** Identifies a direct call when it is sent again. */
export type DirectCallKey = { toolset: string | null; argumentsHash: string };

export type ElicitationAnswers = Readonly<Record<string, ElicitationAnswer>>;

/** `arguments` of an approval; the `asked` question of a server with its request state, and the answers `given`. */
type PartKind = 'arguments' | 'asked' | 'given';

export class WaitStore {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  readonly #changed: (how: 'asked' | 'ended') => void;
  /** Whether there may be rows; null until first read. Most sessions have none, and each result would look for them. */
  #any: boolean | null = null;

  /** `changed` is called when a question is asked, or is answered or closed. */
  constructor(sql: SqlStorage, now: () => number, changed: (how: 'asked' | 'ended') => void = () => undefined) {
    this.#sql = sql;
    this.#now = now;
    this.#changed = changed;
  }

  /** Applies an event of the log. Call it with every event, in the transaction that appends the event. Returns true when the pending waits changed. */
  applyEvent(event: SessionEventBody): boolean {
    switch (event.type) {
      case 'approval-required': {
        const { callId, turn, canonical, entry, ask, target, reason, effects, effectCount, several, binding, round } = event;
        const question = toStoredQuestion({ effects, effectCount, several, binding });
        const expiresAt = Date.parse(event.expiresAt);
        this.#addApproval({ callId, turn, canonical, entry, ask, target, reason, question, round, expiresAt }, null, event.arguments);
        return true;
      }
      case 'input-required': {
        const { callId, turn, round, canonical, requests } = event;
        const data = { canonical, text: questionText(requests) };
        this.#insert({ kind: 'input', callId, turn, round, expiresAt: Date.parse(event.expiresAt) }, null, data);
        return true;
      }
      case 'client-tool-required': {
        const { callId, turn, canonical } = event;
        this.#insert({ kind: 'client-tool', callId, turn, round: 1, expiresAt: null }, null, { canonical });
        return true;
      }
      case 'approval-decided':
        this.recordDecision(event.callId, event);
        return true;
      case 'input-given':
        this.#end('answered', event.by, `call_id = ? AND kind = 'input' AND round = ?`, event.callId, event.round);
        return true;
      case 'inner-result':
        return this.#close('call_id = ?', event.callId);
      case 'tool-result':
        return this.#close('(call_id = ? OR (call_id >= ? AND call_id < ?))', event.callId, ...innerIdRange(event.callId));
      case 'turn-end':
        return this.#close('turn = ?', event.turn);
      default:
        return false;
    }
  }

  /** Stores an approval of a direct call. `key` is null for a nested call. */
  addForDirectCall(asked: Omit<NewApproval, 'turn'>, key: DirectCallKey | null, args: Record<string, unknown>): void {
    this.#addApproval({ ...asked, turn: null }, key, args);
  }

  /** Stores a question with its server's request state. Call it in the transaction that appends `input-required`. */
  addQuestion(callId: string, input: InputRequired): void {
    // A new question replaces the previous one, whose answer the server has received.
    this.#deleteParts(`kind <> 'arguments' AND call_id = ?`, callId);
    this.#writePart(callId, 'asked', input);
  }

  /** Stores the answers to a question. Call it in the transaction that appends `input-given`. */
  addAnswers({ callId, round }: RequestedInput, answers: ElicitationAnswers, hash: string): void {
    this.#sql.exec(`UPDATE waits SET answer_hash = ? WHERE call_id = ? AND kind = 'input' AND round = ?`, hash, callId, round);
    this.#writePart(callId, 'given', answers);
  }

  recordDecision(callId: string, { decision, by, reason }: { decision: ApprovalVerdict; by: string; reason?: string | undefined }): void {
    if (reason !== undefined)
      this.#sql.exec(
        `UPDATE waits SET question = json_set(question, '$.decisionReason', ?) WHERE call_id = ? AND kind = 'approval' AND state = 'pending'`,
        ...[reason, callId],
      );
    this.#end(verdictStates[decision], by, `call_id = ? AND kind = 'approval' AND state = 'pending'`, callId);
  }

  /** Stores that the client sent a result. `by`: its key. Call it after the event of the result was applied. */
  markAnswered(callId: string, answerHash: string, by: string): void {
    this.#sql.exec(`UPDATE waits SET answer_hash = ? WHERE call_id = ? AND kind = 'client-tool'`, answerHash, callId);
    this.#end('answered', by, `call_id = ? AND kind = 'client-tool'`, callId);
  }

  /** Marks the approval of a direct call as used, before the call runs. Returns false when another request has already used it. */
  markUsed(callId: string): boolean {
    const query = `UPDATE waits SET state = 'used' WHERE call_id = ? AND kind = 'approval' AND state = 'approved' RETURNING call_id`;
    return this.#changes(query, callId);
  }

  /** Reverts `markUsed` when the call was not run. */
  markUnused(callId: string): void {
    this.#sql.exec(`UPDATE waits SET state = 'approved' WHERE call_id = ? AND kind = 'approval' AND state = 'used'`, callId);
  }

  /** Marks a denial as reported to the caller. If the caller repeats the call, a new approval is created. */
  markDenialReported(callId: string): void {
    this.#sql.exec(`UPDATE waits SET reported = 1 WHERE call_id = ? AND kind = 'approval'`, callId);
  }

  /** Ends the pending waits of the calls nested in this call when it has its result. */
  closeInside(callId: string): void {
    this.#close('call_id >= ? AND call_id < ?', ...innerIdRange(callId));
  }

  /** Returns the wait of this round, by default of the last one; null when there is none. */
  get<Kind extends Wait['kind']>(kind: Kind, callId: string, round?: number): WaitOf<Kind> | null {
    const which = round === undefined ? 'ORDER BY round DESC LIMIT 1' : 'AND round = ?';
    const bindings = round === undefined ? [callId, kind] : [callId, kind, round];
    return this.#all<WaitOf<Kind>>(`call_id = ? AND kind = ? ${which}`, ...bindings)[0] ?? null;
  }

  /** Returns all waits of one call, by kind and round. */
  allOf(callId: string): Wait[] {
    return this.#all('call_id = ? ORDER BY kind, round', callId);
  }

  /** Returns all pending approvals, oldest first. */
  pendingApprovals(): Approval[] {
    return this.#all(`state = 'pending' AND kind = 'approval' ORDER BY asked_at, call_id`);
  }

  /** Returns the pending approvals of the calls nested in this call, oldest first. */
  pendingInside(callId: string): Approval[] {
    const [from, before] = innerIdRange(callId);
    return this.#all(`state = 'pending' AND kind = 'approval' AND call_id >= ? AND call_id < ? ORDER BY asked_at, call_id`, from, before);
  }

  /** Returns the total length of the arguments of all pending approvals. */
  pendingCharacters(): number {
    const pending = `SELECT call_id FROM waits WHERE state = 'pending' AND kind = 'approval'`;
    const query = `SELECT coalesce(sum(length(part)), 0) AS characters FROM wait_parts WHERE kind = 'arguments' AND call_id IN (${pending})`;
    return this.#sql.exec<{ characters: number }>(query).one().characters;
  }

  /** Returns the pending waits that have expired. */
  expired(): (Approval | RequestedInput)[] {
    return this.#all(`state = 'pending' AND expires_at <= ? ORDER BY expires_at, call_id`, this.#now());
  }

  /** Returns when the next pending approval or request for input expires; null when none is pending. */
  nextExpiry(): number | null {
    const query = `SELECT expires_at AS at FROM waits WHERE state = 'pending' AND expires_at IS NOT NULL ORDER BY expires_at LIMIT 1`;
    return this.#sql.exec<{ at: number }>(query).toArray()[0]?.at ?? null;
  }

  /** Returns the newest approval of this call that is pending, approved, or denied and not yet reported to the caller; otherwise null. */
  findDirect({ toolset, argumentsHash }: DirectCallKey): Approval | null {
    const where = `key_hash = ? AND question ->> '$.toolset' IS ? AND reported = 0 AND state IN ('pending', 'approved', 'denied')`;
    return this.#all<Approval>(`${where} ORDER BY asked_at DESC LIMIT 1`, argumentsHash, toolset)[0] ?? null;
  }

  /** Returns the decision on an inner call; null when it is pending, missing or expired. `approved` is set for an approval. */
  verdict(callId: string): { decision: ApprovalVerdict; approved: GivenApproval | null; reason?: string | undefined } | null {
    const approval = this.get('approval', callId);
    if (approval === null) return null;
    const { state, turn, expiresAt, decisionReason } = approval;
    switch (state) {
      case 'pending':
        return null;
      case 'denied':
        return { decision: 'deny', approved: null, reason: decisionReason };
      case 'expired':
        return { decision: 'expire', approved: null };
      case 'approved':
        // A turn uses the approval at once; a direct call uses it when it is sent again, which may be too late.
        if (turn === null && expiresAt <= this.#now()) return null;
        return { decision: 'approve', approved: toApproved(approval) };
      case 'used':
        return { decision: 'approve', approved: toApproved(approval) };
      default:
        return state satisfies never;
    }
  }

  argumentsOf(callId: string): Record<string, unknown> {
    return this.#readPart<Record<string, unknown>>(callId, 'arguments') ?? {};
  }

  /** Returns the input with which the call is repeated; null when it has not asked or has no answer. */
  given(callId: string): GivenInput | null {
    const asked = this.questionOf(callId);
    const answers = this.#readPart<ElicitationAnswers>(callId, 'given');
    return asked === null || answers === null ? null : toGiven(asked, answers);
  }

  /** Returns the last question of the call's server; null when it has not asked or the call already has its result. */
  questionOf(callId: string): InputRequired | null {
    return this.#readPart<InputRequired>(callId, 'asked');
  }

  #addApproval(asked: NewApproval, key: DirectCallKey | null, args: Record<string, unknown>): void {
    const { callId, turn, round, expiresAt, ...data } = asked;
    const before = round === 1 ? null : this.get('approval', callId);
    const earlier = before === null ? [] : [...before.earlier, before.reason];
    // The question before it; or the approval of a nested call of a direct call has expired and is created again.
    this.#sql.exec(`DELETE FROM waits WHERE call_id = ? AND kind = 'approval'`, callId);
    const wait = { kind: 'approval', callId, turn, round, expiresAt } as const;
    this.#insert(wait, key?.argumentsHash ?? null, { ...data, toolset: key?.toolset ?? null, earlier });
    this.#writePart(callId, 'arguments', args);
  }

  #insert(
    { kind, callId, turn, round, expiresAt }: Pick<Wait, 'kind' | 'callId' | 'turn' | 'round' | 'expiresAt'>,
    keyHash: string | null,
    data: object,
  ): void {
    this.#deleteOld();
    this.#any = true;
    this.#sql.exec(
      `INSERT OR REPLACE INTO waits (call_id, kind, round, turn, state, asked_at, expires_at, key_hash, question) VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?)`,
      ...[callId, kind, round, turn, this.#now(), expiresAt, keyHash, JSON.stringify(data)],
    );
    this.#changed('asked');
  }

  #end(state: Wait['state'], by: string, where: string, ...ids: (string | number)[]): void {
    const query = `UPDATE waits SET state = ?, decided_by = ?, decided_at = ?, indexed = 0 WHERE ${where}`;
    this.#sql.exec(query, state, by, this.#now(), ...ids);
    this.#changed('ended');
  }

  /** Deletes old ended waits. Arguments can be a megabyte each; for calls of turns the log has them. */
  #deleteOld(): void {
    if (!wasClockSettled()) return;
    const before = this.#now() - limits.endedWaitTtlMs;
    const old = `state <> 'pending' AND expires_at <= ?`;
    this.#deleteParts(`kind = 'arguments' AND call_id IN (SELECT call_id FROM waits WHERE kind = 'approval' AND ${old})`, before);
    const query = `DELETE FROM waits WHERE ${old}`;
    this.#sql.exec(query, before);
  }

  /** Ends what is still pending when its call or turn ends, so that it can no longer be answered. Returns true when anything was pending. */
  #close(where: string, ...ids: string[]): boolean {
    this.#any ??= this.#sql.exec('SELECT call_id FROM waits LIMIT 1').toArray().length > 0;
    if (!this.#any) return false;
    this.#deleteParts(`kind <> 'arguments' AND call_id IN (SELECT call_id FROM waits WHERE ${where})`, ...ids);
    // The retention of a call of the client begins at its end.
    const query = `UPDATE waits SET state = 'expired', expires_at = coalesce(expires_at, ?), decided_at = ?, indexed = 0 WHERE ${where} AND state = 'pending' RETURNING call_id`;
    const isChanged = this.#changes(query, this.#now(), this.#now(), ...ids);
    if (isChanged) this.#changed('ended');
    return isChanged;
  }

  #writePart(callId: string, kind: PartKind, value: unknown): void {
    this.#deleteParts('call_id = ? AND kind = ?', callId, kind);
    writeChunks(JSON.stringify(value), (seq, part) =>
      this.#sql.exec('INSERT INTO wait_parts (call_id, kind, seq, part) VALUES (?, ?, ?, ?)', callId, kind, seq, part),
    );
  }

  #readPart<Value>(callId: string, kind: PartKind): Value | null {
    const query = 'SELECT part FROM wait_parts WHERE call_id = ? AND kind = ? ORDER BY seq';
    const text = readChunks(this.#sql.exec(query, callId, kind));
    // `#writePart` wrote it.
    return text === null ? null : (JSON.parse(text) as Value);
  }

  #deleteParts(where: string, ...bindings: (string | number)[]): void {
    const query = `DELETE FROM wait_parts WHERE ${where}`;
    this.#sql.exec(query, ...bindings);
  }

  #changes(query: string, ...bindings: (string | number)[]): boolean {
    return this.#sql.exec(query, ...bindings).toArray().length > 0;
  }

  /** The caller's condition selects rows of the kinds of `Found`. */
  #all<Found extends Wait>(where: string, ...bindings: (string | number | null)[]): Found[] {
    return readWaits(this.#sql, where, ...bindings) as Found[];
  }
}
