/**
 * The policy document of a workspace. `rule.ts` defines a rule, `evaluate-policy.ts` evaluates the rules. Written with PUT /v1/policy, and
 * extended by remembered approvals.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { callsTools } from '../toolset/composite-tool.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import { callEffect } from './effects/call.ts';
import type { Actor } from './effects/effect-kind.ts';
import { ruleApplies } from './evaluate-policy.ts';
import { reservedServers } from '../names/reserved-names.ts';
import { isOfferMethod } from '../tools/upstream-method.ts';
import { serverOfOffer } from '../names/offer-pattern.ts';
import { effectRules, type Effect } from './policy-effect.ts';
import { PolicyRule } from './rule.ts';
import type { Taint } from './taint.ts';

/** The single policy document of a workspace. */
export const Policy = z
  .strictObject({
    rules: z
      .array(PolicyRule)
      .max(limits.maxPolicyRules)
      .superRefine((rules, { addIssue }) => {
        for (const [index, rule] of rules.entries())
          if (!isSatisfiable(rule)) addIssue({ code: 'custom', path: [index], message: describeMisfit(rule) });
      }),
    taint: z
      .enum(['ask', 'off'])
      .optional()
      .meta({
        description:
          'The taint rule: once a conversation has seen both private and untrusted content, sending data out requires approval. `ask` is the default; ' +
          '`off` is short for a rule `{decision: "allow", kind: "taint"}`. An agent may override it for itself.',
      }),
  })
  .meta({ id: 'Policy', example: { rules: [{ decision: 'allow', kind: 'network', host: 'api.example.com' }] } });
export type Policy = z.infer<typeof Policy>;

/** Returns the effective rules: `taint: "off"` is appended as the rule that it stands for. */
export function rulesOf({ rules, taint }: Policy): PolicyRule[] {
  return taint === 'off' ? [...rules, { decision: 'allow', kind: 'taint' }] : rules;
}

/** Used if the rules cannot be read: nothing is explicitly allowed, and everything that could be denied requires approval. */
export const fallbackRules: readonly PolicyRule[] = (['write', 'send'] as const).map((effect) => ({
  decision: 'ask',
  effect,
  note: 'the policy cannot be read at the moment, so everything that changes or sends something requires approval',
}));

function describeMisfit({ decision, note: _note, agent: _agent, key: _key, ...said }: PolicyRule): string {
  const members = Object.entries(said).map(([member, value]) => `${member} ${JSON.stringify(value)}`);
  const nothing = decision === 'allow' ? 'no effect that requires approval has' : 'no effect of a tool has';
  return `would never match: ${nothing} ${members.join(' and ')}`;
}

/**
 * Returns whether a rule can match anything: a rule that never matches is a mistake, because the actions that it should deny remain
 * allowed. Tried on examples of everything that a tool can do, with the same matching code.
 */
function isSatisfiable(rule: PolicyRule): boolean {
  const examples = effectRules.flatMap((kind) => kind.examples(rule)).filter((effect) => isOfToolsServer(rule, effect));
  return actorsFor(rule).some(({ actor, kinds }) =>
    [...callEffects(kinds), ...examples].some((effect) => taints.some((taint) => ruleApplies(rule, effect, { actor, taint }))),
  );
}

/** Resources and prompts are requested by calls of their server's MCP methods (`engine/mcp/request-offer.ts`), and by no other tool. */
function isOfToolsServer({ tool, resource, prompt }: PolicyRule, effect: Effect): boolean {
  if (tool === undefined || (effect.kind !== 'resource' && effect.kind !== 'prompt')) return true;
  const [server, name] = [serverOfOffer(tool), tool.slice(tool.indexOf('.') + 1)];
  const isMethod = name === '*' || isOfferMethod(name);
  const offer = resource ?? prompt;
  return isMethod && !reservedServers.has(server) && (offer === undefined || serverOfOffer(offer) === server);
}

const taints: readonly (Taint | null)[] = [null, { private: 'a', untrusted: 'b' }];

type ToolKind = EditionTool['kind'];
/** The kinds of tools whose server has the name of the kind. */
const kindsOfOwnServers = ['builtin', 'local', 'made', 'client', 'ui'] as const;

/** The possible actors: the rule's tool, and a tool that it calls. */
function actorsFor({ tool, agent, key }: PolicyRule): { actor: Actor; kinds: readonly ToolKind[] }[] {
  const by = { agent: agent ?? null, key: key ?? 'key' };
  if (tool === undefined) return [{ actor: { tool: 'server.tool', ...by }, kinds: ['mcp', 'builtin', 'local'] }];
  const kind: ToolKind = kindsOfOwnServers.find((own) => own === serverOfOffer(tool)) ?? 'mcp';
  const named = tool.replace(/\*$/, 'tool');
  const itself = { actor: { tool: named, ...by }, kinds: [kind] };
  const calls = tool === 'builtin.*' || callsTools({ kind, canonical: named });
  return calls ? [itself, { actor: { tool: 'server.tool', chain: [named], ...by }, kinds: ['mcp'] }] : [itself];
}

function callEffects(kinds: readonly ToolKind[]): Effect[] {
  const hints = [{}, { readOnlyHint: true }, { destructiveHint: true }];
  return kinds.flatMap((kind) =>
    hints.flatMap((annotations) =>
      [true, false].map((trusted) => callEffect({ kind, annotations, ...(trusted && { trusted: true as const }) })),
    ),
  );
}
