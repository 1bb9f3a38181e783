/**
 * One request to `/mcp/{toolset}` or `/mcp`, after key, origin and body were looked at: which era it is of, and who serves it. The 2026-07-28
 * revision and requests without a session are served here and forgotten; `initialize` begins a session, and what names one goes there.
 */
import { isInitializeRequest, isLegacyRequest } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/principal.ts';
import { readView, type ServedView, type ServeTarget } from '../../engine/serve-view.ts';
import type { McpSessions } from '../../ports/mcp-sessions.ts';
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
  const response = await serveStateless(deps, { request, principal, target, view, body: isPost ? body : undefined });
  return { response, view };
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
