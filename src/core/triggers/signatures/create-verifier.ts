/** Creates the verifier of a webhook's scheme, and validates secrets. */
import type { WebhookDocument } from '../webhook.ts';
import { createBearerVerifier, githubScheme, hmacScheme, slackScheme, standardKey, standardScheme, stripeScheme } from './schemes.ts';
import {
  createClaimVerifier,
  type SentHead,
  type SignatureScheme,
  createDigests,
  type Verifier,
} from '../../signatures/signature-claim.ts';

/** Throws for secrets that `secretFault` rejects, and for an empty list, so that a webhook without a secret never accepts a request. */
export function createVerifier(webhook: Pick<WebhookDocument, 'scheme' | 'hmac' | 'bearer'>, secrets: readonly string[]): Verifier {
  const { scheme, hmac } = webhook;
  if (secrets.length === 0) throw new Error('A webhook without a secret cannot be verified.');
  for (const secret of secrets) {
    const fault = secretFault(scheme, secret);
    if (fault !== null) throw new Error(`A secret of this webhook cannot be used: ${fault}.`);
  }
  if (scheme === 'bearer') return createBearerVerifier(webhook.bearer, secrets);
  const keys = secrets.map((secret) => keyOf(scheme, secret));
  return createClaimVerifier(createDigests(hmac?.algorithm ?? 'sha256', keys), schemeOf(webhook));
}

/** Returns the headers of a delivery as its sender makes them, with the first of the secrets. The inverse of `createVerifier`. */
export async function signDelivery(
  webhook: Pick<WebhookDocument, 'scheme' | 'hmac' | 'bearer'>,
  secrets: readonly string[],
  { body, ...head }: SentHead & { body: Uint8Array },
): Promise<Record<string, string>> {
  const [secret = ''] = secrets;
  if (webhook.scheme === 'bearer') {
    const { header = 'authorization' } = webhook.bearer ?? {};
    return { [header]: header === 'authorization' ? `Bearer ${secret}` : secret };
  }
  const scheme = schemeOf(webhook);
  const unsigned = scheme.headers({ ...head, signature: '' });
  const digests = createDigests(webhook.hmac?.algorithm ?? 'sha256', [keyOf(webhook.scheme, secret)]);
  const [digest = new Uint8Array()] = await digests(scheme.signed({ header: (name) => unsigned[name] ?? null, body }));
  return scheme.headers({ ...head, signature: scheme.write(digest) });
}

/** Returns why the secret cannot be used (an empty key, invalid base64); null: it can. */
export function secretFault(scheme: WebhookDocument['scheme'], secret: string): string | null {
  if (secret.trim() === '') return 'is empty';
  switch (scheme) {
    case 'standard':
      if (secret === 'whsec_') return 'contains only `whsec_`';
      return standardKey(secret) === null ? 'must be base64, with or without `whsec_` before it' : null;
    case 'stripe':
      return secret === 'whsec_' ? 'contains only `whsec_`' : null;
    case 'bearer':
      // Headers cannot carry other characters, and lose white space at their ends.
      return /^[!-~](?:[ -~]*[!-~])?$/.test(secret)
        ? null
        : 'must be printable ASCII without spaces at its ends, because it is sent in a header';
    case 'github':
    case 'slack':
    case 'hmac':
      return null;
    default:
      return scheme satisfies never;
  }
}

/** Shorter keys can be brute-forced by someone who has seen one delivery. */
const minKeyBytes = { standard: 24, others: 16 };

/** Returns a warning about a short secret; null: none. */
export function secretWarning(scheme: WebhookDocument['scheme'], secret: string): string | null {
  const least = scheme === 'standard' ? minKeyBytes.standard : minKeyBytes.others;
  const { byteLength } = keyOf(scheme, secret);
  return byteLength < least ? `is short (${byteLength} bytes): use ${least} random bytes or more` : null;
}

/**
 * The verifier of an unknown webhook: takes as long as a webhook with one secret on the same bytes, and never succeeds. During a rotation,
 * each further secret costs one more HMAC (under a millisecond per megabyte); hiding that would make every delivery pay for five.
 */
export function createDecoyVerifier(): Verifier {
  // Nothing matches, so the key may be public.
  const digests = createDigests('sha256', [new Uint8Array(32)]);
  return createClaimVerifier(digests, {
    signed: ({ body }) => [body],
    read: ({ header }) => ({ signatures: [header('webhook-signature') ?? ''], fault: 'the webhook does not exist' }),
    write: standardScheme.write,
    headers: standardScheme.headers,
  });
}

function keyOf(scheme: WebhookDocument['scheme'], secret: string): Uint8Array {
  return (scheme === 'standard' ? standardKey(secret) : null) ?? new TextEncoder().encode(secret);
}

const ownSchemes = { standard: standardScheme, github: githubScheme, stripe: stripeScheme, slack: slackScheme };

/** Throws for `bearer`, which signs nothing. */
export function schemeOf({ scheme, hmac }: Pick<WebhookDocument, 'scheme' | 'hmac'>): SignatureScheme {
  if (scheme === 'bearer') throw new Error('The scheme bearer has no signatures.');
  if (scheme !== 'hmac') return ownSchemes[scheme];
  if (hmac === undefined) throw new Error('A webhook with scheme hmac requires its settings.');
  return hmacScheme(hmac);
}
