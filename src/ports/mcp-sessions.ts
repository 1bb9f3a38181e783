/**
 * What lives longer than a request of an MCP client. Sessions of the 2025 eras: each lives in an object of its own, which keeps what `initialize` said and the messages of its
 * streams. Whose a session is shows in its id; to anybody else it does not exist. And calls of 2026-07-28 that stay open between requests
 * (`engine/serve/held-call.ts`): each in such an object too, whose name only the signed state tells.
 */
import type { Principal } from '../core/principal.ts';

/** As HTTP has it: the session answers in MCP's own words. `body`: JSON text, of a POST. */
export type McpSessionRequest = { method: string; headers: readonly (readonly [name: string, value: string])[]; body: string | null };

export interface McpSessions {
  /** With an `initialize`. `target`: a toolset reference, or null for what the key has equipped. */
  begin(caller: Principal, target: string | null, request: McpSessionRequest): Promise<Response>;
  /** null: there is no such session of this key at this endpoint. */
  resume(caller: Principal, target: string | null, id: string, request: McpSessionRequest): Promise<Response | null>;
  /** A request that calls a tool, of which `name` is the open call; null: it begins one. */
  hold(caller: Principal, target: string | null, name: string | null, request: McpSessionRequest): Promise<Response>;
}

/** The other side: one session. */
export interface McpSession {
  begin(caller: Principal, target: string | null, id: string, request: McpSessionRequest): Promise<Response>;
  /** null: it was never begun, or is over. */
  resume(caller: Principal, target: string | null, request: McpSessionRequest): Promise<Response | null>;
  hold(caller: Principal, target: string | null, name: string, request: McpSessionRequest): Promise<Response>;
}
