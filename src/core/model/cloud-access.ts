/** Providers of clouds: what their requests need besides a URL and headers, and which API a model has. `cloud-key.ts` reads credentials. */
import type { ProviderPlace } from '../names/provider-kind.ts';

const cloudKinds = ['azure-openai', 'bedrock', 'vertex'] as const;
export type CloudKind = (typeof cloudKinds)[number];

export type AwsKey = { AccessKeyId: string; SecretAccessKey: string; SessionToken?: string | null | undefined };
export type EntraKey = { tenantId: string; clientId: string; clientSecret: string; activeDirectoryEndpointUrl?: string | undefined };
export type GoogleKey = { client_email: string; private_key: string; private_key_id?: string | undefined };

/** `key` absent: the headers of the access have the key. One object for as long as the provider is cached: tokens are cached by it. */
export type CloudAccess = { apiVersion?: string | undefined } & (
  | { kind: 'bedrock'; region: string; key?: AwsKey }
  | { kind: 'azure-openai'; key?: EntraKey }
  | { kind: 'vertex'; key?: GoogleKey }
);

export function isCloud(kind: string): kind is CloudKind {
  return (cloudKinds as readonly string[]).includes(kind);
}

const members = { region: ['bedrock', 'vertex'], project: ['vertex'], apiVersion: ['azure-openai'] } as const;

/** Returns what is wrong with the members of clouds in a document. `cloud-key.ts` checks the key itself. */
export function cloudFaults(provider: ProviderPlace & { apiKey?: string | undefined }): { path: string; message: string }[] {
  const { kind, apiKey, region } = provider;
  const faults = (['region', 'project', 'apiVersion'] as const)
    .filter((member) => provider[member] !== undefined && !(members[member] as readonly string[]).includes(kind))
    .map((path) => ({ path: path as string, message: `is only for providers of kind ${members[path].join(' and ')}` }));
  if (kind === 'bedrock' && region === undefined) faults.push({ path: 'region', message: 'is required for this kind' });
  if (apiKey?.trimStart().startsWith('{') && !isCloud(kind)) faults.push({ path: 'apiKey', message: 'is JSON, which only clouds have' });
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
