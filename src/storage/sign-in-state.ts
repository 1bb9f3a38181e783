/**
 * The `state` that goes with a person to an authorization server and comes back with them: it tells workspace and server, and the nonce
 * that the grant keeps, to a request that has no key. Signed under a key derived from the master key, so that a forged one reaches no
 * workspace. That it is used once is the grant's business (`mcp/oauth/sign-in.ts`).
 *
 * Form: base64url of `<expiry, base 36> <workspace> <server> <nonce>` in UTF-8, and 32 bytes HMAC-SHA-256 of that.
 */
import { fromBase64Url, toBase64Url } from '../core/base64url.ts';
import { limits } from '../core/limits.ts';
import type { MasterKey } from './master-key.ts';

export type SignInState = { workspace: string; server: string; nonce: string; expiresAt: number };

/** 144 bits: what comes back is known from whatever anyone could guess. */
export function createNonce(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(18)));
}

/** `not_configured` without a master key. */
export async function mintState(master: MasterKey, { workspace, server, nonce, expiresAt }: SignInState): Promise<string> {
  const payload = new TextEncoder().encode(`${expiresAt.toString(36)} ${workspace} ${server} ${nonce}`);
  const state = new Uint8Array(payload.byteLength + macBytes);
  state.set(payload);
  state.set(new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(master), payload)), payload.byteLength);
  return toBase64Url(state);
}

/** null for what this installation never signed. One that has ended is told like any other: the caller looks at its time. */
export async function readState(master: MasterKey, state: string): Promise<SignInState | null> {
  if (state.length > limits.maxLinkTokenLength) return null;
  const bytes = fromBase64Url(state);
  if (bytes === null || bytes.byteLength <= macBytes) return null;
  const payload = bytes.slice(0, bytes.byteLength - macBytes);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(master), payload));
  if (!equalBytes(mac, bytes.subarray(payload.byteLength))) return null;
  const [expiry = '', workspace = '', server = '', nonce = ''] = new TextDecoder().decode(payload).split(' ');
  return { workspace, server, nonce, expiresAt: Number.parseInt(expiry, 36) };
}

const macBytes = 32;

/** One key for the whole installation: a workspace is not known before the state is read. */
async function keyOf(master: MasterKey): Promise<CryptoKey> {
  return await master.derive('', 'sign-in');
}

/** In constant time: where a guess goes wrong is not told. */
function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.byteLength ^ other.byteLength;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
