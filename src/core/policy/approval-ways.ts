/** The ways to let a call run that requires approval: approve it once, remember the approval as a rule, or change what requires approval. */
import type { ApprovalQuestion, ApprovalReason, AskKind } from './approval.ts';
import type { PolicyRule } from './rule.ts';
import type { OfferMethod } from '../tools/upstream-method.ts';
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
/** The target of a request for a prompt or resource is its name, and not the tool that stands for the request. */
const ofTool = (target: string, tool: string): Partial<PolicyRule> => (target === tool ? { tool } : (ofOffer(target, tool) ?? { tool }));
const offerMembers: Readonly<Record<string, 'prompt' | 'resource' | undefined>> = {
  'prompts/get': 'prompt',
  'resources/read': 'resource',
  'resources/subscribe': 'resource',
} satisfies Partial<Record<OfferMethod, 'prompt' | 'resource'>>;

function ofOffer(target: string, tool: string): Partial<PolicyRule> | null {
  const member = offerMembers[tool.slice(tool.indexOf('.') + 1)];
  return member === undefined ? null : { [member]: target };
}

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
    remembered: (target, tool) => (target === tool ? { tool } : (ofOffer(target, tool) ?? { host: target })),
  },
  destructive: { ways: byRule, remembered: ofTool },
  network: {
    ways: ({ rule, never }) => ['approve it once, after which the host is known to the workspace', rule, never],
    remembered: (host) => ({ host }),
  },
  'delete-file': ofPath,
  'overwrite-file': ofPath,
  'write-outside': ofPath,
  budget: { ways: () => ['raise "maxCost" in the limits of the agent'], remembered: null },
  registry: { ways: byRule, remembered: (name, tool) => ({ tool, name }) },
};

/** `entry`: the wire name of the toolset entry that was called, or the name of the resource or prompt. */
export function waysWithoutApproval({ kind }: Pick<ApprovalReason, 'kind'>, entry: string): string {
  const never = `set "approval": "never" on the toolset's entry ${entry}`;
  const rule = `add an allow rule with "kind": "${kind}" to the policy (PUT /v1/policy)`;
  const what = kind === 'budget' ? 'let such turns continue' : 'run such calls';
  return `To ${what} without approval, an administrator can ${joinWords(remedies[kind].ways({ rule, never, entry }), ', or')}.`;
}

type Asked = Pick<ApprovalReason, 'kind' | 'target'> & Pick<ApprovalQuestion, 'effects' | 'effectCount'> & { several?: true | undefined };

/**
 * Returns the rules with which `remember` allows the same for the future: one for the operation, or one for each host if all effects are
 * requests to new hosts. `why`: it cannot be remembered, as the error of a decision that asks for it.
 */
export function rulesToRemember(canonical: string, asked: Asked): { rules: PolicyRule[] } | { why: string } {
  const { kind, target, several } = asked;
  const { remembered } = remedies[kind];
  const hosts = newHosts(asked);
  if (several === true && hosts.length > 0) return { rules: hosts.map((host) => ({ decision: 'allow', kind: 'network', host })) };
  if (several === true)
    return { why: 'the question lists several effects, and a rule covers only one. Leave it out, or add rules to the policy' };
  if (remembered === null || target === null || kind === 'always' || kind === 'rule' || kind === 'budget')
    return { why: 'this requires approval every time and cannot be remembered. Leave it out' };
  // These folders contain everything: a rule would cover far more than the person saw.
  if (remedies[kind] === ofPath && permanentFolders.includes(target))
    return { why: `an approval for ${target} is valid only once, since a rule would cover every file in it. Leave it out` };
  const rule: PolicyRule = { decision: 'allow', kind, ...remembered(target, canonical) };
  const { host, prompt, resource } = rule;
  if ((host !== undefined && !isPlainHost(host)) || (prompt ?? resource)?.endsWith('*') === true)
    return { why: `in a rule, ${target} would stand for other ${host === undefined ? 'names' : 'hosts'} too. Leave it out` };
  return { rules: [rule] };
}

/**
 * Returns the hosts that are known once the question is approved. Empty if it does not list all effects, and if it is about anything else: a
 * call that was approved would then have other effects to ask about when it runs, and ask again.
 */
export function newHosts({ effects, effectCount }: Pick<Asked, 'effects' | 'effectCount'>): string[] {
  const hosts = effects.flatMap(({ kind, target }) => (kind === 'network' && target !== null && isPlainHost(target) ? [target] : []));
  return hosts.length === effectCount ? [...new Set(hosts)] : [];
}

/** URLs may have hosts such as `*.com`, and in a rule they would be patterns. */
function isPlainHost(host: string): boolean {
  return !host.includes('*');
}
