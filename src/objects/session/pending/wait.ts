/** The rows of `wait-store.ts`: questions about calls that someone outside the session answers. */
import {
  toAskedMembers,
  type ApprovalQuestion,
  type ApprovalView,
  type AskKind,
  type GivenApproval,
} from '../../../core/policy/approval.ts';
import { rulesToRemember } from '../../../core/policy/approval-ways.ts';
import { shortReason, type SessionWait } from '../../../core/turn/session-summary.ts';
import { parentOf } from '../../../core/toolset/composite-tool.ts';

type StoredWait<Kind, State, Data> = Data & {
  kind: Kind;
  callId: string;
  /** Number of this question among the questions of its kind about the call, from 1. */
  round: number;
  /** null for a direct call. */
  turn: string | null;
  /** `expired`: it ended without an answer, because it expired or its call or turn ended. */
  state: State;
  askedAt: number;
  /** null for a pending call of the client, which does not expire. */
  expiresAt: number | null;
  /** SHA-256 of the answer, which identifies a repeat of it. */
  answerHash: string | null;
  /** When it was ended, and by whom: id of a key, `link` or `clock`. null while pending. */
  decidedAt: number | null;
  decidedBy: string | null;
};

type ApprovalData = {
  canonical: string;
  /** Wire name of the toolset entry. */
  entry: string;
  /** Set for direct calls only; a turn has its toolset in its plan. */
  toolset: string | null;
  /** The key that made the call. Set for direct calls only; calls of turns are made by the key of the session. */
  keyId?: string;
  ask: AskKind;
  /** The target of the policy rule that "remember" would store (`core/policy/approval.ts`). */
  target: string | null;
  reason: string;
  question: StoredQuestion;
  /** Reasons of the earlier questions of the call. */
  earlier: readonly string[];
  /** Of the person who decided. */
  decisionReason?: string;
};

type StoredQuestion = Pick<ApprovalQuestion, 'effects' | 'effectCount' | 'several' | 'binding'>;

/** The row of a call's newest question; a new question replaces it. */
export type Approval = StoredWait<'approval', ApprovalView['state'], ApprovalData> & { expiresAt: number };

/** `text`: the question in one line. */
export type RequestedInput = StoredWait<'input', 'pending' | 'answered' | 'expired', { canonical: string; text: string }> & {
  turn: string;
  expiresAt: number;
};

export type ClientCall = StoredWait<'client-tool', 'pending' | 'answered' | 'expired', { canonical: string }> & { turn: string };

export type Wait = Approval | RequestedInput | ClientCall;
export type WaitOf<Kind extends Wait['kind']> = Extract<Wait, { kind: Kind }>;

/** A new question about a call. */
export type NewApproval = Omit<Approval, 'kind' | 'toolset' | 'state' | 'askedAt' | 'answerHash' | 'decidedAt' | 'decidedBy' | 'earlier'>;

/** The state that each decision gives a pending approval. */
export const verdictStates = { approve: 'approved', deny: 'denied', expire: 'expired' } as const;

/** Returns the part of a question that is stored as JSON. */
export function toStoredQuestion({
  effects,
  effectCount,
  several,
  binding,
}: Omit<StoredQuestion, 'several'> & { several?: true | undefined }): StoredQuestion {
  return { effects, effectCount, ...(several === true && { several }), binding };
}

/** Returns what lists of the workspace show. A used approval is an approved one. */
export function toSessionWait(wait: Wait): SessionWait {
  const { callId, kind, turn, canonical, round, state, askedAt, expiresAt, decidedAt, decidedBy } = wait;
  const reason = kind === 'approval' ? wait.reason : kind === 'input' ? wait.text : 'The client runs this tool and sends the result.';
  const shown = { callId, kind, turn, canonical, reason: shortReason(reason), round, askedAt, expiresAt, decidedAt, decidedBy };
  return { ...shown, state: state === 'used' ? 'approved' : state };
}

export function toApproved({ question, round }: Approval): GivenApproval {
  return { binding: question.binding, round };
}

export function toApprovalView(session: string, approval: Approval, args: Record<string, unknown>): ApprovalView {
  const {
    callId,
    turn,
    canonical,
    entry,
    reason,
    question,
    round,
    state,
    askedAt,
    expiresAt,
    ask: kind,
    target,
    decisionReason,
  } = approval;
  const isMemorable = 'rules' in rulesToRemember(canonical, { ...question, kind, target });
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
    ...(isMemorable && { canRemember: true as const }),
    state,
    ...(decisionReason !== undefined && { decisionReason }),
    askedAt: new Date(askedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

/** Returns the rows of `wait-store.ts` that meet the condition. */
export function readWaits(sql: SqlStorage, where: string, ...bindings: (string | number | null)[]): Wait[] {
  const query = `SELECT call_id AS callId, kind, round, turn, state, asked_at AS askedAt, expires_at AS expiresAt, answer_hash AS answerHash,
    decided_by AS decidedBy, decided_at AS decidedAt, question FROM waits WHERE ${where}`;
  const rows = sql.exec<{ question: string }>(query, ...bindings).toArray();
  // `WaitStore` wrote them.
  return rows.map(({ question, ...row }) => ({ ...row, ...(JSON.parse(question) as object) }) as unknown as Wait);
}
