/** What a fake session waits for: approvals, calls of client tools, links. Time stands still; nothing expires. */
import type { ApprovalView, Decision, Pending } from '../../src/core/policy/approval.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ClientResult } from '../../src/core/model/message.ts';

export type Waiting = {
  approvals: Map<string, ApprovalView>;
  clientCalls: Map<string, ClientCall>;
  links: Map<string, { callId: string; used: boolean }>;
};
type ClientCall = Pending & { turn: string; result: ClientResult | null };

export const askedAt = '2026-01-01T00:00:00.000Z';
export const expiresAt = '2026-01-08T00:00:00.000Z';

export function nothingWaits(): Waiting {
  return { approvals: new Map(), clientCalls: new Map(), links: new Map() };
}

export function findApproval({ approvals }: Waiting, callId: string): ApprovalView {
  const found = approvals.get(callId);
  if (found === undefined) throw new Problem('not_found', 'Nothing was asked under this id.');
  return found;
}

/** Whether this is the first decision. */
export function decide(approval: ApprovalView, decision: Decision): boolean {
  const state = decision === 'approve' ? 'approved' : 'denied';
  if (approval.state === state) return false;
  if (approval.state !== 'pending') throw new Problem('conflict', `It is ${approval.state} already.`);
  approval.state = state;
  return true;
}

export function linkedCall({ links }: Waiting, nonce: string): string {
  const link = links.get(nonce);
  if (link === undefined || link.used) throw new Problem('not_found', 'This link was used or has expired.');
  return link.callId;
}

export function takeResult({ clientCalls }: Waiting, result: ClientResult): ClientCall {
  const call = clientCalls.get(result.callId);
  if (call === undefined) throw new Problem('not_found', `The call ${result.callId} does not wait for a result.`);
  if (call.result !== null && JSON.stringify(call.result) !== JSON.stringify(result))
    throw new Problem('conflict', 'It has another result.');
  call.result = result;
  return call;
}

/** What a turn (null: direct calls) waits for. */
export function pendingOf({ approvals, clientCalls }: Waiting, turn: string | null): Pending[] {
  return [
    ...[...approvals.values()].filter((view) => view.turn === turn && view.state === 'pending').map(toPending),
    ...[...clientCalls.values()]
      .filter((call) => call.turn === turn && call.result === null)
      .map(({ callId, kind, canonical, arguments: args, reason }) => ({ callId, kind, canonical, arguments: args, reason })),
  ];
}

export function toPending({ callId, canonical, arguments: args, reason }: ApprovalView): Pending {
  return { callId, kind: 'approval', canonical, arguments: args, reason };
}
