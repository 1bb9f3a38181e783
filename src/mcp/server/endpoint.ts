/**
 * One request to `/mcp/{toolset}` or `/mcp`, after key, origin and body were looked at: which era it is of, and who serves it. The 2026-07-28
 * revision and requests without a session are served here and forgotten; `initialize` begins a session, and what names one goes there. A call
 * that may have to stay open goes to an object that can hold it.
 */
import { isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import { resolveName } from '../../core/alias-map.ts';
import { limits } from '../../core/limits.ts';
import type { Principal } from '../../core/principal.ts';
import { recordOf } from '../../core/wire-value.ts';
import { mustHold } from '../../engine/serve/held-call.ts';
import { readView, type ServedView, type ServeTarget } from '../../engine/serve/serve-view.ts';
import type { McpSessions } from '../../ports/mcp-sessions.ts';
import { askableIn } from './client-channel.ts';
import type { ServeDeps } from './serving.ts';
import { serveStateless } from './stateless.ts';

/** `text`, `body`: of a POST, as it came and parsed. */
export type McpRequest = { principal: Principal; target: ServeTarget; request: Request; text: string; body: unknown };

/** `view`: what was served, as far as it is known here. */
export type McpAnswer = { response: Response; view: ServedView };

/** `forbidden` and `not_found` are thrown, before anything is served. */
export async function serveMcp(deps: ServeDeps, sessions: McpSessions, asked: McpRequest): Promise<McpAnswer> {
  const { principal, target, request, text, body } = asked;
  const view = await readView(deps, principal, target);
  const isPost = request.method === 'POST';
  const sent = { method: request.method, headers: sessionHeaders(request.headers), body: isPost ? text : null };
  if (await isLegacyRequest(request, body)) {
    const id = request.headers.get('mcp-session-id');
    if (id !== null) return { response: (await sessions.resume(principal, target, id, sent)) ?? unknownSession(), view };
    if (isPost && isInitializeRequest(body)) return { response: await sessions.begin(principal, target, sent), view };
  }
  const held = isPost ? await heldBy(deps, principal, view, body) : undefined;
  const response =
    held === undefined
      ? await serveStateless(deps, { request, principal, target, view, body: isPost ? body : undefined })
      : await sessions.hold(principal, target, held, sent);
  return { response, view };
}

/** The open call that a request is about; null: it begins one that may have to stay open; undefined: it is over with its answer. */
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
  // What else it must be is looked at where the call is.
  if (state?.held !== undefined) return state.keyId === keyId ? state.held : undefined;
  const resolution = resolveName(names, name);
  return resolution.ok && (await mustHold(deps.directory, workspace, resolution.tool, askableIn(meta), args)) ? null : undefined;
}

/** The key stays here, and so does all that says nothing to MCP. */
function sessionHeaders(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => ['accept', 'content-type', 'last-event-id'].includes(name) || name.startsWith('mcp-'));
}

/** As the SDK says it of a session that is over: the client begins a new one (MCP, session management: 404). */
export function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
