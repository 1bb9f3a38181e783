/**
 * Answers a call of a replay from its recording, once its name is resolved, its arguments are prepared and the policy has judged it. Nothing of
 * the call reaches the tool, its server, the guard, an approval or the audit.
 */
import { fetchResultTool } from '../../core/toolset/injected-tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { judgeCall, withoutAllowances } from '../policy/judge-call.ts';
import { TaintWatch } from '../policy/mark-taint.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import { worksOnFiles } from './inner/inner-names.ts';
import type { PreparedCall, RunnableCall } from './prepare-call.ts';
import type { CallOutcome, CallRecording, CallToAnswer } from './tool-call.ts';

/** Returns null for a call that is to be made. */
export function answerRecorded(deps: CallDeps, scope: CallScope, call: PreparedCall, recording: CallRecording): CallOutcome | null {
  const { requested, canonical, via, request } = call;
  const made = { callId: request.callId, requested, canonical, tool: call.tool, arguments: request.arguments };
  const answered = (result: ToolResult): CallOutcome => ({ answer: { requested, canonical, via, ran: false, durationMs: 0, result } });
  if (call.refusal !== null) {
    recording.refused(made);
    return answered(call.refusal);
  }
  const { tool, own } = call;
  const verdict = verdictOf(deps, scope, call);
  const isSafe = tool.kind !== 'client' && deps.executor.isSafe(tool, own);
  const canRun = isSafe && verdict === 'allow' && !worksOnFiles(tool) && tool.canonical !== fetchResultTool.canonical;
  const result = recording.answer({ ...made, verdict, isSafe, canRun });
  if (result === 'run') return null;
  if (result === null) return answered(errorResult('aborted', 'Not run: the recording has no answer to this call.'));
  markResult(scope, tool, result);
  return answered(result);
}

function verdictOf(deps: CallDeps, scope: CallScope, { request, tool: given, own }: RunnableCall): CallToAnswer['verdict'] {
  if (given.kind === 'client') return 'allow';
  const judged = request.recovered ? withoutAllowances(scope, given) : { scope, tool: given };
  const { decision, asks } = judgeCall(deps, judged.scope, judged.tool, own);
  return decision.verdict === 'allow' && asks.length > 0 ? 'ask' : decision.verdict;
}

/** The conversation has seen the result, as far as that follows from the tool: later calls are judged by it. */
function markResult({ taint = createTaintMarks(), keyId }: CallScope, tool: EditionTool, result: ToolResult): void {
  new TaintWatch(taint, tool, keyId).recordResult(result, null);
}
