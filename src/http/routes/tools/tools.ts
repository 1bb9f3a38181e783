/** `/v1/tools`: all tools of the workspace with their state. `tool-aliases.ts` has their default aliases, `written-tools.ts` writes some. */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import { Hold } from '../../../core/tools/hold.ts';
import { invalidRequest, nullIfNotFound, Problem, quoted } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { MadeTool } from '../../../core/tools/made-tool.ts';
import { ToolAnnotations, ToolKind, type ToolDefinition, toolPin } from '../../../core/tools/tool.ts';
import { createToolFilter, toolFilterFields } from '../../../core/toolset/tool-filter.ts';
import { ToolsetAlias } from '../../../core/names/toolset-alias.ts';
import { UiTool } from '../../../core/tools/ui-tool.ts';
import { privateToolName } from '../../../core/made/made-toolset.ts';
import type { CatalogPort, StoredDocument } from '../../../ports/catalog.ts';
import { etag, etagHeader, storedBody } from '../../conditions.ts';
import { pageFor, PageQuery, pageOf } from '../../paging.ts';
import { readDefinitions, toolsOfKey } from '../../../engine/configuration/tools-of-key.ts';
import { type Sent, defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { storedDocument, versionFields } from '../../stored-document.ts';
import { findPrivateTool, ownerQuery, readOwner } from './written-tools.ts';

export const toolParams = z.object({
  canonical: z.string().min(3).max(limits.maxCanonicalNameLength).meta({ description: 'Canonical name.', example: 'builtin.bash' }),
});

const MadeToolView = MadeTool.omit({ name: true, description: true, aliases: true })
  .extend({ version: z.int(), uses: z.array(z.string()), createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
  .meta({ id: 'MadeToolView' });
const ToolView = z
  .object({
    canonical: z.string(),
    server: z.string(),
    name: z.string(),
    kind: ToolKind,
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    annotations: ToolAnnotations.optional(),
    annotationsAccepted: z.boolean().optional().meta({
      description:
        'For a tool of an MCP server: whether an administrator accepted its annotations. They also apply if the server is `trusted`.',
    }),
    aliases: z.array(ToolsetAlias).meta({ description: 'Default aliases.' }),
    refId: z.string().meta({ description: 'SHA-256 of the accepted definition. A toolset entry may name the tool by it.' }),
    state: z.enum(['ready', 'held', 'missing']).meta({
      description: '`held`: cannot be called until its definition is accepted. `missing`: its server no longer lists it.',
    }),
    held: Hold.optional(),
    renamedTo: z.string().optional().meta({ description: 'For a missing tool: the tool that its server probably lists instead.' }),
    visibility: z.enum(['shared', 'private']).optional().meta({
      description: 'For a made tool. `private`: only the key that created it can see and call it.',
    }),
    ui: UiTool.optional().meta({ description: 'For a UI tool: what the user is shown.' }),
    made: MadeToolView.optional().meta({ description: 'For a single made tool: its document.' }),
  })
  .meta({
    id: 'Tool',
    example: {
      canonical: 'builtin.bash',
      server: 'builtin',
      name: 'bash',
      kind: 'builtin',
      description: 'Runs a shell script.',
      inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
      aliases: ['shell'],
      refId: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      state: 'ready',
    },
  });
const ListedTool = ToolView.partial({ inputSchema: true }).meta({
  id: 'ListedTool',
  description: 'With `fields=summary`: without `inputSchema`, `outputSchema`, `held` and `ui`.',
});
const common = { tag: 'Tools' } as const;
const versionsOfTools = 'Versions of made tools';

export const toolRoutes = [
  storedDocument({
    ...common,
    path: '/v1/tools/{canonical}',
    params: toolParams,
    id: 'Tool',
    one: 'tool',
    scopes: ['tools', 'toolsets'],
    at: ({ services, principal, params }) => ({ catalog: services.catalog(principal), kind: 'made-tool', name: params.canonical }),
  }).versions({ whose: 'a shared made tool', workspace: versionsOfTools }),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/tools',
      operationId: 'listTools',
      scopes: ['tools', 'toolsets'],
      summary: 'List all known tools',
      description: 'Made tools that are private to other keys are not included.',
      query: PageQuery.extend({
        ...ownerQuery,
        ...toolFilterFields,
        fields: z.enum(['all', 'summary']).default('all').meta({ description: '`summary`: without schemas.' }),
      }),
      answers: { 200: { description: 'A page of tools, by canonical name.', schema: pageOf(ListedTool) } },
    },
    async ({ answer, services, principal, query: { owner, fields, q, kind, server, ...query } }) => {
      const catalog = services.catalog(principal);
      const filter = { ...(q !== undefined && { q }), ...(kind !== undefined && { kind }), ...(server !== undefined && { server }) };
      const isListed = createToolFilter(filter);
      const shown = (tools: readonly ToolDefinition[]) => Promise.all(tools.map(fields === 'summary' ? toSummary : toView));
      if (owner !== undefined) {
        const own = await catalog.privateTools(readOwner(principal, owner));
        return answer(200, { items: await shown(own.filter(isListed)), nextCursor: null });
      }
      const { items, nextCursor } = await pageFor(principal, {
        list: 'tools',
        query,
        all: (page) => catalog.tools(page, principal.keyId, filter),
        own: async () => (await reachableTools(services, principal)).filter(isListed),
        nameOf: ({ canonical }) => canonical,
      });
      return answer(200, { items: await shown(items), nextCursor });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/tools/{canonical}',
      operationId: 'getTool',
      scopes: ['tools', 'toolsets'],
      summary: 'Read a tool',
      description: 'For a made tool: the shared one, otherwise the private one of the key.',
      params: toolParams,
      query: z.strictObject({ ...ownerQuery, ...versionFields }),
      answers: {
        200: {
          description: 'The tool as its source describes it. A made tool or a UI tool has an ETag, for conditional writes.',
          schema: ToolView,
          headers: etagHeader,
        },
      },
    },
    async ({ answer, services, principal, params, query }) => {
      if (query.version !== undefined) {
        if (query.owner !== undefined)
          throw invalidRequest([{ path: 'version', message: 'private made tools have no versions: omit it or `owner`' }]);
        const { view, version } = await readEarlierTool(services, principal, params.canonical, query.version);
        return answer(200, view, { etag: etag(version) });
      }
      const tool = await readTool(services, principal, params.canonical, query.owner);
      const view = await toView(tool);
      const document = await documentOf(services.catalog(principal), tool);
      if (document === null) return answer(200, view);
      const isShown = tool.kind === 'made' && view.state === 'ready';
      return answer(200, isShown ? { ...view, made: toMadeView(document) } : view, { etag: etag(document.version) });
    },
  ),
];

/** For a bound key: the tools of its toolsets or agents, and its private ones, by canonical name. */
async function reachableTools({ catalog: catalogOf, directory }: HttpServices, principal: Principal): Promise<ToolDefinition[]> {
  const catalog = catalogOf(principal);
  const shared = await readDefinitions(catalog, await toolsOfKey(catalog, directory, principal));
  const own = await catalog.privateTools(principal.keyId);
  return [...shared, ...own].sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
}

async function readTool(
  services: HttpServices,
  principal: Principal,
  canonical: string,
  owner: string | undefined,
): Promise<ToolDefinition> {
  const catalog = services.catalog(principal);
  const own = await findPrivateTool(catalog, owner === undefined ? principal.keyId : readOwner(principal, owner), canonical);
  if (owner !== undefined) {
    if (own !== null) return own;
    throw new Problem('unknown_tool', `The key has no private tool ${quoted(canonical)}.`, { requested: canonical, suggestions: [] });
  }
  if (own !== null && (await nullIfNotFound(catalog.get('made-tool', canonical))) === null) return own;
  await requireReadableTool(services, principal, canonical);
  return await catalog.tool(canonical);
}

/** Returns a shared made tool as it was at a version. */
async function readEarlierTool({ catalog: catalogOf }: HttpServices, principal: Principal, canonical: string, version: number) {
  requireAllowed(principal, { act: 'use-workspace', what: versionsOfTools });
  const catalog = catalogOf(principal);
  const [tool, document] = await Promise.all([catalog.tool(canonical, version), catalog.get('made-tool', canonical, version)]);
  return { view: { ...(await toView(tool)), made: toMadeView(document) }, version: document.version };
}

/** Returns the document of a made tool or a UI tool; null for any other tool, or if it was deleted. */
async function documentOf(catalog: CatalogPort, { kind, canonical, made }: ToolDefinition): Promise<StoredDocument | null> {
  if (made?.private === true) return await nullIfNotFound(catalog.get('private-tool', privateToolName(made.by ?? '', canonical)));
  if (kind === 'made') return await nullIfNotFound(catalog.get('made-tool', canonical));
  return kind === 'ui' ? await nullIfNotFound(catalog.get('ui-tool', canonical)) : null;
}

/** Description and default aliases are fields of the tool, not of this view. */
function toMadeView(document: StoredDocument): z.infer<typeof MadeToolView> {
  const { description: _description, aliases: _aliases, ...made } = storedBody<z.infer<typeof MadeToolView> & MadeTool>(document);
  return { ...made, version: document.version, createdAt: document.createdAt, updatedAt: document.updatedAt };
}

/** Fields of the source are copied one by one, so that no other data of a server is exposed. */
async function toView(tool: ToolDefinition): Promise<Sent<z.infer<typeof ToolView>>> {
  const { source, ui, made, presentation: _presentation, ...definition } = tool;
  return {
    ...definition,
    ...(tool.kind === 'mcp' && { annotationsAccepted: source?.annotationsAccepted === true }),
    refId: await toolPin(tool),
    state: source?.state ?? 'ready',
    ...(source?.held !== undefined && { held: source.held }),
    ...(source?.renamedTo !== undefined && { renamedTo: source.renamedTo }),
    ...(tool.kind === 'made' && { visibility: made?.private === true ? 'private' : 'shared' }),
    ...(ui !== undefined && { ui }),
  };
}

async function toSummary(tool: ToolDefinition): Promise<Sent<z.infer<typeof ListedTool>>> {
  const { inputSchema: _input, outputSchema: _output, held: _held, ui: _ui, ...summary } = await toView(tool);
  return summary;
}

/** Throws `forbidden` for a bound key without the tool. */
export async function requireReadableTool(services: HttpServices, principal: Principal, tool: string): Promise<void> {
  const has = await toolsOfKey(services.catalog(principal), services.directory, principal);
  requireAllowed(principal, { act: 'read-tool', tool, has });
}
