import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerOAuth } from '../../src/core/servers/server-oauth.ts';
import { noOffers } from '../../src/core/servers/server-state.ts';
import { createAuthorizationServer } from '../fakes/authorization-server.ts';
import { createInstallation, serverOf } from '../mcp/oauth/installation.ts';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const url = 'https://mcp.example.com/mcp';
const publicUrl = 'https://moniker.example.com/tools/';
const oauth: ServerOAuth = { grant: 'authorization_code' };

type Parts = Harness & {
  fake: ReturnType<typeof createAuthorizationServer>;
  installation: ReturnType<typeof createInstallation>;
  /** The number of refreshes of the server. */
  reads: { count: number };
};

async function installed(environment: Record<string, string> = { MONIKER_PUBLIC_URL: publicUrl }): Promise<Parts> {
  const fake = createAuthorizationServer({ issuer: 'https://login.example.com', resource: url });
  const keyed = { ...serverOf('keyed', url, null), headers: { Authorization: { secret: 'KEY' } } };
  const installation = createInstallation([fake], [serverOf('docs', url, oauth), serverOf('plain', url, null), keyed]);
  const harness = createHarness(environment, { signIns: installation.isolate() });
  const reads = { count: 0 };
  harness.sources.mcp = {
    async discover() {
      reads.count += 1;
      return { tools: [], connection: null, offers: noOffers, operations: null, ttlMs: null };
    },
  };
  await harness.send('PUT', '/v1/servers/docs', { kind: 'mcp', url, oauth });
  reads.count = 0;
  return { ...harness, fake, installation, reads };
}

/** The URL to which the browser of a consenting user is redirected. */
async function approved({ send, fake }: Parts): Promise<URL> {
  const { authorizationUrl } = await bodyOf(await send('POST', '/v1/servers/docs/authorize'));
  return fake.approve(authorizationUrl);
}

async function comeBack({ app }: Parts, back: URL): Promise<Response> {
  return await app.request(`/oauth/callback${back.search}`);
}

describe('POST /v1/servers/{server}/authorize', () => {
  let parts: Parts;
  beforeEach(async () => {
    parts = await installed();
  });

  it('returns the URL to open, and its expiry', async () => {
    const answer = await parts.send('POST', '/v1/servers/docs/authorize');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { authorizationUrl, expiresAt, ...rest } = await bodyOf(answer);
    expect(rest).toEqual({});
    expect(new URL(authorizationUrl).searchParams.get('redirect_uri')).toBe('https://moniker.example.com/tools/oauth/callback');
    expect(Date.parse(expiresAt)).toBeGreaterThan(parts.installation.now());
  });

  it('requires an administrator of the whole workspace', async () => {
    for (const rights of [{ scopes: ['chat', 'toolsets', 'tools'] }, { scopes: ['admin'], toolsets: ['demo'] }] as const) {
      const headers = await parts.key(rights as Parameters<Parts['key']>[0]);
      expect((await parts.send('POST', '/v1/servers/docs/authorize', undefined, headers)).status).toBe(403);
      expect((await parts.send('DELETE', '/v1/servers/docs/authorize', undefined, headers)).status).toBe(403);
    }
    expect(parts.fake.seen).toEqual([]);
  });

  it('redirects back to the public URL, never to the host of the request', async () => {
    const local = await installed({ MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787' });
    const { authorizationUrl } = await bodyOf(await local.send('POST', 'http://localhost:3000/v1/servers/docs/authorize'));
    expect(new URL(authorizationUrl).searchParams.get('redirect_uri')).toBe('http://127.0.0.1:8787/oauth/callback');
    const { send } = await installed({});
    const refused = await bodyOf(await send('POST', 'https://evil.example/v1/servers/docs/authorize'));
    expect(refused).toMatchObject({ code: 'not_configured', detail: expect.stringContaining('MONIKER_PUBLIC_URL') });
  });

  it('needs no `oauth` in the document of a server that has no other credentials', async () => {
    const { authorizationUrl } = await bodyOf(await parts.send('POST', '/v1/servers/plain/authorize'));
    expect(new URL(authorizationUrl).origin).toBe('https://login.example.com');
  });

  it('is a conflict for a server with an authorization header, and 404 for none', async () => {
    expect(await problemIn(await parts.send('POST', '/v1/servers/keyed/authorize'))).toBe('409 conflict');
    expect((await parts.send('POST', '/v1/servers/nowhere/authorize')).status).toBe(404);
  });
});

describe('GET /oauth/callback', () => {
  let parts: Parts;
  beforeEach(async () => {
    parts = await installed();
  });

  it('completes the sign-in without a key, with a page that is not cached, and refreshes the server', async () => {
    const answer = await comeBack(parts, await approved(parts));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await answer.text()).toContain('Signed in');
    expect(parts.reads.count).toBe(1);
    const [token = ''] = parts.fake.accessTokens.keys();
    expect(JSON.stringify(parts.log.lines) + parts.installation.logged()).not.toContain(token);
  });

  it('works once', async () => {
    const back = await approved(parts);
    await comeBack(parts, back);
    const answer = await comeBack(parts, back);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('already used');
  });

  it('shows the authorization server’s error as short plain text', async () => {
    const back = await approved(parts);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', `<script>alert(1)</script> ${'long '.repeat(1000)}`);
    const answer = await comeBack(parts, back);
    expect(answer.status).toBe(502);
    const page = await answer.text();
    expect(page).toContain('access_denied (&lt;script&gt;alert(1)&lt;/script&gt; long');
    expect(page).not.toContain('<script');
    expect(page.length).toBeLessThan(2000);
  });

  it('shows nothing of a request that does not complete a sign-in', async () => {
    const back = await approved(parts);
    const twice = new URL(back);
    twice.searchParams.append('state', 'x');
    const queries = ['', '?state=', '?error=<b>words</b>&state=x', '?code=1', `?state=${'A'.repeat(9000)}`, twice.search];
    for (const query of queries) {
      const answer = await parts.app.request(`/oauth/callback${query}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain('words');
    }
    expect((await comeBack(parts, back)).status).toBe(200);
  });

  it('logs neither code nor state, whatever the outcome', async () => {
    const back = await approved(parts);
    const state = back.searchParams.get('state') ?? '';
    back.searchParams.set('code', 'a-code-of-somebody-else');
    await comeBack(parts, back);
    await comeBack(parts, back);
    const logged = JSON.stringify(parts.log.lines) + parts.installation.logged();
    expect(logged).toContain('/oauth/callback');
    expect(logged).not.toContain(state);
    expect(logged).not.toContain('a-code-of-somebody-else');
  });

  it('is also a page if the server cannot be refreshed afterwards', async () => {
    parts.sources.mcp = { discover: () => Promise.reject(new Error('down')) };
    const answer = await comeBack(parts, await approved(parts));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('Signed in');
  });
});

describe('GET /v1/servers/{server}', () => {
  it('shows the sign-in status without tokens; sent back, it changes nothing', async () => {
    const parts = await installed();
    expect(await bodyOf(await parts.send('GET', '/v1/servers/docs'))).toMatchObject({ authorization: { status: 'signed-out' } });
    await comeBack(parts, await approved(parts));
    const answer = await parts.send('GET', '/v1/servers/docs');
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ authorization: { status: 'signed-in', expiresAt: expect.any(String) }, oauth });
    for (const token of [...parts.fake.accessTokens.keys(), ...parts.fake.refreshTokens.keys()]) expect(text).not.toContain(token);
    expect((await parts.send('PUT', '/v1/servers/docs', JSON.parse(text))).status).toBe(200);
    expect((await parts.send('GET', '/v1/servers/docs')).headers.get('etag')).toBe(answer.headers.get('etag'));
  });
});

describe('DELETE /v1/servers/{server}/authorize', () => {
  it('deletes the sign-in', async () => {
    const parts = await installed();
    await comeBack(parts, await approved(parts));
    expect((await parts.send('DELETE', '/v1/servers/docs/authorize')).status).toBe(204);
    expect(await parts.installation.isolate().status('default', 'docs')).toEqual({ status: 'signed-out' });
    expect(parts.fake.revoked).toHaveLength(1);
  });
});

describe('GET /oauth/client.json', () => {
  it('returns the client metadata under its own URL', async () => {
    const { app } = await installed();
    const document = await bodyOf(await app.request('/oauth/client.json'));
    expect(document).toMatchObject({
      client_id: 'https://moniker.example.com/tools/oauth/client.json',
      redirect_uris: ['https://moniker.example.com/tools/oauth/callback'],
      token_endpoint_auth_method: 'none',
    });
  });

  it('is not found without a public https URL, whatever the Host of the request', async () => {
    for (const environment of [{}, { MONIKER_PUBLIC_URL: 'http://moniker.example.com' }] as Record<string, string>[]) {
      const { app } = await installed(environment);
      expect((await app.request('https://attacker.example/oauth/client.json')).status).toBe(404);
    }
  });
});
