/**
 * A toolset as an MCP server for clients that only know HTTP+SSE, the transport of revision 2024-11-05, which later revisions replaced by
 * Streamable HTTP: `GET /sse/{toolset}` opens the stream, whose first event `endpoint` has the path that messages are posted to
 * (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse). `ports/sse-relays.ts` has what is behind it.
 */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { WorkspaceName } from '../../../core/people/workspace.ts';
import { ToolsetReference } from '../../../core/toolset/toolset.ts';
import { serveTarget } from '../../../engine/mcp/serve-view.ts';
import { readSseEventId } from '../../../ports/sse-relays.ts';
import { issuerOf } from '../../own-origin.ts';
import { requireStream } from '../../places.ts';
import { readJson } from '../../request-body.ts';
import { enterMcpWorkspace, type McpCaller, mcpMessage, mcpQuery, requireConfigurationScope, requireMcpOrigin } from './mcp.ts';
import { type Answer, defineRoute } from '../../route.ts';

const params = z.object({ toolset: ToolsetReference });
const workspaceParams = z.object({ workspace: WorkspaceName, toolset: ToolsetReference });
const connection = {
  sessionId: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('The connection, from the event `endpoint`.'),
};
/** Of a toolset. Clients may add parameters of their own. */
const openQuery = z.object(mcpQuery.shape);
const sendQuery = openQuery.extend(connection);
const stream = {
  description: 'The stream: the event `endpoint` with the path for messages, then an event `message` for each message of the server.',
  contentType: 'text/event-stream',
} as const satisfies Answer;

const common = { tag: 'MCP', scopes: ['tools'], problems: ['not_found', 'forbidden', 'rate_limited'] } as const;
const open = {
  ...common,
  method: 'get',
  summary: 'Connect an MCP client of revision 2024-11-05',
  description:
    'HTTP+SSE, for clients that know no Streamable HTTP. `Last-Event-ID` continues a connection that broke. A stream on which nothing is sent for 30 minutes ends.',
  answers: { 200: stream },
} as const;
const send = {
  ...common,
  method: 'post',
  summary: 'Send a message of revision 2024-11-05',
  description: 'Answers follow on the stream of the connection. At most 64 messages of a connection are in flight.',
  rawBody: mcpMessage,
  answers: { 202: { description: 'Accepted.', contentType: 'text/plain' } },
} as const;

export const sseRoutes = [
  defineRoute({ ...open, path: '/sse/{toolset}', operationId: 'openSse', params, query: openQuery }, (request) =>
    connect(request, targetOf(request), request.query.tools),
  ),
  defineRoute({ ...send, path: '/sse/{toolset}', operationId: 'sendSse', params, query: sendQuery }, (request) =>
    post(request, targetOf(request), request.query.sessionId),
  ),
  defineRoute(
    { ...open, path: '/sse/{workspace}/{toolset}', operationId: 'openWorkspaceSse', params: workspaceParams, query: openQuery },
    async (request) => connect(await enterMcpWorkspace(request, request.params.workspace), targetOf(request), request.query.tools),
  ),
  defineRoute(
    { ...send, path: '/sse/{workspace}/{toolset}', operationId: 'sendWorkspaceSse', params: workspaceParams, query: sendQuery },
    async (request) => post(await enterMcpWorkspace(request, request.params.workspace), targetOf(request), request.query.sessionId),
  ),
  defineRoute({ ...open, path: '/sse', operationId: 'openEquippedSse' }, (request) => connect(request, null)),
  defineRoute({ ...send, path: '/sse', operationId: 'sendEquippedSse', query: z.object(connection) }, (request) =>
    post(request, null, request.query.sessionId),
  ),
];

type Asked = { params: z.infer<typeof params>; query: z.infer<typeof openQuery> };

function targetOf({ params: { toolset }, query: { tools } }: Asked): string {
  return serveTarget(toolset, tools);
}

async function connect({ c, services, principal }: McpCaller, target: string | null, tools?: string): Promise<Response> {
  requireMcpOrigin(services.settings, c.req.header('origin'));
  requireStream(c, limits.mcpListenRetryMs);
  const earlier = readSseEventId(c.req.header('last-event-id') ?? '');
  const id = earlier?.id ?? crypto.randomUUID().replaceAll('-', '');
  // Behind a proxy, the path of the public URL comes first.
  const base = URL.parse(issuerOf(services.settings, c.req.url) ?? '')?.pathname.replace(/\/+$/, '') ?? '';
  const query = `sessionId=${id}${tools === undefined ? '' : `&tools=${tools}`}`;
  const start = { endpoint: `${base}${c.req.path}?${query}`, after: earlier?.after ?? null, session: earlier?.session ?? null };
  return await services.sseRelays.open({ caller: principal, target, id }, start);
}

async function post({ c, services, principal }: McpCaller, target: string | null, id: string): Promise<Response> {
  requireMcpOrigin(services.settings, c.req.header('origin'));
  const { text, value } = await readJson(c, limits.maxBodyBytes);
  requireConfigurationScope(principal, target, value);
  await services.sseRelays.send({ caller: principal, target, id }, { text, revision: c.req.header('mcp-protocol-version') ?? null });
  // The text of the SDK's own server, which some clients print.
  return c.text('Accepted', 202);
}
