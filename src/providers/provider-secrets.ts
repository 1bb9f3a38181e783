/** Removes the provider's API key from its responses, in case it returns the key, before anything else reads them. */
import { memoizeByObject } from '../core/memoize.ts';
import type { TextRedactor } from '../core/redaction/redact-text.ts';
import { RedactionWork, runAtOnce } from '../core/redaction/redaction-work.ts';
import { matchBytes, SecretFilter } from '../core/redaction/secret-filter.ts';
import { searchedValues, type SecretMatcher, secretRedactor } from '../core/redaction/secret-matcher.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { secretParts } from '../core/redaction/secret-spellings.ts';
import { defaultBaseUrl } from '../core/names/provider-kind.ts';

/** Names of headers with credentials. */
const credentialHeader = /authorization|token|secret|key/;

/** Shorter values, and words such as `ollama` or `anything`, are placeholders that may occur in any response. */
const minLength = 8;
const placeholder = /^[a-z]{1,15}$/i;

function isKey(value: string): boolean {
  return value.length >= minLength && !placeholder.test(value);
}

/** Compiled once per provider, as long as the directory caches it. Null: it has no key. */
const secretsOf = memoizeByObject((access: ProviderAccess): { bytes: SecretMatcher; text: TextRedactor } | null => {
  const sent = [access.headers, ...(access.keys ?? [])].flatMap((headers) => Object.entries(headers));
  const inHeaders = sent.flatMap(([name, value]) => (credentialHeader.test(name) ? [value] : []));
  const given = [...(access.secrets ?? []), ...inHeaders].filter((value) => isKey(secretParts(value)[1] ?? value));
  const values = searchedValues(given, minLength).filter(isKey);
  return values.length === 0 ? null : { bytes: matchBytes(values), text: secretRedactor(values) };
});

/** null: the provider has no key. */
export function createSecretFilter(access: ProviderAccess): SecretFilter | null {
  const secrets = secretsOf(access);
  return secrets === null ? null : new SecretFilter(secrets.bytes);
}

export function withoutKey(access: ProviderAccess, text: string): string {
  const secrets = secretsOf(access);
  return secrets === null ? text : runAtOnce(secrets.text(text, new RedactionWork()));
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
