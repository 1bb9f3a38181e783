/**
 * The one door to a tool (DESIGN §7): resolve → authorise → check the input → execute → bound the result → one audit row
 * and one log line. Turns, direct calls and everything later come through here, so what holds here holds everywhere.
 */
import { resolveName, type AliasMap, type Resolution } from '../core/alias-map.ts';
import type { Ask } from '../core/approval.ts';
import type { EditionTool } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import { judgeCall, type PolicyRule } from '../core/policy.ts';
import { boundResult, keptContent } from '../core/result-bound.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { auditCall } from './audit-call.ts';
import { execute } from './execute-call.ts';
import { judge } from './judge-call.ts';
import type { CallDeps, CallOutcome, CallScope, ToolCallAnswer, ToolCallRequest, WaitFor } from './tool-call.ts';

/** Never throws for a fault of the call or the tool: every fault is a result that says what to do. A call that waits has no row yet. */
export async function callTool(deps: CallDeps, scope: CallScope, request: ToolCallRequest, signal: AbortSignal): Promise<CallOutcome> {
  const startedAt = deps.clock.now();
  const resolution = resolve(scope.names(), request.requested);
  const judged = judge(resolution, request) ?? (signal.aborted ? errorResult('aborted', 'Not run: the turn was cancelled.') : null);
  const outcome = judged === null ? await run(deps, scope, resolution, request, signal) : { result: judged, ran: false };
  if ('waitFor' in outcome) return outcome;
  const answer: ToolCallAnswer = {
    requested: request.requested,
    canonical: resolution.ok ? resolution.canonical : null,
    via: resolution.ok ? resolution.via : null,
    ran: outcome.ran,
    result: withDeprecation(bound(scope, request.callId, outcome.result), resolution),
    durationMs: Math.max(0, deps.clock.now() - startedAt),
  };
  await auditCall(deps, scope, request, answer);
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

function resolve(names: AliasMap | null, requested: string): Resolution {
  return names === null ? { ok: false, code: 'unknown_tool', requested, suggestions: [] } : resolveName(names, requested);
}

type Ran = { result: ToolResult; ran: boolean } | { waitFor: WaitFor };

/** Asks whom there is to ask, then runs the tool. An interrupted call that may have had its effect is never tried again. */
async function run(deps: CallDeps, scope: CallScope, resolution: Resolution, request: ToolCallRequest, signal: AbortSignal): Promise<Ran> {
  if (!resolution.ok || request.arguments === null) throw new Error('run: the call was not judged');
  const { tool } = resolution;
  if (request.interrupted === true && !deps.executor.isSafe(tool, request.arguments)) return { result: outcomeUnknown(), ran: true };
  if (tool.kind === 'client') return scope.canWait ? { waitFor: { kind: 'client', tool } } : { result: nobodyToRunIt(tool), ran: false };
  const free = request.approved === true || tool.approval === 'never';
  const ask = free ? null : foresee(deps, tool, request.arguments, scope.rules);
  if (ask !== null) return askOrRefuse(scope, tool, ask);
  const executed = await execute(deps, scope, tool, { ...request, arguments: request.arguments }, signal);
  return 'asks' in executed ? askOrRefuse(scope, tool, executed.asks) : executed;
}

/** What the call will have to ask for, as far as can be said before it runs. */
export function foresee(
  deps: Pick<CallDeps, 'refuses'>,
  tool: EditionTool,
  args: Record<string, unknown>,
  rules: readonly PolicyRule[],
): Ask | null {
  const ask = judgeCall(tool, args, rules);
  return ask?.kind === 'network' && deps.refuses?.(String(args.url)) === true ? null : ask;
}

function askOrRefuse(scope: CallScope, tool: EditionTool, ask: Ask): Ran {
  if (scope.canWait) return { waitFor: { kind: 'approval', tool, ask } };
  const text = `Not run: ${ask.reason}. That needs a person's approval, and this call cannot wait for one. Call it in a session.`;
  return { result: errorResult('approval_required', text), ran: false };
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

/** A result that is cut for the model is kept whole, where there is a place for it. */
function bound(scope: CallScope, callId: string, result: ToolResult): ToolResult {
  const { results } = scope;
  const shown = boundResult(result, limits.maxResultBytes, results === null ? null : callId);
  const kept = results === null || shown === result ? null : keptContent(result, shown);
  if (kept !== null) results?.keep(callId, kept);
  return shown;
}

function withDeprecation(result: ToolResult, resolution: Resolution): ToolResult {
  if (!resolution.ok || resolution.via !== 'alias') return result;
  const alias = resolution.tool.aliases.find((candidate) => candidate.name === resolution.requested);
  if (alias?.mode !== 'deprecated') return result;
  const note = alias.note === undefined ? `use ${resolution.tool.wireName}` : alias.note;
  return { ...result, content: [...result.content, { type: 'text', text: `[The name ${alias.name} is deprecated: ${note}.]` }] };
}
