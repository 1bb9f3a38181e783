/**
 * The single path to a tool (contract §7): prepare (name, rights, arguments) → authorize (server state, policy) → execute → finish (bound the
 * result, write one audit row and one log line). Turns, direct calls, MCP calls and nested calls all use it.
 */
import { approveInSession, waysWithoutApproval } from '../../core/policy/approval-ways.ts';
import type { ApprovalQuestion } from '../../core/policy/approval.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { callsTools } from '../../core/tools/composite-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { showResult } from '../../core/toolset/entry-result.ts';
import { limits } from '../../core/limits.ts';
import { errorResult, forModel, type ToolResult } from '../../core/tools/tool.ts';
import { createIntent } from './audit-call.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import { executeCall, type AuthorizedCall, type ExecutionOutcome } from './execute-call.ts';
import { guessedResult, prepareCall, type PreparedCall } from './prepare-call.ts';
import { observeCall } from '../telemetry/observe-work.ts';
import { withServerState } from './server-state.ts';
import type { CallOutcome, ToolCallAnswer, ToolCallRequest, WaitFor } from './tool-call.ts';

/** Questions about one call. A call whose effects change each time is refused after these. */
export const maxApprovalRounds = 5;

/** Never throws for an error of the call or the tool: each becomes a result that says what to do. A call that waits has no outcome row yet. */
export async function callTool(deps: CallDeps, scope: CallScope, request: ToolCallRequest, signal: AbortSignal): Promise<CallOutcome> {
  return await callPrepared(deps, scope, prepareCall(scope, request), signal);
}

/** Like `callTool`, for a call that was prepared with the same scope. */
export async function callPrepared(deps: CallDeps, scope: CallScope, call: PreparedCall, signal: AbortSignal): Promise<CallOutcome> {
  const { telemetry } = deps;
  if (telemetry == null) return await runPrepared(deps, scope, call, signal);
  return await observeCall(telemetry, call, scope, () => runPrepared(deps, scope, call, signal));
}

async function runPrepared(deps: CallDeps, given: CallScope, call: PreparedCall, signal: AbortSignal): Promise<CallOutcome> {
  // A call outside a conversation gets separate taint marks, shared with its nested calls.
  const scope = given.taint === undefined ? { ...given, taint: createTaintMarks() } : given;
  const startedAt = deps.clock.now();
  const intent = createIntent(deps, scope, call);
  const authorized = await authorizeCall(deps, scope, call, signal);
  const outcome =
    'served' in authorized
      ? toEnd(deps, scope, authorized, await executeCall(deps, scope, authorized, { intent, signal, callPrepared }))
      : authorized;
  if ('waitFor' in outcome) {
    await intent.markWaiting();
    return outcome;
  }
  const answer = finishCall(scope, call, outcome, Math.max(0, deps.clock.now() - startedAt));
  await intent.settle(answer);
  return { answer };
}

/** How a call ended: with a result, `ran` false if the tool did not run; or by waiting. */
type CallEnd = { result: ToolResult; ran: boolean } | { waitFor: WaitFor };

/** Checks what can change after a call was prepared. An interrupted call that may have had its effect is never retried. */
async function authorizeCall(deps: CallDeps, scope: CallScope, call: PreparedCall, signal: AbortSignal): Promise<AuthorizedCall | CallEnd> {
  if (call.refusal !== null) return { result: call.refusal, ran: false };
  if (signal.aborted) return { result: errorResult('aborted', 'Not run: the turn was cancelled.'), ran: false };
  const { request, own, tool: offered } = call;
  // A tool that calls tools is safe to rerun only with a journal of its nested calls.
  const mayRunAgain = (tool: EditionTool): boolean => deps.executor.isSafe(tool, own) && (!callsTools(tool) || scope.journal !== undefined);
  const isUnrecoverable = (tool: EditionTool): boolean =>
    request.unrecoverable === true || (request.interrupted === true && !mayRunAgain(tool));
  if (isUnrecoverable(offered)) return { result: outcomeUnknown(), ran: true };
  if (offered.kind === 'client')
    return scope.canWait && scope.turn !== null
      ? { waitFor: { kind: 'client', tool: offered } }
      : { result: noClientToRunIt(offered), ran: false };
  const served = await withServerState(deps, offered);
  if (!served.ok) return { result: served.result, ran: false };
  return isUnrecoverable(served.tool) ? { result: outcomeUnknown(), ran: true } : { call, served };
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
    if (scope.canWait) return { waitFor: { kind: 'approval', tool, ask, round, arguments: own } };
    const ways = `${noApprovals ?? approveInSession} ${waysWithoutApproval(ask, tool.wireName)}`;
    const text = `Not run: ${ask.reason}. This requires a person's approval, and this call cannot wait for one. ${ways}`;
    return { result: errorResult('approval_required', text), ran: false };
  }
  const { input, ...ran } = executed;
  // A direct call of a session can wait for approval, but no client is connected that could give input.
  if (input === null || !scope.canWait || scope.channel?.askable === undefined) return ran;
  if ((request.rounds ?? 0) >= limits.maxInputRounds) return { result: asksTooMuch(tool), ran: true };
  return { waitFor: { kind: 'input', tool, input, arguments: own } };
}

/** The result of a call that asked for input in every allowed round. */
function asksTooMuch(tool: EditionTool): ToolResult {
  const text = `${tool.canonical} asked for input ${limits.maxInputRounds} times and returned no result. Continue without it.`;
  return errorResult('limit_reached', text);
}

function tooManyApprovals(tool: EditionTool, { reason }: ApprovalQuestion): ToolResult {
  const text =
    `Not run: ${tool.wireName} was approved ${maxApprovalRounds} times, and each run would have done something other than what was approved. ` +
    `Last reason: ${reason}. Use a separate call to write the values that change between runs (times, random numbers, server responses) to a new file, then use that file.`;
  return errorResult('limit_reached', text);
}

/** The result of a call that was running when its process stopped. */
export function outcomeUnknown(): ToolResult {
  return errorResult(
    'outcome_unknown',
    'The service restarted while this call was running, so it may or may not have had its effect. Check before you repeat it, and tell the user.',
  );
}

function noClientToRunIt(tool: EditionTool): ToolResult {
  return errorResult(
    'not_allowed',
    `Not run: the client that starts a turn runs ${tool.wireName} itself, and this call is not part of a turn.`,
  );
}

/** Returns the answer to show: the result, shortened, with the notes on the call. Entry settings apply only if the tool ran. */
function finishCall(
  { results, resultBounds }: CallScope,
  { request: { callId, parent }, tool, requested, canonical, via, notes }: PreparedCall,
  { result, ran }: Exclude<CallEnd, { waitFor: WaitFor }>,
  durationMs: number,
): ToolCallAnswer {
  const settings = ran ? tool?.result : undefined;
  const answer = { requested, canonical, via, ran, durationMs };
  // Code cannot fetch the rest, and gets no notes for the model.
  if (parent !== undefined)
    return { ...answer, result: showResult(result, { ...settings, maxBytes: undefined }, null, resultBounds).shown };
  const read = resultBounds === undefined ? forModel(result) : result;
  const { shown, kept } = showResult(read, settings, results === null ? null : callId, resultBounds);
  if (kept !== null) results?.store(callId, kept);
  const content = [...shown.content, ...notes.map((text) => ({ type: 'text' as const, text }))];
  return { ...answer, result: { ...shown, content } };
}
