/** Removes the provider's API key from its responses, in case it returns the key, before anything else reads them. */
import { memoizeByObject } from '../core/memoize.ts';
import { compileSecrets, SecretFilter, type SecretPatterns, removeSecrets } from '../core/policy/secret-filter.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { defaultBaseUrl } from '../core/model/provider-kind.ts';

/** Names of headers with credentials. */
const credentialHeader = /authorization|token|secret|key/;

/** Compiled once per provider, as long as the directory caches it. */
const secretsOf = memoizeByObject((access: ProviderAccess): SecretPatterns | null => {
  const inHeaders = Object.entries(access.headers).flatMap(([name, value]) => (credentialHeader.test(name) ? [value] : []));
  return compileSecrets([...(access.secrets ?? []), ...inHeaders]);
});

/** null: the provider has no key. */
export function createSecretFilter(access: ProviderAccess): SecretFilter | null {
  const secrets = secretsOf(access);
  return secrets === null ? null : new SecretFilter(secrets);
}

export function withoutKey(access: ProviderAccess, text: string): string {
  return removeSecrets(text, secretsOf(access));
}

/**
 * Returns the filter for the body of a response that is forwarded unread. Reading a stream in JavaScript costs several times the CPU of the
 * runtime's own, so null, nothing is filtered, if the provider has no key, or has the default URL of its kind, such as api.openai.com: the
 * service that issued a key does not return it.
 */
export function createForwardFilter(access: ProviderAccess): SecretFilter | null {
  const isIssuer = access.kind !== 'rehearsal' && access.baseUrl === defaultBaseUrl(access.kind);
  return isIssuer ? null : createSecretFilter(access);
}
