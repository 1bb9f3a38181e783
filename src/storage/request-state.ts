/**
 * Signed state that MCP clients carry: the `requestState` of a question (`engine/mcp/serve-state.ts`) and the ids of MCP sessions.
 * HMAC-SHA-256 under keys derived for the workspace, so that a forged value is detected without I/O. Signed, not encrypted: it has
 * nothing that the client may not read.
 *
 * Form: `<base64url of the payload>.<base64url of 32 bytes>`.
 */
import { fromBase64Url, toBase64Url } from '../core/text/bytes.ts';
import { isRecord } from '../core/json/wire-value.ts';
import type { ServedState, StateSeal } from '../engine/mcp/serve-state.ts';
import type { KeyPurpose, MasterKey } from './master-key.ts';

export function createStateSeal(master: MasterKey): StateSeal {
  return {
    async seal(workspace, state) {
      const payload = toBase64Url(new TextEncoder().encode(JSON.stringify(state)));
      return `${payload}.${await macOf(master, workspace, 'request-state', payload)}`;
    },
    async open(workspace, text) {
      const [payload = '', mac = '', ...rest] = text.split('.');
      const bytes = fromBase64Url(payload);
      if (bytes === null || rest.length > 0 || !equalTexts(mac, await macOf(master, workspace, 'request-state', payload))) return null;
      const state: unknown = JSON.parse(new TextDecoder().decode(bytes));
      // Signed here, so it was written by `seal`.
      return isRecord(state) ? (state as ServedState) : null;
    },
  };
}

/** The owner of a session; it is part of the signed id and is not looked up. `target`: as in `ServedState`. */
export type McpSessionOwner = { workspace: string; keyId: string; target: string | null };

export interface McpSessionIds {
  /** `nonce`: unguessable, of letters, digits and `_`. */
  mint(owner: McpSessionOwner, nonce: string): Promise<string>;
  /** Returns the nonce; null when the id is invalid or of another owner. */
  readNonce(owner: McpSessionOwner, id: string): Promise<string | null>;
}

export function createMcpSessionIds(master: MasterKey): McpSessionIds {
  const sign = ({ workspace, keyId, target }: McpSessionOwner, nonce: string) =>
    macOf(master, workspace, 'mcp-session', JSON.stringify([keyId, target, nonce]));
  return {
    mint: async (owner, nonce) => `${nonce}.${await sign(owner, nonce)}`,
    async readNonce(owner, id) {
      const match = id.length > maxSessionIdLength ? null : /^([A-Za-z0-9_]+)\.([A-Za-z0-9_-]+)$/.exec(id);
      const [, nonce, mac] = match ?? [];
      if (nonce === undefined || mac === undefined) return null;
      return equalTexts(mac, await sign(owner, nonce)) ? nonce : null;
    },
  };
}

/** Longer than any id that `mint` creates. */
const maxSessionIdLength = 256;

async function macOf(master: MasterKey, workspace: string, purpose: KeyPurpose, text: string): Promise<string> {
  const key = await master.derive(workspace, purpose);
  return toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))));
}

/** Compares in constant time, so that timing does not reveal the position of a difference. */
function equalTexts(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index % (other.length || 1));
  return difference === 0;
}
