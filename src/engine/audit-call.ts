/** One audit row and one log line a call, whatever came of it. */
import type { AuditRow } from '../core/audit.ts';
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import type { CallDeps, CallScope, ToolCallAnswer, ToolCallRequest } from './tool-call.ts';

/**
 * The call's audit row and log line. A call that was answered from an identical one has its own, too. `request.arguments`: the tool's
 * own where that is known, secrets as names: what a person approves.
 */
export async function auditCall(
  deps: Pick<CallDeps, 'clock' | 'log'>,
  scope: Pick<CallScope, 'keyId' | 'session' | 'turn' | 'edition' | 'audit'>,
  request: Pick<ToolCallRequest, 'callId' | 'requested' | 'arguments' | 'parent'>,
  answer: ToolCallAnswer,
): Promise<void> {
  const { edition } = scope;
  const row: Omit<AuditRow, 'sequence'> = {
    at: new Date(deps.clock.now()).toISOString(),
    keyId: scope.keyId,
    session: scope.session,
    turn: scope.turn,
    callId: request.callId,
    parent: request.parent ?? null,
    requested: request.requested,
    canonical: answer.canonical,
    via: answer.via,
    toolset: edition?.toolset ?? null,
    edition: edition === null ? null : `${edition.toolset}@${edition.version}.${edition.revision}`,
    argumentsHash: await sha256Hex(canonicalJson(request.arguments)),
    verdict: answer.ran ? 'ran' : 'refused',
    code: answer.result.code ?? null,
    durationMs: answer.durationMs,
  };
  const { at: _at, ...line } = row;
  deps.log.info('tool call', line);
  await scope.audit(row);
}
