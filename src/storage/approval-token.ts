/**
 * The token of an approval link, which authorizes one decision. It has the session, the nonce, of which the session stores a hash, and
 * the expiry, signed with a key derived from the master key, so that a forged token reaches no session. The session ensures that it is
 * used once. Tokens are never logged (`http/logged-path.ts`).
 *
 * Form: base64url of `<expiry, base 36> <session> <nonce>` in UTF-8, followed by its 32-byte HMAC-SHA-256.
 */
import { fromBase64Url, toBase64Url } from '../core/text/bytes.ts';
import { limits } from '../core/limits.ts';
import type { MasterKey } from './master-key.ts';

export type ApprovalLinkToken = { session: string; nonce: string; expiresAt: number };

/** Creates a token. Throws `not_configured` without a master key. */
export async function mintApprovalToken(master: MasterKey, { session, nonce, expiresAt }: ApprovalLinkToken): Promise<string> {
  const payload = new TextEncoder().encode(`${expiresAt.toString(36)} ${session} ${nonce}`);
  const token = new Uint8Array(payload.byteLength + macBytes);
  token.set(payload);
  token.set(await sign(master, payload), payload.byteLength);
  return toBase64Url(token);
}

/** Returns the content of a token; null when this installation did not sign it. Does not check the expiry, which is up to the caller. */
export async function readApprovalToken(master: MasterKey, token: string): Promise<ApprovalLinkToken | null> {
  if (token.length > limits.maxLinkTokenLength) return null;
  const bytes = fromBase64Url(token);
  if (bytes === null || bytes.byteLength <= macBytes) return null;
  const payload = bytes.subarray(0, bytes.byteLength - macBytes);
  if (!equalBytes(await sign(master, payload), bytes.subarray(payload.byteLength))) return null;
  const [expiry = '', session = '', nonce = ''] = new TextDecoder().decode(payload).split(' ');
  return { session, nonce, expiresAt: Number.parseInt(expiry, 36) };
}

const macBytes = 32;

/** Uses one key for the whole installation, since the workspace is unknown before the token is read. No workspace has an empty name. */
async function sign(master: MasterKey, payload: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await master.derive('', 'approval-link'), payload));
}

/** Compares in constant time, so that timing does not reveal the position of a difference. */
function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.byteLength ^ other.byteLength;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
