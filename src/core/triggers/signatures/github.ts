/**
 * GitHub (docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries): `x-hub-signature-256: sha256=<hex>` over the body. The
 * older `x-hub-signature` (SHA-1) alone is rejected. GitHub signs no time, so repeats are detected by the delivery id.
 */
import { toHex } from '../../text/bytes.ts';
import { rejection, type SignatureScheme } from './signature-claim.ts';

export const githubScheme: SignatureScheme = {
  read(request) {
    const signature = request.header('x-hub-signature-256');
    if (!signature) return rejection(request, 'x-hub-signature-256 is missing');
    return { signed: [request.body], signatures: [signature], fault: null };
  },
  write: (digest) => `sha256=${toHex(digest)}`,
};
