import { describe, expect, it } from 'vitest';
import { Server } from '../../../src/core/servers/server.ts';

const faultsOf = (query: unknown, more: object = {}): string[] =>
  (Server.safeParse({ kind: 'mcp', url: 'https://mcp.example.com/mcp', query, ...more }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );

describe('the query of a server', () => {
  it('has texts and secrets', () => {
    expect(faultsOf({ mode: 'fast', 'filter[a]': '1', api_key: { secret: 'KEY' } })).toEqual([]);
  });

  it('has no credential as plain text, which GET would show', () => {
    expect(faultsOf({ api_key: 'abc-0123456789', mode: 'fast' })).toEqual(['query.api_key: carries a credential: give {"secret": NAME}']);
    expect(faultsOf({ q: 'Bearer abcdefghijkl' })).toHaveLength(1);
  });

  it('has at most 20 names of visible ASCII', () => {
    expect(faultsOf(Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`p${index}`, '1'])))).toHaveLength(1);
    for (const name of ['', 'a b', 'a\r\nb', 'ä', 'x'.repeat(101)]) expect(faultsOf({ [name]: '1' })).toHaveLength(1);
  });

  it('is not for a local command', () => {
    expect(faultsOf({ a: '1' }, { url: undefined, command: 'npx' })).toEqual(['query: cannot be combined with `command`']);
  });
});
