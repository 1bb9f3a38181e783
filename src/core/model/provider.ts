/** A model provider as its administrator writes it (contract §6, §9). Adapters live in `src/providers/`. */
import { z } from 'zod';
import { HiddenValue, type WithoutHidden } from '../secrets/hidden-values.ts';
import { sentHeaders } from '../secrets/sent-headers.ts';
import { ProviderModel } from './model-facts.ts';
import { Prices } from './price.ts';
import { ModelTimeouts } from './timeouts.ts';
import { defaultBaseUrl, ProviderKind } from '../names/provider-kind.ts';
import { ProviderProfile } from './provider-profile.ts';
import { SecretName } from '../secrets/secret.ts';

/** The first part of a model reference. `agent/…` names agents, so a provider cannot be called `agent`. */
export const ProviderName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/)
  .refine((name) => name !== 'agent', { message: 'is reserved for agents (`agent/<name>`). Choose another name' });

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
        'Everything before `/chat/completions`, `/responses`, `/messages`, `/models/{model}:…` `/chat` (Cohere) or `/api/chat` (Ollama). Required for kind `openai-compatible`.',
      example: 'http://127.0.0.1:11434/v1',
    }),
    apiKey: z
      .string()
      .min(1)
      .max(8192)
      .regex(/^[\x21-\x7e]+$/, { message: 'must be visible ASCII without spaces' })
      .optional()
      .meta({ description: 'Write-only. Stored encrypted.' }),
    apiKeySecret: SecretName.optional().meta({ description: 'Name of the secret that contains the key.' }),
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
  .refine((provider) => provider.apiKey === undefined || provider.apiKeySecret === undefined, {
    message: 'give either apiKey or apiKeySecret',
    path: ['apiKeySecret'],
  })
  .refine((provider) => provider.baseUrl !== undefined || defaultBaseUrl(provider.kind) !== null, {
    message: 'is required for this kind',
    path: ['baseUrl'],
  })
  .meta({ id: 'Provider' });
export type Provider = z.infer<typeof Provider>;
/** A document whose hidden values were filled in, as it is stored and used. */
export type CompleteProvider = WithoutHidden<Provider>;

/** What an adapter needs to send a request: secrets resolved, headers final. Never stored, logged or returned to a caller. */
export type ProviderAccess = {
  name: string;
  kind: ProviderKind | 'rehearsal';
  baseUrl: string;
  headers: Record<string, string>;
  /** Values of `headers` that are secrets although their header names do not show it. */
  secrets?: readonly string[];
  models: readonly ProviderModel[];
  profile: ProviderProfile;
  timeouts?: ModelTimeouts;
  prices?: Prices;
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
