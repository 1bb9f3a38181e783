/**
 * The one door to a tool (DESIGN §7): resolve → authorise → check the input → ask first → execute → bound the result → one audit row
 * and one log line. Turns, direct calls and everything later come through here, so what holds here holds everywhere.
 */
import { resolveName, type Resolution } from '../core/alias-map.ts';
import type { Question } from '../core/approval.ts';
import { deprecationOf } from '../core/called-alias.ts';
import { callsTools } from '../core/composite-tool.ts';
import type { EditionTool } from '../core/edition-tool.ts';
import { showResult } from '../core/entry-result.ts';
import { limits } from '../core/limits.ts';
import { createTaintMarks } from '../core/taint.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { createIntent, type CallIntent } from './audit-call.ts';
import { execute } from './execute-call.ts';
import { ignoredNote } from './entry-call.ts';
import { foresee } from './policy/foresee.ts';
import { judge, type Judged } from './judge-call.ts';
import { asServed } from './served-tool.ts';
import type { CallDeps, CallOutcome, CallScope, ToolCallAnswer, ToolCallRequest, WaitFor } from './tool-call.ts';

/** Never throws for a fault of the call or the tool: every fault is a result that says what to do. A call that waits has no row yet. */
export async function callTool(deps: CallDeps, given: CallScope, request: ToolCallRequest, signal: AbortSignal): Promise<CallOutcome> {
  // What belongs to no conversation is judged for itself, with all that is called beneath it.
  const scope = given.taint === undefined ? { ...given, taint: createTaintMarks() } : given;
  const startedAt = deps.clock.now();
  const resolution = resolve(scope, request.requested);
  const judged = judge(resolution, request, scope.caller);
  const named = resolution.ok ? { canonical: resolution.canonical, via: resolution.via } : { canonical: null, via: null };
  const intent = createIntent(deps, scope, judged.ok ? { ...request, arguments: judged.own } : request, named);
  const outcome = await settle(deps, scope, judged, { ...request, intent }, signal);
  if ('waitFor' in outcome) {
    await intent.waits();
    return outcome;
  }
  const shown = showBounded(scope, request, outcome, judged.ok ? judged.tool : null);
  // Code reads data, and no notes on its spelling.
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

/** The same where there is nobody to wait for: `scope.canWait` is false. */
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

/** Plans offer no such tool; a stored plan or an edition that says otherwise is not believed. */
function isPrivateToOther({ made }: EditionTool, keyId: string): boolean {
  return made?.private === true && made.by !== keyId;
}

type Ran = { result: ToolResult; ran: boolean } | { waitFor: WaitFor };

/** After so many questions a call is no call any more. */
function asksTooMuch(tool: EditionTool): ToolResult {
  const text = `${tool.canonical} asked for input ${limits.maxInputRounds} times and still had no answer of its own. Go on without it.`;
  return errorResult('limit_reached', text);
}

type Intended = ToolCallRequest & { intent: CallIntent };

async function settle(deps: CallDeps, scope: CallScope, judged: Judged, request: Intended, signal: AbortSignal): Promise<Ran> {
  if (!judged.ok) return { result: judged.result, ran: false };
  if (signal.aborted) return { result: errorResult('aborted', 'Not run: the turn was cancelled.'), ran: false };
  return await run(deps, scope, judged, request, signal);
}

type Judgement = Extract<Judged, { ok: true }>;

/** Asks whom there is to ask, then runs the tool. An interrupted call that may have had its effect is never tried again. */
async function run(
  deps: CallDeps,
  scope: CallScope,
  { tool: offered, own }: Judgement,
  request: Intended,
  signal: AbortSignal,
): Promise<Ran> {
  // What calls tools does no more again than a journal knows of.
  const mayRunAgain = (tool: EditionTool): boolean => deps.executor.isSafe(tool, own) && (!callsTools(tool) || scope.journal !== undefined);
  const isLost = (tool: EditionTool): boolean => request.lost === true || (request.interrupted === true && !mayRunAgain(tool));
  if (isLost(offered)) return { result: outcomeUnknown(), ran: true };
  if (offered.kind === 'client')
    return scope.canWait && scope.turn !== null
      ? { waitFor: { kind: 'client', tool: offered } }
      : { result: nobodyToRunIt(offered), ran: false };
  const served = await asServed(deps, offered);
  if (!served.ok) return { result: served.result, ran: false };
  const { tool } = served;
  if (isLost(tool)) return { result: outcomeUnknown(), ran: true };
  const foreseen = foresee(deps, scope, tool, own);
  if (foreseen.verdict === 'deny') return { result: forbidden(foreseen.reason), ran: false };
  const ownRequest = { ...request, arguments: own };
  const executed = await execute(deps, scope, served, ownRequest, signal, callTool);
  if ('asks' in executed) return askOrRefuse(scope, tool, ownRequest, executed.asks);
  if ('waiting' in executed) return { waitFor: { kind: 'inner', tool, waiting: executed.waiting } };
  const { input, ...ran } = executed;
  // A direct call of a session can wait for leave, and has nobody who could be asked for more.
  if (input === null || !scope.canWait || scope.channel?.askable === undefined) return ran;
  if ((request.rounds ?? 0) >= limits.maxInputRounds) return { result: asksTooMuch(tool), ran: true };
  return { waitFor: { kind: 'input', tool, input, arguments: own } };
}

function forbidden(reason: string): ToolResult {
  return errorResult(
    'not_allowed',
    `Not run: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}. No approval changes that; go on without it.`,
  );
}

type OwnRequest = ToolCallRequest & { arguments: Record<string, unknown> };

function askOrRefuse(scope: CallScope, tool: EditionTool, { arguments: own, approved }: OwnRequest, ask: Question): Ran {
  const round = (approved?.round ?? 0) + 1;
  if (round > limits.maxApprovalRounds) return { result: asksAnew(tool, ask), ran: false };
  if (scope.canWait) return { waitFor: { kind: 'approval', tool, ask, round, arguments: own } };
  const text = `Not run: ${ask.reason}. That needs a person's approval, and this call cannot wait for one. Call it in a session.`;
  return { result: errorResult('approval_required', text), ran: false };
}

function asksAnew(tool: EditionTool, { reason }: Question): ToolResult {
  const text =
    `Not run: ${tool.wireName} was approved ${limits.maxApprovalRounds} times, and each time it would have done something else than what was approved. ` +
    `Last: ${reason}. Write what changes from run to run (times, random numbers, answers of servers) to a new file in a call of its own, and use that file.`;
  return errorResult('limit_reached', text);
}

/** What is told of a call that was under way when its process died. */
export function outcomeUnknown(): ToolResult {
  return errorResult(
    'outcome_unknown',
    'The service restarted while this call was running: it may or may not have had its effect. Check before repeating it, and tell the user.',
  );
}

function nobodyToRunIt(tool: EditionTool): ToolResult {
  return errorResult('not_allowed', `Not run: ${tool.wireName} is run by the caller of a turn, and there is none here.`);
}

/** What is left out for the model is kept whole, where there is a place for it. What the tool did not answer is no matter of its entry. */
function showBounded(
  { results }: CallScope,
  { callId, parent }: ToolCallRequest,
  { result, ran }: Exclude<Ran, { waitFor: WaitFor }>,
  tool: EditionTool | null,
): ToolResult {
  // Code has to see all of it, and has nowhere to read on.
  if (parent !== undefined)
    return showResult(result, { ...(ran ? tool?.result : undefined), maxBytes: limits.maxInnerResultBytes }, null).shown;
  const { shown, kept } = showResult(result, ran ? tool?.result : undefined, results === null ? null : callId);
  if (kept !== null) results?.keep(callId, kept);
  return shown;
}

/** As a line of the result. */
function deprecationNote(resolution: Resolution): string | null {
  const deprecated = resolution.ok ? deprecationOf(resolution) : null;
  return deprecated === null ? null : `[The name ${deprecated.name} is deprecated: ${deprecated.note}.]`;
}
