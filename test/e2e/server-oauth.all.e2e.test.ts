/** Servers that require OAuth tokens, over real HTTP: one with client credentials, and one that a user signs in to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeAuthorizationServer } from '../fakes/authorization-server.ts';
import { listenGuarded, type GuardedServer } from '../fakes/guarded-server.ts';
import { shareService } from './shared-service.ts';
import { waitFor } from '../wait-for.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const guarded: Record<'client' | 'person', GuardedServer> = {} as Record<'client' | 'person', GuardedServer>;

beforeAll(async () => {
  guarded.client = await listenGuarded({ clients: { us: { secret: 'value of the secret' } } });
  guarded.person = await listenGuarded();
});
afterAll(async () => {
  await guarded.client.close();
  await guarded.person.close();
});

/** The log output of the service and the documents that its API returns. */
async function everything(server: string): Promise<string> {
  const paths = [`/v1/servers/${server}`, '/v1/servers', '/v1/audit', '/v1/tools'];
  const answers = await Promise.all(paths.map((path) => service.call('GET', path)));
  return service.printed() + answers.map(({ text }) => text).join('\n');
}

function tokensOf({ accessTokens, refreshTokens }: FakeAuthorizationServer): string[] {
  return [...accessTokens.keys(), ...refreshTokens.keys()];
}

async function add(server: string): Promise<unknown> {
  await service.call('PUT', `/v1/toolsets/${server}`, { tools: [{ tool: `${server}.add`, approval: 'never' }] });
  return (await service.call('POST', `/v1/toolsets/${server}/calls`, { name: 'add', arguments: { a: 1, b: 2 } })).json;
}

describe('a server with client_credentials', () => {
  it('is listed and called with tokens that the service requests itself, and the tokens appear nowhere', async () => {
    const { issuer, server } = guarded.client;
    await service.call('PUT', '/v1/secrets/CLIENT', { value: 'value of the secret', hosts: [new URL(issuer.issuer).host] });
    const oauth = { grant: 'client_credentials', clientId: 'us', clientSecret: { secret: 'CLIENT' } };
    const written = await service.call('PUT', '/v1/servers/own', { kind: 'mcp', url: server.url, oauth });
    expect(written.json).toMatchObject({ toolCount: 1, health: { status: 'ok' } });
    expect(await add('own')).toMatchObject({ isError: false });
    expect(issuer.grants()).toEqual(['client_credentials']);
    expect([...issuer.accessTokens.values()]).toMatchObject([{ scope: 'tools' }]);
    const visible = await everything('own');
    for (const token of [...tokensOf(issuer), 'value of the secret']) expect(visible).not.toContain(token);
  });
});

describe('a server with authorization_code', () => {
  it('reports that sign-in is required until a user has signed in', async () => {
    const { server } = guarded.person;
    const written = await service.call('PUT', '/v1/servers/theirs', {
      kind: 'mcp',
      url: server.url,
      oauth: { grant: 'authorization_code' },
    });
    expect(written.json).toMatchObject({ toolCount: 0, health: { status: 'unauthorized' } });
    expect((await service.call('GET', '/v1/servers/theirs')).json).toMatchObject({ authorization: { status: 'signed-out' } });
  });

  it('is listed after the user returns, and can be called, also after a restart', async () => {
    const { issuer } = guarded.person;
    const { json } = await service.call('POST', '/v1/servers/theirs/authorize');
    const back = issuer.approve(json.authorizationUrl);
    expect(back.origin).toBe(new URL(service.url).origin);
    const page = await fetch(back);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect((await service.call('GET', '/v1/servers/theirs')).json).toMatchObject({
      authorization: { status: 'signed-in', scopes: ['tools'] },
      health: { status: 'ok' },
      tools: [{ name: 'add', state: 'ready' }],
    });
    expect(await add('theirs')).toMatchObject({ isError: false });
    await service.restart();
    expect(await add('theirs')).toMatchObject({ isError: false });
    expect(issuer.grants()).toEqual(['authorization_code']);
    expect((await fetch(new URL(`/oauth/callback${back.search}`, service.url))).status).toBe(404);
    const visible = await everything('theirs');
    for (const token of [...tokensOf(issuer), back.searchParams.get('code') ?? '', back.searchParams.get('state') ?? '']) {
      expect(visible).not.toContain(token);
    }
  });

  it('is called with new tokens once the server rejects the old ones', async () => {
    const { issuer } = guarded.person;
    issuer.accessTokens.clear();
    // A token that is rejected right after it was issued is not requested again at once.
    await waitFor(async () => expect(await add('theirs')).toMatchObject({ isError: false }));
    expect(issuer.grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('loses its tokens on sign-out', async () => {
    const { issuer } = guarded.person;
    expect((await service.call('DELETE', '/v1/servers/theirs/authorize')).status).toBe(204);
    expect(issuer.revoked).toHaveLength(1);
    expect((await service.call('GET', '/v1/servers/theirs')).json).toMatchObject({ authorization: { status: 'signed-out' } });
    expect(await add('theirs')).toMatchObject({ isError: true });
  });
});
