/** `/v1/servers/{server}/tools`: a server's tools one by one, and a person's word on those that are held or went by another name. */
import { z } from 'zod';
import { AcceptedTool, ServerTool } from '../../core/servers/server.ts';
import { PageQuery, pageOf } from '../paging.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { serverParams } from './servers.ts';

const params = serverParams.extend({
  // What a server lists may have any name; what is none is shown as refused.
  tool: z.string().min(1).max(512).meta({ description: 'Its own name, without the server’s.', example: 'get_weather' }),
});

const refId = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { message: 'must be 64 hex digits: held.refId, as GET shows it' })
  .meta({
    description:
      '`refId` of the definition that was reviewed (`held.refId` of a held one). If the server lists another one by now, nothing is accepted (409).',
  });
const AcceptRequest = z
  .strictObject({
    refId: refId.optional(),
    annotations: z.boolean().optional().meta({
      description:
        '`true`: its annotations (`readOnlyHint`, `idempotentHint`) count, although its server is not `trusted`, until the definition changes. `false`: they no longer do. Absent: only a held definition is accepted, without its annotations.',
    }),
  })
  .meta({ id: 'AcceptRequest', example: { annotations: true } });
const RebindRequest = z
  .strictObject({ to: z.string().min(1).max(512).meta({ description: 'Own or canonical name of the tool that takes its place.' }) })
  .meta({ id: 'RebindRequest', example: { to: 'get_forecast' } });
const Rebound = z
  .object({ toolsets: z.array(z.string()).meta({ description: 'Those that have a new version now.' }) })
  .meta({ id: 'Rebound', example: { toolsets: ['demo'] } });

const common = { tag: 'Servers', scopes: ['admin'], workspace: 'Servers' } as const;

export function mountServerTools(app: App): void {
  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}/tools',
      operationId: 'listServerTools',
      summary: 'List the tools of a server',
      params: serverParams,
      query: PageQuery,
      answers: { 200: { description: 'A page of tools, by name, those included that it lists no more.', schema: pageOf(ServerTool) } },
    },
    async ({ c, services, principal, params, query }) => {
      return c.json(await services.catalog(principal).serverTools(params.server, query));
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}/tools/{tool}',
      operationId: 'getServerTool',
      summary: 'Read a tool of a server',
      description: 'With what changed, where it is held, and what was found in its definition.',
      params,
      answers: { 200: { description: 'The tool.', schema: ServerTool } },
    },
    async ({ c, services, principal, params }) => {
      return c.json(await services.catalog(principal).serverTool(params.server, params.tool));
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/tools/{tool}/accept',
      operationId: 'acceptServerTool',
      summary: 'Accept a held definition, or annotations',
      description:
        'A held definition takes effect in every toolset that has the tool. With `annotations: true` the annotations of the definition count as well: calls of a tool that they call read-only no longer require approval.',
      params,
      body: { schema: AcceptRequest, isOptional: true },
      answers: { 200: { description: 'The tool as it stands now.', schema: AcceptedTool } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params, body }) => {
      return c.json(await services.catalog(principal).acceptTool(params.server, params.tool, body.refId, body.annotations));
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/tools/{tool}/rebind',
      operationId: 'rebindServerTool',
      summary: 'Put another tool in the place of one that is missing',
      description:
        'For a tool that its server lists under another name now (`renamedTo`). In every toolset that has the old one the new one takes its place, under the names that it had there; it is accepted with it.',
      params,
      body: { schema: RebindRequest },
      answers: { 200: { description: 'Done.', schema: Rebound } },
      problems: ['conflict', 'name_conflict'],
    },
    async ({ c, services, principal, params, body }) => {
      return c.json(await services.catalog(principal).rebindTool(params.server, params.tool, body.to));
    },
  );
}
