/**
 * The provider kinds: the wire protocol of each, and the defaults that follow from it. `src/providers/registry.ts` has the adapter of each
 * kind.
 */
import { z } from 'zod';

type Kind = {
  /** The URL before the path that the adapter adds; null: this kind has no default provider. */
  baseUrl: string | null;
  /** Returns the headers that authenticate with a provider. */
  credentials(key: string, baseUrl: string): Record<string, string>;
};

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

const kinds = {
  openai: { baseUrl: 'https://api.openai.com/v1', credentials: bearer },
  'openai-compatible': { baseUrl: null, credentials: bearer },
  'openai-responses': { baseUrl: 'https://api.openai.com/v1', credentials: bearer },
  /** API reference, "Authentication": its OAuth tokens are bearers. */
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    credentials: (key) => (key.startsWith('sk-ant-oat') ? bearer(key) : { 'x-api-key': key }),
  },
  /** Google AI accepts `x-goog-api-key`; Vertex AI an access token as a bearer, or an express key like Google AI. */
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    credentials: (key, baseUrl) =>
      isVertex(baseUrl) && !key.startsWith('AIza') && !key.startsWith('AQ.') ? bearer(key) : { 'x-goog-api-key': key },
  },
  cohere: { baseUrl: 'https://api.cohere.com/v2', credentials: bearer },
  /** A server on this machine needs no key; ollama.com does (docs/api/authentication.mdx). */
  ollama: { baseUrl: 'http://127.0.0.1:11434', credentials: bearer },
} as const satisfies Record<string, Kind>;

// `Object.keys` loses the names' types.
export const ProviderKind = z.enum(Object.keys(kinds) as (keyof typeof kinds)[]).meta({ id: 'ProviderKind' });
export type ProviderKind = z.infer<typeof ProviderKind>;
/** For the console, which shows them: the compiler compares its list with these. */
export type DefaultBaseUrls = { [Kind in ProviderKind]: (typeof kinds)[Kind]['baseUrl'] };

export function defaultBaseUrl(kind: ProviderKind): string | null {
  return kinds[kind].baseUrl;
}

/** Returns the base URL of a provider, without a trailing slash. For a kind without a default the document must set one. */
export function providerBaseUrl({ kind, baseUrl }: { kind: ProviderKind; baseUrl?: string | undefined }): string {
  const url = baseUrl ?? defaultBaseUrl(kind);
  if (url === null) throw new TypeError(`a provider of kind ${kind} needs a baseUrl`);
  return url.replace(/\/+$/, '');
}

export function credentialHeaders(kind: ProviderKind, baseUrl: string, key: string): Record<string, string> {
  return kinds[kind].credentials(key, baseUrl);
}

function isVertex(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(^|[.-])aiplatform\.googleapis\.com$/.test(new URL(baseUrl).hostname);
}
