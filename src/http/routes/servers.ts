/** `/v1/servers`: where tools come from that are not of this code base. Their tools, and what is held of them, are `server-tools.ts`. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { ListingReport, Server, ServerKindName, StaticServer, ServerName, ServerTool } from '../../core/server.ts';
import type { Catalog, StoredDocument } from '../../ports/catalog.ts';
import { requireUnbound } from '../access.ts';
import { conditionHeaders, etag, etagHeader, requireSameName, writeConditions } from '../documents.ts';
import { PageQuery, pageOf } from '../paging.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';
import { Warning } from '../../core/warning.ts';

export const serverParams = z.object({ server: ServerName.meta({ example: 'weather' }) });

const described = {
  kind: ServerKindName,
  url: z.string().optional(),
  headers: StaticServer.shape.headers,
  trusted: StaticServer.shape.trusted,
  instructions: StaticServer.shape.instructions,
};
const counts = {
  toolCount: z.int().meta({ description: 'Definitions that it lists; those that were refused are not among them.' }),
  held: z.int().meta({ description: 'How many of them nobody may call until somebody accepts them.' }),
};
const ServerSummary = z
  .object({ name: ServerName, kind: described.kind, url: described.url, ...counts, updatedAt: z.iso.datetime() })
  .meta({ id: 'ServerSummary' });
const ServerView = z.object({ ...described, name: ServerName, tools: z.array(ServerTool) }).meta({ id: 'ServerView' });
const WrittenServer = z
  .object({
    ...described,
    name: ServerName,
    trusted: z.boolean(),
    ...counts,
    warnings: z
      .array(Warning)
      .meta({ description: 'Definitions that were left out, held or changed for models, and toolsets that this touches.' }),
  })
  .meta({
    id: 'WrittenServer',
    example: {
      name: 'weather',
      kind: 'static',
      url: 'https://tools.example.com/call',
      trusted: false,
      toolCount: 1,
      held: 0,
      warnings: [],
    },
  });

const common = { tag: 'Servers', scopes: ['admin'] } as const;

export function mountServers(app: App): void {
  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/servers',
      operationId: 'listServers',
      summary: 'List servers',
      query: PageQuery,
      answers: { 200: { description: 'A page of servers, without their tools.', schema: pageOf(ServerSummary) } },
    },
    async ({ c, services, principal, query }) => {
      requireUnbound(principal, 'Servers');
      const { items, nextCursor } = await services.catalog(principal.workspace).list('server', query);
      return c.json({ items: items.map(toSummary), nextCursor });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}',
      operationId: 'getServer',
      summary: 'Read a server with its tools',
      description:
        'Each tool as models are given it, with how it stands. The answer may be sent back with PUT: a tool that comes back as it was shown stays as it is.',
      params: serverParams,
      answers: { 200: { description: 'The server.', schema: ServerView, headers: etagHeader } },
    },
    async ({ c, services, principal, params }) => {
      requireUnbound(principal, 'Servers');
      const catalog = services.catalog(principal.workspace);
      const document = await catalog.get('server', params.server);
      const tools = await allTools(catalog, params.server);
      // Never 304: tools are held and accepted without a new version of the document.
      return c.json({ ...toDocument(document), tools }, 200, { etag: etag(document.version), 'cache-control': 'private, no-cache' });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'put',
      path: '/v1/servers/{server}',
      operationId: 'putServer',
      summary: 'Write a server with its tools',
      description:
        'The first time all its tools are in force, but for those that a person should look at first. Later a tool that changed or is new is held until it is accepted. A definition that cannot be offered is left out, with a warning, and the others stay.',
      params: serverParams,
      headers: conditionHeaders,
      body: { schema: Server, maxBytes: limits.maxLargeBodyBytes },
      answers: {
        200: { description: 'Replaced, or already so.', schema: WrittenServer, headers: etagHeader },
        201: { description: 'Made.', schema: WrittenServer, headers: { ...etagHeader, location: 'Of the server.' } },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, body }) => {
      requireUnbound(principal, 'Servers');
      requireSameName(params.server, body);
      const catalog = services.catalog(principal.workspace);
      const { document, created, warnings } = await catalog.put('server', params.server, body, writeConditions(c));
      const { toolCount, held } = (await catalog.get('server', params.server)).body;
      const answer = { trusted: false, ...toDocument(document), toolCount, held, warnings };
      const tag = { etag: etag(document.version) };
      if (!created) return c.json(answer, 200, tag);
      return c.json(answer, 201, { ...tag, location: `/v1/servers/${encodeURIComponent(params.server)}` });
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'delete',
      path: '/v1/servers/{server}',
      operationId: 'deleteServer',
      summary: 'Delete a server',
      description:
        'Toolsets that name its tools keep them as missing; a server made anew under the name is held against what was accepted.',
      params: serverParams,
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params }) => {
      requireUnbound(principal, 'Servers');
      await services.catalog(principal.workspace).remove('server', params.server, writeConditions(c));
      return c.body(null, 204);
    },
  );

  mount(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/refresh',
      operationId: 'refreshServer',
      summary: 'Read the definitions of a server again',
      params: serverParams,
      answers: { 200: { description: 'What the listing brought.', schema: ListingReport } },
    },
    async ({ c, services, principal, params }) => {
      requireUnbound(principal, 'Servers');
      return c.json(await services.catalog(principal.workspace).refreshServer(params.server));
    },
  );
}

/** A server has at most `limits.maxServerTools`, and those that are missing. */
async function allTools(catalog: Catalog, server: string): Promise<ServerTool[]> {
  const tools: ServerTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < limits.maxListedPages; page += 1) {
    const { items, nextCursor } = await catalog.serverTools(server, {
      limit: limits.maxPageItems,
      ...(cursor !== undefined && { cursor }),
    });
    tools.push(...items);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return tools;
}

/** As it was sent: what the Catalog adds for itself, and the counts, are no part of it. */
function toDocument({ name, body }: StoredDocument): Record<string, unknown> {
  const { kind, url, headers, trusted, instructions } = body as Partial<Server>; // Parsed by the schema when it was written.
  return {
    name,
    kind,
    url,
    ...(headers !== undefined && { headers }),
    ...(trusted !== undefined && { trusted }),
    ...(instructions !== undefined && { instructions }),
  };
}

function toSummary({ name, body: { kind, url, toolCount, held }, updatedAt }: StoredDocument) {
  return { name, kind, url, toolCount, held, updatedAt };
}
