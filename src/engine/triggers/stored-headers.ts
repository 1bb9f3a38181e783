/**
 * The headers of a delivery that filters and templates see and that are stored with its payload. Excludes credentials of the sender (above
 * all a bearer secret) and headers that the platform adds in transport.
 */
import type { WebhookDocument } from '../../core/triggers/webhook.ts';

/** Headers that templates and filters see, and that are stored: their number, and the characters of names and values together. */
export const maxStoredHeaders = 64;
export const maxKeptHeaderCharacters = 16_000;

/** Keyed by lower-case name. Headers beyond `limits.maxKeptHeaders` or `maxKeptHeaderCharacters` are dropped, in the order of names. */
export function storedHeaders(
  webhook: Pick<WebhookDocument, 'hmac' | 'bearer'>,
  headers: Iterable<readonly [name: string, value: string]>,
): Record<string, string> {
  const own = new Set([webhook.hmac?.header, webhook.bearer?.header]);
  const kept: [name: string, value: string][] = [];
  let characters = 0;
  for (const [name, value] of headers) {
    if (own.has(name) || proofs.test(name) || transport.test(name)) continue;
    characters += name.length + value.length;
    if (kept.length >= maxStoredHeaders || characters > maxKeptHeaderCharacters) break;
    kept.push([name, value]);
  }
  // `fromEntries` instead of assignment, since a header may be called `__proto__`.
  return Object.fromEntries(kept);
}

const proofs = /authorization|cookie|signature|token|secret|password|api-?key|credential/;
const transport =
  /^(?:cf-|x-forwarded|x-real-ip|forwarded$|via$|connection$|host$|content-length$|transfer-encoding$|expect$|true-client-ip$)/;
