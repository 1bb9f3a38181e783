/**
 * The audit row and the log line of a word on an approval: a person's, by key or by link, or the clock's. Written in the block
 * that stores the word, so that neither stands without the other; used by `decide.ts`. Calls have their own rows.
 */
import type { ApprovalVerdict } from '../core/approval.ts';
import type { AuditRow } from '../core/audit.ts';
import { parentCallId } from '../core/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import type { Logger } from '../ports/runtime.ts';
import { verdictStates, type Approval } from './approvals.ts';
import type { Room } from './room.ts';

export type AuditDoor = { room: Room; session: string; now(): number; log: Logger };

/** Of what the call would be run with, as the call's own row has it. Hashing takes a moment: before the word is stored. */
export async function hashOfArguments({ approvals }: Room, callId: string): Promise<string> {
  return await sha256Hex(canonicalJson(approvals.argumentsOf(callId)));
}

/** `by`: id of the key that decided, `link`, or `clock`. */
export function auditDecision(
  { room, session, now, log }: AuditDoor,
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
