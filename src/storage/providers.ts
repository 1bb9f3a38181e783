/**
 * Resolves providers to what an adapter needs. Built-in ones are not stored: `rehearsal`, and those whose key or address is in the operator's
 * settings; a stored provider of the same name takes precedence, except over `rehearsal`. The key of a stored one and the secrets of its
 * headers are decrypted, each only if it is bound to the provider's host; the result stays in memory.
 */
import { freePrices, keySecretsOf, rehearsalAccess, type ProviderAccess } from '../core/model/provider.ts';
import { isCloud } from '../core/model/cloud-access.ts';
import { once } from '../core/memoize.ts';
import { credentialHeaders, providerBaseUrl, type ProviderKind } from '../core/names/provider-kind.ts';
import type { Settings } from '../core/people/settings.ts';
import { Problem } from '../core/problem.ts';
import { secretHostOf, type SecretBinding, secretUseRefusal } from '../core/secrets/secret.ts';
import type { MasterKey } from './keys/master-key.ts';
import type { SealedProvider } from './published-values.ts';
import { openValue } from './keys/secret-box.ts';

/** Cannot be written or deleted, so that one provider always works. */
export const rehearsalProviderName = 'rehearsal';

/** Provider name → its wire, and the name of its key in the settings. */
const hosted: ReadonlyMap<string, { kind: ProviderKind; key: string }> = new Map([
  ['anthropic', { kind: 'anthropic', key: 'anthropic' }],
  ['cohere', { kind: 'cohere', key: 'cohere' }],
  ['gemini', { kind: 'gemini', key: 'gemini' }],
  ['openai', { kind: 'openai', key: 'openai' }],
  ['openai-responses', { kind: 'openai-responses', key: 'openai' }],
]);

export function builtinProvider(settings: Settings, name: string): ProviderAccess | null {
  if (name === rehearsalProviderName) return rehearsalAccess;
  if (name === 'ollama' && settings.ollamaUrl !== null) {
    const baseUrl = `${settings.ollamaUrl.replace(/\/+$/, '')}/v1`;
    // The operator's own machine.
    return { name, kind: 'openai-compatible', baseUrl, headers: {}, models: [], profile: {}, prices: freePrices };
  }
  const host = hosted.get(name);
  const key = host === undefined ? undefined : settings.providerKeys.get(host.key);
  if (host === undefined || key === undefined) return null;
  const { kind } = host;
  const baseUrl = providerBaseUrl({ kind });
  return { name, kind, baseUrl, headers: credentialHeaders(kind, baseUrl, key), models: [], profile: {} };
}

export function builtinProviders(settings: Settings): ProviderAccess[] {
  return [...hosted.keys(), 'ollama', rehearsalProviderName]
    .map((name) => builtinProvider(settings, name))
    .filter((access) => access !== null);
}

const cloudKeys = once(() => import('../core/model/cloud-key.ts'));

/** A secret with its value. */
export type OpenedSecret = SecretBinding & { value: string };

/**
 * `secretOf`: returns null for a missing secret. Throws `not_configured` when a secret is missing, bound to another host, or cannot be
 * decrypted.
 */
export async function openProvider(
  master: MasterKey,
  { workspace, name }: { workspace: string; name: string },
  { provider, sealedApiKey }: SealedProvider,
  secretOf: (secret: string) => Promise<OpenedSecret | null>,
): Promise<ProviderAccess> {
  const baseUrl = providerBaseUrl(provider);

  const secretValue = async (secret: string): Promise<string> => {
    const opened = await secretOf(secret);
    if (opened === null) throw misconfigured(name, secret, 'it does not exist');
    const refusal = secretUseRefusal(opened, { host: secretHostOf(baseUrl) });
    if (refusal !== null) throw misconfigured(name, secret, refusal);
    return opened.value;
  };

  const headers: [string, string][] = [];
  const opened: string[] = [];
  const [first = null, ...others] =
    sealedApiKey !== null
      ? [await openValue(master, { workspace, kind: 'provider', name }, sealedApiKey)]
      : await Promise.all(keySecretsOf(provider).map(({ secret }) => secretValue(secret)));
  const reader = isCloud(provider.kind) ? await cloudKeys() : null;
  const read = reader?.readCloud(provider, first) ?? null;
  if (read !== null && 'fault' in read)
    throw new Problem('not_configured', `The key of the provider "${name}" cannot be used: ${read.fault}.`);
  const credentials = read?.cloud.key;
  const headersOf = (key: string) => credentialHeaders(provider.kind, baseUrl, key);
  if (reader !== null && credentials !== undefined) opened.push(...reader.secretsInKey(credentials));
  else if (first !== null && others.length === 0) headers.push(...Object.entries(headersOf(first)));
  const keys = first === null || others.length === 0 ? [] : [first, ...others].map(headersOf);
  for (const [header, value] of Object.entries(provider.headers ?? {})) {
    const sent = typeof value === 'string' ? value : await secretValue(value.secret);
    if (typeof value !== 'string') opened.push(sent);
    headers.push([header.toLowerCase(), sent]);
  }
  if (read !== null && credentials === undefined && headers.length === 0)
    throw new Problem('not_configured', `The provider "${name}" has no credentials. Set its apiKey or apiKeySecret.`);
  return {
    name,
    kind: provider.kind,
    baseUrl,
    headers: Object.fromEntries(headers),
    ...(keys.length > 0 && { keys }),
    ...(opened.length > 0 && { secrets: opened }),
    models: provider.models ?? [],
    profile: provider.profile ?? {},
    ...(provider.timeouts !== undefined && { timeouts: provider.timeouts }),
    ...(provider.prices !== undefined && { prices: provider.prices }),
    ...read,
  };
}

function misconfigured(provider: string, secret: string, reason: string): Problem {
  return new Problem('not_configured', `The provider "${provider}" uses the secret "${secret}", but ${reason}.`);
}
