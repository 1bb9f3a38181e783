/**
 * `tools/list` in a session of the 2025 revisions. The object of the session is only asked whether the session exists: the Worker answers, and
 * stores nothing, since event ids contain the request, and a client that reconnects gets the list as it then is. In the object, a list of a
 * thousand tools takes four times the CPU (2026-11-28, `bench/mcp.ts`).
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import { fromBase64Url, toBase64Url } from '../../core/text/bytes.ts';
import { type ListedTool, servedPages } from '../../engine/mcp/serve-list.ts';
import type { McpSessions } from '../../ports/mcp-sessions.ts';
import { listPageAt } from './list-cursor.ts';
import { inRequestSpan, type ServeDeps, toProtocolError } from './serve-context.ts';
import { readSessionRequest } from './session-request.ts';
import { eventsResponse, primingEvent, sessionRevision, textEvent, unknownMcpSession } from './session-responses.ts';
import type { SessionListener } from './session-stream.ts';
import { listStateOf } from './tool-handlers.ts';

/** `isAnswered`: the client has received the list. */
type ListRequest = { id: string | number; cursor: string | undefined; meta?: unknown; revision: string; isAnswered: boolean };

/** Of an event id, which clients send as a header. */
const maxPayloadLength = 2_000;

/** `body`: of a POST. Returns null for any other request. */
export function readListRequest({ method: httpMethod, headers }: Request, body: unknown): ListRequest | null {
  if (httpMethod !== 'POST') return readListEventId(headers);
  const asked = readSessionRequest(headers, body);
  if (asked?.message.method !== 'tools/list') return null;
  const { id, params } = asked.message;
  for (const member in params) if (member !== 'cursor' && member !== '_meta') return null;
  const { cursor, _meta: meta } = recordOf(params);
  return cursor === undefined || typeof cursor === 'string' ? { id, cursor, meta, revision: asked.revision, isAnswered: false } : null;
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
    if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
    return { id: id as string | number, cursor: typeof cursor === 'string' ? cursor : undefined, revision, isAnswered: number === '1' };
  } catch {
    // Not written here.
    return null;
  }
}

/** Returns null if the SDK has to write the list. */
export async function serveSessionList(
  deps: ServeDeps,
  sessions: McpSessions,
  serving: SessionListener,
  asked: ListRequest,
): Promise<Response | null> {
  const message = messageText(deps, serving, asked);
  const payload = toBase64Url(new TextEncoder().encode(JSON.stringify([asked.id, asked.cursor])));
  if (message === null || payload.length > maxPayloadLength) return null;
  const { principal, target, session, request } = serving;
  return await inRequestSpan(deps, { method: 'tools/list', meta: asked.meta, params: {}, headers: request.headers }, async () => {
    if ((await sessions.listen(principal, target, session, { stream: '', mode: 'check' })) === null) return unknownMcpSession();
    // A client that reconnects has received the priming event.
    const priming = request.method !== 'POST' ? '' : primingEvent(asked.revision, () => `list0-${payload}`);
    return eventsResponse(asked.isAnswered ? '' : priming + textEvent(`list1-${payload}`, message), session);
  });
}

function messageText(deps: ServeDeps, { view }: SessionListener, { id, cursor }: ListRequest): string | null {
  try {
    const { items, nextCursor } = listPageAt('tools', listStateOf(view), servedPages(view.names), cursor);
    const { tools } = pageText(items);
    if (tools === null) return null;
    const more = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
    return `{"result":{"tools":${tools}${more}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  } catch (thrown) {
    const { code, message, data } = toProtocolError(thrown, deps.log);
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
  }
}

/** JSON of a page; null if a tool has a schema of results that these revisions do not have, which the SDK changes. */
const pageText = memoizeByObject((page: readonly ListedTool[]): { tools: string | null } => ({
  tools: page.every(({ outputSchema }) => !isRecord(outputSchema) || outputSchema.type === 'object') ? JSON.stringify(page) : null,
}));
