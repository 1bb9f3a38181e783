/**
 * Serves one request to `/mcp/{toolset}` or `/mcp`, after key, origin and body were checked: decides who answers it. Requests
 * of 2026-07-28 and requests without a session are served here without stored state;
 * `initialize` creates a session, and requests with a session id go to that session. A call that may have to stay open goes to a Durable
 * Object.
 */
import { resolveName } from '../../core/toolset/alias-map.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import { argumentHeaderFault } from '../../engine/mcp/argument-headers.ts';
import { needsOpenConnection } from '../../engine/mcp/in-flight-call.ts';
import { readView, type ServedView, type ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { McpRecipient, McpSessions } from '../../ports/mcp-sessions.ts';
import { initializeFault } from './discovery.ts';
import { askableIn, type ServedRequest, type ServeDeps } from './exchange.ts';
import { type InboundPost, mismatch } from './inbound.ts';
import { refuse, unknownMcpSession } from './rpc-fault.ts';
import { readListRequest, serveSessionList } from './session-list.ts';
import { eventsResponse } from './session-responses.ts';
import { isListening, listenInSession, noteSessionChange } from './session-stream.ts';
import { inboundOf, serveStateless } from './stateless.ts';

/** `text`, `body`: the body of a POST, unparsed and parsed. */
export type McpRequest = { principal: Principal; target: ServeTarget; request: Request; text: string; body: unknown };

/** `view`: the view that was served, if known here. */
export type McpAnswer = { response: Response; view: ServedView };

/** Throws `forbidden` and `not_found` before anything is served. */
export async function serveMcp(deps: ServeDeps, sessions: McpSessions, asked: McpRequest): Promise<McpAnswer> {
  const view = await readView(deps, asked.principal, asked.target);
  return { response: await answer(deps, sessions, { ...asked, view }), view };
}

type Asked = McpRequest & ServedRequest & { inbound: InboundPost | null };

async function answer(deps: ServeDeps, sessions: McpSessions, received: McpRequest & ServedRequest): Promise<Response> {
  const { request, body } = received;
  const inbound = inboundOf(deps, request, body);
  if (inbound instanceof Response) return inbound;
  const asked = { ...received, inbound };
  if (inbound?.era === 'modern') return refusedArguments(asked) ?? (await serveWithoutSession(deps, sessions, asked));
  const session = request.headers.get('mcp-session-id');
  if (session === null && !isStart(inbound)) return await serveWithoutSession(deps, sessions, asked);
  const list = session === null ? null : readListRequest(request, inbound);
  const listed = session === null || list === null ? null : await serveSessionList(deps, sessions, { ...asked, session }, list);
  if (listed !== null) return listed;
  if (session !== null && request.method === 'GET' && isListening(request))
    return await listenInSession(deps, sessions, { ...asked, session });
  return await passOn(deps, sessions, asked, { session });
}

/** Refuses a call of 2026-07-28 whose headers and arguments differ. */
function refusedArguments({ view, request, inbound }: Asked): Response | null {
  if (inbound?.era !== 'modern' || inbound.message.kind !== 'request' || inbound.message.method !== 'tools/call') return null;
  const { id, params } = inbound.message;
  if (typeof params.name !== 'string') return null;
  const fault = argumentHeaderFault(view.names, { name: params.name, arguments: params.arguments }, (name) => request.headers.get(name));
  return fault === null ? null : refuse(mismatch(fault), id);
}

/** A broken `initialize` is refused without a session. */
function isStart(inbound: InboundPost | null): boolean {
  if (inbound?.era !== 'legacy' || inbound.isBatch) return false;
  const [message] = inbound.messages;
  return message?.kind === 'request' && message.method === 'initialize' && initializeFault(message.params) === null;
}

async function serveWithoutSession(deps: ServeDeps, sessions: McpSessions, asked: Asked): Promise<Response> {
  const call = await openCallOf(deps, asked);
  return call === null ? await serveStateless(deps, asked) : await passOn(deps, sessions, asked, call);
}

/** Passes the request to the object of its session or call. */
async function passOn(deps: ServeDeps, sessions: McpSessions, asked: Asked, to: McpRecipient): Promise<Response> {
  const { principal, target, request, text, inbound } = asked;
  const { method } = request;
  const headers = [...sessionHeaders(request.headers), ...Object.entries(deps.telemetry?.carrier() ?? {})];
  const given = await sessions.send(principal, target, to, { method, headers, body: method === 'POST' ? text : null });
  const session = 'session' in to ? to.session : null;
  if (session !== null && (method !== 'POST' || mayChangeStream(inbound))) noteSessionChange(session);
  if (given instanceof Response) return given;
  return given === null || session === null ? unknownMcpSession() : eventsResponse(given.events, session);
}

function mayChangeStream(inbound: InboundPost | null): boolean {
  return (
    inbound?.era === 'legacy' &&
    inbound.messages.some((one) => one.kind === 'request' && (one.method.endsWith('subscribe') || one.method === 'logging/setLevel'))
  );
}

/** Returns the open call that a request belongs to, or a new one if it may have to stay open; null: the request ends with its response. */
async function openCallOf(deps: ServeDeps, { principal, view, inbound }: Asked): Promise<McpRecipient | null> {
  if (inbound?.era !== 'modern' || inbound.message.kind !== 'request' || inbound.message.method !== 'tools/call') return null;
  const { workspace, keyId } = principal;
  const { name, requestState, arguments: args, _meta: meta } = inbound.message.params;
  if (typeof name !== 'string') return null;
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
