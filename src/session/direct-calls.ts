/**
 * Direct calls with a session (`…/calls`), on the session's files. A call that requires approval is stored as an approval; once
 * approved, the same call sent again runs, once. With an idempotency key, a call has the same response for a day.
 */
import { resolveName } from '../core/alias-map.ts';
import { callsTools } from '../core/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { auditCall } from '../engine/audit-call.ts';
import { callTool, outcomeUnknown } from '../engine/call-tool.ts';
import { toolNamed } from '../engine/direct-call.ts';
import { openMarks, type OpenMarks } from '../engine/policy/direct-marks.ts';
import type { CallScope } from '../engine/tool-call.ts';
import { withFetchResult } from '../engine/plan/plan-names.ts';
import { createSkillReader } from '../engine/plan/plan-skills.ts';
import type { SessionCall, SessionCallRequest } from '../ports/session.ts';
import { withSkillFiles } from '../storage/skill-files.ts';
import { toApproved, type DirectCallKey } from './approvals.ts';
import { namedBy, ownArguments, toCall, toSessionCall, type DirectCallDoor } from './direct-call-door.ts';
import { answerAsked, answerAskedBeneath, answerDenied, ask, valid } from './direct-questions.ts';

export async function callDirectly(context: DirectCallDoor, request: SessionCallRequest): Promise<SessionCall> {
  const { idempotencyKey: key, bodyHash = '' } = request;
  if (key === undefined) return await runCall(context, request, context.ids.next('call'));
  const begun = context.room.calls.find(key, bodyHash);
  if (begun?.answer) return begun.answer;
  const known = context.underWay.get(key);
  if (known !== undefined) return await known;
  if (begun !== null && !canResume(context, request, begun.callId)) return await settleLost(context, request, key, begun.callId);
  const callId = begun?.callId ?? context.ids.next('call');
  if (begun === null) context.room.calls.begin(key, bodyHash, callId);
  const work = runOnce(context, request, key, callId).finally(() => context.underWay.delete(key));
  context.underWay.set(key, work);
  return await work;
}

/**
 * Returns the response of an idempotency key for a request that no longer resolves; null when the key is unknown. Throws
 * `conflict` for a call that was interrupted: its outcome is unknown, and it is not run again.
 */
export async function repeatedCall({ room, underWay }: Pick<DirectCallDoor, 'room' | 'underWay'>, key: string, bodyHash: string) {
  const begun = room.calls.find(key, bodyHash);
  if (begun === null) return null;
  const answer = begun.answer ?? (await underWay.get(key));
  if (answer === undefined)
    throw new Problem('conflict', 'This call was started and its outcome is unknown: it may have run. It is not run again.');
  return answer;
}

async function runOnce(context: DirectCallDoor, request: SessionCallRequest, key: string, callId: string): Promise<SessionCall> {
  try {
    const answer = await runCall(context, request, callId);
    if (context.gone()) return answer;
    // A pending approval is not the response: the same request sent after the decision runs the call.
    if (answer.result.code === 'approval_required') context.room.calls.forget(key);
    else context.room.calls.answered(key, answer);
    return answer;
  } catch (error) {
    // A `Problem` is found before anything has run, so the key is free again; other errors may come after the call has run.
    if (error instanceof Problem && !context.gone()) context.room.calls.forget(key);
    throw error;
  }
}

/** True for an interrupted call that can resume: it is safe to run again, and its journal has the results of its nested calls. */
function canResume(context: DirectCallDoor, request: SessionCallRequest, callId: string): boolean {
  const meant = context.names === null ? null : resolveName(context.names, request.name);
  const mayRepeat =
    meant?.ok === true && callsTools(meant.tool) && context.deps.executor.isSafe(meant.tool, ownArguments(context, request));
  return mayRepeat && context.room.journals.has(callId);
}

/** Ends an interrupted call with `outcome_unknown`. It is not run again. */
async function settleLost(context: DirectCallDoor, request: SessionCallRequest, key: string, callId: string): Promise<SessionCall> {
  const answer = { ...namedBy(context, request), result: outcomeUnknown(), durationMs: 0 };
  context.room.calls.answered(key, answer);
  context.room.journals.drop(callId);
  const call = { ...toCall(request, callId), arguments: ownArguments(context, request) };
  await auditCall(context.deps, scopeOf(context, request), call, { ...answer, ran: true });
  return answer;
}

async function runCall(context: DirectCallDoor, request: SessionCallRequest, callId: string): Promise<SessionCall> {
  const scope = scopeOf(context, request);
  const key = scope.canWait ? await keyOf(context, request) : null;
  const root = key === null ? null : context.room.journals.awaited(key.argumentsHash);
  if (key !== null && root !== null) return await resumeCall(context, scope, request, { root, key });
  const earlier = key === null ? null : valid(context, context.room.approvals.findDirect(key));
  if (earlier?.state === 'pending') return await answerAsked(context, scope, request, earlier);
  if (earlier?.state === 'denied') return await answerDenied(context, scope, request, earlier);
  // Marked as used before it runs: of two concurrent requests one runs, and the other creates a new approval.
  const approved = earlier !== null && context.room.approvals.use(earlier.callId) ? earlier : null;
  return await runAs(context, scope, request, { callId: approved?.callId ?? callId, key });
}

/** Runs a call again that waited for its nested calls. A concurrent repeat joins it and has the same response. */
async function resumeCall(
  context: DirectCallDoor,
  scope: CallScope,
  request: SessionCallRequest,
  { root, key }: { root: string; key: DirectCallKey },
): Promise<SessionCall> {
  // An idempotency key comes in a header and has no line break, so this name cannot collide with one.
  const name = `\n${root}`;
  const known = context.underWay.get(name);
  if (known !== undefined) return await known;
  const asked = context.room.approvals.pendingBeneath(root).filter((approval) => valid(context, approval) !== null);
  if (asked.length > 0) return await answerAskedBeneath(context, scope, request, root, asked);
  if (request.idempotencyKey !== undefined) context.room.calls.goesOnAs(request.idempotencyKey, root);
  const work = runAs(context, scope, request, { callId: root, key }).finally(() => context.underWay.delete(name));
  context.underWay.set(name, work);
  return await work;
}

/** Runs the call. The approval of the call itself, if it has one, is already marked as used. */
async function runAs(
  context: DirectCallDoor,
  scope: CallScope,
  request: SessionCallRequest,
  { callId, key }: { callId: string; key: DirectCallKey | null },
): Promise<SessionCall> {
  const { approvals, journals } = context.room;
  const own = approvals.get(callId);
  const approved = own?.state === 'used' ? own : null;
  const call = { ...toCall(request, callId), approved: approved === null ? null : toApproved(approved) };
  const marks = await marksOf(context, request);
  const outcome = await marks.settle(await callTool(context.deps, { ...scope, taint: marks.taint }, call, new AbortController().signal));
  if (context.gone()) throw new Problem('not_found', 'The session was deleted.');
  if ('waitFor' in outcome) return await ask(context, scope, request, { callId, key, waitFor: outcome.waitFor });
  journals.drop(callId);
  approvals.closeBeneath(callId);
  context.room.runner.setApprovalTimer();
  if (approved !== null && !outcome.answer.ran) approvals.giveBack(callId);
  return toSessionCall(outcome.answer);
}

/** A call on scratch files is a call without a session; the session only stores its response. */
async function marksOf(
  { room, deps, names, directMarks }: DirectCallDoor,
  { plan, name, scratch }: SessionCallRequest,
): Promise<OpenMarks> {
  if (scratch !== true) return { taint: room.taint, settle: async (outcome) => outcome };
  return await openMarks(directMarks(plan.edition?.toolset ?? null), deps, names === null ? null : toolNamed(names, name));
}

function scopeOf(context: DirectCallDoor, { plan, scratch = false }: SessionCallRequest): CallScope {
  return {
    keyId: context.keyId,
    ...(plan.caller !== undefined && { caller: plan.caller }),
    session: context.session,
    turn: null,
    names: () => withFetchResult(context.names, scratch ? null : context.room.results),
    rules: context.rules,
    ...(plan.agent !== undefined && { agent: plan.agent }),
    taint: context.room.taint,
    ...(plan.taint !== undefined && { taintRule: plan.taint }),
    // Scratch files are gone after the call, so it cannot wait.
    canWait: !scratch,
    ...(!scratch && { journal: context.room.journals.open(null) }),
    results: scratch ? null : context.room.results,
    edition: plan.edition ?? null,
    files: withSkillFiles(scratch ? context.scratchFiles() : context.room.files, context.skills),
    skills: createSkillReader(context.skills, () => context.names),
    timeoutMs: plan.limits.toolTimeoutMs ?? limits.toolTimeoutMs,
    ...(context.begin !== undefined && { begin: context.begin }),
    audit: context.audit,
  };
}

/**
 * Returns the key that identifies the call when it is sent again; null when the name does not resolve. The hash covers the
 * arguments and the toolset entry with the tool's definition, since the approval was given for that call. Aliases and description
 * are left out.
 */
async function keyOf(context: DirectCallDoor, request: SessionCallRequest): Promise<DirectCallKey | null> {
  const { plan, name } = request;
  const meant = context.names === null ? null : resolveName(context.names, name);
  if (!meant?.ok) return null;
  const { aliases: _aliases, description: _description, ...entry } = meant.tool;
  const argumentsHash = await sha256Hex(canonicalJson({ arguments: ownArguments(context, request), entry }));
  return { toolset: plan.edition?.toolset ?? null, canonical: meant.canonical, entry: meant.tool.wireName, argumentsHash };
}
