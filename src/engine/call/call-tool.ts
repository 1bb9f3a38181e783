/**
 * The single path to a tool (DESIGN §7): resolve → authorize → check the input → check the policy → execute → bound the result → write one
 * audit row and one log line. Turns, direct calls, MCP calls and nested calls all use it.
 */
import { resolveName, type Resolution } from '../../core/toolset/alias-map.ts';
import type { ApprovalQuestion } from '../../core/policy/approval.ts';
import { deprecationOf } from '../../core/toolset/called-alias.ts';
import { callsTools } from '../../core/tools/composite-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { showResult } from '../../core/toolset/entry-result.ts';
import { limits } from '../../core/limits.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { createIntent, type CallIntent } from './audit-call.ts';
import { executeCall } from './execute-call.ts';
import { ignoredNote } from './entry-call.ts';
import { predictPolicy } from '../policy/predict-policy.ts';
import { checkCall, type CheckedCall } from './check-call.ts';
import { withServerState } from './server-state.ts';
import type { CallDeps, CallOutcome, CallScope, ToolCallAnswer, ToolCallRequest, WaitFor } from './tool-call.ts';

/** Questions about one call. A call whose effects change each time is refused after these. */
export const maxApprovalRounds = 5;

/** Never throws for an error of the call or the tool: each becomes a result that says what to do. A call that waits has no outcome row yet. */
export async function callTool(deps: CallDeps, given: CallScope, request: ToolCallRequest, signal: AbortSignal): Promise<CallOutcome> {
  // A call outside a conversation gets separate taint marks, shared with its nested calls.
  const scope = given.taint === undefined ? { ...given, taint: createTaintMarks() } : given;
  const startedAt = deps.clock.now();
  const resolution = resolve(scope, request.requested);
  const judged = checkCall(resolution, request, scope.caller);
  const named = resolution.ok ? { canonical: resolution.canonical, via: resolution.via } : { canonical: null, via: null };
  const intent = createIntent(deps, scope, judged.ok ? { ...request, arguments: judged.own } : request, named);
  const outcome = await settle(deps, scope, judged, { ...request, intent }, signal);
  if ('waitFor' in outcome) {
    await intent.markWaiting();
    return outcome;
  }
  const shown = showBounded(scope, request, outcome, judged.ok ? judged.tool : null);
  // Nested calls return data to code, so they get no notes for the model.
  const notes =
    request.parent !== undefined
      ? []
      : [ignoredNote(judged.ignored), deprecationNote(resolution)].flatMap((note) => (note === null ? [] : [note]));
  const answer: ToolCallAnswer = {
    requested: request.requested,
    ...named,
    ran: outcome.ran,
    result: { ...shown, content: [...shown.content, ...notes.map((text) => ({ type: 'text' as const, text }))] },
    durationMs: Math.max(0, deps.clock.now() - startedAt),
  };
  await intent.settle(answer);
  return { answer };
}

/** Like `callTool`, where the call cannot wait: `scope.canWait` is false. */
export async function callToolNow(
  deps: CallDeps,
  scope: CallScope,
  request: ToolCallRequest,
  signal: AbortSignal,
): Promise<ToolCallAnswer> {
  const outcome = await callTool(deps, { ...scope, canWait: false }, request, signal);
  if ('waitFor' in outcome) throw new Error('a call that cannot wait waits');
  return outcome.answer;
}

function resolve({ names, keyId }: CallScope, requested: string): Resolution {
  const unknown: Resolution = { ok: false, code: 'unknown_tool', requested, suggestions: [] };
  const table = names();
  const resolution = table === null ? unknown : resolveName(table, requested);
  return resolution.ok && isPrivateToOther(resolution.tool, keyId) ? unknown : resolution;
}

/** Plans do not offer another key's private tool; this check also covers stored plans and editions that do. */
function isPrivateToOther({ made }: EditionTool, keyId: string): boolean {
  return made?.private === true && made.by !== keyId;
}

type Ran = { result: ToolResult; ran: boolean } | { waitFor: WaitFor };

/** The result of a call that asked for input in every allowed round. */
function asksTooMuch(tool: EditionTool): ToolResult {
  const text = `${tool.canonical} asked for input ${limits.maxInputRounds} times and returned no result. Continue without it.`;
  return errorResult('limit_reached', text);
}

type Intended = ToolCallRequest & { intent: CallIntent };

async function settle(deps: CallDeps, scope: CallScope, judged: CheckedCall, request: Intended, signal: AbortSignal): Promise<Ran> {
  if (!judged.ok) return { result: judged.result, ran: false };
  if (signal.aborted) return { result: errorResult('aborted', 'Not run: the turn was cancelled.'), ran: false };
  return await run(deps, scope, judged, request, signal);
}

type Judgement = Extract<CheckedCall, { ok: true }>;

/** Checks the policy, then runs the tool. An interrupted call that may have had its effect is never retried. */
async function run(
  deps: CallDeps,
  scope: CallScope,
  { tool: offered, own }: Judgement,
  request: Intended,
  signal: AbortSignal,
): Promise<Ran> {
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
  const { tool } = served;
  if (isUnrecoverable(tool)) return { result: outcomeUnknown(), ran: true };
  const predicted = predictPolicy(deps, scope, tool, own);
  if (predicted.verdict === 'deny') return { result: forbidden(predicted.reason), ran: false };
  const ownRequest = { ...request, arguments: own };
  const executed = await executeCall(deps, scope, served, ownRequest, signal, callTool);
  if ('asks' in executed) return askOrRefuse(scope, tool, ownRequest, executed.asks);
  if ('waiting' in executed) return { waitFor: { kind: 'inner', tool, waiting: executed.waiting } };
  const { input, ...ran } = executed;
  // A direct call of a session can wait for approval, but no client is connected that could give input.
  if (input === null || !scope.canWait || scope.channel?.askable === undefined) return ran;
  if ((request.rounds ?? 0) >= limits.maxInputRounds) return { result: asksTooMuch(tool), ran: true };
  return { waitFor: { kind: 'input', tool, input, arguments: own } };
}

function forbidden(reason: string): ToolResult {
  return errorResult(
    'not_allowed',
    `Not run: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}. An approval cannot change this. Continue without this call.`,
  );
}

type OwnRequest = ToolCallRequest & { arguments: Record<string, unknown> };

function askOrRefuse(scope: CallScope, tool: EditionTool, { arguments: own, approved }: OwnRequest, ask: ApprovalQuestion): Ran {
  const round = (approved?.round ?? 0) + 1;
  if (round > maxApprovalRounds) return { result: tooManyApprovals(tool, ask), ran: false };
  if (scope.canWait) return { waitFor: { kind: 'approval', tool, ask, round, arguments: own } };
  const text = `Not run: ${ask.reason}. This requires a person's approval, and this call cannot wait for one. Call the tool in a session.`;
  return { result: errorResult('approval_required', text), ran: false };
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

/** Shortens the result for the model and stores the full text where the scope has a result store. Entry settings apply only if the tool ran. */
function showBounded(
  { results }: CallScope,
  { callId, parent }: ToolCallRequest,
  { result, ran }: Exclude<Ran, { waitFor: WaitFor }>,
  tool: EditionTool | null,
): ToolResult {
  // Code needs the complete result and cannot fetch the rest.
  if (parent !== undefined)
    return showResult(result, { ...(ran ? tool?.result : undefined), maxBytes: limits.maxInnerResultBytes }, null).shown;
  const { shown, kept } = showResult(result, ran ? tool?.result : undefined, results === null ? null : callId);
  if (kept !== null) results?.store(callId, kept);
  return shown;
}

/** A note for the result; null if the name is not deprecated. */
function deprecationNote(resolution: Resolution): string | null {
  const deprecated = resolution.ok ? deprecationOf(resolution) : null;
  return deprecated === null ? null : `[The name ${deprecated.name} is deprecated: ${deprecated.note}.]`;
}
