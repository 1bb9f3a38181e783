/**
 * The wires that a provider may speak, and what follows from the choice alone: where its requests go when nothing else is said,
 * and in which header its key stands. Adapters live in `src/providers/`.
 */
import { z } from 'zod';

export const ProviderKind = z
  .enum(['openai', 'openai-compatible', 'openai-responses', 'anthropic', 'gemini', 'cohere'])
  .meta({ id: 'ProviderKind' });
export type ProviderKind = z.infer<typeof ProviderKind>;

/** Everything before the path that the adapter adds; null: no provider of this kind is the usual one. */
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

/** Where a provider's requests go, without a slash at the end. Of a kind without a usual place the document must name one. */
export function providerBaseUrl({ kind, baseUrl }: { kind: ProviderKind; baseUrl?: string | undefined }): string {
  const url = baseUrl ?? defaultBaseUrl(kind);
  if (url === null) throw new TypeError(`a provider of kind ${kind} has no address of its own`);
  return url.replace(/\/+$/, '');
}

/**
 * The headers by which a provider knows its customer. Anthropic: API reference, "Authentication" (its OAuth tokens are bearers);
 * Google AI takes `x-goog-api-key`, Vertex AI an access token as a bearer, or an express key as Google AI does.
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
