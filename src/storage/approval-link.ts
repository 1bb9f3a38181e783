/**
 * The token of a link that decides one approval: whoever has it in hand may. It carries the session, the nonce that the
 * session keeps a hash of, and the time it ends, under a key derived from the master key, so that a forged one reaches no
 * session. That it is used once is the session's business. A token is never logged (`http/logged-path.ts`).
 *
 * Form: base64url of `<expiry, base 36> <session> <nonce>` in UTF-8, and 32 bytes HMAC-SHA-256 of that.
 */
import { fromBase64Url, toBase64Url } from '../core/base64url.ts';
import { limits } from '../core/limits.ts';
import type { MasterKey } from './master-key.ts';

export type ApprovalLink = { session: string; nonce: string; expiresAt: number };

/** `not_configured` without a master key. */
export async function mintToken(master: MasterKey, { session, nonce, expiresAt }: ApprovalLink): Promise<string> {
  const payload = new TextEncoder().encode(`${expiresAt.toString(36)} ${session} ${nonce}`);
  const token = new Uint8Array(payload.byteLength + macBytes);
  token.set(payload);
  token.set(await sign(master, payload), payload.byteLength);
  return toBase64Url(token);
}

/** null for what this installation never signed. One that has ended is told like any other: the caller looks at its time. */
export async function readToken(master: MasterKey, token: string): Promise<ApprovalLink | null> {
  if (token.length > limits.maxLinkTokenLength) return null;
  const bytes = fromBase64Url(token);
  if (bytes === null || bytes.byteLength <= macBytes) return null;
  const payload = bytes.subarray(0, bytes.byteLength - macBytes);
  if (!equalBytes(await sign(master, payload), bytes.subarray(payload.byteLength))) return null;
  const [expiry = '', session = '', nonce = ''] = new TextDecoder().decode(payload).split(' ');
  return { session, nonce, expiresAt: Number.parseInt(expiry, 36) };
}

const macBytes = 32;

/** One key for the whole installation: a workspace is not known before the token is read. No workspace has an empty name. */
async function sign(master: MasterKey, payload: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await master.derive('', 'approval-link'), payload));
}

/** In constant time: where a guess goes wrong is not told. */
function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.byteLength ^ other.byteLength;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
