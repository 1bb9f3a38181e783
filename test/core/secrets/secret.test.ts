import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostMatches, Secret, secretHostOf, SecretHost, SecretName, secretUseRefusal } from '../../../src/core/secrets/secret.ts';

describe('the hosts of a secret', () => {
  it.each([
    ['api.example.com', 'api.example.com'],
    ['api.example.com', 'api.example.com:8443'],
    ['api.example.com:443', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['*.example.com', 'api.example.com'],
    ['*.example.com', 'a.b.example.com'],
    ['localhost', 'localhost:3000'],
    ['127.0.0.1:8080', '127.0.0.1:8080'],
    ['[::1]:8080', '[::1]:8080'],
  ])('%s matches %s', (pattern, host) => {
    expect(SecretHost.safeParse(pattern).success).toBe(true);
    expect(hostMatches(pattern, host)).toBe(true);
  });

  it.each([
    ['api.example.com', 'example.com'],
    ['api.example.com', 'xapi.example.com'],
    ['api.example.com', 'api.example.com.evil.net'],
    ['api.example.com', 'api.example.com.'],
    ['api.example.com', 'API.example.com'],
    ['api.example.com', 'user@api.example.com'],
    ['api.example.com:8443', 'api.example.com'],
    ['api.example.com:443', 'api.example.com:8443'],
    ['*.example.com', 'example.com'],
    ['*.example.com', '.example.com'],
    ['*.example.com', 'notexample.com'],
    ['*.example.com', '*.example.com'],
    ['*.example.com', ''],
    ['127.0.0.1', '127.0.0.2'],
    ['[::1]', '[::2]'],
  ])('%s does not match %s', (pattern, host) => {
    expect(hostMatches(pattern, host)).toBe(false);
  });

  it.each([
    '',
    '*',
    '*.com',
    '*.0.0.1',
    'a..b',
    '.a',
    'a.',
    'API.example.com',
    'http://a.com',
    'a.com/x',
    'a.com:0',
    'a.com:99999',
    'a.com:',
    'a b',
    'a,b',
    '**.a.com',
    'a.*.com',
    'ключ.com',
    'a.com\n',
    '-a.com',
    '::1',
  ])('%j is refused', (pattern) => {
    expect(SecretHost.safeParse(pattern).success).toBe(false);
  });

  it('match a host exactly when a reference implementation does', () => {
    const label = fc.constantFrom('a', 'b', 'api');
    const host = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
    fc.assert(
      fc.property(host, host, fc.boolean(), (bound, asked, sub) => {
        expect(hostMatches(sub ? `*.${bound}` : bound, asked)).toBe(sub ? asked.endsWith(`.${bound}`) : asked === bound);
      }),
    );
  });
});

describe('secretUseRefusal', () => {
  const hosts = ['api.example.com'];

  it('allows the listed hosts, or only the listed tools', () => {
    expect(secretUseRefusal({ hosts }, { host: 'api.example.com' })).toBeNull();
    expect(secretUseRefusal({ hosts }, { host: 'api.example.com', tool: 'local.any' })).toBeNull();
    expect(secretUseRefusal({ hosts, tools: ['local.one'] }, { host: 'api.example.com', tool: 'local.one' })).toBeNull();
    expect(secretUseRefusal({ hosts, tools: ['local.one'] }, { tool: 'local.one' })).toBeNull();
  });

  it('refuses any other use', () => {
    expect(secretUseRefusal({ hosts }, {})).toContain('must name the host or the tool');
    expect(secretUseRefusal({ hosts }, { host: 'evil.net' })).toContain('evil.net');
    expect(secretUseRefusal({ hosts }, { tool: 'local.one' })).toContain('local.one');
    expect(secretUseRefusal({ hosts, tools: ['local.one'] }, { tool: 'local.two' })).toContain('local.two');
    expect(secretUseRefusal({ hosts, tools: ['local.one'] }, { host: 'api.example.com' })).toContain('bound to tools');
    expect(secretUseRefusal({ hosts, tools: ['local.one'] }, { host: 'evil.net', tool: 'local.one' })).toContain('evil.net');
  });
});

describe('the document', () => {
  it('needs a value and hosts, within bounds', () => {
    expect(Secret.safeParse({ value: 'x', hosts: ['a.example.com'] }).success).toBe(true);
    for (const wrong of [
      { hosts: ['a.example.com'] },
      { value: '', hosts: ['a.example.com'] },
      { value: 'x' },
      { value: 'x', hosts: [] },
      { value: 'x', hosts: Array.from({ length: 101 }, (_, index) => `h${index}.example.com`) },
      { value: '€'.repeat(22_000), hosts: ['a.example.com'] },
      { value: 'x', hosts: ['a.example.com'], tools: [] },
      { value: 'x', hosts: ['a.example.com'], scope: 'all' },
    ]) {
      expect(Secret.safeParse(wrong).success).toBe(false);
    }
  });

  it('requires a plain name', () => {
    for (const name of ['GH', 'github_token', 'a.b-c', '_x']) expect(SecretName.safeParse(name).success).toBe(true);
    for (const name of ['', '1a', 'a b', 'a/b', 'a:b', 'x'.repeat(129), 'ключ', 'a\n'])
      expect(SecretName.safeParse(name).success).toBe(false);
  });
});

describe('the host of a URL', () => {
  it.each([
    ['https://api.example.com/v1', 'api.example.com:443'],
    ['http://api.example.com/v1', 'api.example.com:80'],
    ['http://[::1]:8080/', '[::1]:8080'],
  ])('%s has an explicit port', (url, host) => expect(secretHostOf(url)).toBe(host));

  it('keeps a secret for the https port from being sent over plain http', () => {
    expect(hostMatches('api.example.com:443', secretHostOf('https://api.example.com/'))).toBe(true);
    expect(hostMatches('api.example.com:443', secretHostOf('http://api.example.com/'))).toBe(false);
  });
});
