/** A provider may send back the key that it was sent. Its answers are cleaned of it here, before anything else sees them. */
import { compileSecrets, SecretFilter, type SecretPatterns, withoutSecrets } from '../core/secret-filter.ts';
import type { ProviderAccess } from '../core/provider.ts';
import { defaultBaseUrl } from '../core/provider-kind.ts';

/** Names of headers whose value is a credential. */
const credentialHeader = /authorization|token|secret|key/;

const compiled = new WeakMap<ProviderAccess, SecretPatterns | null>();

/** Compiled once for as long as the directory caches the provider. */
function secretsOf(access: ProviderAccess): SecretPatterns | null {
  const known = compiled.get(access);
  if (known !== undefined) return known;
  const inHeaders = Object.entries(access.headers).flatMap(([name, value]) => (credentialHeader.test(name) ? [value] : []));
  const secrets = compileSecrets([...(access.secrets ?? []), ...inHeaders]);
  compiled.set(access, secrets);
  return secrets;
}

/** null: the provider has no key. */
export function createSecretFilter(access: ProviderAccess): SecretFilter | null {
  const secrets = secretsOf(access);
  return secrets === null ? null : new SecretFilter(secrets);
}

export function withoutKey(access: ProviderAccess, text: string): string {
  return withoutSecrets(text, secretsOf(access));
}

/**
 * The body of an answer that is passed on unread. A stream that JavaScript reads costs several times the CPU of the runtime's own (25 to 40
 * us for each piece), so it stays the runtime's own where the provider has no key, and where it is at the address of its kind, such as
 * api.openai.com: the service that issued the key does not send it back.
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
