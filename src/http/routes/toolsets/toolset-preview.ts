/** `/v1/toolsets/{toolset}/preview`: a draft as a provider would receive it, with all of its faults. Nothing is stored. */
import * as z from 'zod';
import type { Issue } from '../../../core/problem.ts';
import { NameClaim } from '../../../core/toolset/name-claims.ts';
import { buildAliasMap } from '../../../core/toolset/alias-map.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import { defineRoute } from '../../route.ts';
import { ofToolset } from './toolset-names.ts';
import { compileGiven } from './toolset-draft.ts';
import { reportTools, tokenizer } from './toolset-report.ts';
import { accessOf, ProviderQuery, ToolsetTools } from './toolset-tools.ts';
import { ToolsetBody } from './toolsets.ts';

const { version: _version, ...report } = ToolsetTools.shape;
const ToolsetPreview = z
  .object({
    valid: z.boolean().meta({ description: 'Whether PUT would store the draft.' }),
    issues: z.array(z.object({ path: z.string(), message: z.string() })),
    conflicts: z.array(z.object({ name: z.string(), tools: z.array(z.string()), suggestion: z.string(), claims: z.array(NameClaim) })),
    ...report,
  })
  .meta({ id: 'ToolsetPreview' });

export const toolsetPreviewRoutes = [
  defineRoute(
    {
      ...ofToolset,
      method: 'post',
      path: '/v1/toolsets/{toolset}/preview',
      storesNothing: true,
      operationId: 'previewToolset',
      scopes: ['toolsets'],
      summary: 'Check a draft of a toolset',
      description:
        'Returns all faults of the draft at once, with their paths: `issues`, and the `conflicts` of names. `tools`, tokens and prompt are those of GET …/tools for the entries without faults. Nothing is stored, and the toolset need not exist.',
      query: z.strictObject(ProviderQuery),
      body: { schema: z.record(z.string(), z.unknown()), documented: ToolsetBody },
      answers: { 200: { description: 'The draft as far as it is valid, and its faults.', schema: ToolsetPreview } },
      problems: ['model_not_found', 'not_found', 'conflict'],
    },
    async ({ answer, services, principal, params: { toolset: name }, query, body }) => {
      const { provider, model = '', codeMode } = query;
      const access = provider === 'text' ? null : await accessOf(services, principal, provider);
      const { compiled, issues: faults, warnings: copied } = await compileGiven(services, principal, name, body);
      const { aliases } = services.settings;
      const recipient = { provider, access, model, codeMode: codeMode === 'true' };
      const shown =
        compiled.edition === null
          ? { tools: [], tokens: 0, promptTokens: 0, prompt: null, warnings: [] }
          : reportTools(planNames(buildAliasMap(compiled.edition, { aliases }), { aliases, allow: null }), recipient);
      const { conflicts, warnings } = compiled;
      const inDraft = ({ path, message }: Issue): Issue => ({ path: entryAt(path, compiled.places), message });
      return answer(200, {
        ...{ valid: faults.length === 0 && conflicts.length === 0, issues: faults, conflicts, toolset: name, provider },
        ...shown,
        tools: shown.tools.map((tool) => ({ ...tool, entry: tool.entry === null ? null : entryAt(tool.entry, compiled.places) })),
        tokenizer,
        warnings: distinct([...copied, ...warnings, ...shown.warnings.map(inDraft)]),
      });
    },
  ),
];

function entryAt(path: string, places: readonly number[]): string {
  return path.replace(/^tools\[(\d+)\]/, (whole, index) =>
    places[Number(index)] === undefined ? whole : `tools[${places[Number(index)]}]`,
  );
}

function distinct(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [`${issue.path} ${issue.message}`, issue])).values()];
}
