/**
 * The OAuth `state` of a sign-in to a server. It identifies workspace, server and the nonce of the grant for the redirect, which has no
 * API key. Signed with a key derived from the master key, so that a forged state reaches no workspace. The grant ensures that it is
 * used once (`mcp/oauth/sign-in.ts`).
 *
 * Form: base64url of `<expiry, base 36> <workspace> <server> <nonce>` in UTF-8, followed by its 32-byte HMAC-SHA-256.
 */
import { fromBase64Url, toBase64Url } from '../core/text/bytes.ts';
import { limits } from '../core/limits.ts';
import type { MasterKey } from './master-key.ts';

export type SignInStatePayload = { workspace: string; server: string; nonce: string; expiresAt: number };

/** Returns 144 random bits, which cannot be guessed. */
export function createSignInNonce(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(18)));
}

/** Creates a state. Throws `not_configured` without a master key. */
export async function mintSignInState(master: MasterKey, { workspace, server, nonce, expiresAt }: SignInStatePayload): Promise<string> {
  const payload = new TextEncoder().encode(`${expiresAt.toString(36)} ${workspace} ${server} ${nonce}`);
  const state = new Uint8Array(payload.byteLength + macBytes);
  state.set(payload);
  state.set(new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(master), payload)), payload.byteLength);
  return toBase64Url(state);
}

/** Returns the content of a state; null when this installation did not sign it. Does not check the expiry, which is up to the caller. */
export async function readSignInState(master: MasterKey, state: string): Promise<SignInStatePayload | null> {
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

/** Returns one key for the whole installation, since the workspace is unknown before the state is read. */
async function keyOf(master: MasterKey): Promise<CryptoKey> {
  return await master.derive('', 'sign-in');
}

/** Compares in constant time, so that timing does not reveal the position of a difference. */
function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.byteLength ^ other.byteLength;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
