/**
 * Connections of MCP clients that only know HTTP+SSE (revision 2024-11-05): the client listens on one stream, and each message is a request of its
 * own, which may reach another isolate. An object for each connection holds the stream (`objects/mcp-session/sse-relay.ts`).
 */
import type { Principal } from '../core/people/principal.ts';

/** Whose connection it is. Its object is named after all of it, so that no other key can name it. `target`: as in `McpSessions`. */
export type SseConnection = { caller: Principal; target: string | null; id: string };

/**
 * `endpoint`: the path to which the client sends messages. `after`: of a client that reconnects, the number of the last event that it received;
 * `session`: the session that it then had.
 */
export type SseStart = { endpoint: string; after: number | null; session: string | null };

/** One message of a client. `revision`: its `mcp-protocol-version`. */
export type SseSending = { text: string; revision: string | null };

export interface SseRelays {
  /** Returns the stream. Throws `not_found` if the session of a client that reconnects has ended. */
  open(connection: SseConnection, start: SseStart): Promise<Response>;
  /** The answer follows on the stream. Throws `not_found` without an open stream, and `rate_limited` for too many messages in flight. */
  send(connection: SseConnection, sending: SseSending): Promise<void>;
}

/** Numbers the events of a connection, for `Last-Event-ID`. A client that reconnects after a restart of the service continues its session. */
export function sseEventId(id: string, number: number, session: string | null): string {
  return [id, number, ...(session === null ? [] : [session])].join('.');
}

/** Returns null for an id that is not one of these events. */
export function readSseEventId(text: string): { id: string; after: number; session: string | null } | null {
  const [, id, number, session = null] = /^([0-9a-f]{32})\.(\d{1,15})(?:\.([\x21-\x7e]{1,1000}))?$/.exec(text) ?? [];
  return id === undefined ? null : { id, after: Number(number), session };
}
