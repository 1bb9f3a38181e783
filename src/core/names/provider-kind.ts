/**
 * The provider kinds: the wire protocol of each, and the defaults that follow from it. `src/providers/registry.ts` has the adapter of each
 * kind.
 */
import * as z from 'zod';

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
    credentials: (key, baseUrl) => (isVertex(baseUrl) && !isExpressKey(key) ? bearer(key) : { 'x-goog-api-key': key }),
  },
  cohere: { baseUrl: 'https://api.cohere.com/v2', credentials: bearer },
  /** The key of a resource; tokens of Entra ID are bearers (`providers/clouds/bearer-tokens.ts`). */
  'azure-openai': { baseUrl: null, credentials: (key) => ({ 'api-key': key }) },
  /** A Bedrock API key is a bearer; access keys sign requests (`providers/clouds/send-to-cloud.ts`). */
  bedrock: { baseUrl: null, credentials: bearer },
  vertex: {
    baseUrl: null,
    credentials: (key) => (isExpressKey(key) ? { 'x-goog-api-key': key } : bearer(key)),
  },
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

/** The members of a provider that say where it is. `apiVersion`: of Azure; absent, or `v1`: without versions by date. */
export type ProviderPlace = {
  kind: ProviderKind;
  baseUrl?: string | undefined;
  region?: string | undefined;
  project?: string | undefined;
  apiVersion?: string | undefined;
};

/** Returns the base URL of a provider, without a trailing slash; null if the document does not say it, for a kind without a default. */
export function knownBaseUrl(place: ProviderPlace): string | null {
  const url = (place.baseUrl ?? defaultBaseUrl(place.kind) ?? cloudUrl(place))?.replace(/\/+$/, '') ?? null;
  if (url === null || place.kind !== 'azure-openai') return url;
  return `${url.replace(/\/openai(\/v1)?$/, '')}/openai${isDatedVersion(place.apiVersion) ? '' : '/v1'}`;
}

export function providerBaseUrl(place: ProviderPlace): string {
  const url = knownBaseUrl(place);
  if (url === null) throw new TypeError(`a provider of kind ${place.kind} needs a baseUrl`);
  return url;
}

/** Azure: versions by date have the deployment in the path (reference "Azure OpenAI REST API"). */
export function isDatedVersion(version: string | undefined): version is string {
  return version !== undefined && /^\d/.test(version);
}

/** References "Amazon Bedrock endpoints" and "Vertex AI locations" (`us` and `eu` are multi-regions). */
function cloudUrl({ kind, region, project }: ProviderPlace): string | null {
  if (kind === 'bedrock' && region !== undefined)
    return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  if (kind !== 'vertex' || project === undefined) return null;
  const location = region ?? 'global';
  const host = /^(us|eu)$/.test(location) ? `aiplatform.${location}.rep` : location === 'global' ? 'aiplatform' : `${location}-aiplatform`;
  return `https://${host}.googleapis.com/v1/projects/${project}/locations/${location}`;
}

export function credentialHeaders(kind: ProviderKind, baseUrl: string, key: string): Record<string, string> {
  return kinds[kind].credentials(key, baseUrl);
}

function isExpressKey(key: string): boolean {
  return key.startsWith('AIza') || key.startsWith('AQ.');
}

function isVertex(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(^|[.-])aiplatform\.googleapis\.com$/.test(new URL(baseUrl).hostname);
}
