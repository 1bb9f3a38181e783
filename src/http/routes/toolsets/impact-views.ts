/** What the views of past calls have in common: of toolsets, their suggestions, and the policy. */
import { z } from 'zod';
import { dayOf } from '../../../core/records/usage.ts';

const dayMs = 86_400_000;

export const WholeCount = z.int().nonnegative();

export const impactQuery = {
  days: z.coerce.number().int().min(1).max(366).default(30).meta({ description: 'The days of the calls, with today.' }),
};

export function daysUntil(now: number, days: number): { from: string; to: string } {
  return { from: dayOf(now - (days - 1) * dayMs), to: dayOf(now) };
}

export const TurnCoverage = z
  .object({
    read: WholeCount,
    left: WholeCount.meta({ description: 'Not read: turns of more than 50 sessions, of a session that was deleted, or of another key.' }),
    more: z.boolean().meta({ description: 'Older turns were not looked for.' }),
  })
  .meta({ description: 'The turns whose calls were read, the newest first.' });

const Decision = z.object({
  verdict: z.enum(['allow', 'ask', 'deny']),
  reason: z.string(),
  rule: z.int().nullable().meta({ description: 'Index of the rule. null: the default, the entry of the toolset, or a known host.' }),
});
const named = z.array(z.string()).meta({ description: 'At most 20.' });

export const decisionImpact = {
  judged: WholeCount.meta({ description: 'Calls that were judged, each with both.' }),
  changedCalls: WholeCount,
  changed: z
    .array(z.object({ tool: z.string(), was: Decision, now: Decision, calls: WholeCount, agents: named, keys: named, sessions: named }))
    .meta({ description: 'By tool and deciding rules, the most calls first, at most 100. The reasons are those of one of the calls.' }),
  unjudged: z.object({
    arguments: WholeCount.meta({ description: 'Calls whose arguments decide, of which only hashes are kept, or whose turn was not read.' }),
    tools: WholeCount.meta({
      description: 'Calls of tools that are not there now, that the client has, or whose entries are decided differently.',
    }),
    inner: WholeCount.meta({
      description: 'Calls of code, scripts and made tools. They are in `judged`, without what they do while they run.',
    }),
  }),
};
