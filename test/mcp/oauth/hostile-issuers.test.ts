/** Malicious servers and issuers: `mcp-hostile-servers.json`, rows `auth-*`, `www-authenticate-ssrf` and `token-endpoint-other-host`. */
import { describe, expect, it } from 'vitest';
import type { ServerOAuth } from '../../../src/core/servers/server-oauth.ts';
import { createAuthorizationServer, type AuthorizationServerOptions } from '../../fakes/authorization-server.ts';
import { createInstallation, own, problemOf, serverOf, signIn } from './installation.ts';

const url = 'https://mcp.example.com/mcp';
const issuer = 'https://login.example.com';
const byPerson: ServerOAuth = { grant: 'authorization_code' };
const byClient: ServerOAuth = { grant: 'client_credentials', clientId: 'us', clientSecret: { secret: 'S' } };

function installed(options: Partial<AuthorizationServerOptions> = {}, oauth: ServerOAuth = byPerson) {
  const fake = createAuthorizationServer({ issuer, resource: url, clients: { us: { secret: 'value of S' } }, ...options });
  const server = serverOf('docs', url, oauth);
  // A host that responds to every request, so that a request that was not sent was blocked by us, not by a missing host.
  const anyone = { answer: async () => Response.json({}) };
  const installation = createInstallation([fake, anyone], [server]);
  installation.secrets.set('S', { value: 'value of S', hosts: ['login.example.com'] });
  const signIns = installation.isolate();
  const tokens = signIns.tokens('main', server, null);
  if (tokens === null) throw new Error('the server has no oauth');
  return { ...installation, fake, signIns, tokens };
}

const inside = [
  'http://169.254.169.254/latest',
  'https://169.254.169.254/',
  'https://10.0.0.1/',
  'http://10.0.0.1',
  'https://[::1]/',
  'https://localhost/',
  'http://plain.example.com/',
];

describe('a private URL, or one without https, is not requested', () => {
  it.each(inside)('stays without a request when a challenge names %s as the metadata URL', async (place) => {
    const { tokens, sent } = installed({}, byClient);
    expect(await problemOf(tokens.refreshAfterRejection(null, `Bearer resource_metadata="${place}"`))).toMatchObject({
      code: 'upstream_error',
    });
    expect(sent).toEqual([]);
  });

  it.each(inside)('when the metadata names %s as the authorization server', async (place) => {
    const { signIns, sent } = installed({ resourceMetadata: { authorization_servers: [place] } });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'upstream_error' });
    expect(sent).toEqual([url, 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp']);
  });

  it.each(inside)('when the issuer registers clients at %s', async (place) => {
    const { signIns, sent } = installed({ metadata: { registration_endpoint: place } });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'upstream_error' });
    expect(sent).toHaveLength(3);
  });

  it.each(inside)('when the server, asked for its sign-in, names %s as the metadata URL', async (place) => {
    const challenge = { 'www-authenticate': `Bearer resource_metadata="${place}"` };
    const { signIns, sent } = installed({ instead: { '/mcp': () => new Response(null, { status: 401, headers: challenge }) } });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'upstream_error' });
    expect(sent).toEqual([url]);
  });

  it('when the server, asked for its sign-in, redirects to it', async () => {
    const { signIns, sent } = installed({
      instead: { '/mcp': () => new Response(null, { status: 307, headers: { location: 'https://10.0.0.1/' } }) },
    });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'upstream_error' });
    expect(sent).toEqual([url]);
  });

  it.each(inside)('when the token endpoint is %s, whatever a secret is bound to', async (place) => {
    const { tokens, sent, secrets } = installed({ metadata: { token_endpoint: place } }, byClient);
    secrets.set('S', {
      value: 'value of S',
      hosts: ['login.example.com', '169.254.169.254', '10.0.0.1', '[::1]', 'localhost', 'plain.example.com'],
    });
    expect(await problemOf(tokens.token())).toMatchObject({ code: 'upstream_error' });
    expect(sent).toHaveLength(2);
  });

  it.each(inside)('when the revocation endpoint is %s: the tokens are still deleted', async (place) => {
    const { fake, signIns, sent, logged } = installed({ metadata: { revocation_endpoint: place } });
    await signIn(signIns, fake, 'docs');
    const before = sent.length;
    await signIns.forget('main', 'docs');
    expect(sent).toHaveLength(before);
    expect(logged()).toContain('not revoked');
  });

  it('when the metadata redirects to it', async () => {
    const { signIns, sent } = installed({
      instead: {
        '/.well-known/oauth-protected-resource/mcp': () => new Response(null, { status: 302, headers: { location: 'https://10.0.0.1/' } }),
      },
    });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'upstream_error' });
    expect(sent).toHaveLength(2);
  });
});

describe('the URL that the user opens', () => {
  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'http://plain.example.com/authorize',
    'https://a:b@login.example.com/authorize',
  ])('is not %s', async (place) => {
    const { signIns, stored } = installed({ metadata: { authorization_endpoint: place } });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'upstream_error' });
    expect(stored.get('main/docs')?.value ?? '').not.toContain('codeVerifier');
  });

  it('is data, even if it contains shell syntax', async () => {
    const { signIns } = installed({ metadata: { authorization_endpoint: `${issuer}/$(id);\`id\`|x?a=$(id)` } });
    const { authorizationUrl } = await signIns.begin('main', 'docs', own);
    expect(authorizationUrl.startsWith(`${issuer}/$(id);%60id%60|x?a=%24%28id%29&`)).toBe(true);
  });
});

describe('tokens are requested', () => {
  it('on another host than the issuer only if its own metadata names it', async () => {
    const other = 'https://tokens.example.net/token';
    const { fake, tokens, sent, secrets } = installed({ metadata: { token_endpoint: other } }, byClient);
    // Named by the issuer, not by the administrator.
    expect(await problemOf(tokens.token())).toMatchObject({ code: 'forbidden' });
    expect(sent).not.toContain(other);
    secrets.set('S', { value: 'value of S', hosts: ['tokens.example.net'] });
    await problemOf(tokens.token());
    expect(sent).toContain(other);
    expect(fake.grants()).toEqual([]);
  });

  it('never by metadata that names another issuer', async () => {
    const { tokens, sent } = installed(
      { metadata: { issuer: 'https://another.example.com', token_endpoint: 'https://tokens.example.net/token' } },
      byClient,
    );
    expect(await problemOf(tokens.token())).toMatchObject({ code: 'upstream_error' });
    expect(sent).not.toContain('https://tokens.example.net/token');
  });

  it('never if the server claims to be the issuer of another origin', async () => {
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
    };
    const { fake, tokens } = installed(
      {
        instead: {
          '/.well-known/oauth-protected-resource/mcp': () => new Response(null, { status: 404 }),
          '/.well-known/oauth-authorization-server': ({ url: asked }) =>
            new URL(asked).host === 'mcp.example.com' ? Response.json(metadata) : new Response(null, { status: 404 }),
        },
      },
      byClient,
    );
    expect(await problemOf(tokens.token())).toMatchObject({ code: 'upstream_error' });
    expect(fake.grants()).toEqual([]);
  });

  it('never by metadata at the root of the server, if its own issuer does not prove itself', async () => {
    const metadata = (of: string) => ({
      ...{ issuer: of, authorization_endpoint: `${of}/authorize`, token_endpoint: `${of}/token`, response_types_supported: ['code'] },
    });
    const { fake, tokens } = installed(
      {
        instead: {
          '/.well-known/oauth-authorization-server': ({ url: asked }) =>
            Response.json(metadata(new URL(asked).host === 'mcp.example.com' ? 'https://mcp.example.com' : 'https://another.example.com')),
        },
      },
      byClient,
    );
    expect(await problemOf(tokens.token())).toMatchObject({ code: 'upstream_error' });
    expect(fake.grants()).toEqual([]);
  });

  it('never by the metadata of another resource', async () => {
    for (const resource of ['https://bank.example.com/mcp', 'https://mcp.example.com/other']) {
      const { tokens, signIns, fake } = installed({ resourceMetadata: { resource } }, byClient);
      expect(await problemOf(tokens.token())).toMatchObject({ code: 'upstream_error' });
      expect(fake.grants()).toEqual([]);
      expect(await signIns.status('main', 'docs')).toEqual({ status: 'signed-out' });
    }
  });

  it('never by unreadable metadata: then only the challenge of the server counts', async () => {
    for (const resource of ['no url', 7, null]) {
      const { tokens, fake } = installed({ resourceMetadata: { resource } }, byClient);
      expect(await tokens.token()).toBeNull();
      expect(fake.grants()).toEqual([]);
    }
  });

  it('never with a code that was requested without S256', async () => {
    const { signIns } = installed({ metadata: { code_challenge_methods_supported: ['plain'] } });
    expect((await problemOf(signIns.begin('main', 'docs', own))).detail).toContain('S256');
  });
});

describe('a response of an issuer', () => {
  const huge = () => new Response(`{"issuer":"${'x'.repeat(10_000_000)}"}`, { headers: { 'content-type': 'application/json' } });
  it.each([
    ['that is huge', huge],
    ['that is no JSON', () => new Response('<html>')],
    ['that is null', () => Response.json(null)],
    ['that is a list', () => Response.json([1])],
    ['that has other types', () => Response.json({ access_token: { toString: 1 }, token_type: 7 })],
    ['with a token that would be two headers', () => Response.json({ access_token: 'a\r\nx-admin: 1', token_type: 'Bearer' })],
    ['with an empty token', () => Response.json({ access_token: '', token_type: 'Bearer' })],
    ['with a token that no header holds', () => Response.json({ access_token: 'x'.repeat(20_000), token_type: 'Bearer' })],
    ['with a token of another type', () => Response.json({ access_token: 'abc', token_type: 'mac' })],
    ['with a fault that is a page', () => new Response('x'.repeat(60_000), { status: 400 })],
    ['with a fault that is long', () => Response.json({ error: 'invalid_scope', error_description: 'y'.repeat(60_000) }, { status: 400 })],
    ['with a fault whose name is a page', () => Response.json({ error: '<script>'.repeat(1000) }, { status: 400 })],
  ])('%s gives no token and a short error', async (_what, answer) => {
    const { tokens } = installed({ instead: { '/token': answer } }, byClient);
    const problem = await problemOf(tokens.token());
    expect(problem.status).toBe(502);
    expect(problem.detail.length).toBeLessThan(800);
    expect(problem.detail).not.toContain('<script>');
  });

  it('with a lifetime that is not a number expires eventually, or when the server rejects it', async () => {
    for (const expires_in of ['abc', -5, 1e300]) {
      const { tokens, signIns } = installed(
        { instead: { '/token': () => Response.json({ access_token: 'abc', token_type: 'Bearer', expires_in }) } },
        byClient,
      );
      await tokens.token().catch(() => null);
      expect(await signIns.status('main', 'docs')).toMatchObject({ status: expect.stringMatching(/^signed-/) });
    }
  });

  it('that never arrives ends with the timeout of one step', async () => {
    const { fake, tokens, clockLeft } = stuck();
    const waiting = problemOf(tokens.token());
    await fake;
    clockLeft();
    expect(await waiting).toMatchObject({ code: 'upstream_timeout' });
  });
});

/** An issuer that accepts a request and never responds; the test controls the time. */
function stuck() {
  let asked = (): void => undefined;
  const fake = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let over: (() => void) | null = null;
  const silent = {
    answer: (request: Request) =>
      new Promise<Response>((_resolve, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        asked();
      }),
  };
  const installation = createInstallation([silent], [serverOf('docs', url, byClient)], [], (_ms, run) => {
    over = run;
    return () => undefined;
  });
  const tokens = installation.isolate().tokens('main', installation.servers[0] as ReturnType<typeof serverOf>, null);
  if (tokens === null) throw new Error('the server has no oauth');
  return { fake, tokens, clockLeft: () => over?.() };
}
