/**
 * Serves one request to `/mcp/{toolset}` or `/mcp`, after key, origin and body were checked: determines its era and passes it on. Requests
 * of 2026-07-28 and requests without a session are served here without stored state, plain ones without the SDK (`plain-request.ts`);
 * `initialize` creates a session, and requests with a session id go to that session. A call that may have to stay open goes to a Durable
 * Object.
 */
import { isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import { resolveName } from '../../core/toolset/alias-map.ts';
import { limits } from '../../core/limits.ts';
import type { Principal } from '../../core/principal.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { mustStayOpen } from '../../engine/mcp/in-flight-call.ts';
import { readView, type ServedView, type ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { McpSessionAnswer, McpSessions } from '../../ports/mcp-sessions.ts';
import { askableIn } from './client-channel.ts';
import { servePlain } from './plain-answer.ts';
import { readPlainRequest } from './plain-request.ts';
import type { ServeDeps } from './serve-context.ts';
import { readListEventId, serveSessionList, toListRequest } from './session-list.ts';
import { readSessionRequest } from './session-request.ts';
import { eventsResponse, unknownMcpSession } from './session-responses.ts';
import { isListening, listenInSession, noteSessionChange } from './session-stream.ts';
import { serveStateless } from './stateless.ts';

/** `text`, `body`: the body of a POST, unparsed and parsed. */
export type McpRequest = { principal: Principal; target: ServeTarget; request: Request; text: string; body: unknown };

/** `view`: the view that was served, if known here. */
export type McpAnswer = { response: Response; view: ServedView };

/** Throws `forbidden` and `not_found` before anything is served. */
export async function serveMcp(deps: ServeDeps, sessions: McpSessions, asked: McpRequest): Promise<McpAnswer> {
  const { principal, target, request, text, body } = asked;
  const view = await readView(deps, principal, target);
  const isPost = request.method === 'POST';
  const sent = () => ({
    method: request.method,
    headers: [...sessionHeaders(request.headers), ...Object.entries(deps.telemetry?.carrier() ?? {})],
    body: isPost ? text : null,
  });
  const session = request.headers.get('mcp-session-id');
  const list = session === null ? null : isPost ? listIn(request.headers, body) : readListEventId(request.headers);
  if (session !== null && list !== null) {
    const response = await serveSessionList(deps, sessions, { principal, target, view, session, request }, list, !isPost);
    if (response !== null) return { response, view };
  }
  const plain = isPost ? readPlainRequest(request.headers, body) : null;
  if (plain === null && (await isLegacyRequest(request, body))) {
    if (session !== null && request.method === 'GET' && isListening(request))
      return { response: await listenInSession(deps, sessions, { principal, target, view, session, request }), view };
    if (session !== null) {
      const response = toResponse(await sessions.resume(principal, target, session, sent()), session);
      if (!isPost || String(recordOf(body).method).endsWith('subscribe')) noteSessionChange(session);
      return { response, view };
    }
    if (isPost && isInitializeRequest(body)) return { response: await sessions.begin(principal, target, sent()), view };
  }
  const held = isPost ? await heldBy(deps, principal, view, body) : undefined;
  if (held !== undefined) return { response: await sessions.callKeptOpen(principal, target, held, sent()), view };
  const serving = { request, principal, target, view };
  const response =
    plain === null
      ? await serveStateless(deps, { ...serving, body: isPost ? body : undefined })
      : await servePlain(deps, { ...serving, asked: plain });
  return { response, view };
}

/**
 * Returns the open call that a request belongs to; null: a new call that may have to stay open; undefined: the request ends with its
 * response.
 */
async function heldBy(
  deps: ServeDeps,
  { workspace, keyId }: Principal,
  { names }: ServedView,
  body: unknown,
): Promise<string | null | undefined> {
  const { method, params } = recordOf(body);
  const { name, requestState, arguments: args, _meta: meta } = recordOf(params);
  if (method !== 'tools/call' || typeof name !== 'string') return undefined;
  const isBack = typeof requestState === 'string' && requestState.length <= limits.maxRequestStateLength;
  const state = isBack ? await deps.seal.open(workspace, requestState) : null;
  // The Durable Object of the call checks the rest.
  if (state?.held !== undefined) return state.keyId === keyId ? state.held : undefined;
  const resolution = resolveName(names, name);
  return resolution.ok && (await mustStayOpen(deps.directory, workspace, resolution.tool, askableIn(meta), args)) ? null : undefined;
}

/** Drops the key and all headers that MCP does not use. */
function sessionHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(
    ([name]) => ['accept', 'content-type', 'last-event-id', 'x-moniker-session'].includes(name) || name.startsWith('mcp-'),
  );
}

function listIn(headers: Headers, body: unknown): ReturnType<typeof toListRequest> {
  const request = readSessionRequest(headers, body);
  return request === null ? null : toListRequest(request);
}

function toResponse(answer: McpSessionAnswer, session: string): Response {
  if (answer === null) return unknownMcpSession();
  if (answer instanceof Response) return answer;
  return eventsResponse(answer.events, session);
}
