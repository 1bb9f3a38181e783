/** `/v1/toolsets/{toolset}/preview`: a draft as a provider would receive it, with all of its faults. Nothing is stored. */
import { z } from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import { type Issue, parsePart } from '../../../core/problem.ts';
import { buildAliasMap } from '../../../core/toolset/alias-map.ts';
import { ToolsetName } from '../../../core/toolset/toolset.ts';
import { previewToolset } from '../../../engine/configuration/write-toolset.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import { requireSameName } from '../../conditions.ts';
import { defineRoute } from './toolset-services.ts';
import { reportTools } from './toolset-report.ts';
import { accessOf, ProviderQuery, tokenizer, ToolsetTools } from './toolset-tools.ts';
import { ToolsetBody, toToolset } from './toolsets.ts';

const place = z.string().nullable();
const Claim = z.object({
  tool: z.string(),
  name: z.string().meta({ description: 'In the spelling of this claim.' }),
  entry: place.meta({ description: '`tools[i]`; null: a tool that Moniker adds.' }),
  path: place.meta({ description: 'Where the name is written, or the entry.' }),
  as: z.enum(['name', 'alias', 'default-alias', 'own-name', 'reserved']),
  suggestion: z.string().nullable().meta({ description: 'A free name for it; null: it cannot be given up.' }),
});

const { version: _version, ...report } = ToolsetTools.shape;
const ToolsetPreview = z
  .object({
    valid: z.boolean().meta({ description: 'Whether PUT would store the draft.' }),
    issues: z.array(z.object({ path: z.string(), message: z.string() })),
    conflicts: z.array(z.object({ name: z.string(), tools: z.array(z.string()), suggestion: z.string(), claims: z.array(Claim) })),
    ...report,
  })
  .meta({ id: 'ToolsetPreview' });

export const toolsetPreviewRoutes = [
  defineRoute(
    {
      tag: 'Toolsets',
      method: 'post',
      path: '/v1/toolsets/{toolset}/preview',
      operationId: 'previewToolset',
      scopes: ['toolsets'],
      summary: 'Check a draft of a toolset',
      description:
        'Returns all faults of the draft at once, with their paths: `issues`, and the `conflicts` of names. `tools`, tokens and prompt are those of GET …/tools for the entries without faults. Nothing is stored, and the toolset need not exist.',
      params: z.object({ toolset: ToolsetName.meta({ example: 'demo' }) }),
      query: z.strictObject(ProviderQuery),
      body: { schema: z.record(z.string(), z.unknown()), documented: ToolsetBody },
      answers: { 200: { description: 'The draft as far as it is valid, and its faults.', schema: ToolsetPreview } },
      problems: ['model_not_found', 'not_found', 'conflict'],
    },
    async ({ answer, services, principal, params: { toolset: name }, query, body }) => {
      requireAllowed(principal, { act: 'write-toolset', toolset: name });
      const { draft, places, issues } = readDraft(body);
      requireSameName(name, { name: typeof body.name === 'string' ? body.name : undefined });
      const { provider, model = '', codeMode } = query;
      const access = provider === 'text' ? null : await accessOf(services, principal, provider);
      const empty = { toolset: { announce: 'prompt' as const, tools: [] }, warnings: [] };
      const { toolset, warnings: copied } = draft === null ? empty : await toToolset(services, principal, name, draft);
      const compiled = await previewToolset(services.catalog(principal), principal, name, toolset, places ?? [...toolset.tools.keys()]);
      const faults = [...issues, ...compiled.issues];
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

type Draft = z.infer<typeof ToolsetBody>;

/** Returns what matches the schema: without the entries and members that do not. `draft` null: nothing. `places` null: all entries. */
function readDraft(body: Readonly<Record<string, unknown>>): { draft: Draft | null; places: number[] | null; issues: Issue[] } {
  const whole = parsePart(ToolsetBody, body);
  if ('data' in whole) return { draft: whole.data, places: null, issues: [] };
  const { issues } = whole;
  const entries: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const wrong = new Set(issues.map(({ path }) => /^[^.[]*(\[\d+\])?/.exec(path)?.[0] ?? ''));
  const places = [...entries.keys()].filter((index) => !wrong.has(`tools[${index}]`));
  if (places.length === 0 || wrong.has('')) return { draft: null, places: [], issues };
  const members = Object.entries(body).filter(([member]) => !wrong.has(member) && Object.hasOwn(ToolsetBody.shape, member));
  const rest = parsePart(ToolsetBody, { ...Object.fromEntries(members), tools: places.map((index) => entries[index]) });
  return { draft: 'data' in rest ? rest.data : null, places: 'data' in rest ? places : [], issues };
}

function entryAt(path: string, places: readonly number[]): string {
  return path.replace(/^tools\[(\d+)\]/, (whole, index) =>
    places[Number(index)] === undefined ? whole : `tools[${places[Number(index)]}]`,
  );
}

function distinct(issues: readonly Issue[]): Issue[] {
  return [...new Map(issues.map((issue) => [`${issue.path} ${issue.message}`, issue])).values()];
}
