/**
 * Audit rows of calls that `callTool` did not run: interrupted in mid-stream, not started before the turn was cancelled, or run by
 * the client. They have results, so they have audit rows like all other calls.
 */
import type { Logger } from '../../../ports/runtime.ts';
import { auditCall } from '../../../engine/call/audit-call.ts';
import type { CallDeps, CallScope } from '../../../engine/call/call-scope.ts';
import type { InnerResultEvent, ResultEvent, TurnRun, UnauditedResult } from './turn-run.ts';

export type TurnAuditParts = {
  deps: Pick<CallDeps, 'clock'> & { log: Logger };
  keyId: string;
  session: string;
  audit: CallScope['audit'];
  flushAudit(): Promise<unknown>;
};

/** Returns the audit fields of the calls that the run itself makes, and records which rows are written. */
export function auditScope({ keyId, session, audit }: TurnAuditParts, run: TurnRun) {
  const noted: CallScope['audit'] = async (row) => {
    await audit(row);
    run.audited.add(row.callId);
  };
  const { agent, edition = null } = run.plan;
  return { keyId, session, turn: run.turn, ...(agent !== undefined && { agent }), edition, audit: noted };
}

export function toUnauditedResult(run: TurnRun, result: ResultEvent): UnauditedResult {
  const call = run.state.calls.get(result.callId);
  // With an unknown outcome, assume that it ran. A call with a result of the client was run by the client.
  const ran = result.code === 'outcome_unknown' || (call?.asked === 'client' && result.code !== 'aborted');
  return { result, arguments: call?.arguments ?? null, ran };
}

/** Returns the results of nested calls that the client ran in place of the tool. */
export function toUnauditedInnerResult(run: TurnRun, result: InnerResultEvent): UnauditedResult[] {
  const { callId, parent, turn, step, canonical, isError, code, content } = result;
  const question = run.state.calls.get(parent)?.inner.get(callId);
  if (question === undefined) return [];
  const named = { type: 'tool-result' as const, turn, step, callId, name: question.name, canonical, via: null };
  const outer = callId.slice(0, callId.lastIndexOf('.'));
  const answered = { ...named, isError, ...(code && { code }), content };
  return [{ result: answered, arguments: question.arguments, ran: code !== 'aborted', parent: outer }];
}

/** Writes the missing audit rows. Never throws: the results are in the log, and a failure is logged. */
export async function auditUnaudited(parts: TurnAuditParts, run: TurnRun, results: readonly UnauditedResult[]): Promise<void> {
  try {
    for (const { result, arguments: args, ran, parent } of results) {
      if (run.audited.has(result.callId)) continue;
      const { callId, name: requested, canonical, via } = result;
      const answer = { requested, canonical, via, ran, result, durationMs: 0 };
      await auditCall(parts.deps, auditScope(parts, run), { callId, requested, arguments: args, ...(parent && { parent }) }, answer);
    }
    await parts.flushAudit();
  } catch (error) {
    parts.deps.log.error('calls were not audited', { session: parts.session, turn: run.turn, error: String(error) });
  }
}
