/**
 * The single path to a tool (contract §7): prepare (name, rights, arguments) → authorize (state of toolset and server) → ask the guard → execute (policy,
 * tool) → ask the guard about the result → finish (bound the result, write one audit row and one log line). Turns, direct calls, MCP calls and nested calls all use it.
 */
import { approveInSession, waysWithoutApproval } from '../../core/policy/approval-ways.ts';
import type { ApprovalQuestion } from '../../core/policy/approval.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { strictest, type GuardVerdict } from '../../core/policy/guard.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { showResult } from '../../core/toolset/entry-result.ts';
import { limits } from '../../core/limits/limits.ts';
import { forModel } from '../../core/tools/model-result.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { createIntent, type CallIntent } from './audit-call.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import { configuredPrice } from '../../core/tools/tool-price.ts';
import { once } from '../../core/memoize.ts';
import { countPreparation } from './compute-meter.ts';
import { executeCall, type AuthorizedCall, type ExecutionOutcome } from './execute-call.ts';
import { isShortage, type Place, shortageText } from '../fair-pool.ts';
import { type CallGuard, openGuard } from '../guard/guard-call.ts';
import { guessedResult, prepareCall, type PreparedCall, type RunnableCall, underCurrentNames } from './prepare-call.ts';
import { observeCall } from '../telemetry/observe-work.ts';
import { withServerState } from './server-state.ts';
import { withToolsetState } from './toolset-state.ts';
import type { CallOutcome, ToolCallAnswer, ToolCallRequest, WaitFor } from './tool-call.ts';

/** Questions about one call. A call whose effects change each time is refused after these. */
export const maxApprovalRounds = 5;

/** Never throws for an error of the call or the tool: each becomes a result that says what to do. A call that waits has no outcome row yet. */
export async function callTool(deps: CallDeps, scope: CallScope, request: ToolCallRequest, signal: AbortSignal): Promise<CallOutcome> {
  const call = countPreparation(deps, scope, () => prepareCall(scope, request));
  return await callPrepared(deps, scope, call, signal);
}

/** Like `callTool`, for a call that was prepared with the same scope. */
export async function callPrepared(deps: CallDeps, scope: CallScope, call: PreparedCall, signal: AbortSignal): Promise<CallOutcome> {
  const { telemetry, host } = deps;
  const run = async (within: CallScope, one: PreparedCall): Promise<CallOutcome> => {
    if (telemetry == null) return await runPrepared(deps, within, one, signal);
    return await observeCall(telemetry, one, within, () => runPrepared(deps, within, one, signal));
  };
  const release = host?.hold();
  try {
    return call.refusal === null && call.tool.targets?.choose === 'in-order'
      ? await (await loadInOrder()).callInOrder(deps, scope, call, run)
      : await run(scope, call);
  } finally {
    release?.();
  }
}

/** Few tools have several targets. */
const loadInOrder = once(() => import('./call-in-order.ts'));

async function runPrepared(deps: CallDeps, given: CallScope, call: PreparedCall, signal: AbortSignal): Promise<CallOutcome> {
  const prepared = call.refusal === null ? underCurrentNames(call, deps.executor.renamed?.(call.tool)) : call;
  // A call outside a conversation gets separate taint marks, shared with its nested calls.
  const scope = given.taint === undefined ? { ...given, taint: createTaintMarks() } : given;
  if (scope.recorded !== undefined) {
    const answered = (await loadRecorded()).answerRecorded(deps, scope, prepared, scope.recorded);
    if (answered !== null) return answered;
  }
  const startedAt = deps.clock.now();
  const authorized = await authorizeCall(deps, scope, prepared, signal);
  const entered = 'served' in authorized ? await enterCall(deps, scope, authorized.call, signal) : null;
  try {
    return await runEntered(deps, scope, entered !== null && 'result' in entered ? entered : authorized, { prepared, signal, startedAt });
  } finally {
    if (entered !== null && 'place' in entered) entered.place.release();
  }
}

/** Takes a place among the calls in progress, in which nested calls run as well. null: it needs none. */
async function enterCall(
  { enter }: CallDeps,
  { keyId }: CallScope,
  { request }: RunnableCall,
  signal: AbortSignal,
): Promise<{ place: Place } | { result: ToolResult; ran: false } | null> {
  if (enter === undefined || request.parent !== undefined) return null;
  try {
    const taken = await enter(keyId, signal);
    if (!isShortage(taken)) return { place: taken };
    return { result: errorResult('limit_reached', `Not run: ${shortageText(taken)}`), ran: false };
  } catch {
    return { result: errorResult('aborted', 'Not run: the turn was cancelled.'), ran: false };
  }
}

type Entered = { prepared: PreparedCall; signal: AbortSignal; startedAt: number };

async function runEntered(
  deps: CallDeps,
  scope: CallScope,
  authorized: AuthorizedCall | CallEnd,
  { prepared, signal, startedAt }: Entered,
): Promise<CallOutcome> {
  const { call, guard, next } =
    'served' in authorized ? await passGuard(deps, scope, authorized, signal) : { call: prepared, guard: null, next: authorized };
  const intent = createIntent(deps, scope, call);
  const outcome = 'served' in next ? await runAuthorized(deps, scope, next, { guard, intent, signal }) : next;
  if ('waitFor' in outcome) {
    await intent.markWaiting();
    return outcome;
  }
  const answer = finishCall(scope, call, outcome, Math.max(0, deps.clock.now() - startedAt));
  if (call.inOrder?.isFollowed(answer) !== true) await intent.settle(answer);
  return { answer };
}

/** How a call ended: with a result, `ran` false if the tool did not run; or by waiting. */
type CallEnd =
  | ({ result: ToolResult; ran: boolean; cost?: number; guard?: GuardVerdict | null } & Pick<ToolCallAnswer, 'failed'>)
  | { waitFor: WaitFor };

/** Checks what can change after a call was prepared. An interrupted call that may have had its effect is never retried. */
async function authorizeCall(deps: CallDeps, scope: CallScope, call: PreparedCall, signal: AbortSignal): Promise<AuthorizedCall | CallEnd> {
  if (call.refusal !== null) {
    const later = call.refusal.code === 'unknown_tool' ? ((await scope.whyNotYet?.(call.requested)) ?? null) : null;
    return { result: later === null ? call.refusal : errorResult('unknown_tool', later), ran: false };
  }
  if (signal.aborted) return { result: errorResult('aborted', 'Not run: the turn was cancelled.'), ran: false };
  const offered = call.tool;
  if (isUnrecoverable(deps, scope, call, offered)) return await endUnknown(deps, scope, offered);
  if (offered.kind === 'client')
    return scope.canWait && scope.turn !== null
      ? { waitFor: { kind: 'client', tool: offered } }
      : { result: clientToolRefused(offered), ran: false };
  const current = await withToolsetState(deps, scope.edition, offered);
  if (!current.ok) return { result: current.result, ran: false };
  const served = await withServerState(deps, current.tool);
  if (!served.ok) return { result: served.result, ran: false };
  return isUnrecoverable(deps, scope, call, served.tool) ? await endUnknown(deps, scope, offered) : { call, served };
}

/** A tool that calls tools is safe to rerun only with a journal of its nested calls. */
function isUnrecoverable({ executor }: CallDeps, { journal }: CallScope, { request, own }: RunnableCall, tool: EditionTool): boolean {
  if (request.unrecoverable === true) return true;
  return request.interrupted === true && !(executor.isSafe(tool, own) && (!callsTools(tool) || journal !== undefined));
}

type GuardedNext = { call: RunnableCall; guard: CallGuard | null; next: AuthorizedCall | CallEnd };

/** Asks the guard of the workspace, if it has one. An interrupted call may not be safe to rerun with the guard's arguments. */
async function passGuard(deps: CallDeps, scope: CallScope, authorized: AuthorizedCall, signal: AbortSignal): Promise<GuardedNext> {
  const guard = await openGuard(deps, scope);
  if (guard === null) return { call: authorized.call, guard, next: authorized };
  const { call, refusal } = await guard.before(authorized.call, signal);
  if (refusal !== null) return { call, guard, next: { result: refusal, ran: false } };
  if (isUnrecoverable(deps, scope, call, authorized.served.tool))
    return { call, guard, next: await endUnknown(deps, scope, authorized.served.tool) };
  return { call, guard, next: { ...authorized, call } };
}

type Run = { guard: CallGuard | null; intent: CallIntent; signal: AbortSignal };

async function runAuthorized(deps: CallDeps, scope: CallScope, authorized: AuthorizedCall, run: Run): Promise<CallEnd> {
  const { guard, intent, signal } = run;
  const watched = guard === null ? scope : { ...scope, channel: guard.channel(scope.channel ?? {}) };
  const end = await runCharged(deps, watched, authorized, { intent, signal });
  if (guard === null || 'waitFor' in end || !end.ran || signal.aborted) return end;
  const { result, verdict } = await guard.after(authorized.call, end.result, signal);
  const { served } = end.result;
  return { ...end, result: { ...result, ...(served && { served }) }, guard: verdict };
}

const loadCharge = once(() => import('./charge-call.ts'));
/** Most calls are of no replay. */
const loadRecorded = once(() => import('./recorded-call.ts'));

/** A nested call that was cancelled is in no report of its turn. */
async function runCharged(deps: CallDeps, scope: CallScope, authorized: AuthorizedCall, run: Omit<Run, 'guard'>): Promise<CallEnd> {
  const { tool, server } = authorized.served;
  const price = configuredPrice(tool, server?.price);
  if (price === null && server?.trusted !== true)
    return toEnd(deps, scope, authorized, await executeCall(deps, scope, authorized, { ...run, callPrepared, price }));
  const charge = await (await loadCharge()).reserveCost(deps, scope, authorized.served);
  if ('refusal' in charge) return { result: charge.refusal, ran: false };
  try {
    const end = toEnd(deps, scope, authorized, await executeCall(deps, scope, authorized, { ...run, callPrepared, price }));
    // A stored result costs nothing, and neither does a call that its server was not sent.
    if ('waitFor' in end || !end.ran || end.failed === 'unsent' || end.result.served?.cachedSeconds !== undefined) return end;
    const isNested = authorized.call.request.parent !== undefined;
    const cost = charge.settle(end.result, scope.turn !== null && !(isNested && run.signal.aborted));
    return cost === undefined ? end : { ...end, cost };
  } finally {
    charge.release();
  }
}

/** Turns what an execution needs first into what the call waits for, or into a refusal where it cannot wait. */
function toEnd(
  { noApprovals }: CallDeps,
  scope: CallScope,
  { call: { own, request }, served: { tool } }: AuthorizedCall,
  executed: ExecutionOutcome,
): CallEnd {
  if ('waiting' in executed) return { waitFor: { kind: 'inner', tool, waiting: executed.waiting } };
  if ('asks' in executed) {
    const { asks: ask } = executed;
    if (request.guessed === true) return { result: guessedResult(), ran: false };
    const round = (request.approved?.round ?? 0) + 1;
    if (round > maxApprovalRounds) return { result: tooManyApprovals(tool, ask), ran: false };
    if (scope.canWait && noApprovals === undefined) return { waitFor: { kind: 'approval', tool, ask, round, arguments: own } };
    const ways = `${noApprovals ?? approveInSession} ${waysWithoutApproval(ask, tool.wireName)}`;
    const text = `Not run: ${ask.reason}. This requires a person's approval, and this call cannot wait for one. ${ways}`;
    return { result: errorResult('approval_required', text), ran: false };
  }
  const { input, ...ran } = executed;
  // A direct call of a session can wait for approval, but no client is connected that could give input.
  if (input === null || !scope.canWait || scope.channel?.askable === undefined) return ran;
  if ((request.rounds ?? 0) >= limits.maxInputRounds) return { result: tooManyInputRounds(tool), ran: true };
  return { waitFor: { kind: 'input', tool, input, arguments: own } };
}

/** The result of a call that asked for input in every allowed round. */
function tooManyInputRounds(tool: EditionTool): ToolResult {
  const text = `${tool.canonical} asked for input ${limits.maxInputRounds} times and returned no result. Continue without it.`;
  return errorResult('limit_reached', text);
}

function tooManyApprovals(tool: EditionTool, { reason }: ApprovalQuestion): ToolResult {
  const text =
    `Not run: ${tool.wireName} was approved ${maxApprovalRounds} times, and each run would have done something other than what was approved. ` +
    `Last reason: ${reason}. Use a separate call to write the values that change between runs (times, random numbers, server responses) to a new file, then use that file.`;
  return errorResult('limit_reached', text);
}

/** Ends a call that was running when its process stopped. Its price is charged here, or by the log of its turn. */
export async function endUnknown(
  deps: CallDeps,
  scope: Pick<CallScope, 'turn' | 'limited'>,
  tool: EditionTool,
): Promise<{ result: ToolResult; ran: true; cost?: number }> {
  const end = { result: outcomeUnknown(), ran: true } as const;
  const served = scope.turn === null ? await withServerState(deps, tool) : null;
  const price = served?.ok === true ? configuredPrice(served.tool, served.server?.price) : null;
  if (served?.ok !== true || price === null) return end;
  const charge = await (await loadCharge()).reserveCost(deps, scope, served);
  if (!('refusal' in charge)) charge.settle(end.result, false);
  return { ...end, cost: price };
}

/** The result of a call that was running when its process stopped. */
export function outcomeUnknown(): ToolResult {
  return errorResult(
    'outcome_unknown',
    'The service restarted while this call was running, so it may or may not have had its effect. Check before you repeat it, and tell the user.',
  );
}

function clientToolRefused(tool: EditionTool): ToolResult {
  return errorResult(
    'not_allowed',
    `Not run: the client that starts a turn runs ${tool.wireName} itself, and this call is not part of a turn.`,
  );
}

/** Returns the answer to show: the result, shortened, with the notes on the call. Entry settings apply only if the tool ran. */
function finishCall(
  { results, resultBounds }: CallScope,
  { request: { callId, parent }, tool, requested, canonical, via, notes, repaired, guard: before, inOrder }: PreparedCall,
  { result: given, ran, cost, guard: after, failed }: Exclude<CallEnd, { waitFor: WaitFor }>,
  durationMs: number,
): ToolCallAnswer {
  const isOneOfSeveral = tool !== null && (tool.targets !== undefined || tool.canonical !== canonical);
  const { served = isOneOfSeveral ? { tool: tool.canonical } : undefined, ...unserved } = given;
  const result: ToolResult = {
    ...unserved,
    ...(repaired.length > 0 && { repaired: [...repaired] }),
    ...(served && { served: { ...served, ...(inOrder && inOrder.tried.length > 0 && { tried: inOrder.tried }) } }),
  };
  const settings = ran ? tool?.result : undefined;
  const guard = strictest(before, after);
  const answer = {
    requested,
    canonical,
    via,
    ran,
    durationMs,
    ...(cost !== undefined && { cost }),
    ...(guard !== null && { guard }),
    ...(failed && { failed }),
  };
  // Code cannot fetch the rest, and gets no notes for the model.
  if (parent !== undefined)
    return { ...answer, result: showResult(result, { ...settings, maxBytes: undefined }, null, resultBounds).shown };
  const read = resultBounds === undefined ? forModel(result) : result;
  const { shown, kept } = showResult(read, settings, results === null ? null : callId, resultBounds);
  if (kept !== null) results?.store(callId, kept);
  const content = [...shown.content, ...notes.map((text) => ({ type: 'text' as const, text }))];
  return { ...answer, result: { ...shown, content } };
}
