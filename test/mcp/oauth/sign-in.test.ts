import { describe, expect, it } from 'vitest';
import type { ServerOAuth } from '../../../src/core/servers/server-oauth.ts';
import { mintSignInState } from '../../../src/storage/keys/signed-token.ts';
import { createAuthorizationServer, type AuthorizationServerOptions } from '../../fakes/authorization-server.ts';
import { listenUpstream } from '../../fakes/upstreams/upstream.ts';
import { comeBack, createInstallation, origin, own, problemOf, redirectUri, serverOf, signIn } from './installation.ts';
import { signInTtlMs } from '../../../src/mcp/oauth/sign-in-service.ts';

const url = 'https://mcp.example.com/mcp';
const issuer = 'https://login.example.com';
const byPerson: ServerOAuth = { grant: 'authorization_code' };

function installed(options: Partial<AuthorizationServerOptions> = {}, oauth: ServerOAuth = byPerson) {
  const fake = createAuthorizationServer({ issuer, resource: url, ...options });
  const installation = createInstallation(
    [fake],
    [serverOf('docs', url, oauth), serverOf('other', url, oauth), serverOf('plain', url, null)],
  );
  return { ...installation, fake, signIns: installation.isolate() };
}

async function begun(options: Partial<AuthorizationServerOptions> = {}, oauth?: ServerOAuth) {
  const parts = installed(options, oauth);
  const { authorizationUrl, expiresAt } = await parts.signIns.begin('main', 'docs', own);
  return { ...parts, authorizationUrl, expiresAt };
}

describe('signing in', () => {
  it('registers a client once, sends the user with PKCE, state and resource, and ends with tokens', async () => {
    const { fake, signIns, authorizationUrl, expiresAt, now, isolate } = await begun({ scopesSupported: ['read'] });
    const asked = new URL(authorizationUrl);
    expect(asked.origin + asked.pathname).toBe(`${issuer}/authorize`);
    const { state, code_challenge, client_id, ...rest } = Object.fromEntries(asked.searchParams);
    expect(rest).toEqual({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
      scope: 'read',
      resource: url,
    });
    expect(state?.length).toBeGreaterThan(60);
    expect(expiresAt - now()).toBeLessThanOrEqual(signInTtlMs);
    expect(fake.registered).toMatchObject([
      {
        client_name: 'Moniker',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'web',
      },
    ]);

    // The response arrives in another isolate.
    expect(await comeBack(isolate(), fake.approve(authorizationUrl))).toEqual({ workspace: 'main', server: 'docs', owner: null });
    expect(await signIns.status('main', 'docs')).toEqual({
      status: 'signed-in',
      expiresAt: expect.any(String),
      scopes: ['read'],
    });
    await signIn(signIns, fake, 'docs');
    expect(fake.registered).toHaveLength(1);
  });

  it('uses the client of the document, with its secret, instead of registering one', async () => {
    const oauth: ServerOAuth = { grant: 'authorization_code', clientId: 'ours', clientSecret: { secret: 'S' }, scopes: ['only'] };
    const parts = installed({ clients: { ours: { secret: 'value of S', redirectUris: [redirectUri] } }, scopesSupported: ['more'] }, oauth);
    parts.secrets.set('S', { value: 'value of S', hosts: ['login.example.com'] });
    await signIn(parts.signIns, parts.fake, 'docs');
    expect(parts.fake.registered).toEqual([]);
    expect(await parts.signIns.status('main', 'docs')).toMatchObject({ status: 'signed-in', scopes: ['only'] });
    expect(parts.stored.get('main/docs')?.value).not.toContain('value of S');
  });

  it('says that a stored sign-in is lost if another release wrote it, and begins anew', async () => {
    const parts = installed();
    parts.stored.set('main/docs', { value: JSON.stringify({ format: 'of another release' }), revision: 3 });
    expect(await parts.signIns.status('main', 'docs')).toEqual({ status: 'expired' });
    await signIn(parts.signIns, parts.fake, 'docs');
    expect(await parts.signIns.status('main', 'docs')).toMatchObject({ status: 'signed-in' });
  });

  it('uses the URL of our metadata document if the issuer supports it', async () => {
    const metadataUrl = 'https://moniker.example.com/oauth/client.json';
    const { fake, signIns } = installed({
      metadata: { client_id_metadata_document_supported: true },
      clients: { [metadataUrl]: { redirectUris: [redirectUri] } },
    });
    const { authorizationUrl } = await signIns.begin('main', 'docs', { ...own, metadataUrl });
    await comeBack(signIns, fake.approve(authorizationUrl));
    expect(fake.registered).toEqual([]);
    expect(await signIns.status('main', 'docs')).toMatchObject({ status: 'signed-in' });
  });

  it('says what to do if the issuer does not support registration', async () => {
    const { signIns } = installed({ metadata: { registration_endpoint: undefined } });
    expect((await problemOf(signIns.begin('main', 'docs', own))).detail).toContain('set its `clientId`');
  });

  it('uses https or loopback, and registers the matching application type', async () => {
    const { fake, signIns } = installed();
    await signIns.begin('main', 'docs', { ...own, redirectUri: 'http://127.0.0.1:8787/oauth/callback' });
    expect(fake.registered).toMatchObject([{ application_type: 'native' }]);
  });

  it.each([
    ['by OpenID Connect Discovery', { wellKnown: 'openid' }],
    ['below a path', { issuer: 'https://login.example.com/tenant/1' }],
    ['by OpenID Connect Discovery below a path', { issuer: 'https://login.example.com/tenant/1', wellKnown: 'openid' }],
    [
      'at the root, where the metadata is not at the path of the server',
      {
        instead: {
          '/.well-known/oauth-protected-resource/mcp': () => new Response(null, { status: 404 }),
          '/.well-known/oauth-protected-resource': () => Response.json({ resource: url, authorization_servers: [issuer] }),
        },
      },
    ],
    [
      'at the server itself, as servers of 2025-03-26 have it',
      {
        issuer: 'https://mcp.example.com',
        wellKnown: 'none',
        metadata: { authorization_response_iss_parameter_supported: false },
        instead: {
          '/.well-known/oauth-protected-resource/mcp': () => new Response(null, { status: 404 }),
          '/.well-known/oauth-protected-resource': () => new Response(null, { status: 404 }),
        },
      },
    ],
    [
      'at the root of the server, with a separate path, as of 2025-03-26',
      {
        issuer: 'https://mcp.example.com/oauth',
        instead: {
          '/.well-known/oauth-protected-resource/mcp': () => new Response(null, { status: 404 }),
          '/.well-known/oauth-protected-resource': () => new Response(null, { status: 404 }),
          '/.well-known/oauth-authorization-server': () => Response.json(metadataOf('https://mcp.example.com/oauth')),
        },
      },
    ],
  ] as [string, Partial<AuthorizationServerOptions>][])('finds the issuer %s', async (_where, options) => {
    const { fake, signIns } = installed(options);
    await signIn(signIns, fake, 'docs');
    expect(await signIns.status('main', 'docs')).toMatchObject({ status: 'signed-in' });
  });

  it('requests offline_access if the issuer supports it', async () => {
    const { authorizationUrl } = await begun({ scopesSupported: ['read'], metadata: { scopes_supported: ['read', 'offline_access'] } });
    expect(new URL(authorizationUrl).searchParams.get('scope')).toBe('read offline_access');
  });

  it('needs no `oauth` in the document of a server that publishes its metadata', async () => {
    const { signIns, fake } = installed();
    expect(await signIns.status('main', 'plain')).toBeNull();
    const { authorizationUrl } = await signIns.begin('main', 'plain', own);
    expect(new URL(authorizationUrl).searchParams.get('resource')).toBe(url);
    await comeBack(signIns, fake.approve(authorizationUrl));
    expect(fake.grants()).toEqual(['authorization_code']);
  });

  it('asks the server for its challenge, whose metadata URL and scope it uses', async () => {
    const { authorizationUrl, sent } = await begun({
      instead: {
        '/mcp': () =>
          new Response(null, {
            status: 401,
            headers: { 'www-authenticate': `Bearer resource_metadata="${issuer}/elsewhere", scope="mail.read"` },
          }),
        '/elsewhere': () => Response.json({ resource: url, authorization_servers: [issuer] }),
      },
    });
    expect(sent.slice(0, 2)).toEqual([url, `${issuer}/elsewhere`]);
    expect(new URL(authorizationUrl).searchParams.get('scope')).toBe('mail.read');
  });

  it('is an error at a server that has neither `oauth` nor metadata', async () => {
    const none = () => new Response(null, { status: 404 });
    const { signIns } = installed({ wellKnown: 'none', instead: { '/.well-known/oauth-protected-resource/mcp': none } });
    expect(await problemOf(signIns.begin('main', 'plain', own))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('set `oauth` in its document'),
    });
  });

  it('is rejected for servers with client_credentials', async () => {
    const { signIns } = installed({}, { grant: 'client_credentials', clientId: 'us' });
    expect(await problemOf(signIns.begin('main', 'docs', own))).toMatchObject({ code: 'conflict' });
    expect(await problemOf(signIns.begin('main', 'nowhere', own))).toMatchObject({ code: 'not_found' });
  });

  it('succeeds over loopback if the operator allows it', async () => {
    const { url: origin, close } = await listenUpstream({
      handle: async (request) => (await fake.answer(request)) ?? new Response(null, { status: 404 }),
    });
    const fake = createAuthorizationServer({ issuer: origin, resource: `${origin}/mcp` });
    const local = { answer: (request: Request) => fetch(request) };
    const { isolate } = createInstallation([local], [serverOf('docs', `${origin}/mcp`, byPerson)], ['127.0.0.1:*']);
    // The port's requests have another host in their URL than the port's own.
    fake.answer = ((answer) => async (request: Request) => {
      const { pathname, search } = new URL(request.url);
      return await answer(new Request(`${origin}${pathname}${search}`, request));
    })(fake.answer);
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    expect(await signIns.status('main', 'docs')).toMatchObject({ status: 'signed-in' });
    close();
  });
});

describe('the authorization response', () => {
  it('works once', async () => {
    const { fake, signIns, authorizationUrl } = await begun();
    const back = fake.approve(authorizationUrl);
    const twice = await Promise.allSettled([comeBack(signIns, back), comeBack(signIns, back)]);
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await problemOf(comeBack(signIns, back))).toMatchObject({ code: 'not_found' });
    expect(fake.grants()).toEqual(['authorization_code']);
  });

  it('works for ten minutes', async () => {
    const { fake, signIns, authorizationUrl, pass } = await begun();
    const back = fake.approve(authorizationUrl);
    pass(signInTtlMs);
    expect(await problemOf(comeBack(signIns, back))).toMatchObject({ code: 'not_found' });
    expect(fake.grants()).toEqual([]);
  });

  it('works for the latest sign-in', async () => {
    const { fake, signIns, authorizationUrl } = await begun();
    const { authorizationUrl: second } = await signIns.begin('main', 'docs', own);
    expect(await problemOf(comeBack(signIns, fake.approve(authorizationUrl)))).toMatchObject({ code: 'not_found' });
    await comeBack(signIns, fake.approve(second));
  });

  it('with a foreign or changed state reaches no workspace', async () => {
    const { fake, signIns, authorizationUrl } = await begun();
    const back = fake.approve(authorizationUrl);
    const state = back.searchParams.get('state') ?? '';
    for (const forged of ['', 'x', `${state}A`, state.slice(1), `A${state.slice(1)}`, 'A'.repeat(100_000)]) {
      back.searchParams.set('state', forged);
      expect(await problemOf(comeBack(signIns, back))).toMatchObject({ code: 'not_found' });
    }
    back.searchParams.set('state', state);
    await comeBack(signIns, back);
  });

  it('with the state of another server or workspace has no effect', async () => {
    const { fake, signIns, authorizationUrl, master, now } = await begun();
    await signIns.begin('main', 'other', own);
    const back = fake.approve(authorizationUrl);
    const nonce = JSON.parse((await storedSignIn(authorizationUrl)) ?? '""');
    for (const place of [
      { workspace: 'main', server: 'other' },
      { workspace: 'theirs', server: 'docs' },
    ]) {
      back.searchParams.set(
        'state',
        await mintSignInState(master, { ...place, nonce, expiresAt: now() + 1000, owner: null, browser: null, origin }),
      );
      expect(await problemOf(comeBack(signIns, back))).toMatchObject({ code: 'not_found' });
    }
    expect(fake.grants()).toEqual([]);
  });

  it('from another issuer is rejected before its code is used or its message shown', async () => {
    for (const iss of ['https://login.attacker.example', null]) {
      const { fake, signIns, authorizationUrl } = await begun();
      const back = fake.approve(authorizationUrl);
      if (iss === null) back.searchParams.delete('iss');
      else back.searchParams.set('iss', iss);
      back.searchParams.set('error_description', 'words of an attacker');
      const problem = await problemOf(comeBack(signIns, back));
      expect(problem.detail).toContain('another authorization server');
      expect(problem.detail).not.toContain('attacker');
      expect(fake.grants()).toEqual([]);
    }
  });

  it('with a denial is reported with a short message of the issuer', async () => {
    const { fake, signIns, authorizationUrl } = await begun();
    const back = fake.approve(authorizationUrl);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', `they\u202e said\nno ${'x'.repeat(100_000)}`);
    const { detail } = await problemOf(comeBack(signIns, back));
    expect(detail).toContain('access_denied (they said no x');
    expect(detail.length).toBeLessThan(500);
    expect(await signIns.status('main', 'docs')).toEqual({ status: 'signed-out' });
  });

  it('with a code that the issuer rejects changes nothing, and reveals neither code nor verifier', async () => {
    const { fake, signIns, authorizationUrl, logged, stored } = await begun();
    await comeBack(signIns, fake.approve(authorizationUrl));
    const next = await signIns.begin('main', 'docs', own);
    const back = fake.approve(next.authorizationUrl);
    const { codeVerifier } = JSON.parse(stored.get('main/docs')?.value ?? '{}').signIn;
    back.searchParams.set('code', 'a code that is no code');
    fake.options.instead = {
      '/token': async (request) => Response.json({ error: 'invalid_grant', error_description: await request.text() }, { status: 400 }),
    };
    const problem = await problemOf(comeBack(signIns, back));
    expect(problem).toMatchObject({ code: 'upstream_error', extra: { oauthError: 'invalid_grant' } });
    const shown = `${problem.detail}${JSON.stringify(problem.extra)}${String(problem.cause)}${logged()}`;
    expect(shown).not.toContain(codeVerifier);
    expect(shown).not.toContain('a+code+that+is+no+code');
    fake.options.instead = {};
    expect(await signIns.status('main', 'docs')).toMatchObject({ status: 'signed-in' });
  });
});

describe('deleting a sign-in', () => {
  it('deletes the tokens at once, and revokes them at the issuer', async () => {
    const { fake, signIns, servers } = installed();
    await signIn(signIns, fake, 'docs');
    const tokens = servers[0] && signIns.tokens('main', servers[0], null);
    expect(fake.takes((await tokens?.token()) ?? null)).toBe(true);
    await signIns.forget('main', 'docs');
    expect(await tokens?.token()).toBeNull();
    expect(await signIns.status('main', 'docs')).toEqual({ status: 'signed-out' });
    expect(fake.revoked).toEqual([[...fake.refreshTokens.keys()][0]]);
  });

  it('succeeds whatever the issuer responds', async () => {
    const { fake, signIns, logged } = installed({
      instead: { '/revoke': async (request) => new Response(await request.text(), { status: 500 }) },
    });
    await signIn(signIns, fake, 'docs');
    const [refreshToken = ''] = fake.refreshTokens.keys();
    await signIns.forget('main', 'docs');
    expect(await signIns.status('main', 'docs')).toEqual({ status: 'signed-out' });
    expect(logged()).toContain('not revoked');
    expect(logged()).not.toContain(refreshToken);
  });

  it('may be repeated, and done before a sign-in', async () => {
    const { signIns } = installed();
    await signIns.forget('main', 'docs');
    await signIns.forget('main', 'docs');
  });
});

function metadataOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
}

async function storedSignIn(authorizationUrl: string): Promise<string | null> {
  const state = new URL(authorizationUrl).searchParams.get('state') ?? '';
  const text = Buffer.from(state, 'base64url').subarray(0, -32).toString();
  return JSON.stringify(text.split(' ')[3] ?? null);
}
