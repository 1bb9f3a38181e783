/** `/v1/toolsets/{toolset}/impact`: what a draft would have done to the calls of the last days. Nothing is stored. */
import { z } from 'zod';
import { visibleKey } from '../../../core/people/authority.ts';
import { nullIfNotFound } from '../../../core/problem.ts';
import { Toolset, ToolsetName } from '../../../core/toolset/toolset.ts';
import { toolsetImpact } from '../../../engine/configuration/toolset-impact.ts';
import { previewToolset } from '../../../engine/configuration/write-toolset.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import { readToolset } from '../../../engine/plan/read-toolset.ts';
import { WholeCount, daysUntil, decisionImpact, impactQuery, TurnCoverage } from './impact-views.ts';
import { compileGiven } from './toolset-draft.ts';
import { defineRoute } from './toolset-services.ts';
import { ToolsetBody } from './toolsets.ts';

const ChangedName = z.object({
  requested: z.string().meta({ description: 'The name that was called.' }),
  change: z.enum(['gone', 'moved', 'ambiguous', 'unusable', 'found']).meta({
    description:
      '`gone`: no name in the draft. `moved`: the name of another tool there, or of an entry with other arguments. `ambiguous`: the name of several. ' +
      '`unusable`: its tool is held or missing. `found`: a name in the draft, and none in the stored toolset.',
  }),
  was: z.string().nullable().meta({ description: 'The tool that it leads to in the stored toolset.' }),
  now: z.array(z.string()).meta({ description: 'The tools that it leads to in the draft.' }),
  wireName: z.string().nullable().meta({ description: 'The name of the earlier tool in the draft; null: it is not there.' }),
  calls: WholeCount,
  failures: WholeCount,
  overcount: WholeCount.optional().meta({ description: 'At most so many of `calls` were of other names.' }),
  lastDay: z.string().nullable(),
  agents: z.array(z.string()).meta({ description: 'Who called it in turns, at most 20.' }),
  keys: z.array(z.string()).meta({ description: 'Ids of the keys, at most 20.' }),
});

const ToolsetImpact = z
  .object({
    toolset: ToolsetName,
    ...{ from: z.iso.date(), to: z.iso.date() },
    valid: z.boolean().meta({ description: 'Whether PUT would store the draft. If not, its valid entries are compared.' }),
    same: z.object({ names: WholeCount, calls: WholeCount }).meta({ description: 'Names that lead where they led.' }),
    changed: z.array(ChangedName).meta({ description: 'The most called first.' }),
    unjudged: WholeCount.meta({ description: 'Calls whose names were not kept, since a day had too many, or before names were counted.' }),
    mends: z
      .array(
        z.object({
          requested: z.string(),
          tool: z.string(),
          alias: z.string(),
          entry: z.int().nullable().meta({ description: 'Its index in `tools` of the draft; null: a new entry.' }),
          note: z.string(),
        }),
      )
      .meta({ description: 'Deprecated aliases that keep a name working. Each was tried.' }),
    decisions: z.object(decisionImpact).meta({
      description:
        'What the policy, as it is now, decides about calls whose names lead to the same tool in both. Calls by name count on each page, and those whose arguments decide on the first.',
    }),
    arguments: z
      .object({
        judged: WholeCount.meta({ description: 'Recorded calls that the stored entry accepts.' }),
        refusedCalls: WholeCount.meta({ description: 'Those that the draft refuses.' }),
        refused: z
          .array(
            z.object({
              tool: z.string(),
              calls: WholeCount,
              sessions: z.array(z.string()).meta({ description: 'At most 20.' }),
              issues: z.array(z.object({ path: z.string(), message: z.string() })).meta({ description: 'Why the draft refuses them.' }),
              mends: z
                .array(z.object({ tool: z.string(), argument: z.string(), alias: z.string() }))
                .meta({ description: 'Aliases of arguments with which the draft accepts the calls. Empty: no alias helps.' }),
            }),
          )
          .meta({ description: 'By tool and reason, the most frequent first, at most 100.' }),
        turns: TurnCoverage,
      })
      .nullable()
      .meta({
        description:
          'Arguments of the calls of turns, by the logs of their sessions; of other calls only hashes are kept. null: with `cursor`.',
      }),
    mended: Toolset.nullable().meta({ description: 'The draft with all fixes, ready for PUT. null: no fix is known.' }),
    nextCursor: z.string().nullable().meta({ description: 'More names follow; a name may be on two pages.' }),
  })
  .meta({ id: 'ToolsetImpact' });

export const toolsetImpactRoutes = [
  defineRoute(
    {
      tag: 'Toolsets',
      method: 'post',
      path: '/v1/toolsets/{toolset}/impact',
      operationId: 'getToolsetImpact',
      scopes: ['toolsets'],
      summary: 'Compare a draft of a toolset with past calls',
      description:
        'Resolves every name that was called in the last days in the stored toolset and in the draft, and returns the names that would lead elsewhere, with who called them, and aliases that keep them. Nothing is stored. For a key that sees only its own usage, only its own calls count.',
      params: z.object({ toolset: ToolsetName.meta({ example: 'demo' }) }),
      query: z.strictObject({
        ...impactQuery,
        cursor: z.string().max(2_000).optional(),
      }),
      body: { schema: z.record(z.string(), z.unknown()), documented: ToolsetBody },
      answers: { 200: { description: 'What would change.', schema: ToolsetImpact } },
      problems: ['not_found', 'conflict'],
    },
    async ({ answer, services, principal, params: { toolset: name }, query: { days, cursor }, body }) => {
      const { toolset, compiled, issues } = await compileGiven(services, principal, name, body);
      const { aliases } = services.settings;
      const stored = await nullIfNotFound(readToolset(services.directory, principal, name));
      const before = stored === null ? null : planNames(stored.names, { aliases, allow: null });
      const range = daysUntil(services.clock.now(), days);
      const key = visibleKey(principal);
      const compile = (tried: Toolset) => previewToolset(services.catalog(principal), principal, name, tried, [...tried.tools.keys()]);
      const asked = { workspace: principal.workspace, toolset: name, ...range, key, cursor };
      const impact = await toolsetImpact({ ...services, aliases }, principal, asked, before, { toolset, compiled, compile });
      const valid = issues.length === 0 && compiled.conflicts.length === 0;
      return answer(200, { toolset: name, ...range, valid, ...impact });
    },
  ),
];
