/** The verifier of a webhook's scheme, and what is wrong with a secret before anything is verified with it. */
import type { WebhookDocument } from '../webhook.ts';
import type { Verifier } from './verifier.ts';

/** Secrets that `secretFault` has nothing against. */
export function createVerifier(_webhook: Pick<WebhookDocument, 'scheme' | 'hmac' | 'bearer'>, _secrets: readonly string[]): Verifier {
  throw new Error('not built yet');
}

/** Why nothing can be verified with this secret (an empty key, no base64); null: it can. */
export function secretFault(_scheme: WebhookDocument['scheme'], _secret: string): string | null {
  throw new Error('not built yet');
}

/** What is to be said of a secret that works: it is short. null: nothing. */
export function secretWarning(_scheme: WebhookDocument['scheme'], _secret: string): string | null {
  throw new Error('not built yet');
}

/** For a name that there is not: takes as long as a right one over the same bytes, and never agrees. */
export function createStrangerVerifier(): Verifier {
  throw new Error('not built yet');
}
