/**
 * The approvals of this session and their decisions. For calls of turns the table follows the event log; approvals of direct
 * calls are only in this table. It stores data; `decide.ts` checks and applies decisions.
 */
import {
  toAskedMembers,
  type ApprovalVerdict,
  type ApprovalView,
  type GivenApproval,
  type AskKind,
  type ApprovalQuestion,
} from '../../core/policy/approval.ts';
import { innerIdRange, parentOf } from '../../core/tools/composite-tool.ts';
import { limits } from '../../core/limits.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import { writeChunks } from '../log/event-log.ts';

export type ApprovalState = ApprovalView['state'];

export type Approval = {
  callId: string;
  /** null for a direct call. */
  turn: string | null;
  canonical: string;
  /** Wire name of the toolset entry. */
  entry: string;
  /** Set for direct calls only; a turn has its toolset in its plan. */
  toolset: string | null;
  kind: AskKind;
  /** The target of the policy rule that "remember" would store (`core/policy/approval.ts`). */
  target: string | null;
  reason: string;
  /** null when the approval was stored by a release without this field. */
  question: StoredQuestion | null;
  /** Number of this question among the questions of the call, from 1. */
  round: number;
  /** Reasons of the earlier questions of the call. */
  earlier: readonly string[];
  state: ApprovalState;
  askedAt: number;
  expiresAt: number;
};

type StoredQuestion = Pick<ApprovalQuestion, 'effects' | 'effectCount' | 'several' | 'binding'>;

/** A new question about a call. */
export type NewApproval = Omit<Approval, 'toolset' | 'state' | 'askedAt' | 'earlier'>;

/** Identifies a direct call when it is sent again. */
export type DirectCallKey = { toolset: string | null; canonical: string; entry: string; argumentsHash: string };

/** Selects the columns under the field names of `Approval`. */
const columns =
  'call_id AS callId, turn, canonical, entry, toolset, kind, target, reason, question, round, earlier, state, asked_at AS askedAt, expires_at AS expiresAt';

/** A row as stored, with `question` and `earlier` as JSON. */
type Row = Omit<Approval, 'question' | 'earlier'> & { question: string | null; earlier: string };

export class Approvals {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Applies an event of the log. Call it with every event, in the transaction that appends the event. Returns true when the table changed. */
  applyEvent(event: SessionEventBody): boolean {
    switch (event.type) {
      case 'approval-required': {
        const {
          callId,
          turn,
          canonical,
          entry,
          ask: kind,
          target,
          reason,
          effects,
          effectCount = 0,
          several,
          binding = [],
          round = 1,
        } = event;
        const question = effects === undefined ? null : toStoredQuestion({ effects, effectCount, several, binding });
        const expiresAt = Date.parse(event.expiresAt);
        this.#insert({ callId, turn, canonical, entry, kind, target, reason, question, round, expiresAt }, null, event.arguments);
        return true;
      }
      case 'approval-decided':
        this.recordDecision(event.callId, event.decision, event.by);
        return true;
      case 'inner-result':
        return this.#close('call_id', event.callId);
      case 'tool-result':
        return [this.#close('call_id', event.callId), this.closeInside(event.callId)].includes(true);
      case 'turn-end':
        return this.#close('turn', event.turn);
      default:
        return false;
    }
  }

  /** Stores an approval of a direct call. `key` is null for a nested call. */
  addForDirectCall(asked: Omit<NewApproval, 'turn'>, key: DirectCallKey | null, args: Record<string, unknown>): void {
    this.#insert({ ...asked, turn: null }, key, args);
  }

  /** Returns the newest approval of this call that is pending, approved, or denied and not yet reported to the caller; otherwise null. */
  findDirect({ toolset, canonical, entry, argumentsHash }: DirectCallKey): Approval | null {
    return this.#one(
      `SELECT ${columns} FROM approvals WHERE turn IS NULL AND canonical = ? AND entry = ? AND toolset IS ? AND arguments_hash = ? AND told = 0 AND state IN ('pending', 'approved', 'denied') ORDER BY asked_at DESC LIMIT 1`,
      canonical,
      entry,
      toolset,
      argumentsHash,
    );
  }

  get(callId: string): Approval | null {
    return this.#one(`SELECT ${columns} FROM approvals WHERE call_id = ?`, callId);
  }

  /** Returns the decision on an inner call; null when it is pending, missing or expired. `approved` is set for an approval. */
  verdict(callId: string): { decision: ApprovalVerdict; approved: GivenApproval | null } | null {
    const approval = this.get(callId);
    if (approval === null) return null;
    const { state, turn, expiresAt } = approval;
    switch (state) {
      case 'pending':
        return null;
      case 'denied':
        return { decision: 'deny', approved: null };
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

  /** Returns the pending approvals of the calls nested in this call, oldest first. */
  pendingInside(callId: string): Approval[] {
    const query = `SELECT ${columns} FROM approvals WHERE state = 'pending' AND call_id >= ? AND call_id < ? ORDER BY asked_at, call_id`;
    return this.#all(query, ...innerIdRange(callId));
  }

  argumentsOf(callId: string): Record<string, unknown> {
    const parts = this.#sql.exec<{ part: string }>('SELECT part FROM approval_arguments WHERE call_id = ? ORDER BY seq', callId);
    return JSON.parse([...parts].map(({ part }) => part).join('')) as Record<string, unknown>;
  }

  /** Returns all pending approvals, oldest first. */
  pending(): Approval[] {
    return this.#all(`SELECT ${columns} FROM approvals WHERE state = 'pending' ORDER BY asked_at, call_id`);
  }

  pendingCount(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM approvals WHERE state = 'pending'`).one().count;
  }

  /** Returns the total length of the arguments of all pending approvals. */
  pendingCharacters(): number {
    const query = `SELECT coalesce(sum(length(part)), 0) AS characters FROM approval_arguments WHERE call_id IN (SELECT call_id FROM approvals WHERE state = 'pending')`;
    return this.#sql.exec<{ characters: number }>(query).one().characters;
  }

  /** Returns the pending approvals that have expired. */
  expired(): Approval[] {
    return this.#all(
      `SELECT ${columns} FROM approvals WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, call_id`,
      this.#now(),
    );
  }

  nextExpiry(): number | null {
    return this.#sql.exec<{ at: number | null }>(`SELECT min(expires_at) AS at FROM approvals WHERE state = 'pending'`).one().at;
  }

  recordDecision(callId: string, decision: ApprovalVerdict, by: string): void {
    const query = `UPDATE approvals SET state = ?, decided_by = ? WHERE call_id = ? AND state = 'pending'`;
    this.#sql.exec(query, verdictStates[decision], by, callId);
  }

  /** Marks the approval of a direct call as used, before the call runs. Returns false when another request has already used it. */
  markUsed(callId: string): boolean {
    return (
      this.#sql.exec(`UPDATE approvals SET state = 'used' WHERE call_id = ? AND state = 'approved' RETURNING call_id`, callId).toArray()
        .length > 0
    );
  }

  /** Reverts `use` when the call was not run. */
  markUnused(callId: string): void {
    this.#sql.exec(`UPDATE approvals SET state = 'approved' WHERE call_id = ? AND state = 'used'`, callId);
  }

  /** Marks a denial as reported to the caller. If the caller repeats the call, a new approval is created. */
  markDenialReported(callId: string): void {
    this.#sql.exec('UPDATE approvals SET told = 1 WHERE call_id = ?', callId);
  }

  /** Deletes old decided approvals with their arguments, which can be a megabyte each. For calls of turns the log has both. */
  #forgetOld(): void {
    const before = this.#now() - limits.decidedApprovalTtlMs;
    this.#sql.exec(
      `DELETE FROM approval_arguments WHERE call_id IN (SELECT call_id FROM approvals WHERE state IN ('approved', 'denied', 'expired', 'used') AND expires_at <= ?)`,
      before,
    );
    this.#sql.exec(`DELETE FROM approvals WHERE state IN ('approved', 'denied', 'expired', 'used') AND expires_at <= ?`, before);
  }

  /** Expires the pending approvals of nested calls when the outer call has its result. Returns true when any was pending. */
  closeInside(callId: string): boolean {
    const query = `UPDATE approvals SET state = 'expired', decided_by = 'clock' WHERE call_id >= ? AND call_id < ? AND state = 'pending' RETURNING call_id`;
    return this.#sql.exec(query, ...innerIdRange(callId)).toArray().length > 0;
  }

  /** Expires what is still pending when its call or turn ends, so that it can no longer be decided. */
  #close(by: 'call_id' | 'turn', id: string): boolean {
    const query = `UPDATE approvals SET state = 'expired', decided_by = 'clock' WHERE ${by} = ? AND state = 'pending' RETURNING call_id`;
    return this.#sql.exec(query, id).toArray().length > 0;
  }

  #insert(asked: NewApproval, key: Pick<DirectCallKey, 'toolset' | 'argumentsHash'> | null, args: Record<string, unknown>): void {
    const { callId, turn, canonical, entry, kind, target, reason, expiresAt, question, round } = asked;
    this.#forgetOld();
    const before = round === 1 ? null : this.get(callId);
    const earlier = before === null ? [] : [...before.earlier, before.reason];
    // The approval of a nested call of a direct call may have expired, and is then created again.
    this.#sql.exec('DELETE FROM approval_arguments WHERE call_id = ?', callId);
    this.#sql.exec(
      `INSERT OR REPLACE INTO approvals (call_id, turn, canonical, entry, toolset, arguments_hash, kind, target, reason, question, round, earlier, state, asked_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
      callId,
      turn,
      canonical,
      entry,
      key?.toolset ?? null,
      key?.argumentsHash ?? null,
      kind,
      target,
      reason,
      question === null ? null : JSON.stringify(question),
      round,
      JSON.stringify(earlier),
      this.#now(),
      expiresAt,
    );
    writeChunks(JSON.stringify(args), (seq, part) =>
      this.#sql.exec('INSERT INTO approval_arguments (call_id, seq, part) VALUES (?, ?, ?)', callId, seq, part),
    );
  }

  #one(query: string, ...bindings: (string | null)[]): Approval | null {
    return this.#all(query, ...bindings)[0] ?? null;
  }

  #all(query: string, ...bindings: (string | number | null)[]): Approval[] {
    return this.#sql
      .exec<Row>(query, ...bindings)
      .toArray()
      .map(fromRow);
  }
}

function fromRow({ question, earlier, ...row }: Row): Approval {
  return {
    ...row,
    question: question === null ? null : (JSON.parse(question) as StoredQuestion),
    earlier: JSON.parse(earlier) as string[],
  };
}

/** Returns the part of a question that is stored as JSON. */
export function toStoredQuestion({
  effects,
  effectCount,
  several,
  binding,
}: Omit<StoredQuestion, 'several'> & { several?: true | undefined }): StoredQuestion {
  return { effects, effectCount, ...(several === true && { several }), binding };
}

export function toApproved({ question, round }: Approval): GivenApproval {
  return { binding: question?.binding ?? [], round };
}

/** The state that each decision gives a pending approval. */
export const verdictStates = { approve: 'approved', deny: 'denied', expire: 'expired' } as const;

export function toApprovalView(session: string, approval: Approval, args: Record<string, unknown>): ApprovalView {
  const { callId, turn, canonical, entry, reason, question, round, state, askedAt, expiresAt } = approval;
  return {
    callId,
    session,
    turn,
    ...parentOf(callId),
    canonical,
    entry,
    arguments: args,
    reason,
    ...toAskedMembers({ ...question, round }),
    state,
    askedAt: new Date(askedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}
