/**
 * Resolves a stored provider to what an adapter needs: decrypts its key and the secrets of its headers, each only if it is bound to
 * the provider's host. The result stays in memory.
 */
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { credentialHeaders, providerBaseUrl } from '../core/model/provider-kind.ts';
import { secretHostOf, secretUseRefusal } from '../core/policy/secret.ts';
import type { SealedProvider } from './catalog-methods.ts';
import type { MasterKey } from './master-key.ts';
import { openValue } from './secret-box.ts';

/** Throws `not_configured` when a secret is missing, bound to another host, or cannot be decrypted. */
export async function openProvider(master: MasterKey, workspace: string, name: string, stored: SealedProvider): Promise<ProviderAccess> {
  const { provider, sealedApiKey, secrets } = stored;
  const baseUrl = providerBaseUrl(provider);

  const secretValue = async (secret: string): Promise<string> => {
    const sealed = secrets.find((candidate) => candidate.name === secret);
    if (sealed === undefined) throw misconfigured(name, secret, 'it does not exist');
    const refusal = secretUseRefusal(sealed, { host: secretHostOf(baseUrl) });
    if (refusal !== null) throw misconfigured(name, secret, refusal);
    return openValue(master, { workspace, kind: 'secret', name: secret }, sealed.sealed);
  };

  const headers: [string, string][] = [];
  const opened: string[] = [];
  const takeKey = (key: string) => headers.push(...Object.entries(credentialHeaders(provider.kind, baseUrl, key)));
  if (sealedApiKey !== null) takeKey(await openValue(master, { workspace, kind: 'provider', name }, sealedApiKey));
  else if (provider.apiKeySecret !== undefined) takeKey(await secretValue(provider.apiKeySecret));
  for (const [header, value] of Object.entries(provider.headers ?? {})) {
    const sent = typeof value === 'string' ? value : await secretValue(value.secret);
    if (typeof value !== 'string') opened.push(sent);
    headers.push([header.toLowerCase(), sent]);
  }
  return {
    name,
    kind: provider.kind,
    baseUrl,
    headers: Object.fromEntries(headers),
    ...(opened.length > 0 && { secrets: opened }),
    models: provider.models ?? [],
    profile: provider.profile ?? {},
    ...(provider.prices !== undefined && { prices: provider.prices }),
  };
}

function misconfigured(provider: string, secret: string, reason: string): Problem {
  return new Problem('not_configured', `The provider "${provider}" uses the secret "${secret}", but ${reason}.`);
}
