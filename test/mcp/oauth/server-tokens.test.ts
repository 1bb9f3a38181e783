import { describe, expect, it } from 'vitest';
import type { ServerOAuth } from '../../../src/core/servers/server-oauth.ts';
import { createAuthorizationServer, type AuthorizationServerOptions } from '../../fakes/authorization-server.ts';
import { createInstallation, own as asked, problemOf, serverOf, signIn } from './installation.ts';

const url = 'https://mcp.example.com/mcp';
const issuer = 'https://login.example.com';
const byClient: ServerOAuth = { grant: 'client_credentials', clientId: 'us', clientSecret: { secret: 'CLIENT_SECRET' } };
const byPerson: ServerOAuth = { grant: 'authorization_code' };

function installed(oauth: ServerOAuth, options: Partial<AuthorizationServerOptions> = {}) {
  const fake = createAuthorizationServer({ issuer, resource: url, clients: { us: { secret: 'one of our secrets' } }, ...options });
  const server = serverOf('docs', url, oauth);
  const foreign = createAuthorizationServer({ issuer: 'https://login.attacker.example', resource: 'https://attacker.example/mcp' });
  const installation = createInstallation([fake, foreign], [server]);
  installation.secrets.set('CLIENT_SECRET', { value: 'one of our secrets', hosts: ['login.example.com'] });
  const tokens = (signIns = installation.isolate()) => {
    const made = signIns.tokens('main', installation.servers[0] as typeof server, null);
    if (made === null) throw new Error('the server has no oauth');
    return made;
  };
  return { ...installation, fake, foreign, tokens };
}

describe('tokens of client_credentials', () => {
  it('come from the issuer in the server’s metadata, for that server and with the scopes of the document', async () => {
    const { fake, tokens } = installed({ ...byClient, scopes: ['read', 'write'] });
    const token = await tokens().token();
    expect(fake.takes(token)).toBe(true);
    const request = fake.seen.find(({ path }) => path === '/token');
    expect(Object.fromEntries(request?.form ?? [])).toEqual({ grant_type: 'client_credentials', scope: 'read write', resource: url });
    expect(request?.authorization).toBe(`Basic ${btoa('us:one of our secrets')}`);
  });

  it.each(['client_secret_basic', 'client_secret_post', 'none'] as const)(
    'are got by %s where the issuer takes nothing else',
    async (method) => {
      const isPublic = method === 'none';
      const { fake, tokens } = installed(isPublic ? { grant: 'client_credentials', clientId: 'open' } : byClient, {
        authMethods: [method],
        clients: { us: { secret: 'one of our secrets' }, open: {} },
      });
      expect(fake.takes(await tokens().token())).toBe(true);
    },
  );

  it('are requested with the scopes of the resource, unless the document has others', async () => {
    const { fake, tokens } = installed(byClient, { scopesSupported: ['a', 'b'] });
    await tokens().token();
    expect(fake.seen.find(({ path }) => path === '/token')?.form?.get('scope')).toBe('a b');
  });

  it('are requested once by twenty concurrent calls, and once more by twenty after they expire', async () => {
    const { fake, tokens, pass, isolate } = installed(byClient);
    const signIns = isolate();
    const first = await Promise.all(Array.from({ length: 20 }, () => tokens(signIns).token()));
    expect(new Set(first).size).toBe(1);
    expect(fake.grants()).toHaveLength(1);
    pass(3_600_000);
    const second = await Promise.all(Array.from({ length: 20 }, () => tokens(signIns).token()));
    expect(new Set(second).size).toBe(1);
    expect(second[0]).not.toBe(first[0]);
    expect(fake.grants()).toHaveLength(2);
  });

  it('are shared by isolates', async () => {
    const { fake, tokens } = installed(byClient);
    const all = await Promise.all([tokens().token(), tokens().token(), tokens().token()]);
    expect(new Set(all).size).toBe(1);
    expect(fake.grants()).toHaveLength(1);
  });

  it('cost no request while they are fresh, and are renewed before they expire', async () => {
    const { fake, tokens, pass, isolate, sent } = installed(byClient, { expiresIn: 100 });
    const own = tokens(isolate());
    const first = await own.token();
    const before = sent.length;
    pass(30_000);
    expect(await own.token()).toBe(first);
    expect(sent).toHaveLength(before);
    pass(51_000);
    expect(await own.token()).not.toBe(first);
    expect(fake.grants()).toHaveLength(2);
  });

  it('are renewed if the server rejects the old one, but not repeatedly', async () => {
    const { fake, tokens, pass, isolate } = installed(byClient, { expiresIn: null });
    const own = tokens(isolate());
    const first = await own.token();
    expect(await own.refreshAfterRejection(first, 'Bearer error="invalid_token"')).toBe(false);
    pass(10_000);
    expect(await own.refreshAfterRejection(first, 'Bearer error="invalid_token"')).toBe(true);
    const second = await own.token();
    expect(second).not.toBe(first);
    expect(await own.refreshAfterRejection(second, 'Bearer error="invalid_token"')).toBe(false);
    expect(fake.grants()).toHaveLength(2);
  });

  it('get more scopes if the server requires them, and are not requested again if it requires scopes that they have', async () => {
    const { fake, tokens, isolate } = installed({ ...byClient, scopes: ['read'] });
    const own = tokens(isolate());
    const first = await own.token();
    expect(await own.refreshAfterRejection(first, 'Bearer error="insufficient_scope", scope="write"')).toBe(true);
    const second = await own.token();
    expect(fake.accessTokens.get(second ?? '')?.scope).toBe('read write');
    expect(await own.refreshAfterRejection(second, 'Bearer error="insufficient_scope", scope="write"')).toBe(false);
    expect(await own.refreshAfterRejection(second, 'Bearer error="insufficient_scope"')).toBe(false);
    expect(fake.grants()).toHaveLength(2);
  });

  it('wait for the challenge of a server without metadata', async () => {
    const { fake, tokens, isolate } = installed(byClient, {
      instead: {
        '/.well-known/oauth-protected-resource/mcp': () => new Response(null, { status: 404 }),
        '/odd/place': () => Response.json({ resource: url, authorization_servers: [issuer] }),
      },
    });
    const own = tokens(isolate());
    expect(await own.token()).toBeNull();
    expect(await own.refreshAfterRejection(null, 'Bearer resource_metadata="https://mcp.example.com/odd/place", scope="found"')).toBe(true);
    expect(fake.accessTokens.get((await own.token()) ?? '')?.scope).toBe('found');
  });

  it('are not requested with a secret that is bound to another host', async () => {
    const { fake, tokens, secrets } = installed(byClient);
    secrets.set('CLIENT_SECRET', { value: 'one of our secrets', hosts: ['mcp.example.com'] });
    const problem = await problemOf(tokens().token());
    expect(problem).toMatchObject({ code: 'forbidden' });
    expect(problem.detail).toContain('login.example.com:443');
    expect(fake.grants()).toEqual([]);
  });

  it('are requested again after the issuer rejected them, and its message is redacted', async () => {
    const { tokens, secrets, logged, stored } = installed(byClient);
    secrets.set('CLIENT_SECRET', { value: 'a wrong secret', hosts: ['login.example.com'] });
    const problem = await problemOf(tokens().token());
    expect(problem).toMatchObject({ code: 'upstream_error', extra: { unauthorized: true, oauthError: 'invalid_client' } });
    expect(problem.detail).toContain('not the secret: [secret]');
    expect(`${JSON.stringify(problem)}${String(problem.cause)}${logged()}${stored.get('main/docs')?.value}`).not.toContain(
      'a wrong secret',
    );
    secrets.set('CLIENT_SECRET', { value: 'one of our secrets', hosts: ['login.example.com'] });
    expect(await tokens().token()).not.toBeNull();
  });
});

describe('tokens of a user sign-in', () => {
  it('do not exist before it, and no request is sent', async () => {
    const { tokens, sent } = installed(byPerson);
    expect(await tokens().token()).toBeNull();
    expect(await tokens().refreshAfterRejection(null, 'Bearer')).toBe(false);
    expect(sent).toEqual([]);
  });

  it('are renewed by the refresh token, which rotates', async () => {
    const { fake, tokens, pass, isolate } = installed(byPerson);
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    const own = tokens(signIns);
    for (let renewal = 0; renewal < 3; renewal += 1) {
      expect(fake.takes(await own.token())).toBe(true);
      pass(3_600_000);
    }
    expect(fake.grants()).toEqual(['authorization_code', 'refresh_token', 'refresh_token']);
    expect(fake.seen.filter(({ form }) => form?.has('grant_type')).map(({ form }) => form?.get('resource'))).toEqual([url, url, url]);
  });

  it('are renewed once by twenty calls of several isolates, so that no refresh token is used twice', async () => {
    const { fake, tokens, pass, isolate } = installed(byPerson);
    await signIn(isolate(), fake, 'docs');
    const isolates = [tokens(), tokens(), tokens(), tokens()];
    const old = await isolates[0]?.token();
    pass(3_600_000);
    const calls = isolates.flatMap((one) => Array.from({ length: 5 }, () => one));
    const all = await Promise.all(
      calls.map((one, index) => (index % 2 === 0 ? one.token() : one.refreshAfterRejection(old ?? null, null).then(() => one.token()))),
    );
    expect(new Set(all).size).toBe(1);
    expect(fake.takes(all[0] ?? null)).toBe(true);
    expect(fake.grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('are those of another isolate that has renewed them meanwhile', async () => {
    const { fake, tokens, pass, isolate } = installed(byPerson, { expiresIn: null });
    await signIn(isolate(), fake, 'docs');
    const [one, other] = [tokens(), tokens()];
    const old = await one.token();
    expect(await other.token()).toBe(old);
    pass(10_000);
    expect(await one.refreshAfterRejection(old, null)).toBe(true);
    expect(await other.refreshAfterRejection(old, null)).toBe(true);
    expect(await other.token()).toBe(await one.token());
    expect(fake.grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('end when the issuer rejects the refresh token, and this is reported', async () => {
    const { fake, tokens, pass, isolate, logged } = installed(byPerson);
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    fake.refreshTokens.clear();
    pass(3_600_000);
    expect(await tokens(signIns).token()).toBeNull();
    expect(await signIns.status('main', 'docs')).toEqual({ status: 'expired' });
    expect(logged()).toContain('invalid_grant');
    pass(10_000);
    expect(await tokens(signIns).token()).toBeNull();
    expect(fake.grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('remain while the issuer is down', async () => {
    const options: Partial<AuthorizationServerOptions> = { instead: {} };
    const { fake, tokens, pass, isolate } = installed(byPerson, options);
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    pass(3_600_000);
    fake.options.instead = { '/token': () => new Response('<html>down</html>', { status: 503 }) };
    const problem = await problemOf(tokens(signIns).token());
    expect(problem).toMatchObject({ code: 'upstream_error' });
    expect(problem.extra.unauthorized).toBeUndefined();
    expect(problem.detail).not.toContain('<html>');
    fake.options.instead = {};
    expect(fake.takes(await tokens(signIns).token())).toBe(true);
  });

  it('expire without a refresh token', async () => {
    const { fake, tokens, pass, isolate } = installed(byPerson, { refreshTokens: false });
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    expect(fake.takes(await tokens(signIns).token())).toBe(true);
    pass(3_600_000);
    expect(await tokens(signIns).token()).toBeNull();
    expect(await signIns.status('main', 'docs')).toMatchObject({ status: 'expired' });
  });

  it('are never sent to another URL than the one that they were issued for', async () => {
    const { fake, tokens, servers, isolate } = installed(byPerson);
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    servers[0] = serverOf('docs', 'https://other.example.com/mcp', byPerson);
    expect(await tokens(signIns).token()).toBeNull();
    expect(await signIns.status('main', 'docs')).toEqual({ status: 'signed-out' });
  });

  it('belong to one workspace', async () => {
    const { fake, servers, isolate } = installed(byPerson);
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    const [server] = servers;
    expect(server && (await signIns.tokens('other', server, null)?.token())).toBeNull();
  });

  it('are not renewed at another issuer, even if the server names another one now', async () => {
    const { fake, foreign, tokens, pass, isolate } = installed(byPerson, { expiresIn: null });
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    const old = await tokens(signIns).token();
    pass(10_000);
    const { issuer: other } = foreign;
    fake.options.resourceMetadata = { authorization_servers: [other] };
    expect(await tokens(signIns).refreshAfterRejection(old, null)).toBe(false);
    expect(await signIns.status('main', 'docs')).toEqual({ status: 'expired' });
    expect(foreign.grants()).toEqual([]);
    expect(fake.grants()).toEqual(['authorization_code']);
  });

  it('store additionally required scopes for the next sign-in', async () => {
    const { fake, tokens, isolate } = installed(byPerson, { scopesSupported: ['a', 'b'] });
    const signIns = isolate();
    await signIn(signIns, fake, 'docs');
    const token = await tokens(signIns).token();
    expect(await tokens(signIns).refreshAfterRejection(token, 'Bearer error="insufficient_scope", scope="a admin"')).toBe(false);
    const { authorizationUrl } = await signIns.begin('main', 'docs', asked);
    expect(new URL(authorizationUrl).searchParams.get('scope')).toBe('a admin');
  });
});
