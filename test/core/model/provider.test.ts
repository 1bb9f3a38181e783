import { describe, expect, it } from 'vitest';
import { Provider, ProviderName } from '../../../src/core/model/provider.ts';
import { providerBaseUrl } from '../../../src/core/names/provider-kind.ts';

describe('a provider', () => {
  it('needs only a kind', () => {
    expect(Provider.parse({ kind: 'openai' })).toEqual({ kind: 'openai' });
    expect(providerBaseUrl({ kind: 'openai' })).toBe('https://api.openai.com/v1');
    expect(providerBaseUrl({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1//' })).toBe('http://127.0.0.1:11434/v1');
  });

  const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' };

  it.each([
    ['no address', { kind: 'openai-compatible' }],
    ['another protocol', { ...local, baseUrl: 'file:///etc/passwd' }],
    ['a password in the address', { ...local, baseUrl: 'https://user:secret@example.com/v1' }],
    ['a query', { ...local, baseUrl: 'https://example.com/v1?key=1' }],
    ['a fragment', { ...local, baseUrl: 'https://example.com/v1#x' }],
    ['no URL', { ...local, baseUrl: '127.0.0.1' }],
    ['two keys', { ...local, apiKey: 'a', apiKeySecret: 'B' }],
    ['a key that would break the header', { ...local, apiKey: 'a\r\nx: y' }],
    ['a credential in the open', { ...local, headers: { Authorization: 'Bearer x' } }],
    ['a header of the connection', { ...local, headers: { Host: 'evil.net' } }],
    ['a header twice', { ...local, headers: { 'X-A': '1', 'x-a': '2' } }],
    ['no header name', { ...local, headers: { 'x y': '1' } }],
    ['a header that splits', { ...local, headers: { 'x-a': '1\r\nx-b: 2' } }],
    ['another kind', { ...local, kind: 'rehearsal' }],
    ['an unknown field', { ...local, organization: 'x' }],
  ])('is refused with %s', (_case, provider) => {
    expect(Provider.safeParse(provider).success).toBe(false);
  });

  it('has a name that is valid in a model reference', () => {
    for (const name of ['openai', 'a', 'my-llm-2']) expect(ProviderName.safeParse(name).success).toBe(true);
    for (const name of ['', 'agent', 'A', '1a', 'a/b', 'x'.repeat(33)]) expect(ProviderName.safeParse(name).success).toBe(false);
  });
});
