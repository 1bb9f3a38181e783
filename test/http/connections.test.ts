import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerOAuth } from '../../src/core/servers/server-oauth.ts';
import { noOffers } from '../../src/core/servers/server-state.ts';
import { createAuthorizationServer } from '../fakes/authorization-server.ts';
import { createInstallation, serverOf } from '../mcp/oauth/installation.ts';
import { bodyOf, createHarness, rootKey, type Harness, problemIn } from './harness.ts';

const url = 'https://mcp.example.com/mcp';
const base = 'https://moniker.example.com';
const oauth: ServerOAuth = { grant: 'authorization_code', per: 'user' };
const ownPage = { origin: base, 'sec-fetch-site': 'same-origin' };

type Parts = Harness & { fake: ReturnType<typeof createAuthorizationServer>; installation: ReturnType<typeof createInstallation> };

async function installed(): Promise<Parts> {
  const fake = createAuthorizationServer({ issuer: 'https://login.example.com', resource: url });
  const installation = createInstallation([fake], [serverOf('mail', url, oauth), serverOf('plain', url, null)]);
  const harness = createHarness({ MONIKER_PUBLIC_URL: base }, { signIns: installation.isolate() });
  harness.sources.mcp = {
    async discover() {
      const tools = [{ name: 'send', description: 'Sends a message.', inputSchema: { type: 'object' } }];
      return { tools, connection: null, offers: noOffers, operations: null, ttlMs: null };
    },
  };
  await harness.send('PUT', '/v1/servers/mail', { kind: 'mcp', url, oauth: { per: 'user' } });
  await harness.send('PUT', '/v1/servers/plain', { kind: 'mcp', url });
  const written = await harness.send('PUT', '/v1/toolsets/mailing', { tools: [{ tool: 'mail.send' }] });
  if (written.status !== 201) throw new Error(await written.text());
  return { ...harness, fake, installation };
}

/** The browser of the holder of a key, which submits the form of the page. */
async function submit({ app }: Parts, key: string, headers: Record<string, string> = ownPage): Promise<Response> {
  const body = new URLSearchParams({ key }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return await app.request(`${base}/connect/mail`, { method: 'POST', body, headers: { ...type, ...headers } });
}

function cookieOf(response: Response): string {
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function authorizationUrlOf(response: Response): Promise<string> {
  return (/href="(https:\/\/login[^"]+)"/.exec(await response.text())?.[1] ?? '').replaceAll('&amp;', '&');
}

async function comeBack({ app, fake }: Parts, authorizationUrl: string, cookie: string): Promise<Response> {
  return await app.request(`${base}/oauth/callback${fake.approve(authorizationUrl).search}`, { headers: { cookie } });
}

describe('a server that users connect to', () => {
  let parts: Parts;
  beforeEach(async () => {
    parts = await installed();
  });

  it('is connected on its page with a key, in the browser that started it', async () => {
    const shown = await parts.app.request(`${base}/connect/mail`);
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('Connect your account at mail')]);
    const started = await submit(parts, rootKey);
    expect(started.status).toBe(200);
    expect(started.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-moniker-connect=[0-9a-f-]{36}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    const cookie = cookieOf(started);
    const authorizationUrl = await authorizationUrlOf(started);

    const elsewhere = await comeBack(parts, authorizationUrl, '');
    expect([elsewhere.status, await elsewhere.text()]).toEqual([403, expect.stringContaining('another browser')]);
    const back = await comeBack(parts, authorizationUrl, cookie);
    expect([back.status, await back.text()]).toEqual([200, expect.stringContaining('Connected')]);
    expect(await bodyOf(await parts.send('GET', '/v1/me/connections'))).toEqual({
      items: [expect.objectContaining({ server: 'mail', status: 'signed-in', url: `${base}/connect/mail` })],
    });
    const [token = ''] = parts.fake.accessTokens.keys();
    expect(JSON.stringify(parts.log.lines) + parts.installation.logged()).not.toContain(token);
  });

  it('is connected without a key by a person who is signed in', async () => {
    const form = (path: string, body: Record<string, string>, cookie = '') =>
      parts.app.request(`${base}${path}`, {
        method: 'POST',
        body: new URLSearchParams(body).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...ownPage, cookie },
      });
    const signedIn = cookieOf(await form('/sign-in', { key: rootKey, to: '/connect/mail' }));
    const page = await parts.app.request(`${base}/connect/mail`, { headers: { cookie: signedIn } });
    expect(await page.text()).toContain('You are signed in as <strong>root</strong>');
    const started = await form('/connect/mail', {}, signedIn);
    const back = await comeBack(parts, await authorizationUrlOf(started), cookieOf(started));
    expect(back.status).toBe(200);
    expect(await bodyOf(await parts.send('GET', '/v1/me/connections'))).toMatchObject({ items: [{ status: 'signed-in' }] });
    // A form of another site has the cookie, but not our origin.
    const foreign = await parts.app.request(`${base}/connect/mail`, {
      method: 'POST',
      headers: { cookie: signedIn, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    });
    expect([foreign.status, foreign.headers.getSetCookie()]).toEqual([403, []]);
  });

  it('rejects the form of other pages, and wrong keys, and starts nothing', async () => {
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: base, 'sec-fetch-site': 'cross-site' },
      { origin: base, 'sec-fetch-site': 'same-site' },
    ]) {
      const refused = await submit(parts, rootKey, headers as Record<string, string>);
      expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    }
    for (const key of ['', 'mk_default_x', `${rootKey}x`]) expect((await submit(parts, key)).status).toBe(401);
    expect((await parts.app.request(`${base}/connect/%3Cscript%3E`)).status).toBe(404);
    expect(parts.fake.seen).toEqual([]);
  });

  it('is started over the API by a page of ours, and on its page by everyone else', async () => {
    const outside = await parts.send('POST', '/v1/me/connections/mail');
    expect(outside.headers.getSetCookie()).toEqual([]);
    expect(await bodyOf(outside)).toEqual({ authorizationUrl: `${base}/connect/mail`, expiresAt: null });
    const foreign = await parts.send('POST', '/v1/me/connections/mail', undefined, {
      authorization: `Bearer ${rootKey}`,
      origin: 'https://evil.example',
    });
    expect(foreign.headers.getSetCookie()).toEqual([]);
    expect(await bodyOf(foreign)).toMatchObject({ authorizationUrl: `${base}/connect/mail` });
    expect(parts.fake.seen).toEqual([]);

    const inside = await parts.send('POST', '/v1/me/connections/mail', undefined, { authorization: `Bearer ${rootKey}`, ...ownPage });
    const { authorizationUrl } = await bodyOf(inside);
    expect((await comeBack(parts, authorizationUrl, cookieOf(inside))).status).toBe(200);
    expect((await parts.send('DELETE', '/v1/me/connections/mail')).status).toBe(204);
    expect(parts.fake.revoked).toHaveLength(1);
    expect(await bodyOf(await parts.send('GET', '/v1/me/connections'))).toMatchObject({ items: [{ status: 'signed-out' }] });
  });

  it('is listed for keys that have tools of it, and refused to others whether or not it exists', async () => {
    const bound = await parts.key({ scopes: ['tools'], toolsets: ['mailing'] });
    expect(await bodyOf(await parts.send('GET', '/v1/me/connections', undefined, bound))).toMatchObject({ items: [{ server: 'mail' }] });
    const other = await parts.key({ scopes: ['tools'], toolsets: ['demo'] });
    expect(await bodyOf(await parts.send('GET', '/v1/me/connections', undefined, other))).toEqual({ items: [] });
    for (const [method, server] of [
      ['POST', 'mail'],
      ['POST', 'nowhere'],
      ['DELETE', 'mail'],
      ['DELETE', 'nowhere'],
    ] as const) {
      expect((await parts.send(method, `/v1/me/connections/${server}`, undefined, other)).status).toBe(403);
    }
    expect(await problemIn(await parts.send('POST', '/v1/me/connections/plain'))).toBe('409 conflict');
    expect((await parts.send('POST', '/v1/me/connections/nowhere')).status).toBe(404);
  });

  it('shows administrators who has connected, without tokens', async () => {
    const headers = await parts.key({ scopes: ['chat'] });
    for (const [method, path] of [
      ['GET', '/v1/servers/mail/connections'],
      ['DELETE', '/v1/servers/mail/connections/root'],
    ] as const) {
      expect((await parts.send(method, path, undefined, headers)).status).toBe(403);
    }
    const connectedAt = new Date(parts.clock.now()).toISOString();
    const { id: key } = (await parts.catalog.createKey({ name: 'ada', scopes: ['chat'] })).record;
    await parts.catalog.saveServerGrant('mail', { value: 'sealed', revision: 0, isConnected: true }, key);
    const listed = await bodyOf(await parts.send('GET', '/v1/servers/mail/connections'));
    expect(listed).toEqual({ items: [{ key, name: 'ada', connectedAt }], nextCursor: null });
    expect(JSON.stringify(listed)).not.toContain('sealed');
    expect((await parts.send('DELETE', `/v1/servers/mail/connections/${key}`)).status).toBe(204);
  });

  it('cannot use client_credentials', async () => {
    const document = { kind: 'mcp', url, oauth: { per: 'user', grant: 'client_credentials', clientId: 'us' } };
    const refused = await parts.send('PUT', '/v1/servers/other', document);
    expect([refused.status, await bodyOf(refused)]).toEqual([
      422,
      expect.objectContaining({ detail: expect.stringContaining('oauth.per') }),
    ]);
  });
});
