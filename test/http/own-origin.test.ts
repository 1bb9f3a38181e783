/** The allowed Host and Origin of a request: the names of this service are configured, never read from the request. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';

const onLaptop = { MONIKER_PUBLIC_URL: 'http://127.0.0.1:8787', MONIKER_LOCAL_URL: 'http://127.0.0.1:8787' };
const behindTunnel = { MONIKER_PUBLIC_URL: 'https://tunnel.example/base', MONIKER_LOCAL_URL: 'http://127.0.0.1:8787' };
const deployed = { MONIKER_PUBLIC_URL: 'https://moniker.example' };

let h: Harness;
let link: string;

/** Returns the path of a link to a pending approval. */
async function start(environment: Record<string, string>): Promise<void> {
  h = createHarness(environment);
  await h.send('PUT', '/v1/toolsets/demo', demo);
  const { id } = await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' }));
  const turn = await bodyOf(await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'ask' }));
  const { url } = await bodyOf(await h.send('POST', `/v1/sessions/${id}/approvals/${turn.pending[0].callId}/link`));
  link = url.slice(url.indexOf('/approve/'));
}

const decide = (base: string, headers: Record<string, string>) =>
  h.app.request(base + link, {
    method: 'POST',
    body: 'decision=approve',
    headers: { 'content-type': 'application/x-www-form-urlencoded', host: new URL(base).host, ...headers },
  });

describe('POST /approve/{token}', () => {
  it.each([
    ['deployed', deployed, 'https://evil.example', 'https://evil.example'],
    ['deployed', deployed, 'https://moniker.example.evil.example', 'https://moniker.example.evil.example'],
    ['deployed', deployed, 'https://moniker.example', 'http://moniker.example'],
    ['deployed', deployed, 'https://moniker.example', 'https://moniker.example:8443'],
    ['deployed', deployed, 'https://moniker.example', 'http://127.0.0.1:8787'],
    ['deployed', deployed, 'http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['on a laptop', onLaptop, 'http://127.0.0.1:8787', 'http://evil.example'],
    ['on a laptop', onLaptop, 'http://127.0.0.1:8787', 'http://127.0.0.1:3000'],
    ['on a laptop', onLaptop, 'http://localhost:3000', 'http://localhost:3000'],
    ['on a laptop', onLaptop, 'http://127.0.0.1:8787', 'https://127.0.0.1:8787'],
    ['behind a tunnel', behindTunnel, 'https://tunnel.example', 'https://other.tunnel.example'],
    ['behind a tunnel', behindTunnel, 'https://tunnel.example', 'file://'],
  ])('%s, rejects a page of another origin, whatever the Host: %#', async (_where, environment, base, origin) => {
    await start(environment);
    expect((await decide(base, { origin })).status).toBe(403);
    expect((await decide(base, { origin: 'null', 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it.each([
    [deployed, 'https://moniker.example'],
    [onLaptop, 'http://127.0.0.1:8787'],
    [onLaptop, 'http://localhost:8787'],
    [behindTunnel, 'https://tunnel.example'],
    [behindTunnel, 'http://127.0.0.1:8787'],
  ])('accepts a page of the same origin: %#', async (environment, origin) => {
    await start(environment);
    expect((await decide(origin, { origin })).status).toBe(200);
  });
});

describe('the Host of a request to a service on a loopback address', () => {
  beforeEach(() => start(behindTunnel));
  const status = async (path: string, host: string, method = 'GET') => (await h.app.request(path, { method, headers: { host } })).status;

  it.each(['/', '/healthz', '/docs', '/openapi.json', '/v1/models', '/oauth/client.json', '/nowhere'])(
    'is not a name that an attacker points here: %s',
    async (path) => {
      for (const host of ['evil.example', 'evil.example:8787', '127.0.0.1.evil.example', 'tunnel.example.evil.example', '10.0.0.7:8787'])
        expect([host, await status(path, host)]).toEqual([host, 403]);
      for (const host of ['127.0.0.1:8787', 'localhost:8787', '[::1]:8787', 'tunnel.example'])
        expect(await status(path, host)).not.toBe(403);
    },
  );

  it.each([onLaptop, deployed, behindTunnel])('must be one host, also for signed deliveries: %#', async (environment) => {
    await start(environment);
    for (const host of ['a b', '127.0.0.1:8787.', '127.0.0.1:8787, evil.example', 'user@127.0.0.1:8787', '127.0.0.1:8787/x', '[::1', ':1'])
      for (const [path, method] of [
        ['/healthz', 'GET'],
        ['/v1/models', 'GET'],
        ['/mcp/demo', 'POST'],
        ['/hooks/default/orders', 'POST'],
      ] as const)
        expect([host, path, await status(path, host, method)]).toEqual([host, path, 400]);
  });

  it('is not checked for signed deliveries, which arrive through tunnels under any name', async () => {
    expect(await status('/hooks/default/orders', 'any.tunnel.example', 'POST')).toBe(404);
  });

  it('names the setting to change', async () => {
    const { detail } = await bodyOf(await h.app.request('/', { headers: { host: 'evil.example' } }));
    expect(detail).toContain('MONIKER_PUBLIC_URL');
  });

  it('may be any when deployed, since the platform has routed the request', async () => {
    await start(deployed);
    expect(await status('/healthz', 'evil.example')).toBe(200);
  });
});

describe('the issuer in the metadata for MCP clients', () => {
  const behindTls = { ...onLaptop, MONIKER_PUBLIC_URL: 'https://localhost:8443' };
  const ofWrangler = { MONIKER_PUBLIC_URL: 'http://localhost:8787' };
  it.each([
    ['the address that was called', onLaptop, 'http://localhost:8787', 'http://localhost:8787'],
    ['the bound address, behind a tunnel', behindTunnel, 'http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['the public URL, behind a tunnel', behindTunnel, 'http://tunnel.example', 'https://tunnel.example/base'],
    ['https, where a proxy of this machine ends TLS', behindTls, 'http://localhost:8443', 'https://localhost:8443'],
    ['https, where the runtime ends TLS', ofWrangler, 'https://localhost:8787', 'https://localhost:8787'],
    ['https, where the runtime ends TLS under another name', ofWrangler, 'https://127.0.0.1:8787', 'https://localhost:8787'],
    ['http, where it does not', ofWrangler, 'http://localhost:8787', 'http://localhost:8787'],
    ['the public URL, whatever other port is called', ofWrangler, 'https://localhost:9999', 'http://localhost:8787'],
  ])('is %s', async (_what, environment, called, issuer) => {
    const app = createHarness(environment).app;
    const headers = { host: new URL(called).host };
    const metadata = await bodyOf(await app.request(`${called}/.well-known/oauth-authorization-server`, { headers }));
    expect([metadata.issuer, metadata.token_endpoint]).toEqual([issuer, `${issuer}/oauth/token`]);
  });
});
