/**
 * Providers of clouds: what their documents need besides a URL, the JSON forms of their credentials, and which API a model has.
 * Sources: "credential_process" of the AWS CLI for access keys, the JSON of `az ad sp create-for-rbac --json-auth` for clients of Entra ID,
 * and the key files of Google service accounts. `providers/clouds/` sends the requests.
 */
import { z } from 'zod';
import type { ProviderPlace } from '../names/provider-kind.ts';
import { tryParse } from '../json/wire-value.ts';

export const cloudKinds = ['azure-openai', 'bedrock', 'vertex'] as const;
type CloudKind = (typeof cloudKinds)[number];

/** The only URL that exchanges the assertions of service accounts, whatever a key file says. */
export const googleTokenUrl = 'https://oauth2.googleapis.com/token';

/** The sign-in hosts of Entra ID, and the scope of its models in each of Microsoft's clouds. */
export const entraScopes: Readonly<Record<string, string>> = {
  'https://login.microsoftonline.com': 'https://cognitiveservices.azure.com/.default',
  'https://login.microsoftonline.us': 'https://cognitiveservices.azure.us/.default',
  'https://login.partner.microsoftonline.cn': 'https://cognitiveservices.azure.cn/.default',
};

const text = z.string().min(1).max(8192);
const keys = {
  bedrock: z.looseObject({
    AccessKeyId: z.string().regex(/^\w{16,128}$/),
    SecretAccessKey: text,
    SessionToken: text.regex(/^[\x21-\x7e]+$/).nullish(),
  }),
  'azure-openai': z.looseObject({
    tenantId: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/),
    clientId: text,
    clientSecret: text,
    activeDirectoryEndpointUrl: z
      .enum(Object.keys(entraScopes), { error: `must be one of ${Object.keys(entraScopes).join(', ')}` })
      .optional(),
  }),
  vertex: z.looseObject({
    type: z.literal('service_account', { error: 'must be service_account' }),
    client_email: text,
    private_key: text,
    private_key_id: text.optional(),
    token_uri: z.literal(googleTokenUrl, { error: `must be ${googleTokenUrl}` }).optional(),
    universe_domain: z.literal('googleapis.com', { error: 'must be googleapis.com' }).optional(),
  }),
};

export type AwsKey = z.infer<typeof keys.bedrock>;
export type EntraKey = z.infer<(typeof keys)['azure-openai']>;
export type GoogleKey = z.infer<typeof keys.vertex>;

/** `key` absent: the headers of the access have the key. One object for as long as the provider is cached: tokens are cached by it. */
export type CloudAccess = { apiVersion?: string | undefined } & (
  | { kind: 'bedrock'; region: string; key?: AwsKey }
  | { kind: 'azure-openai'; key?: EntraKey }
  | { kind: 'vertex'; key?: GoogleKey }
);

/** Returns the values of credentials that must not be shown. The others are names. */
export function secretsInKey(key: AwsKey | EntraKey | GoogleKey): string[] {
  const { SecretAccessKey, SessionToken, clientSecret, private_key: privateKey } = key as Readonly<Record<string, unknown>>;
  return [SecretAccessKey, SessionToken, clientSecret, privateKey].filter((value) => typeof value === 'string');
}

/** Returns null for a key that is a text; otherwise the credentials, or the reason why they cannot be used. */
function readKey<Kind extends CloudKind>(kind: Kind, key: string): { key: z.infer<(typeof keys)[Kind]> } | { fault: string } | null {
  if (!key.trimStart().startsWith('{')) return null;
  const parsed = keys[kind].safeParse(tryParse(key));
  // The schema of the kind.
  if (parsed.success) return { key: parsed.data as z.infer<(typeof keys)[Kind]> };
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? 'it is not valid JSON' : `${path.join('.')}: ${message}`,
  );
  return { fault: faults.slice(0, 5).join('; ') };
}

/** Returns what requests to the cloud need; null: the provider is not one of a cloud. `fault`: why its key cannot be used. */
export function readCloud(place: ProviderPlace, key: string | null): { cloud: CloudAccess } | { fault: string } | null {
  const { kind, region = '', apiVersion } = place;
  if (!isCloud(kind)) return null;
  const read = key === null ? null : readKey(kind, key);
  if (read !== null && 'fault' in read) return read;
  // Each kind has the schema of its key.
  return { cloud: { kind, region, apiVersion, ...read } as CloudAccess };
}

export function isCloud(kind: string): kind is CloudKind {
  return (cloudKinds as readonly string[]).includes(kind);
}

const members = { region: ['bedrock', 'vertex'], project: ['vertex'], apiVersion: ['azure-openai'] } as const;

/** Returns what is wrong with the members of clouds in a document. */
export function cloudFaults(provider: ProviderPlace & { apiKey?: string | undefined }): { path: string; message: string }[] {
  const { kind, apiKey } = provider;
  const faults = (['region', 'project', 'apiVersion'] as const)
    .filter((member) => provider[member] !== undefined && !(members[member] as readonly string[]).includes(kind))
    .map((path) => ({ path: path as string, message: `is only for providers of kind ${members[path].join(' and ')}` }));
  if (kind === 'bedrock' && provider.region === undefined) faults.push({ path: 'region', message: 'is required for this kind' });
  if (apiKey === undefined || !apiKey.trimStart().startsWith('{')) return faults;
  const read = isCloud(kind) ? readKey(kind, apiKey) : { fault: 'JSON is only for kinds azure-openai, bedrock and vertex' };
  if (read !== null && 'fault' in read) faults.push({ path: 'apiKey', message: `cannot be used: ${read.fault}` });
  return faults;
}

/** A model of Vertex AI under any of its names. `name`: without `google/`, `anthropic/` and what comes before; null publisher: an endpoint. */
export function vertexModel(model: string): { publisher: string | null; name: string } {
  const endpoint = /(?:^|\/)endpoints\/[^/]+$/.exec(model)?.[0].replace(/^\//, '');
  if (endpoint !== undefined) return { publisher: null, name: endpoint };
  const parts = model.split('/').filter((part) => part !== 'publishers' && part !== 'models');
  const last = parts.at(-1) ?? model;
  const publisher = parts.at(-2) ?? (/^claude/i.test(last) ? 'anthropic' : 'google');
  return { publisher, name: publisher === 'google' || publisher === 'anthropic' ? last : model };
}

/** Models whose bodies on Bedrock are those of the Messages API, by `InvokeModel`; others have `Converse`. */
export function isBedrockClaude(model: string): boolean {
  return /(^|[./])anthropic\.claude/i.test(model);
}
