/**
 * Standard Webhooks (github.com/standard-webhooks/standard-webhooks: spec/standard-webhooks.md), symmetric: `webhook-signature` holds
 * `v1,<base64>` elements separated by spaces, over `{webhook-id}.{webhook-timestamp}.{body}`. Used for incoming deliveries and outgoing
 * callbacks.
 */
import { fromBase64, toBase64 } from '../../text/bytes.ts';
import { type SignatureClaim, rejection, type SignatureScheme } from './signature-claim.ts';
import { createDigests } from './hmac-keys.ts';
import { timeFault } from './signed-time.ts';
import type { SignedRequest } from './verifier.ts';

export const standardScheme: SignatureScheme = { read, write: toBase64 };

/** Returns the key of a secret: base64, with or without the prefix `whsec_`. null: invalid. */
export function standardKey(secret: string): Uint8Array | null {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  // `fromBase64` accepts line breaks. A secret with a line break was pasted incorrectly, and the sender's library would reject it.
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? fromBase64(text) : null;
  return key === null || key.byteLength === 0 ? null : key;
}

export function standardSigned({ header, body }: Pick<SignedRequest, 'header' | 'body'>): (string | Uint8Array)[] {
  return [`${header('webhook-id') ?? ''}.${header('webhook-timestamp') ?? ''}.`, body];
}

/** Returns the `webhook-signature` of a message, with each of the keys. `seconds`: `webhook-timestamp`. */
export async function signStandard(
  keys: readonly Uint8Array[],
  { id, seconds, body }: { id: string; seconds: number; body: string },
): Promise<string> {
  const digests = await createDigests('sha256', keys)([`${id}.${seconds}.`, body]);
  return digests.map((digest) => `v1,${toBase64(digest)}`).join(' ');
}

function read(request: SignedRequest): SignatureClaim {
  const signature = request.header('webhook-signature');
  if (!request.header('webhook-id')) return rejection(request, 'webhook-id is missing');
  if (!signature) return rejection(request, 'webhook-signature is missing');
  return {
    signed: standardSigned(request),
    signatures: signaturesOf(signature),
    fault: timeFault(request.header('webhook-timestamp'), request.now),
  };
}

/** From `v1,a v2,b v1a,c` only `a`: `v1a` is another kind of key. A repeated header is joined by `, `, so a comma may follow. */
function signaturesOf(header: string): string[] {
  return header.split(' ').flatMap((element) => {
    const [version, signature = ''] = element.split(',', 2);
    return version === 'v1' && signature !== '' ? [signature] : [];
  });
}
