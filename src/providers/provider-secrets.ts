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
 * Filters the body of a response that is forwarded unread. Reading a stream in JavaScript costs several times the CPU of the runtime's own
 * (25 to 40 µs per piece), so the body is not filtered if the provider has no key, or has the default URL of its kind, such as
 * api.openai.com: the service that issued a key does not return it.
 */
export function bodyWithoutKey(access: ProviderAccess, body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> | null {
  const isIssuer = access.kind !== 'rehearsal' && access.baseUrl === defaultBaseUrl(access.kind);
  const filter = isIssuer ? null : createSecretFilter(access);
  if (filter === null || body === null) return body;
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          const bytes = done ? filter.end() : filter.push(value);
          if (bytes.byteLength > 0) controller.enqueue(bytes);
          if (done) controller.close();
          if (done || bytes.byteLength > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
