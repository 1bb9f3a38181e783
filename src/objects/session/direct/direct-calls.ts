/**
 * Direct calls with a session (`…/calls`), on the session's files. A call that requires approval is stored as an approval; once
 * approved, the same call sent again runs, once. With an idempotency key, a call has the same response for a day.
 */
import { callsTools } from '../../../core/toolset/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';
import { Problem } from '../../../core/problem.ts';
import { auditCall, auditedRequest } from '../../../engine/call/audit-call.ts';
import { callPrepared, endUnknown, outcomeUnknown } from '../../../engine/call/call-tool.ts';
import { changeRequest } from '../../../engine/call/prepare-call.ts';
import { openMarks, type OpenMarks } from '../../../engine/policy/direct-marks.ts';
import type { SessionCall, SessionCallRequest } from '../../../ports/session.ts';
import type { DirectCallKey } from '../pending/wait-store.ts';
import { toApproved } from '../pending/wait.ts';
import {
  respondDenied,
  respondPending,
  respondPendingInside,
  storeQuestions,
  toSessionCall,
  unlessExpired,
} from './direct-call-approvals.ts';
import { openDirectCall, type DirectCallContext, type OpenDirectCall } from './direct-call-context.ts';

export async function callWithSession(context: DirectCallContext, request: SessionCallRequest): Promise<SessionCall> {
  const { idempotencyKey: key, bodyHash = '' } = request;
  const { keyedCalls } = context.openSession;
  if (key === undefined) return await runCall(openDirectCall(context, request, context.ids.next('call')));
  const begun = keyedCalls.find(key, bodyHash);
  if (begun?.answer) return begun.answer;
  const known = context.inFlight.get(key);
  if (known !== undefined) return await known;
  const open = openDirectCall(context, request, begun?.callId ?? context.ids.next('call'));
  if (begun !== null && !canResume(open)) return await settleUnrecoverable(open, key);
  if (begun === null) keyedCalls.begin(key, bodyHash, open.call.request.callId);
  const work = runOnce(open, key).finally(() => context.inFlight.delete(key));
  context.inFlight.set(key, work);
  return await work;
}

/**
 * Returns the response of an idempotency key for a request that no longer resolves; null when the key is unknown. Throws
 * `conflict` for a call that was interrupted: its outcome is unknown, and it is not run again.
 */
export async function repeatedCall(
  { openSession, inFlight }: Pick<DirectCallContext, 'openSession' | 'inFlight'>,
  key: string,
  bodyHash: string,
) {
  const begun = openSession.keyedCalls.find(key, bodyHash);
  if (begun === null) return null;
  const answer = begun.answer ?? (await inFlight.get(key));
  if (answer === undefined)
    throw new Problem('conflict', 'This call was started and its outcome is unknown: it may have run. It is not run again.');
  return answer;
}

async function runOnce(open: OpenDirectCall, key: string): Promise<SessionCall> {
  const { openSession, isDeleted } = open.context;
  try {
    const answer = await runCall(open);
    if (isDeleted()) return answer;
    // A pending approval is not the response: the same request sent after the decision runs the call.
    if (answer.result.code === 'approval_required') openSession.keyedCalls.remove(key);
    else openSession.keyedCalls.recordResult(key, answer);
    return answer;
  } catch (error) {
    // A `Problem` is found before anything has run, so the key is free again; other errors may come after the call has run.
    if (error instanceof Problem && !isDeleted()) openSession.keyedCalls.remove(key);
    throw error;
  }
}

/** True for an interrupted call that can resume: it is safe to run again, and its journal has the results of its nested calls. */
function canResume({ context, call: { request, tool, own } }: OpenDirectCall): boolean {
  const mayRepeat = tool !== null && own !== null && callsTools(tool) && context.deps.executor.isSafe(tool, own);
  return mayRepeat && context.openSession.journals.has(request.callId);
}

/** Ends an interrupted call with `outcome_unknown`. It is not run again. */
async function settleUnrecoverable({ context, scope, call }: OpenDirectCall, key: string): Promise<SessionCall> {
  const { requested, canonical, via, tool } = call;
  const end = tool === null ? { result: outcomeUnknown() } : await endUnknown(context.deps, scope, tool);
  const answer = { requested, canonical, via, result: end.result, durationMs: 0 };
  context.openSession.keyedCalls.recordResult(key, answer);
  context.openSession.journals.drop(call.request.callId);
  await auditCall(context.deps, scope, auditedRequest(call), { ...answer, ...end, ran: true });
  return answer;
}

async function runCall(open: OpenDirectCall): Promise<SessionCall> {
  const { waits, journals } = open.context.openSession;
  const key = open.scope.canWait ? await keyOf(open) : null;
  if (key === null) return await runAs(open, key);
  const root = journals.findWaiting(key.argumentsHash);
  if (root !== null) return await resumeCall(withCallId(open, root), key);
  const earlier = unlessExpired(open, waits.findDirect(key));
  if (earlier?.state === 'pending') return await respondPending(open, earlier);
  if (earlier?.state === 'denied') return await respondDenied(open, earlier);
  // Marked as used before it runs: of two concurrent requests one runs, and the other creates a new approval.
  const isApproved = earlier !== null && waits.markUsed(earlier.callId);
  return await runAs(isApproved ? withCallId(open, earlier.callId) : open, key);
}

function withCallId(open: OpenDirectCall, callId: string): OpenDirectCall {
  return { ...open, call: changeRequest(open.call, { callId }) };
}

/** Runs a call again that waited for its nested calls. A concurrent repeat joins it and has the same response. */
async function resumeCall(open: OpenDirectCall, key: DirectCallKey): Promise<SessionCall> {
  const { context, request, call } = open;
  const root = call.request.callId;
  // An idempotency key comes in a header and has no line break, so this name cannot collide with one.
  const name = `\n${root}`;
  const known = context.inFlight.get(name);
  if (known !== undefined) return await known;
  const asked = context.openSession.waits.pendingInside(root).filter((approval) => unlessExpired(open, approval) !== null);
  if (asked.length > 0) return await respondPendingInside(open, root, asked);
  if (request.idempotencyKey !== undefined) context.openSession.keyedCalls.continueAs(request.idempotencyKey, root);
  const work = runAs(open, key).finally(() => context.inFlight.delete(name));
  context.inFlight.set(name, work);
  return await work;
}

/** Runs the call. The approval of the call itself, if it has one, is already marked as used. */
async function runAs(open: OpenDirectCall, key: DirectCallKey | null): Promise<SessionCall> {
  const { context, scope, call } = open;
  const { callId } = call.request;
  const { waits, journals, runner } = context.openSession;
  const own = waits.get('approval', callId);
  const approved = own?.state === 'used' ? own : null;
  const marks = await marksOf(open);
  const decided = changeRequest(call, { approved: approved === null ? null : toApproved(approved) });
  const outcome = await marks.settle(
    await callPrepared(context.deps, { ...scope, taint: marks.taint }, decided, new AbortController().signal),
  );
  if (context.isDeleted()) throw new Problem('not_found', 'The session was deleted.');
  if ('waitFor' in outcome) return await storeQuestions(open, key, outcome.waitFor);
  journals.drop(callId);
  waits.closeInside(callId);
  runner.setExpiryTimer();
  if (approved !== null && !outcome.answer.ran) waits.markUnused(callId);
  return toSessionCall(outcome.answer);
}

/** A call on scratch files is a call without a session; the session only stores its response. */
async function marksOf({ context, request: { plan, scratch }, call }: OpenDirectCall): Promise<OpenMarks> {
  if (scratch !== true) return { taint: context.openSession.taint, settle: async (outcome) => outcome };
  return await openMarks(context.directMarks(plan.edition?.toolset ?? null), context.deps, call.tool);
}

/**
 * Returns the key that identifies the call when it is sent again; null when the name does not resolve. The hash covers the
 * arguments and the toolset entry with the tool's definition, since the approval was given for that call. Aliases and description
 * are left out.
 */
async function keyOf({ request: { plan }, call: { tool, own } }: OpenDirectCall): Promise<DirectCallKey | null> {
  if (tool === null) return null;
  const { aliases: _aliases, description: _description, presentation: _shown, ...entry } = tool;
  const argumentsHash = await sha256Hex(canonicalJson({ arguments: own, entry }));
  return { toolset: plan.edition?.toolset ?? null, argumentsHash };
}
