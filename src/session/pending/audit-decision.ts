/**
 * Writes the audit row and the log line of an approval decision made by a key, a link or the expiry timer. The row is written in
 * the transaction that stores the decision, so that both are stored or neither. Used by `decide.ts`. Calls have their own rows.
 */
import type { ApprovalVerdict } from '../../core/policy/approval.ts';
import type { AuditRow } from '../../core/audit.ts';
import { parentCallId } from '../../core/tools/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import type { Logger } from '../../ports/runtime.ts';
import { verdictStates, type Approval } from './wait.ts';
import type { OpenSession } from '../object/open-session.ts';

export type DecisionAuditContext = { openSession: OpenSession; session: string; now(): number; log: Logger };

/** Returns the hash of the arguments that the call would run with, as in the audit row of the call. Asynchronous: call it before the decision is stored. */
export async function hashOfArguments({ waits }: OpenSession, callId: string): Promise<string> {
  return await sha256Hex(canonicalJson(waits.argumentsOf(callId)));
}

/** `by`: id of the key that decided, `link`, or `clock`. */
export function auditDecision(
  { openSession: room, session, now, log }: DecisionAuditContext,
  { callId, turn, canonical, entry, toolset }: Approval,
  { decision, by, argumentsHash }: { decision: ApprovalVerdict; by: string; argumentsHash: string },
): void {
  const edition = turn === null ? null : (room.turns.get(turn)?.plan.edition ?? null);
  const line: Omit<AuditRow, 'sequence' | 'at'> = {
    keyId: by,
    session,
    turn,
    callId,
    parent: parentCallId(callId),
    requested: entry,
    canonical,
    via: null,
    toolset: edition?.toolset ?? toolset,
    edition: edition === null ? null : `${edition.toolset}@${edition.version}.${edition.revision}`,
    argumentsHash,
    verdict: verdictStates[decision],
    code: null,
    durationMs: 0,
  };
  log.info('approval decided', line);
  room.audit.add({ at: new Date(now()).toISOString(), ...line });
}
