/**
 * Writes tools that belong to a workspace, under `/v1/tools` (contract §7): `ui.<name>`, which users may be shown and models are never
 * offered, and `made.<name>`, code over other tools. `tools.ts` reads them like any tool; other tools are written with their source.
 */
import * as z from 'zod';
import { isAllowed, requireAllowed } from '../../../core/people/authority.ts';
import { withoutFence } from '../../../core/made/code-uses.ts';
import { MadeTool, MadeToolName } from '../../../core/tools/made-tool.ts';
import { privateToolName } from '../../../core/made/made-toolset.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { nullIfNotFound, Problem, quoted, Warning, parseInput } from '../../../core/problem.ts';
import { UiTool, UiToolName } from '../../../core/tools/ui-tool.ts';
import { requireMayHoldSecrets, requireCompiles, writeMadeTool } from '../../../engine/configuration/write-made-tool.ts';
import type { WriteOptions, CatalogPort, StoredDocument } from '../../../ports/catalog.ts';
import { answerWrite, conditionHeaders, writeConditions } from '../../conditions.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { answerRemoval, dryRunFlag, optionalWarnings, removalAnswers, shownIfAny, writeAnswers } from '../../stored-document.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';

const path = '/v1/tools/{canonical}';
const WrittenUiTool = UiTool.extend({
  canonical: z.string(),
  warnings: optionalWarnings('Toolsets that could not be updated. Absent: none.'),
}).meta({
  id: 'WrittenUiTool',
  example: { canonical: 'ui.camera', label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] },
});
const WrittenMadeTool = z
  .object({
    tool: z.string(),
    version: z.int(),
    uses: z.array(z.string()).meta({ description: 'Canonical names of the only tools that it may call.' }),
    warnings: z.array(Warning),
  })
  .meta({
    id: 'WrittenMadeTool',
    example: { tool: 'made.find_and_replace', version: 1, uses: ['builtin.read_file', 'builtin.write_file'], warnings: [] },
  });
const Written = z.union([WrittenMadeTool, WrittenUiTool]);

const WrittenName = z
  .string()
  .refine((name) => name.startsWith('ui.') || name.startsWith('made.'), {
    message:
      'only ui.<name> and made.<name> can be written here; tools of a server are written with PUT /v1/servers/{server}, and built-in tools cannot be written',
    abort: true,
  })
  .superRefine((name, context) => {
    const fault = nameOf(name).safeParse(name).error?.issues[0]?.message;
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ description: 'Canonical name.', example: 'made.find_and_replace' });

/** `?owner=` on `/v1/tools`: made tools that are private to one key or trigger. */
export const ownerQuery = {
  owner: z.string().min(1).max(100).optional().meta({
    description:
      'Only made tools that are private to this key: its id, or `me`. Those of another key or a trigger (`webhook:NAME`, `schedule:NAME`) require an administrator key of the whole workspace.',
    example: 'me',
  }),
};

export const writtenToolRoutes = [
  defineRoute(
    {
      method: 'put',
      path,
      operationId: 'putTool',
      tag: 'Tools',
      scopes: ['toolsets'],
      summary: 'Create or replace a made tool or a UI tool',
      description:
        '`made.<name>`: JavaScript over other tools, which runs in a sandbox and can call only those that it names or declares. `ui.<name>`: proposed at the end of a turn, and never offered to a model. Toolsets that list it are recompiled. A key bound to toolsets can create tools only from the tools that they have. A made tool that is written here is shared: every key may call it. Private ones are created with `create_tool`.',
      params: z.object({ canonical: WrittenName }),
      query: z.strictObject({ dryRun: dryRunFlag }),
      headers: conditionHeaders,
      body: { schema: z.record(z.string(), z.unknown()), documented: z.union([MadeTool, UiTool]) },
      answers: writeAnswers('tool', Written, { replaced: 'Replaced, unchanged, or validated.' }),
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params: { canonical }, query, body, answer }) => {
      const isDry = query.dryRun === 'true';
      const options = { ...writeConditions(c), ...(isDry && { dryRun: true }) };
      const write = isMade(canonical) ? putMadeTool : putUiTool;
      const { view, ...written } = await write({ services, principal, canonical, body, options });
      return isDry ? answer(200, view) : answerWrite(answer, written, `/v1/tools/${encodeURIComponent(canonical)}`, view);
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path,
      operationId: 'deleteTool',
      tag: 'Tools',
      scopes: ['chat', 'tools', 'toolsets'],
      summary: 'Delete a made tool or a UI tool',
      description:
        'Toolsets that list it show it as missing; made tools that use it get an error when they call it. Any key can delete its own private made tools; deleting a shared tool requires the scope `toolsets`.',
      params: z.object({ canonical: z.string().meta({ example: 'ui.camera' }) }),
      query: z.strictObject(ownerQuery),
      headers: conditionHeaders,
      answers: removalAnswers(),
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params: { canonical }, query: { owner }, answer }) => {
      const catalog = services.catalog(principal);
      const own = owner === undefined ? principal.keyId : readOwner(principal, owner);
      const kind = isMade(canonical) ? 'made-tool' : 'ui-tool';
      const isShared = owner === undefined && (await nullIfNotFound(catalog.get(kind, canonical))) !== null;
      if (!isShared && (await findPrivateTool(catalog, own, canonical)) !== null) {
        await catalog.remove('private-tool', privateToolName(own, canonical), writeConditions(c));
        return answer(204, null);
      }
      if (owner !== undefined) throw new Problem('not_found', `The key has no private tool ${quoted(canonical)}.`);
      if (!isAllowed(principal, { act: 'use-scope', scopes: ['toolsets'] }))
        throw new Problem(
          'not_found',
          `The key has no private tool ${quoted(canonical)}; deleting shared tools requires the scope "toolsets".`,
        );
      requireAllowed(principal, { act: 'use-workspace', what: isMade(canonical) ? 'Made tools' : 'UI tools' });
      const fault = WrittenName.safeParse(canonical).error?.issues[0]?.message;
      if (fault !== undefined) throw new Problem('not_found', `No made tool or UI tool ${quoted(canonical)} exists: ${fault}.`);
      const { warnings } = await catalog.remove(kind, canonical, writeConditions(c));
      return answerRemoval(answer, principal, warnings);
    },
  ),
];

function isMade(canonical: string): boolean {
  return canonical.startsWith('made.');
}

function nameOf(canonical: string): typeof MadeToolName {
  return isMade(canonical) ? MadeToolName : UiToolName;
}

type Write = { services: HttpServices; principal: Principal; canonical: string; body: Record<string, unknown>; options: WriteOptions };
type Done = { view: z.infer<typeof Written>; document: StoredDocument; created: boolean };

async function putUiTool({ services, principal, canonical, body, options }: Write): Promise<Done> {
  requireAllowed(principal, { act: 'use-workspace', what: 'UI tools' });
  const tool = parseInput(UiTool, body);
  const { document, created, warnings } = await services.catalog(principal).put('ui-tool', canonical, tool, options);
  return { view: { canonical, ...tool, ...shownIfAny(warnings) }, document, created };
}

async function putMadeTool({ services, principal, canonical, body, options }: Write): Promise<Done> {
  requireAllowed(principal, { act: 'make-tool' });
  const parsed = parseInput(MadeTool, body);
  const tool = { ...parsed, implementation: withoutFence(parsed.implementation) };
  const catalog = services.catalog(principal);
  await requireMayHoldSecrets(catalog, principal, canonical);
  await requireCompiles(services.sandbox, tool.implementation);
  const { document, created, warnings } = await writeMadeTool(catalog, principal, {
    canonical,
    tool,
    options,
  });
  // The Catalog stores with a made tool which tools it uses.
  const uses = document.body.uses as string[];
  return { view: { tool: canonical, version: document.version, uses, warnings }, document, created };
}

/** Returns the key id. Throws `forbidden` before any lookup, so that the response reveals nothing about other keys. */
export function readOwner(principal: Principal, owner: string): string {
  const isOwn = owner === 'me' || owner === principal.keyId;
  requireAllowed(principal, { act: 'use-private-tools', isOwn });
  return isOwn ? principal.keyId : owner;
}

/** Returns null if the key has no private tool with this name. */
export async function findPrivateTool(catalog: CatalogPort, owner: string, canonical: string): Promise<ToolDefinition | null> {
  if (!canonical.startsWith('made.')) return null;
  return (await catalog.privateTools(owner)).find((tool) => tool.canonical === canonical) ?? null;
}
