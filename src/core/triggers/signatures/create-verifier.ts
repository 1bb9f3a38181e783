/** The verifier of a webhook's scheme, and what is wrong with a secret before anything is verified with it. */
import type { WebhookDocument } from '../webhook.ts';
import { createBearerVerifier } from './bearer.ts';
import { createClaimVerifier, type Scheme } from './claim.ts';
import { githubScheme } from './github.ts';
import { hmacScheme } from './hmac.ts';
import { createDigests } from './hmac-keys.ts';
import { slackScheme } from './slack.ts';
import { standardKey, standardScheme } from './standard.ts';
import { stripeScheme } from './stripe.ts';
import type { Verifier } from './verifier.ts';

/** Secrets that `secretFault` has nothing against; throws on others, and on none at all: nothing is ever let pass for want of a secret. */
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

/** Why nothing can be verified with this secret (an empty key, no base64); null: it can. */
export function secretFault(scheme: WebhookDocument['scheme'], secret: string): string | null {
  if (secret.trim() === '') return 'is empty';
  switch (scheme) {
    case 'standard':
      if (secret === 'whsec_') return 'is empty but for `whsec_`';
      return standardKey(secret) === null ? 'must be base64, with or without `whsec_` before it' : null;
    case 'stripe':
      return secret === 'whsec_' ? 'is empty but for `whsec_`' : null;
    case 'bearer':
      // Headers carry nothing else unchanged, and lose white space at their ends.
      return /^[!-~](?:[ -~]*[!-~])?$/.test(secret) ? null : 'must be printable ASCII without spaces at its ends: it travels in a header';
    case 'github':
    case 'slack':
    case 'hmac':
      return null;
    default:
      return scheme satisfies never;
  }
}

/** Shorter ones can be tried out by whoever has seen one delivery. */
const minKeyBytes = { standard: 24, others: 16 };

/** What is to be said of a secret that works: it is short. null: nothing. */
export function secretWarning(scheme: WebhookDocument['scheme'], secret: string): string | null {
  const least = scheme === 'standard' ? minKeyBytes.standard : minKeyBytes.others;
  const { byteLength } = keyOf(scheme, secret);
  return byteLength < least ? `is short (${byteLength} bytes): take ${least} random bytes or more` : null;
}

/**
 * For a name that there is not: takes as long as a webhook with one secret over the same bytes, and never agrees. Each further secret costs one
 * more HMAC (under a millisecond for a megabyte) while it is rotated; to hide that, every delivery would have to pay for five.
 */
export function createStrangerVerifier(): Verifier {
  // Nobody can agree with it, so its key may be known.
  const digests = createDigests('sha256', [new Uint8Array(32)]);
  return createClaimVerifier(digests, {
    read: ({ header, body }) => ({ signed: [body], signatures: [header('webhook-signature') ?? ''], fault: 'there is no such webhook' }),
    write: (digest) => standardScheme.write(digest),
  });
}

function keyOf(scheme: WebhookDocument['scheme'], secret: string): Uint8Array {
  return (scheme === 'standard' ? standardKey(secret) : null) ?? new TextEncoder().encode(secret);
}

function schemeOf({ scheme, hmac }: Pick<WebhookDocument, 'scheme' | 'hmac'>): Scheme {
  switch (scheme) {
    case 'standard':
      return standardScheme;
    case 'github':
      return githubScheme;
    case 'stripe':
      return stripeScheme;
    case 'slack':
      return slackScheme;
    case 'hmac':
      if (hmac === undefined) throw new Error('A webhook of scheme hmac needs its settings.');
      return hmacScheme(hmac);
    case 'bearer':
      throw new Error('Nothing is signed in the scheme bearer.');
    default:
      return scheme satisfies never;
  }
}
