/**
 * Cached connection data of servers in the memory of an isolate, which saves the next request a handshake. Each entry belongs to one
 * conversation and one version of a server's document, so conversations never share a session. Bounded: the least recently used entry is
 * evicted, and the server expires its session.
 */
import { setNewest } from '../../core/memoize.ts';
import type { ServerAccess } from '../../core/servers/server.ts';

/** Connection state cached in an isolate, one per conversation with a server. */
const maxCachedConnections = 2_000;

/** `sessionId` `''`: the server uses no session ids. `logLevel`, `rootsChanges`: what the session was told (`session-settings.ts`). */
export type NegotiatedConnection =
  | { era: 'modern'; version: string }
  | { era: 'legacy'; version: string; sessionId: string; logLevel?: string; rootsChanges?: number };

export class ConnectionMemory {
  readonly #connections = new Map<string, NegotiatedConnection>();

  get(key: string): NegotiatedConnection | null {
    const found = this.#connections.get(key);
    if (found === undefined) return null;
    this.set(key, found);
    return found;
  }

  set(key: string, connection: NegotiatedConnection): void {
    setNewest(this.#connections, key, connection, maxCachedConnections);
  }

  /** Removes the entry only if it is still the one that was used: another call may have reconnected meanwhile. */
  forget(key: string, used: NegotiatedConnection): void {
    if (this.#connections.get(key) === used) this.#connections.delete(key);
  }
}

/** `capabilities`: those declared at the start of a session, which apply to all of it. */
export function memoryKey(
  { name, url, version, mcp }: Pick<ServerAccess, 'name' | 'url' | 'version' | 'mcp'>,
  conversation: string,
  capabilities: unknown,
): string {
  return JSON.stringify([conversation, name, url, version, mcp?.era ?? 'auto', capabilities]);
}
