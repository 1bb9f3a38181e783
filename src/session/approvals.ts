/**
 * What a person is asked for in this session, and what was said: a table that follows the log for the calls of turns, and
 * stands alone for direct calls. It stores; who may decide, and what happens then, is `decide.ts`.
 */
import { toAskedMembers, type ApprovalVerdict, type ApprovalView, type Approved, type AskKind, type Question } from '../core/approval.ts';
import { idsBeneath, parentOf } from '../core/composite-tool.ts';
import { limits } from '../core/limits.ts';
import type { SessionEventBody } from '../core/session-event.ts';
import { writeChunks } from './event-log.ts';

export type ApprovalState = ApprovalView['state'];

export type Approval = {
  callId: string;
  /** null: of a direct call. */
  turn: string | null;
  canonical: string;
  /** Wire name of the toolset entry. */
  entry: string;
  /** Of a direct call; a turn's plan names its own. */
  toolset: string | null;
  kind: AskKind;
  /** What a remembered rule would be about (`core/approval.ts`). */
  target: string | null;
  reason: string;
  /** null: an older release asked. */
  question: StoredQuestion | null;
  /** Counts the questions of the call from 1. */
  round: number;
  /** Reasons of the questions before this one. */
  earlier: readonly string[];
  state: ApprovalState;
  askedAt: number;
  expiresAt: number;
};

type StoredQuestion = Pick<Question, 'effects' | 'effectCount' | 'several' | 'binding'>;

/** A question about a call, as it is stored. */
export type AskedCall = Omit<Approval, 'toolset' | 'state' | 'askedAt' | 'earlier'>;

/** What a direct call is known by when it is sent again. */
export type DirectCallKey = { toolset: string | null; canonical: string; entry: string; argumentsHash: string };

/** As an `Approval` names them. */
const columns =
  'call_id AS callId, turn, canonical, entry, toolset, kind, target, reason, question, round, earlier, state, asked_at AS askedAt, expires_at AS expiresAt';

/** As it is stored, with JSON that this file wrote. */
type Row = Omit<Approval, 'question' | 'earlier'> & { question: string | null; earlier: string };

export class Approvals {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Keeps the table in step with the log: to be called with every event, in the block that appends it. True when it changed. */
  follow(event: SessionEventBody): boolean {
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
        const question = effects === undefined ? null : toStored({ effects, effectCount, several, binding });
        const expiresAt = Date.parse(event.expiresAt);
        this.#insert({ callId, turn, canonical, entry, kind, target, reason, question, round, expiresAt }, null, event.arguments);
        return true;
      }
      case 'approval-decided':
        this.decided(event.callId, event.decision, event.by);
        return true;
      case 'inner-result':
        return this.#close('call_id', event.callId);
      case 'tool-result':
        return [this.#close('call_id', event.callId), this.closeBeneath(event.callId)].includes(true);
      case 'turn-end':
        return this.#close('turn', event.turn);
      default:
        return false;
    }
  }

  /** A direct call that has to be asked for; `key` null: one beneath it. */
  askDirect(asked: Omit<AskedCall, 'turn'>, key: DirectCallKey | null, args: Record<string, unknown>): void {
    this.#insert({ ...asked, turn: null }, key, args);
  }

  /** The newest approval of this very call that still means something: pending, approved, or a no that was not told yet. */
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

  /** The decision on an inner call; null: none, or one that has expired. `approved`: of a yes. */
  verdict(callId: string): { decision: ApprovalVerdict; approved: Approved | null } | null {
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
        // A turn goes on at once; a direct call when it is sent again.
        if (turn === null && expiresAt <= this.#now()) return null;
        return { decision: 'approve', approved: toApproved(approval) };
      case 'used':
        return { decision: 'approve', approved: toApproved(approval) };
      default:
        return state satisfies never;
    }
  }

  /** Of the calls beneath this one, oldest first. */
  pendingBeneath(callId: string): Approval[] {
    const query = `SELECT ${columns} FROM approvals WHERE state = 'pending' AND call_id >= ? AND call_id < ? ORDER BY asked_at, call_id`;
    return this.#all(query, ...idsBeneath(callId));
  }

  argumentsOf(callId: string): Record<string, unknown> {
    const parts = this.#sql.exec<{ part: string }>('SELECT part FROM approval_arguments WHERE call_id = ? ORDER BY seq', callId);
    return JSON.parse([...parts].map(({ part }) => part).join('')) as Record<string, unknown>;
  }

  /** Oldest first. */
  pending(): Approval[] {
    return this.#all(`SELECT ${columns} FROM approvals WHERE state = 'pending' ORDER BY asked_at, call_id`);
  }

  pendingCount(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM approvals WHERE state = 'pending'`).one().count;
  }

  /** Of the arguments of all that is pending. */
  pendingCharacters(): number {
    const query = `SELECT coalesce(sum(length(part)), 0) AS characters FROM approval_arguments WHERE call_id IN (SELECT call_id FROM approvals WHERE state = 'pending')`;
    return this.#sql.exec<{ characters: number }>(query).one().characters;
  }

  /** Pending, and nobody has decided in time. */
  due(): Approval[] {
    return this.#all(
      `SELECT ${columns} FROM approvals WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at, call_id`,
      this.#now(),
    );
  }

  nextExpiry(): number | null {
    return this.#sql.exec<{ at: number | null }>(`SELECT min(expires_at) AS at FROM approvals WHERE state = 'pending'`).one().at;
  }

  decided(callId: string, decision: ApprovalVerdict, by: string): void {
    const query = `UPDATE approvals SET state = ?, decided_by = ? WHERE call_id = ? AND state = 'pending'`;
    this.#sql.exec(query, verdictStates[decision], by, callId);
  }

  /** An approved direct call is about to run. False: another one was first. */
  use(callId: string): boolean {
    return (
      this.#sql.exec(`UPDATE approvals SET state = 'used' WHERE call_id = ? AND state = 'approved' RETURNING call_id`, callId).toArray()
        .length > 0
    );
  }

  /** It was not run after all. */
  giveBack(callId: string): void {
    this.#sql.exec(`UPDATE approvals SET state = 'approved' WHERE call_id = ? AND state = 'used'`, callId);
  }

  /** The one who called knows of the no; the same call from here on is a new question. */
  told(callId: string): void {
    this.#sql.exec('UPDATE approvals SET told = 1 WHERE call_id = ?', callId);
  }

  /** What was decided holds its arguments, up to a megabyte each. Of a turn's the log has them, and what came of them. */
  #forgetOld(): void {
    const before = this.#now() - limits.decidedApprovalKeptMs;
    this.#sql.exec(
      `DELETE FROM approval_arguments WHERE call_id IN (SELECT call_id FROM approvals WHERE state IN ('approved', 'denied', 'expired', 'used') AND expires_at <= ?)`,
      before,
    );
    this.#sql.exec(`DELETE FROM approvals WHERE state IN ('approved', 'denied', 'expired', 'used') AND expires_at <= ?`, before);
  }

  /** The call above has its result. */
  closeBeneath(callId: string): boolean {
    const query = `UPDATE approvals SET state = 'expired', decided_by = 'clock' WHERE call_id >= ? AND call_id < ? AND state = 'pending' RETURNING call_id`;
    return this.#sql.exec(query, ...idsBeneath(callId)).toArray().length > 0;
  }

  /** What was open when its call or turn ended is nobody's to decide any more. */
  #close(by: 'call_id' | 'turn', id: string): boolean {
    const query = `UPDATE approvals SET state = 'expired', decided_by = 'clock' WHERE ${by} = ? AND state = 'pending' RETURNING call_id`;
    return this.#sql.exec(query, id).toArray().length > 0;
  }

  #insert(asked: AskedCall, key: Pick<DirectCallKey, 'toolset' | 'argumentsHash'> | null, args: Record<string, unknown>): void {
    const { callId, turn, canonical, entry, kind, target, reason, expiresAt, question, round } = asked;
    this.#forgetOld();
    const before = round === 1 ? null : this.get(callId);
    const earlier = before === null ? [] : [...before.earlier, before.reason];
    // One beneath a direct call may have expired, and is asked about anew.
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

/** The part of a question that is stored as one value. */
export function toStored({
  effects,
  effectCount,
  several,
  binding,
}: Omit<StoredQuestion, 'several'> & { several?: true | undefined }): StoredQuestion {
  return { effects, effectCount, ...(several === true && { several }), binding };
}

export function toApproved({ question, round }: Approval): Approved {
  return { binding: question?.binding ?? [], round };
}

/** What a decision makes of what was pending. */
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
