/**
 * How servers were spoken with last, in an isolate's memory: plain data, with which the next request needs no handshake. Each entry
 * belongs to one conversation and one version of a server's document, so nobody gets into another's session. Bounded: the one that was
 * not used for longest goes first, and its session ends when its server thinks so.
 */
import type { ServerAccess } from '../../core/servers/server.ts';
import { limits } from '../../core/limits.ts';

/** `sessionId` `''`: the server gives none. */
export type KeptConnection = { era: 'modern'; version: string } | { era: 'legacy'; version: string; sessionId: string };

export class ConnectionMemory {
  readonly #kept = new Map<string, KeptConnection>();

  get(key: string): KeptConnection | null {
    const found = this.#kept.get(key);
    if (found === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found;
  }

  set(key: string, connection: KeptConnection): void {
    this.#kept.delete(key);
    this.#kept.set(key, connection);
    const oldest = this.#kept.size > limits.maxKeptConnections ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Only if it is still the one that was used: another call may have begun anew meanwhile. */
  forget(key: string, used: KeptConnection): void {
    if (this.#kept.get(key) === used) this.#kept.delete(key);
  }
}

/** `capabilities`: what the server was told at the beginning of a session, which holds for all of it. */
export function memoryKey(
  { name, url, version, mcp }: Pick<ServerAccess, 'name' | 'url' | 'version' | 'mcp'>,
  conversation: string,
  capabilities: unknown,
): string {
  return JSON.stringify([conversation, name, url, version, mcp?.era ?? 'auto', capabilities]);
}
