/**
 * Chooses the era of a server that has both. A client of the 2025 revisions answers while its call is open, and many tools of such servers
 * ask only there (`elicitation/create` and `sampling/createMessage` sent by the server, which 2026-07-28 replaced by `input_required`). So
 * for a client that can be asked, `era: "auto"` starts a session if the server has one; everything else uses 2026-07-28.
 */
import type { ServerAccess } from '../../core/servers/server.ts';
import { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import { type ConnectionMemory, memoryKey, type NegotiatedConnection } from './connection-memory.ts';
import type { DeclaredCapabilities } from './declared-capabilities.ts';
import { statusOf } from './upstream-fault.ts';

/** The server accepts `initialize` but keeps no session, so it cannot receive the answer to a question. */
export class WithoutSession extends Error {}

export function prefersSession(
  memory: ConnectionMemory,
  server: ServerAccess,
  { isLive = false }: UpstreamHooks,
  { legacy }: DeclaredCapabilities,
): boolean {
  const isOfBoth = (server.mcp?.era ?? 'auto') === 'auto' && server.connection?.era === 'modern';
  return isLive && isOfBoth && Object.keys(legacy).length > 0 && memory.get(sessionlessKey(server)) === null;
}

/** The server has only 2026-07-28, or no sessions. Nothing was done, so the request can be made without one. */
export function isWithoutSession(error: unknown): boolean {
  const status = statusOf(error);
  const isRefused = status !== null && status !== 401 && status !== 403 && status !== 429;
  return error instanceof WithoutSession || error instanceof ServerRpcError || isRefused;
}

/** Saves the next conversations the attempt, unless the server was only unavailable. */
export function noteWithoutSession(memory: ConnectionMemory, server: ServerAccess, error: unknown): void {
  const modern = fromLastAnswer(server);
  if (modern !== null && (statusOf(error) ?? 0) < 500) memory.set(sessionlessKey(server), modern);
}

/** All conversations share this entry. */
function sessionlessKey(server: ServerAccess): string {
  return memoryKey(server, '', 'without session');
}

/** The era in the server's document takes precedence over the one that was detected. */
export function fromLastAnswer({ connection, mcp }: ServerAccess): NegotiatedConnection | null {
  if (connection?.era !== 'modern' || mcp?.era === 'legacy') return null;
  return { era: 'modern', version: connection.protocolVersion };
}

export function withEra(server: ServerAccess, era: 'legacy'): ServerAccess {
  return { ...server, mcp: { ...server.mcp, era } };
}
