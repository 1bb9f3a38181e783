/**
 * Slack (api.slack.com/authentication/verifying-requests-from-slack): `x-slack-signature: v0=<hex>` over `v0:{timestamp}:{body}` with the
 * raw body.
 */
import { toHex } from '../../text/bytes.ts';
import { rejection, type SignatureScheme } from './signature-claim.ts';
import { timeFault } from './signed-time.ts';
import type { SignedRequest } from './verifier.ts';

export const slackScheme: SignatureScheme = {
  read(request) {
    const signature = request.header('x-slack-signature');
    if (!signature) return rejection(request, 'x-slack-signature is missing');
    const fault = timeFault(request.header('x-slack-request-timestamp'), request.now);
    return { signed: slackSigned(request), signatures: [signature], fault };
  },
  write: (digest) => `v0=${toHex(digest)}`,
};

export function slackSigned({ header, body }: Pick<SignedRequest, 'header' | 'body'>): (string | Uint8Array)[] {
  return [`v0:${header('x-slack-request-timestamp') ?? ''}:`, body];
}
