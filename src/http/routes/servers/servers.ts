/** `/v1/servers`: sources of tools that are not defined in code. `server-tools.ts` has their tools; `server-health.ts` their health. */
import { readAllPages } from '../../../engine/read-pages.ts';
import * as z from 'zod';
import { replaceHidden } from '../../../core/secrets/hidden-values.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Problem, type Warning } from '../../../core/problem.ts';
import { Server, ServerName, type CompleteServer } from '../../../core/servers/server.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { WriteOptions } from '../../../ports/catalog.ts';
import { etag, etagHeader, requireSameName } from '../../conditions.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { storedDocument } from '../../stored-document.ts';
import {
  ServerSummary,
  ServerView,
  toServerDocument,
  toServerReading,
  toServerSummary,
  toServerView,
  WrittenServer,
} from './server-views.ts';

export const serverParams = z.object({ server: ServerName.meta({ example: 'weather' }) });

const common = { tag: 'Servers', scopes: ['admin'], workspace: 'Servers' } as const;
type ServerAdmin = ReturnType<HttpServices['servers']>;

const server = storedDocument({
  ...common,
  path: '/v1/servers/{server}',
  params: serverParams,
  id: 'Server',
  one: 'server',
  at: ({ services, principal, params }) => ({ catalog: services.catalog(principal), kind: 'server', name: params.server }),
});

export const serverRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/servers',
      operationId: 'listServers',
      summary: 'List servers',
      query: PageQuery,
      answers: { 200: { description: 'A page of servers, without their tools.', schema: pageOf(ServerSummary) } },
    },
    async ({ answer, services, principal, query }) => {
      const { items, nextCursor } = await services.catalog(principal).list('server', query);
      services.servers(principal.workspace).refreshIfStale(items.flatMap(({ name, body }) => (body.kind === 'static' ? [] : [name])));
      return answer(200, { items: items.map(toServerSummary), nextCursor });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}',
      operationId: 'getServer',
      summary: 'Read a server with its tools',
      description:
        'Each tool as models see it, with its state. Values that may be credentials are hidden. The response can be sent back with PUT: an unchanged tool and a hidden value stay unchanged.',
      params: serverParams,
      answers: { 200: { description: 'The server.', schema: ServerView, headers: etagHeader } },
    },
    async ({ answer, services, principal, params }) => {
      const catalog = services.catalog(principal);
      const document = await catalog.get('server', params.server);
      if (document.body.kind !== 'static') services.servers(principal.workspace).refreshIfStale([params.server]);
      const tools = await readAllPages((page) => catalog.serverTools(params.server, page));
      const authorization = document.body.kind === 'mcp' ? await services.signIns.status(principal.workspace, params.server) : null;
      const view = { ...toServerView(document), ...(authorization !== null && { authorization }), tools };
      // Never 304: tools are held and accepted without a new version of the document.
      return answer(200, view, { etag: etag(document.version) });
    },
  ),

  server.put(
    {
      description:
        'For a new server, all tools are accepted except those that should be reviewed first. Later, changed and new tools are held until they are accepted. An invalid definition is skipped with a warning. An `mcp` or `openapi` server is listed when it is written, and stored even if that fails: `health` shows the result.',
      body: Server,
      maxBytes: limits.maxLargeBodyBytes,
      written: WrittenServer,
      dryRun: '`true`: validate and list it as a new server without storing it.',
    },
    ({ services, principal, body, options, place: { name } }) => writeServer(services, principal, name, body, options),
  ),

  server.patch(
    {
      description: 'The result is checked and listed as with PUT. A list such as `tools` is replaced as a whole.',
      body: Server,
      maxBytes: limits.maxLargeBodyBytes,
      written: WrittenServer,
    },
    ({ services, principal, place: { catalog, name } }) => ({
      settle: (merged) => replaceHidden('server', merged),
      read: async () => {
        const stored = await catalog.get('server', name);
        const isStatic = stored.body.kind === 'static';
        const tools = isStatic ? await readAllPages((page) => catalog.serverTools(name, page)) : undefined;
        const { document: given } = stored.body;
        const more = { ...(tools && { tools }), ...(given !== undefined && { document: given }) };
        return { version: stored.version, body: { ...toServerDocument(stored), ...more } };
      },
      write: (patched, options) => writeServer(services, principal, name, patched, options),
    }),
  ),

  server.remove({
    description:
      'Toolsets show its tools as missing. If a server with the same name is created later, its tools are compared with the accepted definitions.',
  }),
];

async function writeServer(services: HttpServices, principal: Principal, name: string, body: Server, options: WriteOptions) {
  requireSameName(name, body);
  const catalog = services.catalog(principal);
  const desk = services.servers(principal.workspace);
  const { document, created, changed, warnings } = await catalog.put('server', name, body, options);
  const plain = { ...toServerDocument(document), trusted: body.trusted === true };
  if (options.dryRun === true) {
    const complete = await catalog.completeServer(name, body, options);
    return { document, created, view: { ...plain, ...(await tried(desk, name, complete, warnings)) } };
  }
  const more = body.kind === 'static' ? [] : await readAfterWrite(desk, name, body, changed);
  const reading = toServerReading(await catalog.get('server', name));
  return { document, created, view: { ...plain, ...reading, warnings: [...warnings, ...more] } };
}

/** The server is stored: a failure to list it is a warning, not a failure of the write. */
async function readAfterWrite(desk: ServerAdmin, name: string, document: Server, isNew: boolean): Promise<Warning[]> {
  try {
    return (await desk.refresh(name, 'asked', { isNew }))?.warnings ?? [];
  } catch (error) {
    const why = error instanceof Problem ? error.detail : 'internal error; see the server log.';
    return [{ path: placeOf(document), message: `The server is stored, but its tools could not be listed: ${why}` }];
  }
}

/** Where its document says what lists the tools. */
function placeOf(document: Pick<CompleteServer, 'kind' | 'url'> & { command?: string }): string {
  if (document.kind === 'mcp' && document.command !== undefined) return 'command';
  return document.url === undefined ? 'document' : 'url';
}

async function tried(desk: ServerAdmin, name: string, document: CompleteServer, warnings: readonly Warning[]) {
  const { ok, health, connection, tools, held, warnings: more } = await desk.test(name, document);
  // For a static server the Catalog has returned everything and compared it with the stored definitions.
  if (document.kind === 'static') return { toolCount: tools, held, warnings };
  const failed = ok ? [] : [{ path: placeOf(document), message: `Its tools could not be listed: ${health.reason}` }];
  const checked = { ...health, checkedAt: null, listedAt: null, failures: ok ? 0 : 1 };
  return { toolCount: tools, held, health: checked, ...(connection && { connection }), warnings: [...warnings, ...failed, ...more] };
}
