/**
 * Audit rows of calls that `callTool` did not run: interrupted in mid-stream, not started before the turn was cancelled, or run by
 * the client. They have results, so they have audit rows like all other calls.
 */
import type { Plan } from '../../core/turn/plan.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import type { TurnState } from '../../core/turn/turn-state.ts';
import { auditCall } from '../call/audit-call.ts';
import type { CallDeps, CallScope } from '../call/call-scope.ts';

/** `session` is null for a turn of no session. `flushAudit` waits until the rows are sent. */
export type TurnAuditParts = Pick<CallScope, 'keyId' | 'session' | 'audit'> & {
  deps: Pick<CallDeps, 'clock' | 'log'>;
  flushAudit(): Promise<unknown>;
};

/** What the audit uses of a run. `audited`: ids of the calls whose audit rows are written. */
export type AuditedRun = { turn: string; plan: Pick<Plan, 'agent' | 'edition'>; state: TurnState; audited: Set<string> };

type ResultEvent = Extract<SessionEventBody, { type: 'tool-result' }>;
type InnerResultEvent = Extract<SessionEventBody, { type: 'inner-result' }>;

/** A result of a call that `callTool` did not run, which therefore has no audit row yet. `ran`: it may have had its effect. `parent`: as in the row. */
export type UnauditedResult = { result: ResultEvent; arguments: Record<string, unknown> | null; ran: boolean; parent?: string };

/** Returns the audit fields of the calls that the run itself makes, and records which rows are written. */
export function auditScope({ keyId, session, audit }: Pick<TurnAuditParts, 'keyId' | 'session' | 'audit'>, run: AuditedRun) {
  const noted: CallScope['audit'] = async (row) => {
    await audit(row);
    run.audited.add(row.callId);
  };
  const { agent, edition = null } = run.plan;
  return { keyId, session, turn: run.turn, ...(agent !== undefined && { agent }), edition, audit: noted };
}

export function toUnauditedResult(run: AuditedRun, result: ResultEvent): UnauditedResult {
  const call = run.state.calls.get(result.callId);
  // With an unknown outcome, assume that it ran. A call with a result of the client was run by the client.
  const ran = result.code === 'outcome_unknown' || (call?.asked === 'client' && result.code !== 'aborted');
  return { result, arguments: call?.arguments ?? null, ran };
}

/** Returns the results of nested calls that the client ran in place of the tool. */
export function toUnauditedInnerResult(run: AuditedRun, result: InnerResultEvent): UnauditedResult[] {
  const { callId, parent, turn, step, canonical, isError, code, content } = result;
  const question = run.state.calls.get(parent)?.inner.get(callId);
  if (question === undefined) return [];
  const named = { type: 'tool-result' as const, turn, step, callId, name: question.name, canonical, via: null };
  const outer = callId.slice(0, callId.lastIndexOf('.'));
  const answered = { ...named, isError, ...(code && { code }), content };
  return [{ result: answered, arguments: question.arguments, ran: code !== 'aborted', parent: outer }];
}

/** Writes the missing audit rows. Never throws: the results are in the log, and a failure is logged. */
export async function auditUnaudited(parts: TurnAuditParts, run: AuditedRun, results: readonly UnauditedResult[]): Promise<void> {
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
