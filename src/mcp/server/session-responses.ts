/** Responses to requests of a session of the 2025 revisions, and what their headers must say. */
import { streamHeaders } from './reply.ts';
import { sessionRevision, sessionRevisions } from './revisions.ts';
import { refuse, RpcFault, rpcCodes } from './rpc-fault.ts';

/** Reconnect delay for a client whose stream ended. */
export const mcpRetryMs = 1_000;

/** Returns an event without a message, which gives the client an id before the first message; '' in revisions without such events. */
export function primingEvent(revision: string, id: () => string): string {
  return revision < '2025-11-25' ? '' : `id: ${id()}\nretry: ${mcpRetryMs}\ndata: \n\n`;
}

/** `message`: JSON. */
export function messageEvent(id: string, message: string): string {
  return `event: message\nid: ${id}\ndata: ${message}\n\n`;
}

/** `body`: the text of a whole event stream, whose length is declared, or a stream of it. */
export function eventsResponse(body: string | ReadableStream<Uint8Array>, session: string): Response {
  const whole = typeof body === 'string' ? new TextEncoder().encode(body) : null;
  const length: Record<string, string> = whole === null ? {} : { 'content-length': String(whole.byteLength) };
  return new Response(whole ?? body, { headers: { ...streamHeaders, ...length, 'mcp-session-id': session } });
}

/** Returns the refusal of a POST of the 2025 revisions; null: its headers are right. */
export function refusedHeaders(headers: Headers): Response | null {
  const accept = headers.get('accept') ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    return refuseInSession(406, 'Not Acceptable: Client must accept both application/json and text/event-stream');
  }
  return refusedRevision(headers);
}

/** The same for the revision that a request names. */
export function refusedRevision(headers: Headers): Response | null {
  const version = headers.get('mcp-protocol-version');
  if (sessionRevision(version) !== null) return null;
  return refuseInSession(400, `Bad Request: Unsupported protocol version: ${version} (supported versions: ${sessionRevisions.join(', ')})`);
}

export function refuseInSession(status: number, message: string): Response {
  return refuse(new RpcFault(rpcCodes.server, message, undefined, status));
}
