/**
 * Direct calls that are refused or not run yet (`direct-calls.ts`). A required approval is stored, and the caller receives its id;
 * a denied call returns `denied`. Each has its audit row.
 */
import { limits } from '../../core/limits.ts';
import { toAskedMembers, type Pending } from '../../core/policy/approval.ts';
import { parentOf } from '../../core/tools/composite-tool.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { auditCall } from '../../engine/call/audit-call.ts';
import type { CallScope, WaitFor } from '../../engine/call/tool-call.ts';
import type { SessionCall, SessionCallRequest } from '../../ports/session.ts';
import type { DirectCallKey } from '../pending/wait-store.ts';
import { toStoredQuestion, type Approval, type NewApproval } from '../pending/wait.ts';
import { resolvedNames, mappedArguments, toCall, toSessionCall, type DirectCallContext } from './direct-call-context.ts';
import { MB } from '../../core/limits/units.ts';

/** Open approvals of a session, including those of direct calls: each stores its arguments. */
export const maxPendingApprovals = 100;
/**
 * Total arguments of open approvals, above which direct calls are no longer asked about: they are listed on one page, and an RPC
 * carries 32 MB.
 */
const maxPendingArgumentCharacters = 8 * MB;

export async function storeQuestions(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  { callId, key, waitFor }: { callId: string; key: DirectCallKey | null; waitFor: WaitFor },
): Promise<SessionCall> {
  const questions = toQuestions(callId, waitFor, mappedArguments(context, request));
  if (questions.length === 0 || key === null) {
    const text = `Not run: ${waitFor.tool.wireName} is run by the client of a turn, and a direct call has none.`;
    return await refuse(context, scope, request, callId, errorResult('not_allowed', text));
  }
  // The same call may have created its approval while this one was in progress.
  const { waits, journals, runner } = context.openSession;
  const known = unlessExpired(context, waits.findDirect(key));
  if (known?.state === 'pending') return await respondPending(context, scope, request, known);
  const root = waitFor.kind === 'inner' ? journals.findWaiting(key.argumentsHash) : null;
  const asked = root === null || root === callId ? [] : waits.pendingInside(root);
  if (root !== null && asked.length > 0) {
    journals.drop(callId);
    return await respondPendingInside(context, scope, request, root, asked);
  }
  refuseFlood(context);
  const expiresAt = context.deps.clock.now() + limits.approvalTtlMs;
  for (const { arguments: args, ...question } of questions) {
    const isBeneath = waitFor.kind === 'inner';
    waits.addForDirectCall({ ...question, expiresAt }, isBeneath ? null : key, args);
  }
  if (waitFor.kind === 'inner') journals.markWaiting(callId, key.argumentsHash);
  runner.setExpiryTimer();
  if (waitFor.kind === 'inner') return await respondPendingInside(context, scope, request, callId, waits.pendingInside(callId));
  const now = waits.get('approval', callId);
  if (now === null) throw new Error('the question was not stored');
  return await respondPending(context, scope, request, now);
}

type DirectQuestion = Omit<NewApproval, 'turn' | 'expiresAt'> & { arguments: Record<string, unknown> };

/** Only approvals can be stored: in a direct call no client can run a tool or fill in a form. */
function toQuestions(callId: string, waitFor: WaitFor, own: Record<string, unknown>): DirectQuestion[] {
  switch (waitFor.kind) {
    case 'approval': {
      const { tool, ask, round } = waitFor;
      const { kind, target, reason } = ask;
      const named = { callId, canonical: tool.canonical, entry: tool.wireName };
      return [{ ...named, ask: kind, target, reason, question: toStoredQuestion(ask), round, arguments: own }];
    }
    case 'inner':
      return waitFor.waiting.flatMap((inner) =>
        inner.waitFor.kind === 'approval' ? toQuestions(inner.callId, inner.waitFor, inner.waitFor.arguments) : [],
      );
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
export async function respondPendingInside(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  root: string,
  asked: readonly Approval[],
): Promise<SessionCall> {
  const [first] = asked;
  const more = asked.length > 1 ? ` and ${asked.length - 1} more` : '';
  const text = `Not finished yet: ${first?.reason ?? ''}. It waits for approval of ${first?.callId ?? ''}${more}. After the decision, send the same call again; finished steps are not repeated.`;
  const answer = await refuse(context, scope, request, root, errorResult('approval_required', text));
  return { ...answer, pending: asked.map((approval) => toPending(approval, context.openSession.waits.argumentsOf(approval.callId))) };
}

export async function respondPending(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  asked: Approval,
): Promise<SessionCall> {
  const { callId, reason } = asked;
  const text = `Not run yet: ${reason}. It waits for approval of ${callId}. Once approved, send the same call again.`;
  const answer = await refuse(context, scope, request, callId, errorResult('approval_required', text));
  return { ...answer, pending: [toPending(asked, mappedArguments(context, request))] };
}

function toPending({ callId, canonical, reason, question, round }: Approval, args: Record<string, unknown>): Pending {
  const members = toAskedMembers({ ...question, round });
  return { callId, ...parentOf(callId), kind: 'approval', canonical, arguments: args, reason, ...members };
}

export async function respondDenied(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  { callId }: Approval,
): Promise<SessionCall> {
  context.openSession.waits.markDenialReported(callId);
  return await refuse(context, scope, request, callId, errorResult('denied', 'Not run: the approval was denied.'));
}

async function refuse(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  callId: string,
  result: ToolResult,
): Promise<SessionCall> {
  const answer = { ...resolvedNames(context, request), ran: false, result, durationMs: 0 };
  await auditCall(context.deps, scope, { ...toCall(request, callId), arguments: mappedArguments(context, request) }, answer);
  return toSessionCall(answer);
}

/** Returns the approval unless it has expired; a decision is only valid until the approval expires. */
export function unlessExpired({ deps }: DirectCallContext, approval: Approval | null): Approval | null {
  return approval === null || approval.expiresAt <= deps.clock.now() ? null : approval;
}
