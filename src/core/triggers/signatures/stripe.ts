/**
 * Stripe (docs.stripe.com/webhooks/signature): `stripe-signature: t=<seconds>,v1=<hex>,…` over `{t}.{body}`. Any `v1` may match; `v0`
 * belongs to test mode and never counts. The secret is used as written, with its `whsec_`.
 */
import { toHex } from '../../text/bytes.ts';
import { type SignatureClaim, rejection, type SignatureScheme } from './signature-claim.ts';
import { timeFault } from './signed-time.ts';
import type { SignedRequest } from './verifier.ts';

export const stripeScheme: SignatureScheme = { read, write: toHex };

export function stripeSigned({ header, body }: Pick<SignedRequest, 'header' | 'body'>): (string | Uint8Array)[] {
  return [`${elementsOf(header('stripe-signature') ?? '').time}.`, body];
}

function read(request: SignedRequest): SignatureClaim {
  const header = request.header('stripe-signature');
  if (!header) return rejection(request, 'stripe-signature is missing');
  const { time, signatures } = elementsOf(header);
  return { signed: [`${time}.`, request.body], signatures, fault: timeFault(time, request.now) };
}

/** The last of several times counts, as in Stripe's library. */
function elementsOf(header: string): { time: string; signatures: string[] } {
  let time = '';
  const signatures: string[] = [];
  for (const element of header.split(',')) {
    const [name, value = ''] = element.split('=', 2);
    if (name === 't') time = value;
    else if (name === 'v1' && value !== '') signatures.push(value);
  }
  return { time, signatures };
}
