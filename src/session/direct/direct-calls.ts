/**
 * Direct calls with a session (`…/calls`), on the session's files. A call that requires approval is stored as an approval; once
 * approved, the same call sent again runs, once. With an idempotency key, a call has the same response for a day.
 */
import { resolveName } from '../../core/toolset/alias-map.ts';
import { callsTools } from '../../core/tools/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { auditCall } from '../../engine/call/audit-call.ts';
import { callTool, outcomeUnknown } from '../../engine/call/call-tool.ts';
import { findNamedTool } from '../../engine/call/direct-call.ts';
import { openMarks, type OpenMarks } from '../../engine/policy/direct-marks.ts';
import type { CallScope } from '../../engine/call/tool-call.ts';
import { withFetchResult } from '../../engine/plan/plan-names.ts';
import { createSkillReader } from '../../engine/plan/plan-skills.ts';
import type { SessionCall, SessionCallRequest } from '../../ports/session.ts';
import { withSkillFiles } from '../../storage/skill-files.ts';
import type { DirectCallKey } from '../pending/wait-store.ts';
import { toApproved } from '../pending/wait.ts';
import { resolvedNames, mappedArguments, toCall, toSessionCall, type DirectCallContext } from './direct-call-context.ts';
import { respondPending, respondPendingInside, respondDenied, storeQuestions, unlessExpired } from './direct-call-approvals.ts';

export async function callWithSession(context: DirectCallContext, request: SessionCallRequest): Promise<SessionCall> {
  const { idempotencyKey: key, bodyHash = '' } = request;
  if (key === undefined) return await runCall(context, request, context.ids.next('call'));
  const begun = context.openSession.keyedCalls.find(key, bodyHash);
  if (begun?.answer) return begun.answer;
  const known = context.inFlight.get(key);
  if (known !== undefined) return await known;
  if (begun !== null && !canResume(context, request, begun.callId)) return await settleLost(context, request, key, begun.callId);
  const callId = begun?.callId ?? context.ids.next('call');
  if (begun === null) context.openSession.keyedCalls.begin(key, bodyHash, callId);
  const work = runOnce(context, request, key, callId).finally(() => context.inFlight.delete(key));
  context.inFlight.set(key, work);
  return await work;
}

/**
 * Returns the response of an idempotency key for a request that no longer resolves; null when the key is unknown. Throws
 * `conflict` for a call that was interrupted: its outcome is unknown, and it is not run again.
 */
export async function repeatedCall(
  { openSession: room, inFlight: underWay }: Pick<DirectCallContext, 'openSession' | 'inFlight'>,
  key: string,
  bodyHash: string,
) {
  const begun = room.keyedCalls.find(key, bodyHash);
  if (begun === null) return null;
  const answer = begun.answer ?? (await underWay.get(key));
  if (answer === undefined)
    throw new Problem('conflict', 'This call was started and its outcome is unknown: it may have run. It is not run again.');
  return answer;
}

async function runOnce(context: DirectCallContext, request: SessionCallRequest, key: string, callId: string): Promise<SessionCall> {
  try {
    const answer = await runCall(context, request, callId);
    if (context.isDeleted()) return answer;
    // A pending approval is not the response: the same request sent after the decision runs the call.
    if (answer.result.code === 'approval_required') context.openSession.keyedCalls.remove(key);
    else context.openSession.keyedCalls.recordResult(key, answer);
    return answer;
  } catch (error) {
    // A `Problem` is found before anything has run, so the key is free again; other errors may come after the call has run.
    if (error instanceof Problem && !context.isDeleted()) context.openSession.keyedCalls.remove(key);
    throw error;
  }
}

/** True for an interrupted call that can resume: it is safe to run again, and its journal has the results of its nested calls. */
function canResume(context: DirectCallContext, request: SessionCallRequest, callId: string): boolean {
  const meant = context.names === null ? null : resolveName(context.names, request.name);
  const mayRepeat =
    meant?.ok === true && callsTools(meant.tool) && context.deps.executor.isSafe(meant.tool, mappedArguments(context, request));
  return mayRepeat && context.openSession.journals.has(callId);
}

/** Ends an interrupted call with `outcome_unknown`. It is not run again. */
async function settleLost(context: DirectCallContext, request: SessionCallRequest, key: string, callId: string): Promise<SessionCall> {
  const answer = { ...resolvedNames(context, request), result: outcomeUnknown(), durationMs: 0 };
  context.openSession.keyedCalls.recordResult(key, answer);
  context.openSession.journals.drop(callId);
  const call = { ...toCall(request, callId), arguments: mappedArguments(context, request) };
  await auditCall(context.deps, scopeOf(context, request), call, { ...answer, ran: true });
  return answer;
}

async function runCall(context: DirectCallContext, request: SessionCallRequest, callId: string): Promise<SessionCall> {
  const scope = scopeOf(context, request);
  const key = scope.canWait ? await keyOf(context, request) : null;
  const root = key === null ? null : context.openSession.journals.findWaiting(key.argumentsHash);
  if (key !== null && root !== null) return await resumeCall(context, scope, request, { root, key });
  const earlier = key === null ? null : unlessExpired(context, context.openSession.waits.findDirect(key));
  if (earlier?.state === 'pending') return await respondPending(context, scope, request, earlier);
  if (earlier?.state === 'denied') return await respondDenied(context, scope, request, earlier);
  // Marked as used before it runs: of two concurrent requests one runs, and the other creates a new approval.
  const approved = earlier !== null && context.openSession.waits.markUsed(earlier.callId) ? earlier : null;
  return await runAs(context, scope, request, { callId: approved?.callId ?? callId, key });
}

/** Runs a call again that waited for its nested calls. A concurrent repeat joins it and has the same response. */
async function resumeCall(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  { root, key }: { root: string; key: DirectCallKey },
): Promise<SessionCall> {
  // An idempotency key comes in a header and has no line break, so this name cannot collide with one.
  const name = `\n${root}`;
  const known = context.inFlight.get(name);
  if (known !== undefined) return await known;
  const asked = context.openSession.waits.pendingInside(root).filter((approval) => unlessExpired(context, approval) !== null);
  if (asked.length > 0) return await respondPendingInside(context, scope, request, root, asked);
  if (request.idempotencyKey !== undefined) context.openSession.keyedCalls.continueAs(request.idempotencyKey, root);
  const work = runAs(context, scope, request, { callId: root, key }).finally(() => context.inFlight.delete(name));
  context.inFlight.set(name, work);
  return await work;
}

/** Runs the call. The approval of the call itself, if it has one, is already marked as used. */
async function runAs(
  context: DirectCallContext,
  scope: CallScope,
  request: SessionCallRequest,
  { callId, key }: { callId: string; key: DirectCallKey | null },
): Promise<SessionCall> {
  const { waits, journals } = context.openSession;
  const own = waits.get('approval', callId);
  const approved = own?.state === 'used' ? own : null;
  const call = { ...toCall(request, callId), approved: approved === null ? null : toApproved(approved) };
  const marks = await marksOf(context, request);
  const outcome = await marks.settle(await callTool(context.deps, { ...scope, taint: marks.taint }, call, new AbortController().signal));
  if (context.isDeleted()) throw new Problem('not_found', 'The session was deleted.');
  if ('waitFor' in outcome) return await storeQuestions(context, scope, request, { callId, key, waitFor: outcome.waitFor });
  journals.drop(callId);
  waits.closeInside(callId);
  context.openSession.runner.setExpiryTimer();
  if (approved !== null && !outcome.answer.ran) waits.markUnused(callId);
  return toSessionCall(outcome.answer);
}

/** A call on scratch files is a call without a session; the session only stores its response. */
async function marksOf(
  { openSession: room, deps, names, directMarks }: DirectCallContext,
  { plan, name, scratch }: SessionCallRequest,
): Promise<OpenMarks> {
  if (scratch !== true) return { taint: room.taint, settle: async (outcome) => outcome };
  return await openMarks(directMarks(plan.edition?.toolset ?? null), deps, names === null ? null : findNamedTool(names, name));
}

function scopeOf(context: DirectCallContext, { plan, scratch = false }: SessionCallRequest): CallScope {
  return {
    keyId: context.keyId,
    ...(plan.caller !== undefined && { caller: plan.caller }),
    session: context.session,
    turn: null,
    names: () => withFetchResult(context.names, scratch ? null : context.openSession.results),
    rules: context.rules,
    ...(plan.agent !== undefined && { agent: plan.agent }),
    taint: context.openSession.taint,
    ...(plan.taint !== undefined && { taintRule: plan.taint }),
    // Scratch files are gone after the call, so it cannot wait.
    canWait: !scratch,
    ...(!scratch && { journal: context.openSession.journals.open(null) }),
    results: scratch ? null : context.openSession.results,
    edition: plan.edition ?? null,
    files: withSkillFiles(scratch ? context.scratchFiles() : context.openSession.files, context.skills),
    skills: createSkillReader(context.skills, () => context.names),
    timeoutMs: plan.limits.toolTimeoutMs ?? limits.toolTimeoutMs,
    ...(context.auditIntent !== undefined && { begin: context.auditIntent }),
    audit: context.audit,
  };
}

/**
 * Returns the key that identifies the call when it is sent again; null when the name does not resolve. The hash covers the
 * arguments and the toolset entry with the tool's definition, since the approval was given for that call. Aliases and description
 * are left out.
 */
async function keyOf(context: DirectCallContext, request: SessionCallRequest): Promise<DirectCallKey | null> {
  const { plan, name } = request;
  const meant = context.names === null ? null : resolveName(context.names, name);
  if (!meant?.ok) return null;
  const { aliases: _aliases, description: _description, ...entry } = meant.tool;
  const argumentsHash = await sha256Hex(canonicalJson({ arguments: mappedArguments(context, request), entry }));
  return { toolset: plan.edition?.toolset ?? null, argumentsHash };
}
