/** `/v1/tools`: every tool the workspace knows, and the aliases that each brings into a toolset that says nothing about aliases. */
import { z } from 'zod';
import { orNull, Problem, quoted } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { ToolAnnotations, ToolKind } from '../../core/tool.ts';
import { ToolAliases } from '../../core/tool-aliases.ts';
import { readToolset } from '../../engine/plan-turn.ts';
import type { Services } from '../../wiring.ts';
import { requireUnbound } from '../access.ts';
import { conditionHeaders, documentAnswer, etag, etagHeader, writeConditions } from '../documents.ts';
import { PageQuery, pageOf } from '../paging.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';

const params = z.object({ canonical: z.string().min(3).max(192).meta({ description: 'Canonical name.', example: 'builtin.bash' }) });

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
    aliases: z.array(z.string()).meta({ description: 'Default aliases.' }),
  })
  .meta({ id: 'Tool' });
const common = { tag: 'Tools' } as const;

export function mountTools(app: App): void {
  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/tools',
      operationId: 'listTools',
      scopes: ['tools', 'toolsets'],
      summary: 'List all known tools',
      query: PageQuery,
      answers: { 200: { description: 'A page of tools, by canonical name.', schema: pageOf(ToolView) } },
    },
    async ({ c, services, principal, query }) => {
      const { items, nextCursor } = await services.catalog(principal.workspace).tools(query);
      const reach = await toolsInReach(services, principal);
      return c.json({ items: reach === null ? items : items.filter(({ canonical }) => reach.has(canonical)), nextCursor });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/tools/{canonical}',
      operationId: 'getTool',
      scopes: ['tools', 'toolsets'],
      summary: 'Read a tool',
      params,
      answers: { 200: { description: 'The tool as its source describes it.', schema: ToolView } },
    },
    async ({ c, services, principal, params }) => {
      await requireTool(services, principal, params.canonical);
      return c.json(await services.catalog(principal.workspace).tool(params.canonical));
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/tools/{canonical}/aliases',
      operationId: 'getToolAliases',
      scopes: ['tools', 'toolsets'],
      summary: 'Read the default aliases of a tool',
      params,
      answers: {
        200: {
          description: 'Those set here, else those the tool came with (then without ETag).',
          schema: ToolAliases,
          headers: etagHeader,
        },
      },
    },
    async ({ c, services, principal, params }) => {
      await requireTool(services, principal, params.canonical);
      const catalog = services.catalog(principal.workspace);
      const { aliases } = await catalog.tool(params.canonical);
      const document = await orNull(catalog.get('tool-aliases', params.canonical));
      // None were set here: the tool's own stand.
      return document === null ? c.json({ aliases }) : documentAnswer(c, document, { aliases });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'put',
      path: '/v1/tools/{canonical}/aliases',
      operationId: 'putToolAliases',
      scopes: ['toolsets'],
      summary: 'Set the default aliases of a tool',
      description: 'Toolset entries without `aliases` inherit them when the toolset is next written.',
      params,
      headers: conditionHeaders,
      body: { schema: ToolAliases },
      answers: {
        200: { description: 'Set.', schema: ToolAliases, headers: etagHeader },
        201: { description: 'Set for the first time.', schema: ToolAliases, headers: { ...etagHeader, location: 'Of the aliases.' } },
      },
      problems: ['precondition_failed', 'name_conflict'],
    },
    async ({ c, services, principal, params, body }) => {
      requireUnbound(principal, 'Default aliases');
      const catalog = services.catalog(principal.workspace);
      await catalog.tool(params.canonical);
      const { document, created } = await catalog.put('tool-aliases', params.canonical, body, writeConditions(c));
      return c.json({ aliases: document.body.aliases }, created ? 201 : 200, {
        etag: etag(document.version),
        ...(created && { location: `/v1/tools/${encodeURIComponent(params.canonical)}/aliases` }),
      });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'delete',
      path: '/v1/tools/{canonical}/aliases',
      operationId: 'deleteToolAliases',
      scopes: ['toolsets'],
      summary: 'Go back to the aliases the tool came with',
      params,
      headers: conditionHeaders,
      answers: { 204: { description: 'Done.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params }) => {
      requireUnbound(principal, 'Default aliases');
      await services.catalog(principal.workspace).remove('tool-aliases', params.canonical, writeConditions(c));
      return c.body(null, 204);
    },
  );
}

/** Canonical names that a key bound to toolsets may see; null: all. A toolset that is gone adds nothing. */
async function toolsInReach(services: Services, principal: Principal): Promise<ReadonlySet<string> | null> {
  if (principal.toolsets === undefined) return null;
  const editions = await Promise.allSettled(principal.toolsets.map((name) => readToolset(services.directory, principal, name)));
  const reach = new Set<string>();
  for (const edition of editions) {
    if (edition.status === 'fulfilled') for (const tool of edition.value.names.tools) reach.add(tool.canonical);
    else if (!(edition.reason instanceof Problem && edition.reason.code === 'not_found')) throw edition.reason;
  }
  return reach;
}

async function requireTool(services: Services, principal: Principal, canonical: string): Promise<void> {
  const reach = await toolsInReach(services, principal);
  if (reach !== null && !reach.has(canonical))
    throw new Problem('forbidden', `The toolsets of this key have no tool ${quoted(canonical)}.`);
}
