/**
 * The policy document of a workspace. `rule.ts` defines a rule, `evaluate-policy.ts` evaluates the rules. Written with PUT /v1/policy, and
 * extended by remembered approvals.
 */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { isSatisfiable } from './satisfiable-rule.ts';
import { PolicyRule } from './rule.ts';

/** The single policy document of a workspace. */
export const Policy = z
  .strictObject({
    rules: z
      .array(PolicyRule)
      .max(limits.maxPolicyRules)
      .superRefine((rules, { addIssue }) => {
        for (const [index, rule] of rules.entries())
          if (!isSatisfiable(rule)) addIssue({ code: 'custom', path: [index], message: tellMisfit(rule) });
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

function tellMisfit({ decision, note: _note, agent: _agent, key: _key, ...said }: PolicyRule): string {
  const members = Object.entries(said).map(([member, value]) => `${member} ${JSON.stringify(value)}`);
  const nothing = decision === 'allow' ? 'no effect that requires approval has' : 'no effect of a tool has';
  return `would never match: ${nothing} ${members.join(' and ')}`;
}
