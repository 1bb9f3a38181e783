/**
 * Values that clients carry and this installation signs: tokens of approval links, the OAuth `state` of sign-ins, the `requestState` of MCP
 * questions (`engine/mcp/serve-state.ts`), and ids of MCP sessions. HMAC-SHA-256 under a key derived for each purpose, so that a forged
 * value is detected without I/O. Signed, not encrypted: they have nothing that the client may not read. The store of a nonce ensures that
 * its value is used once. They are never logged (`http/logged-path.ts`).
 */
import { equalInConstantTime } from '../../core/constant-time.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Origin, SignInState } from '../../core/people/principal.ts';
import { fromBase64Url, joinBytes, toBase64Url } from '../../core/text/bytes.ts';
import type { ServedState, StateSeal } from '../../engine/mcp/serve-state.ts';
import { macOf, macSigner, type KeyPurpose, type MasterKey } from './master-key.ts';

/** Authorizes one decision. The session stores a hash of the nonce. */
export type ApprovalLinkToken = { session: string; nonce: string; expiresAt: number; origin: Origin };

export const createApprovalLinks = (master: MasterKey) => ({
  mint: (link: ApprovalLinkToken) => mintApprovalToken(master, link),
  read: (token: string) => readApprovalToken(master, token),
});

/** Throws `not_configured` without a master key. */
export async function mintApprovalToken(master: MasterKey, { session, nonce, expiresAt, origin }: ApprovalLinkToken): Promise<string> {
  return await mintToken(master, 'approval-link', expiresAt, [session, nonce, ...originParts(origin)]);
}

/** Returns null when this installation did not sign it. Does not check the expiry, which is up to the caller. */
export async function readApprovalToken(master: MasterKey, token: string): Promise<ApprovalLinkToken | null> {
  const read = await readToken(master, 'approval-link', token);
  if (read === null) return null;
  const [session = '', nonce = '', ...origin] = read.parts;
  return { session, nonce, expiresAt: read.expiresAt, origin: readOrigin(origin) };
}

/** Returns 144 random bits, which cannot be guessed. */
export function createSignInNonce(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(18)));
}

/** Throws `not_configured` without a master key. */
export async function mintSignInState(master: MasterKey, state: SignInState): Promise<string> {
  const { workspace, server, nonce, expiresAt, owner, browser, origin } = state;
  return await mintToken(master, 'sign-in', expiresAt, [workspace, server, nonce, owner ?? '', browser ?? '', ...originParts(origin)]);
}

/** Returns null when this installation did not sign it. Does not check the expiry, which is up to the caller. */
export async function readSignInState(master: MasterKey, state: string): Promise<SignInState | null> {
  const read = await readToken(master, 'sign-in', state);
  if (read === null) return null;
  const [workspace = '', server = '', nonce = '', owner = '', browser = '', ...origin] = read.parts;
  const who = { owner: owner || null, browser: browser || null, origin: readOrigin(origin) };
  return { workspace, server, nonce, expiresAt: read.expiresAt, ...who };
}

export function createStateSeal(master: MasterKey): StateSeal {
  const sealed = createJsonSeal(master, 'request-state');
  return {
    seal: sealed.seal,
    // Signed here, so it was written by `seal`.
    open: async (workspace, text) => (await sealed.open(workspace, text)) as ServedState | null,
  };
}

/** Signs JSON objects. Form: `<base64url of the JSON>.<base64url of 32 bytes>`. `open` returns null if this installation did not sign it. */
export function createJsonSeal(master: MasterKey, purpose: KeyPurpose) {
  const sign = async (workspace: string, payload: string) => toBase64Url(await macOf(master, workspace, purpose, payload));
  return {
    async seal(workspace: string, value: object): Promise<string> {
      const payload = toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
      return `${payload}.${await sign(workspace, payload)}`;
    },
    async open(workspace: string, text: string): Promise<Record<string, unknown> | null> {
      const [payload = '', mac = '', ...rest] = text.split('.');
      const bytes = fromBase64Url(payload);
      if (bytes === null || rest.length > 0) return null;
      const claim = { workspace, purpose, data: payload };
      if ((await macSigner(master, claim, (own) => equalInConstantTime(mac, toBase64Url(own)))) === null) return null;
      const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return isRecord(value) ? value : null;
    },
  };
}

/** The owner of a session; it is part of the signed id and is not looked up. `target`: as in `ServedState`. */
type McpSessionOwner = { workspace: string; keyId: string; target: string | null };

export interface McpSessionIds {
  /** `nonce`: unguessable, of letters, digits and `_`. */
  mint(owner: McpSessionOwner, nonce: string): Promise<string>;
  /** Returns the nonce; null when the id is invalid or of another owner. */
  readNonce(owner: McpSessionOwner, id: string): Promise<string | null>;
}

export function createMcpSessionIds(master: MasterKey): McpSessionIds {
  const signed = ({ keyId, target }: McpSessionOwner, nonce: string) => JSON.stringify([keyId, target, nonce]);
  return {
    mint: async (owner, nonce) => `${nonce}.${toBase64Url(await macOf(master, owner.workspace, 'mcp-session', signed(owner, nonce)))}`,
    async readNonce(owner, id) {
      const match = id.length > maxSessionIdLength ? null : /^([A-Za-z0-9_]+)\.([A-Za-z0-9_-]+)$/.exec(id);
      const [, nonce, mac] = match ?? [];
      if (nonce === undefined || mac === undefined) return null;
      const claim = { workspace: owner.workspace, purpose: 'mcp-session', data: signed(owner, nonce) } as const;
      return (await macSigner(master, claim, (own) => equalInConstantTime(mac, toBase64Url(own)))) === null ? null : nonce;
    },
  };
}

/** Longer than any id that `mint` creates. */
const maxSessionIdLength = 256;

const macBytes = 32;

/** Form: base64url of `<expiry, base 36> <part> <part>…` in UTF-8, followed by its 32-byte MAC. */
async function mintToken(master: MasterKey, purpose: KeyPurpose, expiresAt: number, parts: readonly string[]): Promise<string> {
  const payload = new TextEncoder().encode([expiresAt.toString(36), ...parts].join(' '));
  return toBase64Url(joinBytes([payload, await macOf(master, noWorkspace, purpose, payload)]));
}

async function readToken(master: MasterKey, purpose: KeyPurpose, token: string): Promise<{ expiresAt: number; parts: string[] } | null> {
  const bytes = token.length > limits.maxLinkTokenLength ? null : fromBase64Url(token);
  if (bytes === null || bytes.byteLength <= macBytes) return null;
  const payload = bytes.slice(0, -macBytes);
  const claim = { workspace: noWorkspace, purpose, data: payload };
  const signer = await macSigner(master, claim, (mac) => equalInConstantTime(token, toBase64Url(joinBytes([payload, mac]))));
  if (signer === null) return null;
  const [expiry = '', ...parts] = new TextDecoder().decode(payload).split(' ');
  return { expiresAt: Number.parseInt(expiry, 36), parts };
}

function originParts({ keyId, at, rootProof = '' }: Origin): string[] {
  return [keyId, at.toString(36), rootProof];
}

function readOrigin([keyId = '', at = '', rootProof = '']: readonly string[]): Origin {
  return { keyId, at: Number.parseInt(at, 36), ...(rootProof !== '' && { rootProof }) };
}

/** One key for the whole installation, since the workspace is unknown before the token is read. No workspace has an empty name. */
const noWorkspace = '';
