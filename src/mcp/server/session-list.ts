/**
 * `tools/list` in a session of the 2025 revisions. The object of the session is only asked whether the session exists: the Worker answers, and
 * stores nothing, since event ids contain the request, and a client that reconnects gets the list as it then is. In the object, a list of a
 * thousand tools takes four times the CPU (2026-11-28, `bench/mcp.ts`).
 */
import { fromBase64Url, toBase64Url } from '../../core/text/bytes.ts';
import { hasToolsOfApps } from '../../engine/mcp/serve-list.ts';
import { readListMeta } from '../../engine/mcp/serve-resources.ts';
import type { McpSessions } from '../../ports/mcp-sessions.ts';
import { inRequestSpan, type ServeDeps } from './exchange.ts';
import type { InboundPost } from './inbound.ts';
import { errorText, isId, resultText, type RpcId, type RpcParams } from './messages.ts';
import { withMember } from './methods.ts';
import { sessionRevision } from './revisions.ts';
import { toRpcFault, unknownMcpSession } from './rpc-fault.ts';
import { eventsResponse, messageEvent, primingEvent, refusedHeaders } from './session-responses.ts';
import type { SessionListener } from './session-stream.ts';
import { toolListPage } from './tool-methods.ts';

/** `isAnswered`: the client has received the list. */
type ListRequest = { id: RpcId; params: RpcParams; revision: string; isAnswered: boolean };

/** Of an event id, which clients send as a header. */
const maxPayloadLength = 2_000;

/** `inbound`: of a POST. Returns null for any other request. */
export function readListRequest({ headers }: Request, inbound: InboundPost | null): ListRequest | null {
  if (inbound === null) return readListEventId(headers);
  const message = inbound.era === 'legacy' && !inbound.isBatch ? inbound.messages[0] : undefined;
  const revision = sessionRevision(headers.get('mcp-protocol-version'));
  if (message?.kind !== 'request' || message.method !== 'tools/list' || revision === null) return null;
  return refusedHeaders(headers) === null ? { id: message.id, params: message.params, revision, isAnswered: false } : null;
}

/** For a client that reconnects after an event of a list; null: after any other event. */
function readListEventId(headers: Headers): ListRequest | null {
  if (headers.get('accept')?.includes('text/event-stream') !== true) return null;
  const [, number, payload = ''] = /^list([01])-([\w-]{1,2000})$/.exec(headers.get('last-event-id') ?? '') ?? [];
  const bytes = number === undefined ? null : fromBase64Url(payload);
  const revision = sessionRevision(headers.get('mcp-protocol-version'));
  if (bytes === null || revision === null) return null;
  try {
    const [id, cursor] = JSON.parse(new TextDecoder().decode(bytes)) as unknown[];
    const params = typeof cursor === 'string' ? { cursor } : {};
    return isId(id) ? { id, params, revision, isAnswered: number === '1' } : null;
  } catch {
    // Not written here.
    return null;
  }
}

/** Returns null if the session has to answer, because the request does not fit into an event id, or the list depends on its client. */
export async function serveSessionList(
  deps: ServeDeps,
  sessions: McpSessions,
  serving: SessionListener,
  { id, params, revision, isAnswered }: ListRequest,
): Promise<Response | null> {
  const payload = toBase64Url(new TextEncoder().encode(JSON.stringify([id, params.cursor])));
  const { principal, target, session, request, view } = serving;
  // Only the session knows whether its client shows pages of MCP apps.
  if (payload.length > maxPayloadLength || hasToolsOfApps(view.names)) return null;
  const meta = await readListMeta(deps, principal.workspace, view, 'tools');
  const message = (): string => {
    try {
      const { tools, more } = toolListPage(view, { era: 'session', withApps: false }, params);
      return resultText(id, withMember({ member: 'tools', text: tools }, JSON.stringify({ ...more, ...meta })));
    } catch (thrown) {
      return errorText(id, toRpcFault(thrown, deps.log));
    }
  };
  return await inRequestSpan(deps, { method: 'tools/list', params, headers: request.headers }, async () => {
    if ((await sessions.listen(principal, target, session, { stream: '', mode: 'check' })) === null) return unknownMcpSession();
    // A client that reconnects has received the priming event.
    const priming = request.method !== 'POST' ? '' : primingEvent(revision, () => `list0-${payload}`);
    return eventsResponse(isAnswered ? '' : priming + messageEvent(`list1-${payload}`, message()), session);
  });
}
