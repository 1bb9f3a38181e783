/**
 * A toolset as an MCP server: `/mcp/{toolset}` or `/mcp/{workspace}/{toolset}`, and `/mcp` for the equipped toolset. This file checks key, origin, host and body;
 * `mcp/server/` implements MCP.
 */
import * as z from 'zod';
import { recordOf } from '../../../core/json/wire-value.ts';
import { limits } from '../../../core/limits/limits.ts';
import { configurationTools } from '../../../core/names/reserved-names.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { isAllowed } from '../../../core/people/authority.ts';
import { unknownWorkspace, WorkspaceName } from '../../../core/people/workspace.ts';
import { McpTools, ToolsetReference } from '../../../core/toolset/toolset.ts';
import { serveTarget } from '../../../engine/mcp/serve-view.ts';
import { editionHeader, editionName } from '../../conditions.ts';
import { requireStream } from '../../places.ts';
import { readJson } from '../../request-body.ts';
import { inWorkspace } from '../../middleware/authenticate.ts';
import { mayCallMcp } from '../../own-origin.ts';
import { RpcErrorSchema } from '../../problem-schema.ts';
import { type Answer, defineRoute, type RouteRequest } from '../../route.ts';
import type { HttpServices } from '../../services.ts';

const params = z.object({ toolset: ToolsetReference });
export const mcpQuery = z.strictObject({
  tools: McpTools.optional().meta({
    description: 'What is listed of the toolset. Default: what its `mcpTools` says. A session has one value.',
  }),
});
const workspaceParams = z.object({ workspace: WorkspaceName, toolset: ToolsetReference });
export const mcpMessage = {
  description: 'An MCP JSON-RPC message of at most 1 MB.',
  json: z.record(z.string(), z.unknown()).meta({ id: 'McpMessage' }),
};
const mcpHeaders = {
  'mcp-session-id': 'Session id for the 2025 revisions, as returned by `initialize`.',
  'mcp-protocol-version': 'The MCP revision of the request.',
  'x-moniker-session':
    'The files that calls work on: the id of a session, or any name of 1 to 63 letters, digits, `.`, `_` and `-`, which names files of the key. Default: the files of the MCP session; without one, those of the key with the toolset.',
};
const stream: Answer = {
  description: 'The MCP response: one message, or a stream of messages.',
  schema: mcpMessage.json,
  also: 'text/event-stream',
  headers: { ...editionHeader, 'mcp-session-id': 'With `initialize` of the 2025 revisions: the id of the new session.' },
};

/** Statuses of the MCP protocol itself, without a `code` of ours. */
const refusals = {
  400: { description: 'The message is invalid, or its revision is not supported.', schema: RpcErrorSchema, headers: editionHeader },
  404: { description: 'The session does not exist or has ended: start a new one.', schema: RpcErrorSchema, headers: editionHeader },
  405: {
    description: 'The revision of the request has no such method.',
    schema: RpcErrorSchema,
    headers: { ...editionHeader, allow: 'The methods that it has.' },
  },
  406: { description: '`Accept` must contain application/json and text/event-stream.', schema: RpcErrorSchema, headers: editionHeader },
} as const satisfies Record<number, Answer>;

const methods = [
  {
    method: 'post',
    name: 'send',
    summary: 'Send an MCP message',
    description:
      'Supports any MCP client (Streamable HTTP) with revision 2026-07-28 or the revisions of 2024 and 2025. `tools/list` shows the tools under their names; `tools/call` accepts any name that resolves. Errors are JSON-RPC. Pages of other origins are rejected.',
    answers: {
      200: stream,
      202: { description: 'Accepted: a notification, or a response of the client.', headers: editionHeader },
      ...refusals,
    },
    problems: ['insufficient_storage', 'unavailable'],
    storesNothing: true,
    rawBody: mcpMessage,
  },
  {
    method: 'get',
    name: 'listen',
    summary: 'Listen to an MCP session',
    description:
      'For the 2025 revisions: messages that the session starts, such as list changes. `Last-Event-ID` resumes after a disconnect. Requires a session.',
    answers: { 200: { description: 'The stream.', contentType: 'text/event-stream', headers: editionHeader }, ...refusals },
    problems: ['method_not_allowed'],
  },
  {
    method: 'delete',
    name: 'end',
    summary: 'End an MCP session',
    description: 'For the 2025 revisions. Revision 2026-07-28 has no sessions.',
    answers: { 200: { description: 'The session has ended.', headers: editionHeader }, ...refusals },
    problems: ['method_not_allowed'],
  },
] as const;

export const mcpRoutes = methods.flatMap(({ name, problems, ...spec }) => {
  const own = {
    tag: 'MCP',
    scopes: ['tools'],
    headers: mcpHeaders,
    problems: ['not_found', 'forbidden', 'rate_limited', ...problems],
  } as const;
  const common = { ...spec, ...own };
  return [
    defineRoute({ ...common, path: '/mcp/{toolset}', operationId: `${name}Mcp`, params, query: mcpQuery }, (request) =>
      serve(request, serveTarget(request.params.toolset, request.query.tools)),
    ),
    defineRoute(
      { ...common, path: '/mcp/{workspace}/{toolset}', operationId: `${name}WorkspaceMcp`, params: workspaceParams, query: mcpQuery },
      async (request) =>
        serve(await enterMcpWorkspace(request, request.params.workspace), serveTarget(request.params.toolset, request.query.tools)),
    ),
    defineRoute({ ...common, path: '/mcp', operationId: `${name}EquippedMcp` }, (request) => serve(request, null)),
  ];
});

export type McpCaller = Pick<RouteRequest, 'c' | 'services' | 'principal'>;

/** A path of another workspace is unknown to a key, whether that workspace exists or not. The root key acts in any workspace. */
export async function enterMcpWorkspace(request: McpCaller, workspace: string): Promise<McpCaller> {
  const { c, principal, services } = request;
  const mayEnter = workspace === principal.workspace || isAllowed(principal, { act: 'enter-workspace', keyId: principal.keyId });
  if (!mayEnter) throw unknownWorkspace(workspace);
  return { c, services, principal: await inWorkspace(principal, workspace, services.directory) };
}

async function serve({ c, services, principal }: McpCaller, target: string | null) {
  requireMcpOrigin(services.settings, c.req.header('origin'));
  const request = c.req.raw;
  const body = request.method === 'POST' ? await readJson(c, limits.maxBodyBytes) : null;
  if (request.method === 'GET' || recordOf(body?.value).method === 'subscriptions/listen') requireStream(c, limits.mcpListenRetryMs);
  requireConfigurationScope(principal, target, body?.value);
  // The route has no such rule, since most methods of MCP are POSTs that only read.
  if (request.method === 'POST' && !readsOnly(body?.value)) services.host.requireStorage();
  const { response, view } = await services.mcp({ principal, target, request, text: body?.text ?? '', body: body?.value });
  return view.pointer === null ? response : withHeader(response, 'x-moniker-edition', editionName(view.pointer));
}

/** `initialize` stores a session, `tools/call` the audit and what the tool does. */
function readsOnly(body: unknown): boolean {
  const { method } = recordOf(body);
  return typeof method === 'string' && /^(?:ping|server\/discover|[\w/]+\/(?:list|read|get))$/.test(method);
}

export function requireMcpOrigin(settings: HttpServices['settings'], origin: string | undefined): void {
  if (origin !== undefined && !mayCallMcp(settings, origin))
    throw new Problem('forbidden', 'Pages of this origin may not call this service. MONIKER_ALLOWED_ORIGINS lists the origins that may.');
}

/** A response from another object is immutable and is wrapped; any other one keeps its body as it is. */
function withHeader(response: Response, name: string, value: string): Response {
  try {
    response.headers.set(name, value);
    return response;
  } catch {
    // It can only be detected by trying.
    const answer = new Response(response.body, response);
    answer.headers.set(name, value);
    return answer;
  }
}

/** An access token without the scope of the configuration tools: 403, which tells the client to ask for it (step-up authorization of MCP). */
export function requireConfigurationScope(principal: Principal, target: string | null, body: unknown): void {
  if (principal.audience === undefined || target !== null) return;
  const { method, params } = recordOf(body);
  const { name } = recordOf(params);
  if (method !== 'tools/call' || !configurationTools.some((known) => known === name)) return;
  if (isAllowed(principal, { act: 'use-scope', scopes: ['toolsets'] })) return;
  throw new Problem('forbidden', 'This access token lacks the scope "toolsets".', { scope: 'tools toolsets' });
}
