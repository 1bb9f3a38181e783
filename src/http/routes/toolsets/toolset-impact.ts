/** `/v1/toolsets/{toolset}/impact`: what a draft would have done to the calls of the last days. Nothing is stored. */
import * as z from 'zod';
import { nullIfNotFound } from '../../../core/problem.ts';
import { Toolset, ToolsetName } from '../../../core/toolset/toolset.ts';
import { toolsetImpact } from '../../../engine/configuration/toolset-impact.ts';
import { previewToolset } from '../../../engine/configuration/write-toolset.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import { readToolset } from '../../../engine/plan/read-toolset.ts';
import {
  ArgumentImpactView,
  ChangedNameView,
  callCount,
  decisionImpactView,
  pastCallsOf,
  pastCallsQuery,
  pastRange,
} from '../../past-calls.ts';
import { compileGiven } from './toolset-draft.ts';
import { defineRoute } from '../../route.ts';
import { ofToolset } from './toolset-names.ts';
import { ToolsetBody } from './toolsets.ts';

const ToolsetImpact = z
  .object({
    toolset: ToolsetName,
    ...pastRange,
    valid: z.boolean().meta({ description: 'Whether PUT would store the draft. If not, its valid entries are compared.' }),
    same: z.object({ names: callCount, calls: callCount }).meta({ description: 'Names that lead where they led.' }),
    changed: z.array(ChangedNameView).meta({ description: 'The most called first.' }),
    unjudged: callCount.meta({ description: 'Calls whose names were not kept, since a day had too many, or before names were counted.' }),
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
    decisions: z.object(decisionImpactView).meta({
      description:
        'What the policy, as it is now, decides about calls whose names lead to the same tool in both. Calls by name count on each page, and those whose arguments decide on the first.',
    }),
    arguments: ArgumentImpactView,
    mended: Toolset.nullable().meta({ description: 'The draft with all fixes, ready for PUT. null: no fix is known.' }),
    nextCursor: z.string().nullable().meta({ description: 'More names follow; a name may be on two pages.' }),
  })
  .meta({ id: 'ToolsetImpact' });

export const toolsetImpactRoutes = [
  defineRoute(
    {
      ...ofToolset,
      method: 'post',
      path: '/v1/toolsets/{toolset}/impact',
      storesNothing: true,
      operationId: 'getToolsetImpact',
      scopes: ['toolsets'],
      summary: 'Compare a draft of a toolset with past calls',
      description:
        'Resolves every name that was called in the last days in the stored toolset and in the draft, and returns the names that would lead elsewhere, with who called them, and aliases that keep them. Nothing is stored. For a key that sees only its own usage, only its own calls count.',
      query: pastCallsQuery,
      body: { schema: z.record(z.string(), z.unknown()), documented: ToolsetBody },
      answers: { 200: { description: 'What would change.', schema: ToolsetImpact } },
      problems: ['not_found', 'conflict'],
    },
    async ({ answer, services, principal, params: { toolset: name }, query: { days, cursor }, body }) => {
      const { toolset, compiled, issues } = await compileGiven(services, principal, name, body);
      const { aliases } = services.settings;
      const stored = await nullIfNotFound(readToolset(services.directory, principal, name));
      const before = stored === null ? null : planNames(stored.names, { aliases, allow: null });
      const { range, key } = pastCallsOf(principal, services, days);
      const compile = (tried: Toolset) => previewToolset(services.catalog(principal), principal, name, tried, [...tried.tools.keys()]);
      const asked = { workspace: principal.workspace, toolset: name, ...range, key, cursor };
      const impact = await toolsetImpact({ ...services, aliases }, principal, asked, before, { toolset, compiled, compile });
      const valid = issues.length === 0 && compiled.conflicts.length === 0;
      return answer(200, { toolset: name, ...range, valid, ...impact });
    },
  ),
];
