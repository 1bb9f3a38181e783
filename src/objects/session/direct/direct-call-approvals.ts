/**
 * Direct calls that are refused or not run yet (`direct-calls.ts`). A required approval is stored, and the caller receives its id;
 * a denied call returns `denied`. Each has its audit row.
 */
import { limits } from '../../../core/limits/limits.ts';
import { decisionInstruction, waysWithoutApproval } from '../../../core/policy/approval-ways.ts';
import { toAskedMembers, type Pending } from '../../../core/policy/approval.ts';
import { parentOf } from '../../../core/toolset/composite-tool.ts';
import { Problem } from '../../../core/problem.ts';
import { denialBecause } from '../../../core/turn/turn-budget.ts';
import { errorResult, type ToolResult } from '../../../core/tools/tool.ts';
import { shortageProblem } from '../../../engine/fair-pool.ts';
import { auditCall, auditedRequest } from '../../../engine/call/audit-call.ts';
import type { ToolCallAnswer, WaitFor } from '../../../engine/call/tool-call.ts';
import type { SessionCall } from '../../../ports/session.ts';
import type { DirectCallKey } from '../pending/wait-store.ts';
import { unknownSession } from '../object/open-session.ts';
import { toStoredQuestion, type Approval, type NewApproval } from '../pending/wait.ts';
import type { DirectCallContext, OpenDirectCall } from './direct-call-context.ts';
import { MB } from '../../../core/limits/units.ts';

/** Open approvals of a session, including those of direct calls: each stores its arguments. */
export const maxPendingApprovals = 100;
/**
 * Total arguments of open approvals, above which direct calls are no longer asked about: they are listed on one page, and an RPC
 * carries 32 MB.
 */
const maxPendingArgumentCharacters = 8 * MB;

/** Stores the approvals that a call waits for, and responds with them. Refuses what a direct call cannot wait for. */
export async function storeQuestions(open: OpenDirectCall, key: DirectCallKey | null, waitFor: WaitFor): Promise<SessionCall> {
  const { context, call } = open;
  const { callId } = call.request;
  const questions = toQuestions(callId, waitFor);
  if (questions.length === 0 || key === null) {
    const why = waitFor.kind === 'input' ? 'asks a question' : 'is run by the client of a turn';
    const text = `Not run: ${waitFor.tool.wireName} ${why}, and a direct call has nobody to ${waitFor.kind === 'input' ? 'answer it' : 'run it'}.`;
    return await refuse(open, callId, errorResult('not_allowed', text));
  }
  const { waits, journals, runner, summary, admitWork } = context.openSession;
  const shortage = await admitWork('pendingQuestions', questions.length, open.request.plan.limited);
  if (context.isEnding()) throw unknownSession();
  // The same call may have created its approval while this one was in progress.
  const known = unlessExpired(open, waits.findDirect(key));
  if (known?.state === 'pending') return await respondPending(open, known);
  const isInner = waitFor.kind === 'inner';
  const root = isInner ? journals.findWaiting(key.argumentsHash) : null;
  const asked = root === null || root === callId ? [] : waits.pendingInside(root);
  if (root !== null && asked.length > 0) {
    journals.drop(callId);
    return await respondPendingInside(open, root, asked);
  }
  refuseFlood(context);
  if (shortage !== null) throw shortageProblem(shortage, limits.defaultRetryAfterMs);
  const expiresAt = context.deps.clock.now() + limits.approvalTtlMs;
  for (const { arguments: args, ...question } of questions)
    waits.addForDirectCall({ ...question, keyId: context.keyId, expiresAt }, isInner ? null : key, args);
  if (isInner) journals.markWaiting(callId, key.argumentsHash);
  runner.setExpiryTimer();
  summary.noteChange();
  if (isInner) return await respondPendingInside(open, callId, waits.pendingInside(callId));
  const now = waits.get('approval', callId);
  if (now === null) throw new Error('the question was not stored');
  return await respondPending(open, now);
}

type DirectQuestion = Omit<NewApproval, 'turn' | 'expiresAt'> & { arguments: Record<string, unknown> };

/** Only approvals can be stored: in a direct call no client can run a tool or fill in a form. */
function toQuestions(callId: string, waitFor: WaitFor): DirectQuestion[] {
  switch (waitFor.kind) {
    case 'approval': {
      const { tool, ask, round, arguments: own } = waitFor;
      const { kind, target, reason } = ask;
      const named = { callId, canonical: tool.canonical, entry: tool.wireName };
      return [{ ...named, ask: kind, target, reason, question: toStoredQuestion(ask), round, arguments: own }];
    }
    case 'inner':
      return waitFor.waiting.flatMap((inner) => (inner.waitFor.kind === 'approval' ? toQuestions(inner.callId, inner.waitFor) : []));
    case 'client':
    case 'input':
      return [];
    default:
      return waitFor satisfies never;
  }
}

function refuseFlood({ openSession: { waits } }: DirectCallContext): void {
  const waiting = waits.pendingApprovals().length;
  if (waiting < maxPendingApprovals && waits.pendingCharacters() < maxPendingArgumentCharacters) return;
  const text = `This session has ${waiting} pending approvals, and their number or size is at the limit. Decide some of them first.`;
  throw new Problem('rate_limited', text, { retryAfterMs: limits.defaultRetryAfterMs });
}

/** Responds with the pending approvals of nested calls, each of which is decided on its own. */
export async function respondPendingInside(open: OpenDirectCall, root: string, asked: readonly Approval[]): Promise<SessionCall> {
  const [first] = asked;
  const more = asked.length > 1 ? ` and ${asked.length - 1} more` : '';
  const how = first === undefined ? '' : ` ${decisionInstructions(open, first)}`;
  const text = `Not finished yet: ${first?.reason ?? ''}. It waits for approval of ${first?.callId ?? ''}${more}. After the decision, send the same call again; finished steps are not repeated.${how}`;
  const answer = await refuse(open, root, errorResult('approval_required', text));
  const { waits } = open.context.openSession;
  return { ...answer, pending: asked.map((approval) => toPending(approval, waits.argumentsOf(approval.callId))) };
}

export async function respondPending(open: OpenDirectCall, asked: Approval): Promise<SessionCall> {
  const { callId, reason } = asked;
  const text = `Not run yet: ${reason}. It waits for approval of ${callId}. Once approved, send the same call again. ${decisionInstructions(open, asked)}`;
  const answer = await refuse(open, callId, errorResult('approval_required', text));
  return { ...answer, pending: [toPending(asked, open.context.openSession.waits.argumentsOf(callId))] };
}

function decisionInstructions({ context }: OpenDirectCall, { callId, ask, entry, round }: Approval): string {
  return `${decisionInstruction(context.session, callId, round)}. ${waysWithoutApproval({ kind: ask }, entry)}`;
}

function toPending({ callId, canonical, reason, question, round }: Approval, args: Record<string, unknown>): Pending {
  const members = toAskedMembers({ ...question, round });
  return { callId, ...parentOf(callId), kind: 'approval', canonical, arguments: args, reason, ...members };
}

export async function respondDenied(open: OpenDirectCall, { callId, decisionReason }: Approval): Promise<SessionCall> {
  open.context.openSession.waits.markDenialReported(callId);
  const why = decisionReason === undefined ? 'the approval was denied.' : denialBecause(decisionReason);
  return await refuse(open, callId, errorResult('denied', `Not run: ${why}`));
}

async function refuse({ context, scope, call }: OpenDirectCall, callId: string, result: ToolResult): Promise<SessionCall> {
  const { requested, canonical, via } = call;
  const answer = { requested, canonical, via, ran: false, result, durationMs: 0 };
  await auditCall(context.deps, scope, { ...auditedRequest(call), callId }, answer);
  return toSessionCall(answer);
}

export function toSessionCall({ requested, canonical, via, result, durationMs }: ToolCallAnswer): SessionCall {
  return { requested, canonical, via, result, durationMs };
}

/** Returns the approval unless it has expired; a decision is only valid until the approval expires. */
export function unlessExpired({ context }: OpenDirectCall, approval: Approval | null): Approval | null {
  return approval === null || approval.expiresAt <= context.deps.clock.now() ? null : approval;
}
