/** The credentials that a document asks for, as an administrator reads them. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json/wire-value.ts';
import { documentOf, imported } from './documents.ts';

const schemes = {
  id: { type: 'apiKey', in: 'header', name: 'PLAID-CLIENT-ID' },
  secret: { type: 'apiKey', in: 'header', name: 'PLAID-SECRET' },
  key: { type: 'apiKey', in: 'query', name: 'api_key' },
  session: { type: 'apiKey', in: 'cookie', name: 'sid' },
  basic: { type: 'http', scheme: 'basic' },
  bearer: { type: 'http', scheme: 'Bearer' },
  digest: { type: 'http', scheme: 'digest' },
  oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example/token', scopes: {} } } },
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://a.example/.well-known/openid-configuration' },
  tls: { type: 'mutualTLS' },
};
const both = [{ id: [], secret: [] }];

function reported(security: unknown, operation: Json = {}, given: { headers?: string[]; query?: string[] } = {}) {
  const document = documentOf({ '/a': { get: operation } }, { components: { securitySchemes: schemes }, security });
  return imported(document, given).warnings.map(({ path, message }) => `${path}: ${message}`);
}

describe('the security of a document', () => {
  it.each([
    [
      both,
      'security: calls need the header "PLAID-CLIENT-ID" and the header "PLAID-SECRET". Store secrets, and set {"headers": {"PLAID-CLIENT-ID":{"secret":"NAME"},"PLAID-SECRET":{"secret":"NAME"}}} in the server’s document',
    ],
    [
      [{ key: [] }],
      'security: calls need "api_key" in the query. Store secrets, and set {"query": {"api_key":{"secret":"NAME"}}} in the server’s document',
    ],
    [
      [{ id: [], key: [] }],
      expect.stringContaining('{"headers": {"PLAID-CLIENT-ID":{"secret":"NAME"}}, "query": {"api_key":{"secret":"NAME"}}}'),
    ],
    [[{ session: [] }], expect.stringContaining('the header Cookie: sid=<key>. Store secrets, and set {"headers": {"Cookie"')],
    [
      [{ basic: [] }, { bearer: [] }],
      expect.stringContaining('Authorization: Basic <base64 of user:password>; or the header Authorization: Bearer <token>.'),
    ],
    [[{ digest: [] }], expect.stringContaining('the scheme "digest"')],
    [[{ oauth: ['read'] }], expect.stringContaining('(clientCredentials at "https://a.example/token"), which you renew')],
    [[{ oidc: [] }], expect.stringContaining('"https://a.example/.well-known/openid-configuration"')],
    [[{ tls: [] }], expect.stringContaining('"mutualTLS", which cannot be sent. Select other operations with include.')],
    [[{ none: [] }], expect.stringContaining('"none", which the document does not describe')],
    [[{}, { key: [] }], expect.stringContaining('calls can have "api_key" in the query')],
  ])('%j is reported with how to send it', (security, message) => {
    expect(reported(security)).toEqual([message]);
  });

  it('is not reported if the server sends one of its alternatives, or no operation needs it', () => {
    expect(reported(both, {}, { headers: ['plaid-client-id', 'Plaid-Secret'] })).toEqual([]);
    expect(reported([...both, { key: [] }], {}, { query: ['api_key'] })).toEqual([]);
    expect(reported(both, { security: [] })).toEqual([]);
    expect(reported([{}])).toEqual([]);
    expect(reported(both, {}, { headers: ['PLAID-CLIENT-ID'] })[0]).toMatch(/^security: calls need the header "PLAID-SECRET"\. Store/);
  });

  it('of an operation is reported at the operation, and schemes that nothing requires at their place', () => {
    expect(reported(undefined, { security: [{ key: [] }] })).toEqual([
      expect.stringMatching(/^paths\.\/a\.get\.security: calls need "api_key"/),
    ]);
    expect(reported(undefined)).toEqual([expect.stringMatching(/^components\.securitySchemes: calls need .*; or /)]);
  });

  it('takes parameters that the server sends out of the arguments', () => {
    const parameters = [
      { name: 'api_key', in: 'query', required: true },
      { name: 'Authorization', in: 'header', required: true },
    ];
    const document = documentOf({ '/a': { get: { parameters } } });
    const { tools, warnings } = imported(document, { headers: ['authorization'], query: ['api_key'] });
    expect([tools[0]?.inputSchema, warnings]).toEqual([{ type: 'object', properties: {}, additionalProperties: false }, []]);
    expect(imported(document).warnings).toEqual([
      { path: 'paths./a.get.parameters.Authorization', message: expect.stringContaining('set it in the headers of the server’s document') },
    ]);
  });
});
