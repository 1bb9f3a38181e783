/**
 * The credentials of clouds in the JSON forms of their tools: "credential_process" of the AWS CLI for access keys, `az ad sp create-for-rbac
 * --json-auth` for clients of Entra ID, and the key files of Google service accounts. Loaded with the first provider of a cloud.
 */
import * as z from 'zod';
import { tryParse } from '../json/wire-value.ts';
import type { ProviderPlace } from '../names/provider-kind.ts';
import { type AwsKey, type CloudAccess, type CloudKind, type EntraKey, type GoogleKey, isCloud } from './cloud-access.ts';

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
