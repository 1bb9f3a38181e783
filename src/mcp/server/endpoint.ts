/**
 * Serves one request to `/mcp/{toolset}` or `/mcp`, after key, origin and body were checked: decides who answers it. Requests
 * of 2026-07-28 and requests without a session are served here without stored state, plain ones without the SDK (`plain-request.ts`);
 * `initialize` creates a session, and requests with a session id go to that session. A call that may have to stay open goes to a Durable
 * Object.
 */
import { isInitializeRequest, isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { resolveName } from '../../core/toolset/alias-map.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { argumentHeaderFault, headerMismatch } from '../../engine/mcp/argument-headers.ts';
import { needsOpenConnection } from '../../engine/mcp/in-flight-call.ts';
import { readView, type ServedView, type ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { McpRecipient, McpSessions } from '../../ports/mcp-sessions.ts';
import { askableIn } from './client-channel.ts';
import { servePlain } from './plain-answer.ts';
import { modernRevision, readPlainRequest } from './plain-request.ts';
import type { ServedRequest, ServeDeps } from './serve-context.ts';
import { readListRequest, serveSessionList } from './session-list.ts';
import { eventsResponse, unknownMcpSession } from './session-responses.ts';
import { isListening, listenInSession, noteSessionChange } from './session-stream.ts';
import { serveStateless } from './stateless.ts';

/** `text`, `body`: the body of a POST, unparsed and parsed. */
export type McpRequest = { principal: Principal; target: ServeTarget; request: Request; text: string; body: unknown };

/** `view`: the view that was served, if known here. */
export type McpAnswer = { response: Response; view: ServedView };

/** Throws `forbidden` and `not_found` before anything is served. */
export async function serveMcp(deps: ServeDeps, sessions: McpSessions, asked: McpRequest): Promise<McpAnswer> {
  const view = await readView(deps, asked.principal, asked.target);
  return { response: await answer(deps, sessions, { ...asked, view }), view };
}

type Asked = McpRequest & ServedRequest;

async function answer(deps: ServeDeps, sessions: McpSessions, asked: Asked): Promise<Response> {
  const { request } = asked;
  const body = request.method === 'POST' ? asked.body : undefined;
  const refused = refuseHeaders(asked, body);
  if (refused !== null) return refused;
  const session = request.headers.get('mcp-session-id');
  const list = session === null ? null : readListRequest(request, body);
  const listed = session === null || list === null ? null : await serveSessionList(deps, sessions, { ...asked, session }, list);
  if (listed !== null) return listed;
  const plain = body === undefined ? null : readPlainRequest(request.headers, body);
  const isOfSession = plain === null && (session !== null || isInitializeRequest(body)) && (await isLegacyRequest(request, body));
  if (isOfSession && session !== null && request.method === 'GET' && isListening(request))
    return await listenInSession(deps, sessions, { ...asked, session });
  const to = isOfSession ? { session } : await openCallOf(deps, asked, body);
  if (to !== null) return await passOn(deps, sessions, asked, to);
  return plain === null ? await serveStateless(deps, { ...asked, body }) : await servePlain(deps, { ...asked, asked: plain });
}

/** Refuses a call of 2026-07-28 whose headers and arguments differ. */
function refuseHeaders({ view, request }: Asked, body: unknown): Response | null {
  const { id = null, method, params } = recordOf(body);
  const { name, arguments: args, _meta: meta } = recordOf(params);
  if (method !== 'tools/call' || typeof name !== 'string' || recordOf(meta)[PROTOCOL_VERSION_META_KEY] !== modernRevision) return null;
  const fault = argumentHeaderFault(view.names, { name, arguments: args }, (header) => request.headers.get(header));
  if (fault === null) return null;
  const error = { code: headerMismatch, message: `Bad Request: the request headers and body disagree: ${fault}` };
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
}

/** Passes the request to the object of its session or call. */
async function passOn(deps: ServeDeps, sessions: McpSessions, asked: Asked, to: McpRecipient): Promise<Response> {
  const { principal, target, request, text, body } = asked;
  const { method } = request;
  const headers = [...sessionHeaders(request.headers), ...Object.entries(deps.telemetry?.carrier() ?? {})];
  const given = await sessions.send(principal, target, to, { method, headers, body: method === 'POST' ? text : null });
  const session = 'session' in to ? to.session : null;
  if (session !== null && (method !== 'POST' || String(recordOf(body).method).endsWith('subscribe'))) noteSessionChange(session);
  if (given instanceof Response) return given;
  return given === null || session === null ? unknownMcpSession() : eventsResponse(given.events, session);
}

/** Returns the open call that a request belongs to, or a new one if it may have to stay open; null: the request ends with its response. */
async function openCallOf(deps: ServeDeps, { principal, view }: Asked, body: unknown): Promise<McpRecipient | null> {
  const { workspace, keyId } = principal;
  const { method, params } = recordOf(body);
  const { name, requestState, arguments: args, _meta: meta } = recordOf(params);
  if (method !== 'tools/call' || typeof name !== 'string') return null;
  const isBack = typeof requestState === 'string' && requestState.length <= limits.maxRequestStateLength;
  const state = isBack ? await deps.seal.open(workspace, requestState) : null;
  // The Durable Object of the call checks the rest.
  if (state?.held !== undefined) return state.keyId === keyId ? { call: state.held } : null;
  const resolution = resolveName(view.names, name);
  const staysOpen = resolution.ok && (await needsOpenConnection(deps.directory, workspace, resolution.tool, askableIn(meta), args));
  return staysOpen ? { call: null } : null;
}

/** Drops the key and all headers that MCP does not use. */
function sessionHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(
    ([name]) => ['accept', 'content-type', 'last-event-id', 'x-moniker-session'].includes(name) || name.startsWith('mcp-'),
  );
}
