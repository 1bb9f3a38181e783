/** The ways to let a call run that requires approval: approve it once, remember the approval as a rule, or change what requires approval. */
import type { ApprovalReason, AskKind } from './approval.ts';
import type { PolicyRule } from './rule.ts';
import { joinWords } from '../text/paragraphs.ts';
import { permanentFolders } from '../text/path.ts';

/** How to get a call approved that cannot wait where it was made. */
export const approveInSession =
  'To approve it once, call the tool in a Moniker session: POST /v1/sessions creates one; name it as `session` of POST /v1/toolsets/{toolset}/calls, then POST /v1/sessions/{id}/approvals/{callId} with {"decision": "approve"}.';

/** The same for a resource or prompt, which no session requests. */
export const approveInClient =
  'To approve it once, use an MCP client that can ask its user (elicitation), with a key that has the scope "approve".';

/** Where a call of a session is decided; without the full stop. */
export function decisionInstruction(session: string, callId: string, round: number): string {
  const approve = round === 1 ? '{"decision": "approve"}' : `{"decision": "approve", "round": ${round}}`;
  return `POST /v1/sessions/${session}/approvals/${callId} with ${approve} or {"decision": "deny"} decides`;
}

/**
 * What can be done about questions of one kind. `ways`: what an administrator can do, as ends of the sentence "an administrator can …".
 * `remembered`: the members of the rule that allows the same for the future, never more than what the person saw; null: such calls require
 * approval every time.
 */
type Remedies = {
  ways(by: { rule: string; never: string; entry: string }): string[];
  remembered: ((target: string, canonical: string) => Partial<PolicyRule>) | null;
};

const byRule: Remedies['ways'] = ({ rule, never }) => [rule, never];
const ofTool = (_target: string, tool: string): Partial<PolicyRule> => ({ tool });
const ofPath: Remedies = { ways: byRule, remembered: (path, tool) => ({ tool, path }) };

const remedies: Readonly<Record<AskKind, Remedies>> = {
  always: { ways: ({ entry }) => [`set "approval": "policy" on the toolset's entry ${entry}`], remembered: null },
  rule: { ways: ({ never }) => ['change that rule (PUT /v1/policy)', never], remembered: null },
  untrusted: {
    ways: ({ rule, never }) => [`set "trusted": true on the tool's server (PUT /v1/servers/{server})`, rule, never],
    remembered: ofTool,
  },
  taint: {
    ways: ({ rule, never }) => [rule, 'set "taint": false on the agent', never],
    // The target of a call is its tool; then the rule covers only that tool, not others that send there.
    remembered: (target, tool) => (target === tool ? { tool } : { host: target }),
  },
  destructive: { ways: byRule, remembered: ofTool },
  network: { ways: byRule, remembered: (host) => ({ host }) },
  'delete-file': ofPath,
  'overwrite-file': ofPath,
  'write-outside': ofPath,
  registry: { ways: byRule, remembered: (name, tool) => ({ tool, name }) },
};

/** `entry`: the wire name of the toolset entry that was called, or the name of the resource or prompt. */
export function waysWithoutApproval({ kind }: Pick<ApprovalReason, 'kind'>, entry: string): string {
  const never = `set "approval": "never" on the toolset's entry ${entry}`;
  const rule = `add an allow rule with "kind": "${kind}" to the policy (PUT /v1/policy)`;
  return `To run such calls without approval, an administrator can ${joinWords(remedies[kind].ways({ rule, never, entry }), ', or')}.`;
}

type Asked = Pick<ApprovalReason, 'kind' | 'target'> & { several?: true | undefined };

/** Returns the rule that `remember` stores for an approved question; null: it cannot be remembered (`whyNotRemembered`). */
export function ruleToRemember(canonical: string, asked: Asked): PolicyRule | null {
  const { kind, target } = asked;
  if (kind === 'always' || kind === 'rule' || target === null || whyNotRemembered(asked) !== null) return null;
  return { decision: 'allow', kind, ...remedies[kind].remembered?.(target, canonical) };
}

/** Returns the error for a decision with `remember`; null if it can be remembered. */
export function whyNotRemembered({ kind, target, several }: Asked): string | null {
  if (several === true) return 'the question lists several effects, and a rule covers only one. Leave it out, or add rules to the policy';
  if (remedies[kind].remembered === null || target === null)
    return 'this requires approval every time and cannot be remembered. Leave it out';
  // These folders contain everything: a rule would cover far more than the person saw.
  if (remedies[kind] === ofPath && permanentFolders.includes(target))
    return `an approval for ${target} is valid only once, since a rule would cover every file in it. Leave it out`;
  return null;
}
