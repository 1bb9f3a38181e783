/**
 * The provider protocols and the defaults that follow from each: the base URL, and the header that carries the key. Adapters are in
 * `src/providers/`.
 */
import { z } from 'zod';

export const ProviderKind = z
  .enum(['openai', 'openai-compatible', 'openai-responses', 'anthropic', 'gemini', 'cohere'])
  .meta({ id: 'ProviderKind' });
export type ProviderKind = z.infer<typeof ProviderKind>;

/** The URL before the path that the adapter adds; null: this kind has no default provider. */
const baseUrls: Readonly<Record<ProviderKind, string | null>> = {
  openai: 'https://api.openai.com/v1',
  'openai-compatible': null,
  'openai-responses': 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  cohere: 'https://api.cohere.com/v2',
};

export function defaultBaseUrl(kind: ProviderKind): string | null {
  return baseUrls[kind];
}

/** Returns the base URL of a provider, without a trailing slash. For a kind without a default the document must set one. */
export function providerBaseUrl({ kind, baseUrl }: { kind: ProviderKind; baseUrl?: string | undefined }): string {
  const url = baseUrl ?? defaultBaseUrl(kind);
  if (url === null) throw new TypeError(`a provider of kind ${kind} needs a baseUrl`);
  return url.replace(/\/+$/, '');
}

/**
 * Returns the headers that authenticate with a provider. Anthropic: API reference, "Authentication" (its OAuth tokens are bearers);
 * Google AI accepts `x-goog-api-key`, Vertex AI an access token as a bearer, or an express key like Google AI.
 */
export function credentialHeaders(kind: ProviderKind, baseUrl: string, key: string): Record<string, string> {
  switch (kind) {
    case 'anthropic':
      return key.startsWith('sk-ant-oat') ? bearer(key) : { 'x-api-key': key };
    case 'gemini':
      return isVertex(baseUrl) && !key.startsWith('AIza') && !key.startsWith('AQ.') ? bearer(key) : { 'x-goog-api-key': key };
    case 'openai':
    case 'openai-compatible':
    case 'openai-responses':
    case 'cohere':
      return bearer(key);
    default:
      return kind satisfies never;
  }
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function isVertex(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(^|[.-])aiplatform\.googleapis\.com$/.test(new URL(baseUrl).hostname);
}
