/** `/v1/servers/{server}/tools`: the tools of a server, and decisions on held or renamed tools. */
import * as z from 'zod';
import { AcceptDecision, RejectDecision, UndoDecision } from '../../../core/listing/decide-definition.ts';
import { BulkDecision, DecidedTool, DecidedTools, ServerTool } from '../../../core/servers/server-tool.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { compareDefinitions, DefinitionImpactView, pastDays } from '../../past-calls.ts';
import { defineRoute } from '../../route.ts';
import { serverParams } from './servers.ts';

const params = serverParams.extend({
  // A server may list any name; invalid ones are shown as rejected.
  tool: z.string().min(1).max(512).meta({ description: 'The tool’s own name, without the server’s.', example: 'get_weather' }),
});

const AcceptRequest = z
  .strictObject({
    ...AcceptDecision,
    annotations: z.boolean().optional().meta({
      description:
        '`true`: its annotations (`readOnlyHint`, `idempotentHint`) apply until the definition changes, although its server is not `trusted`. `false`: they no longer apply. Default: only a held definition is accepted, without its annotations.',
    }),
  })
  .meta({ id: 'AcceptRequest', example: { annotations: true } });
const RejectRequest = z.strictObject(RejectDecision).meta({ id: 'RejectRequest', example: { note: 'Asks for the whole conversation.' } });
const UndoRequest = z.strictObject(UndoDecision).meta({ id: 'UndoRequest', example: {} });
const RebindRequest = z
  .strictObject({ to: z.string().min(1).max(512).meta({ description: 'Own or canonical name of the replacement tool.' }) })
  .meta({ id: 'RebindRequest', example: { to: 'get_forecast' } });
const Rebound = z
  .object({ toolsets: z.array(z.string()).meta({ description: 'The toolsets that have a new version now.' }) })
  .meta({ id: 'Rebound', example: { toolsets: ['demo'] } });

const common = { tag: 'Servers', scopes: ['admin'], workspace: 'Servers' } as const;

const bulk = {
  ...common,
  method: 'post',
  params: serverParams,
  body: { schema: BulkDecision.meta({ id: 'BulkDecision', example: { tools: '*' } }) },
  answers: { 200: { description: 'What was decided, and what was left and why.', schema: DecidedTools } },
} as const;

const deciding = {
  ...common,
  method: 'post',
  params,
  answers: { 200: { description: 'The current state of the tool.', schema: DecidedTool } },
  problems: ['conflict'],
} as const;

export const serverToolRoutes = [
  defineRoute(
    {
      ...bulk,
      path: '/v1/servers/{server}/accept',
      operationId: 'acceptServerTools',
      summary: 'Accept held definitions',
      description: 'Tools with findings are left: each of them is accepted by itself.',
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).decideTools(params.server, { ...body, action: 'accept' }));
    },
  ),

  defineRoute(
    {
      ...bulk,
      path: '/v1/servers/{server}/reject',
      operationId: 'rejectServerTools',
      summary: 'Reject held definitions',
      description: 'Calls of the tools are refused until that is undone, tool by tool.',
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).decideTools(params.server, { ...body, action: 'reject' }));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}/tools',
      operationId: 'listServerTools',
      summary: 'List the tools of a server',
      params: serverParams,
      query: PageQuery,
      answers: {
        200: { description: 'A page of tools, by name, including those that the server no longer lists.', schema: pageOf(ServerTool) },
      },
    },
    async ({ answer, services, principal, params, query }) => {
      return answer(200, await services.catalog(principal).serverTools(params.server, query));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}/tools/{tool}',
      operationId: 'getServerTool',
      summary: 'Read a tool of a server',
      description: 'Includes the changes of a held tool, and the findings in its definition.',
      params,
      answers: { 200: { description: 'The tool.', schema: ServerTool } },
    },
    async ({ answer, services, principal, params }) => {
      return answer(200, await services.catalog(principal).serverTool(params.server, params.tool));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}/tools/{tool}/impact',
      operationId: 'getServerToolImpact',
      summary: 'Compare a held definition with past calls',
      description:
        'Prepares the recorded calls of the tool, in every toolset that had it, with the definition that was accepted and with the listed one: what accepting would refuse, in which sessions, and which aliases of arguments keep the calls. Nothing is stored. Without a definition that was ever accepted, there is nothing to judge.',
      params,
      query: z.strictObject({ days: pastDays }),
      answers: { 200: { description: 'What accepting would have done.', schema: DefinitionImpactView } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params, query: { days } }) => {
      const catalog = services.catalog(principal);
      const { accepted: before, listed: after } = await catalog.reviewedDefinitions(params.server, params.tool);
      return answer(200, await compareDefinitions(services, principal, { before, after }, days));
    },
  ),

  defineRoute(
    {
      ...deciding,
      path: '/v1/servers/{server}/tools/{tool}/accept',
      operationId: 'acceptServerTool',
      summary: 'Accept a held definition, or annotations',
      description:
        'A held definition takes effect in every toolset that has the tool. With `annotations: true` its annotations apply as well: calls of a read-only tool no longer require approval. A definition with findings takes two requests: the first returns `acknowledgement_required` with its `refId`, its `findings`, and the codes to `acknowledge`; the second has to send both.',
      body: { schema: AcceptRequest, isOptional: true },
      problems: ['conflict', 'acknowledgement_required'],
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).acceptTool(params.server, params.tool, body));
    },
  ),

  defineRoute(
    {
      ...deciding,
      path: '/v1/servers/{server}/tools/{tool}/reject',
      operationId: 'rejectServerTool',
      summary: 'Reject the listed definition',
      description:
        'Calls of the tool are refused, in pinned sessions too. The definition stays rejected when its server is refreshed, or deleted and added again. If the server lists another definition, that one is held, with the rejection among its `decisions`.',
      body: { schema: RejectRequest, isOptional: true },
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).rejectTool(params.server, params.tool, body));
    },
  ),

  defineRoute(
    {
      ...deciding,
      path: '/v1/servers/{server}/tools/{tool}/undo',
      operationId: 'undoServerToolDecision',
      summary: 'Undo a decision about a tool',
      description:
        'Takes the newest of its `decisions` back, or that about the definition `refId`. After an acceptance the tool is held again, and the definition that was accepted before is compared with the listed one. After a rejection it is in the state from before.',
      body: { schema: UndoRequest, isOptional: true },
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).undoTool(params.server, params.tool, body));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/servers/{server}/tools/{tool}/rebind',
      operationId: 'rebindServerTool',
      summary: 'Replace a missing tool',
      description:
        'For a tool that its server now lists under another name (`renamedTo`). The new tool replaces the old one in every toolset, under the same names, and is accepted.',
      params,
      body: RebindRequest,
      answers: { 200: { description: 'Done.', schema: Rebound } },
      problems: ['conflict', 'name_conflict'],
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).rebindTool(params.server, params.tool, body.to));
    },
  ),
];
