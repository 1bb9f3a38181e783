/** The parts that routes about the calls of the last days share: what a draft would have done to them, and what they suggest. */
import * as z from 'zod';
import { visibleKey } from '../core/people/authority.ts';
import type { Principal } from '../core/people/principal.ts';
import { TargetChoice } from '../core/toolset/entries/entry-targets.ts';
import { dayOf } from '../core/records/usage.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import type { Clock } from '../ports/runtime.ts';
import type { HttpServices } from './services.ts';

const dayMs = 86_400_000;
export const callCount = z.int().nonnegative();

export const pastDays = z.coerce.number().int().min(1).max(366).default(30).meta({ description: 'The days of the calls, with today.' });
export const pastCallsQuery = z.strictObject({ days: pastDays, cursor: z.string().max(2_000).optional() });

/** Days, inclusive. `key`: only its calls, for a key that sees only its own usage; undefined: all. */
export function pastCallsOf(principal: Principal, { clock }: { clock: Clock }, days: number) {
  const now = clock.now();
  return { range: { from: dayOf(now - (days - 1) * dayMs), to: dayOf(now) }, key: visibleKey(principal) };
}

export const pastRange = { from: z.iso.date(), to: z.iso.date() };

const TargetsView = z.object({ tools: z.array(z.string()), choose: TargetChoice.nullable() });

export const ChangedNameView = z.object({
  requested: z.string().meta({ description: 'The name that was called.' }),
  change: z.enum(['gone', 'moved', 'ambiguous', 'unusable', 'targets', 'found']).meta({
    description:
      '`gone`: no name in the draft. `moved`: the name of another tool there, or of an entry with other arguments. `ambiguous`: the name of several. ' +
      '`unusable`: its tool is held or missing. `targets`: the same entry, whose calls may run on another target. `found`: a name in the draft, and none in the stored version.',
  }),
  was: z.string().nullable().meta({ description: 'The tool that it leads to in the stored version.' }),
  now: z.array(z.string()).meta({ description: 'The tools that it leads to in the draft.' }),
  wireName: z.string().nullable().meta({ description: 'The name of the earlier tool in the draft; null: it is not there.' }),
  targets: z.object({ was: TargetsView, now: TargetsView }).optional().meta({ description: 'With `targets`: those of the entry.' }),
  calls: callCount,
  failures: callCount,
  overcount: callCount.optional().meta({ description: 'At most so many of `calls` were of other names.' }),
  lastDay: z.string().nullable(),
  agents: z.array(z.string()).meta({ description: 'Who called it in turns, at most 20.' }),
  keys: z.array(z.string()).meta({ description: 'Ids of the keys, at most 20.' }),
  sessions: z.array(z.string()).meta({ description: 'The newest sessions with such calls, at most 20.' }),
  readCalls: callCount.meta({
    description:
      'How many such calls were found in the turns that were read (`arguments.turns`), to which `sessions` belong. The others are only in the counts: made outside of turns, in turns that were not read, or, with `cursor`, all.',
  }),
});

export const TurnCoverage = z
  .object({
    read: callCount,
    left: callCount.meta({ description: 'Not read: turns of more than 50 sessions, of a session that was deleted, or of another key.' }),
    more: z.boolean().meta({ description: 'Older turns were not looked for.' }),
  })
  .meta({ description: 'The turns whose calls were read, the newest first.' });

const RefusedCalls = z.object({
  tool: z.string(),
  calls: callCount,
  sessions: z.array(z.string()).meta({ description: 'At most 20.' }),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).meta({ description: 'Why the draft refuses them.' }),
  mends: z
    .array(z.object({ tool: z.string(), argument: z.string(), alias: z.string() }))
    .meta({ description: 'Aliases of arguments with which the draft accepts the calls. Empty: no alias helps.' }),
});

const judged = {
  judged: callCount.meta({ description: 'Recorded calls that the stored version accepts.' }),
  refusedCalls: callCount.meta({ description: 'Those that the draft refuses.' }),
};
const byReason = 'By tool and reason, the most frequent first, at most 100.';

export const ArgumentImpactView = z
  .object({ ...judged, refused: z.array(RefusedCalls).meta({ description: byReason }), turns: TurnCoverage })
  .nullable()
  .meta({
    description:
      'Arguments of the calls of turns, by the logs of their sessions; of other calls only hashes are kept. null: with `cursor`.',
  });

const Decision = z.object({
  verdict: z.enum(['allow', 'ask', 'deny']),
  reason: z.string(),
  rule: z.int().nullable().meta({ description: 'Index of the rule. null: the default, the entry of the toolset, or a known host.' }),
});
const named = z.array(z.string()).meta({ description: 'At most 20.' });

export const decisionImpactView = {
  judged: callCount.meta({ description: 'Calls that were judged, each with both.' }),
  changedCalls: callCount,
  changed: z
    .array(z.object({ tool: z.string(), was: Decision, now: Decision, calls: callCount, agents: named, keys: named, sessions: named }))
    .meta({ description: 'By tool and deciding rules, the most calls first, at most 100. The reasons are those of one of the calls.' }),
  unjudged: z.object({
    arguments: callCount.meta({ description: 'Calls whose arguments decide, of which only hashes are kept, or whose turn was not read.' }),
    tools: callCount.meta({
      description: 'Calls of tools that are not there now, that the client has, or whose entries are decided differently.',
    }),
    inner: callCount.meta({
      description: 'Calls of code, scripts and made tools. They are in `judged`, without what they do while they run.',
    }),
  }),
};

export const DefinitionImpactView = z
  .object({
    tool: z.string().meta({ description: 'Canonical name.' }),
    ...pastRange,
    ...judged,
    refused: z
      .array(
        RefusedCalls.extend({
          toolset: z.string().nullable().meta({
            description: 'The toolset of the calls, in whose entry the aliases belong. null: they were made without one.',
          }),
        }),
      )
      .meta({ description: byReason }),
    hashed: callCount.meta({
      description: 'Calls that were not judged since only hashes of their arguments are kept: outside of turns, or by code and made tools.',
    }),
    left: callCount.meta({ description: 'Recorded calls that were not judged since they are of more than ten toolsets.' }),
    turns: TurnCoverage,
  })
  .meta({ id: 'DefinitionImpact' });

/** `before` null: no definition is in force. */
export async function compareDefinitions(
  services: HttpServices,
  principal: Principal,
  definitions: { before: ToolDefinition | null; after: ToolDefinition },
  days: number,
): Promise<z.infer<typeof DefinitionImpactView>> {
  const { range, key } = pastCallsOf(principal, services, days);
  const { aliases } = services.settings;
  const { definitionImpact } = await import('../engine/configuration/definition-impact.ts');
  const deps = { catalog: services.catalog(principal), audit: services.audit(principal.workspace), sessions: services.sessions, aliases };
  return { tool: definitions.after.canonical, ...range, ...(await definitionImpact(deps, principal, definitions, { ...range, key })) };
}
