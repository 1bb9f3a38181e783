/**
 * The workspace's policy as a document. What one of its rules says is `rule.ts`, how they are judged by is `judge.ts`. Written with
 * PUT /v1/policy, and grown by answers that are remembered.
 */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { couldFit } from './could-fit.ts';
import { PolicyRule } from './rule.ts';

/** The workspace's one policy document. */
export const Policy = z
  .strictObject({
    rules: z
      .array(PolicyRule)
      .max(limits.maxPolicyRules)
      .superRefine((rules, { addIssue }) => {
        for (const [index, rule] of rules.entries())
          if (!couldFit(rule)) addIssue({ code: 'custom', path: [index], message: tellMisfit(rule) });
      }),
    taint: z
      .enum(['ask', 'off'])
      .optional()
      .meta({
        description:
          'The taint rule: once a conversation has seen both private and untrusted content, sending anything out is asked about. `ask` is usual; ' +
          '`off` is short for a rule `{decision: "allow", kind: "taint"}`. An agent may say otherwise for itself.',
      }),
  })
  .meta({ id: 'Policy', example: { rules: [{ decision: 'allow', kind: 'network', host: 'api.example.com' }] } });
export type Policy = z.infer<typeof Policy>;

/** The rules as they are judged by: `taint: "off"` stands behind them as the rule that it is short for. */
export function rulesOf({ rules, taint }: Policy): PolicyRule[] {
  return taint === 'off' ? [...rules, { decision: 'allow', kind: 'taint' }] : rules;
}

/** In the place of rules that cannot be read: nothing counts as allowed, and what may be denied is asked about. */
export const unreadRules: readonly PolicyRule[] = (['write', 'send'] as const).map((effect) => ({
  decision: 'ask',
  effect,
  note: 'it cannot be read just now, so everything that changes or sends something is asked about',
}));

function tellMisfit({ decision, note: _note, agent: _agent, key: _key, ...said }: PolicyRule): string {
  const members = Object.entries(said).map(([member, value]) => `${member} ${JSON.stringify(value)}`);
  const nothing = decision === 'allow' ? 'nothing that is asked about has' : 'nothing that a tool does has';
  return `would never fit: ${nothing} ${members.join(' and ')}`;
}
