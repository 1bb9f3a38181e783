/** A model provider as its administrator writes it (contract §6, §9). Adapters live in `src/providers/`. */
import * as z from 'zod';
import { HiddenValue, type WithoutHidden } from '../secrets/hidden-values.ts';
import { sentHeaders } from '../secrets/sent-headers.ts';
import { ProviderModel } from './model-facts.ts';
import { Prices } from './price.ts';
import { ModelTimeouts } from './timeouts.ts';
import { knownBaseUrl, ProviderKind } from '../names/provider-kind.ts';
import { type CloudAccess, cloudFaults, isCloud } from './cloud-access.ts';
import { ProviderProfile } from './provider-profile.ts';
import { SecretName } from '../secrets/secret.ts';

/** The first part of a model reference. `agent/…` names agents, so a provider cannot be called `agent`. */
export const ProviderName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/)
  .refine((name) => name !== 'agent', { message: 'is reserved for agents (`agent/<name>`). Choose another name' });

export const maxProviderKeys = 16;

const SecretRef = z.strictObject({ secret: SecretName });
export type SecretRef = z.infer<typeof SecretRef>;

const ProviderHeaders = sentHeaders(z.union([z.string().max(8192), SecretRef, HiddenValue]), 'give {"secret": "<name>"}, or apiKey');

const BaseUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine(isBareUrl, { message: 'must not contain a user, password, query or fragment' });

function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

export const Provider = z
  .strictObject({
    kind: ProviderKind,
    baseUrl: BaseUrl.optional().meta({
      description:
        'Everything before `/chat/completions`, `/responses`, `/messages`, `/models/{model}:…` `/chat` (Cohere) or `/api/chat` (Ollama). Required for kinds `openai-compatible` and `azure-openai`.',
      example: 'http://127.0.0.1:11434/v1',
    }),
    region: z
      .string()
      .regex(/^[a-z][a-z0-9-]{1,29}$/, { message: 'must be a region, such as us-east-1, or global' })
      .optional()
      .meta({ description: 'Kinds `bedrock` (required) and `vertex` (default `global`).' }),
    project: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.:-]{3,99}$/, { message: 'must be the id of a project' })
      .optional()
      .meta({ description: 'Kind `vertex`.' }),
    apiVersion: z
      .string()
      .regex(/^(v1|preview|\d{4}-\d\d-\d\d(-preview)?)$/, { message: 'must be v1, preview, or a date, such as 2024-10-21' })
      .optional()
      .meta({
        description: 'Kind `azure-openai`; default `v1`.',
      }),
    apiKey: z
      .string()
      .min(1)
      .max(8192)
      .regex(/^([\x21-\x7e]+|\s*\{[\x20-\x7e\s]*)$/, { message: 'must be visible ASCII without spaces, or the JSON of a cloud' })
      .optional()
      .meta({
        description: 'Write-only. Stored encrypted. For clouds also the JSON of credentials (docs/clouds.md).',
      }),
    apiKeySecret: SecretName.optional().meta({ description: 'Name of the secret that contains the key.' }),
    apiKeySecrets: z.array(SecretName).min(1).max(maxProviderKeys).optional().meta({
      description: 'Names of the secrets of several keys, used in turn. A key that is refused (401, 402) or limited (429) is put aside.',
    }),
    headers: ProviderHeaders.optional(),
    models: z
      .array(ProviderModel)
      .max(500)
      .optional()
      .meta({ description: 'Models listed by `/v1/models`: names, or names with what is known of them.' }),
    profile: ProviderProfile.optional(),
    timeouts: ModelTimeouts.optional(),
    prices: Prices.optional().meta({ description: 'Per million tokens, by model; used to enforce `limits.maxCost` of an agent.' }),
  })
  .refine(
    ({ apiKey, apiKeySecret, apiKeySecrets }) => [apiKey, apiKeySecret, apiKeySecrets].filter((key) => key !== undefined).length < 2,
    {
      message: 'give either apiKey, apiKeySecret or apiKeySecrets',
      path: ['apiKeySecret'],
    },
  )
  .refine(({ kind, apiKeySecrets = [] }) => apiKeySecrets.length < 2 || !isCloud(kind), {
    message: 'a cloud has one key: give apiKeySecret, or a provider for each key and a route over them',
    path: ['apiKeySecrets'],
  })
  .refine((provider) => provider.kind === 'bedrock' || knownBaseUrl(provider) !== null, {
    message: 'is required for this kind',
    path: ['baseUrl'],
  })
  .superRefine((provider, context) => {
    for (const { path, message } of cloudFaults(provider)) context.addIssue({ code: 'custom', path: [path], message });
  })
  .meta({ id: 'Provider' });
export type Provider = z.infer<typeof Provider>;
/** A document whose hidden values were filled in, as it is stored and used. */
export type CompleteProvider = WithoutHidden<Provider>;

/** Returns the names of the secrets that contain its keys, with their paths. */
export function keySecretsOf({ apiKeySecret, apiKeySecrets = [] }: Pick<CompleteProvider, 'apiKeySecret' | 'apiKeySecrets'>) {
  return [
    ...(apiKeySecret === undefined ? [] : [{ path: 'apiKeySecret', secret: apiKeySecret }]),
    ...apiKeySecrets.map((secret, index) => ({ path: `apiKeySecrets[${index}]`, secret })),
  ];
}

/** What an adapter needs to send a request: secrets resolved, headers final. Never stored, logged or returned to a caller. */
export type ProviderAccess = {
  name: string;
  kind: ProviderKind | 'rehearsal';
  baseUrl: string;
  headers: Record<string, string>;
  /** With several keys: the headers of each, in addition to `headers`. */
  keys?: readonly Readonly<Record<string, string>>[];
  /** Values of `headers` that are secrets although their header names do not show it. */
  secrets?: readonly string[];
  models: readonly ProviderModel[];
  profile: ProviderProfile;
  timeouts?: ModelTimeouts;
  prices?: Prices;
  /** Of a cloud, whose requests have paths, bodies and credentials other than those of the kind. */
  cloud?: CloudAccess;
};

/** The prices of a provider that costs nothing. */
export const freePrices: Prices = { '*': { input: 0, output: 0 } };

/** The access data of the built-in rehearsal provider. The URL is a placeholder and is never called. */
export const rehearsalAccess: ProviderAccess = {
  name: 'rehearsal',
  kind: 'rehearsal',
  baseUrl: 'https://rehearsal.invalid/v1',
  headers: {},
  models: ['default'],
  profile: {},
  prices: freePrices,
};
