/** The ways to let a call run that requires approval, as sentences for its caller: approve it once, or change what requires approval. */
import type { ApprovalReason } from './approval.ts';

/** How to get a call approved that cannot wait where it was made. */
export const approveInSession =
  'To approve it once, call the tool in a Moniker session: POST /v1/sessions creates one; name it as `session` of POST /v1/toolsets/{toolset}/calls, then POST /v1/sessions/{id}/approvals/{callId} with {"decision": "approve"}.';

/** The same for a resource or prompt, which no session requests. */
export const approveInClient =
  'To approve it once, use an MCP client that can ask its user (elicitation), with a key that has the scope "approve".';

/** Where a call of a session is decided; without the full stop. */
export function decideHere(session: string, callId: string, round: number): string {
  const approve = round === 1 ? '{"decision": "approve"}' : `{"decision": "approve", "round": ${round}}`;
  return `POST /v1/sessions/${session}/approvals/${callId} with ${approve} or {"decision": "deny"} decides`;
}

/** `entry`: the wire name of the toolset entry that was called, or the name of the resource or prompt. */
export function waysWithoutApproval({ kind }: Pick<ApprovalReason, 'kind'>, entry: string): string {
  const never = `set "approval": "never" on the toolset's entry ${entry}`;
  return `To run such calls without approval, an administrator can ${joined(waysOf(kind, entry, never))}.`;
}

function waysOf(kind: ApprovalReason['kind'], entry: string, never: string): string[] {
  const rule = `add an allow rule with "kind": "${kind}" to the policy (PUT /v1/policy)`;
  switch (kind) {
    case 'always':
      return [`set "approval": "policy" on the toolset's entry ${entry}`];
    case 'rule':
      return ['change that rule (PUT /v1/policy)', never];
    case 'untrusted':
      return [`set "trusted": true on the tool's server (PUT /v1/servers/{server})`, rule, never];
    case 'taint':
      return [rule, 'set "taint": false on the agent', never];
    case 'destructive':
    case 'network':
    case 'delete-file':
    case 'overwrite-file':
    case 'write-outside':
    case 'registry':
      return [rule, never];
    default:
      return kind satisfies never;
  }
}

function joined(ways: readonly string[]): string {
  const last = ways.at(-1) ?? '';
  return ways.length < 2 ? last : `${ways.slice(0, -1).join(', ')}, or ${last}`;
}
