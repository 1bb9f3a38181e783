/** Servers that require OAuth tokens, over real HTTP: one with client credentials, and one that a user signs in to. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeAuthorizationServer } from '../fakes/authorization-server.ts';
import { listenGuarded, type GuardedServer } from '../fakes/guarded-server.ts';
import { connectClient } from './mcp-clients.ts';
import { root } from './service.ts';
import { shareService } from './shared-service.ts';
import { waitFor } from '../wait-for.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const main = join(root, 'src/cli/main.ts');
const guarded = {} as Record<'client' | 'person' | 'each' | 'bare', GuardedServer>;

beforeAll(async () => {
  guarded.client = await listenGuarded({ clients: { us: { secret: 'value of the secret' } } });
  guarded.person = await listenGuarded();
  guarded.each = await listenGuarded();
  guarded.bare = await listenGuarded();
});
afterAll(async () => {
  await guarded.client.close();
  await guarded.person.close();
  await guarded.each.close();
  await guarded.bare.close();
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

describe('a server whose document has only its URL', () => {
  const path = '/v1/servers/bare';
  const document = (): Record<string, unknown> => ({ kind: 'mcp', url: guarded.bare.server.url });

  it('offers a sign-in when it refuses the listing', async () => {
    const reason = expect.stringContaining('requires a sign-in (OAuth). Sign in on its page in the console');
    const tried = await service.call('POST', `${path}/test`, document());
    expect(tried.json).toMatchObject({ ok: false, health: { status: 'unauthorized', signIn: true, reason } });
    const written = await service.call('PUT', path, document());
    expect(written.json).toMatchObject({ toolCount: 0, health: { status: 'unauthorized', signIn: true, reason } });
    expect(written.json).not.toHaveProperty('oauth');
    expect((await service.call('GET', path)).json).toMatchObject({ authorization: { status: 'signed-out' } });
    // Nobody has signed in yet.
    expect((await service.call('GET', '/v1/audit?resource=server&name=bare')).text).not.toContain('sign-in');
  });

  it('is listed and called after a user has signed in, also after a restart, and keeps its sign-in when it gets `oauth`', async () => {
    const { issuer } = guarded.bare;
    const { json } = await service.call('POST', `${path}/authorize`);
    expect((await fetch(issuer.approve(json.authorizationUrl))).status).toBe(200);
    expect((await service.call('GET', path)).json).toMatchObject({ authorization: { status: 'signed-in' }, health: { status: 'ok' } });
    expect(await add('bare')).toMatchObject({ isError: false });
    await service.restart();
    expect(await add('bare')).toMatchObject({ isError: false });
    expect((await service.call('POST', `${path}/test`, document())).json).toMatchObject({ ok: true, tools: 1 });
    const explicit = { ...document(), oauth: { grant: 'authorization_code' } };
    expect((await service.call('PUT', path, explicit)).json).toMatchObject({ health: { status: 'ok' } });
    expect((await service.call('PUT', path, document())).json).toMatchObject({ health: { status: 'ok' } });
    expect(issuer.grants()).toEqual(['authorization_code']);
  });

  it('is added and signed in to by `moniker add server --oauth`, which waits for the user', async () => {
    const { issuer, server } = guarded.bare;
    const command = spawn(
      process.execPath,
      [main, 'add', 'server', 'typed', server.url, '--oauth', '--url', service.url, '--key', service.key],
      {
        timeout: 60_000,
      },
    );
    let printed = '';
    command.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8');
    });
    const ended = new Promise((resolve) => command.once('close', resolve));
    const link = await waitFor(async () => {
      const [, url] = /^ {2}(http\S+)$/m.exec(printed) ?? [];
      if (url === undefined) throw new Error(`no link: ${printed}`);
      return url;
    });
    expect(command.exitCode).toBeNull();
    await fetch(issuer.approve(link));
    expect(await ended).toBe(0);
    expect(printed).toContain('Signed in. Server typed with 1 tools.');
  });

  it('is named by an import and by `moniker doctor`, with what to do', async () => {
    const { json } = await service.call('POST', '/v1/import', { mcpServers: { imported: { url: guarded.bare.server.url } } });
    expect(JSON.stringify(json)).toContain('The server imported requires a sign-in (OAuth). Sign in on its page in the console');
    const doctor = spawnSync(process.execPath, [main, 'doctor', '--url', service.url, '--key', service.key], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(doctor.stdout).toMatch(/failure servers +imported: unauthorized: The server imported requires a sign-in/);
  });

  it('sends no token to another server', async () => {
    const other = await listenGuarded();
    const moved = await service.call('PUT', path, { kind: 'mcp', url: other.server.url });
    expect(moved.json).toMatchObject({ health: { status: 'unauthorized', signIn: true } });
    expect(other.server.heard.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    await other.close();
  });

  it.each([
    ['has a token of its own', { headers: { authorization: { secret: 'WRONG' } } }, 409],
    ['is not of MCP', { kind: 'openapi', url: 'http://127.0.0.1:1/openapi.json' }, 409],
  ])('has no sign-in if it %s', async (_what, more, status) => {
    await service.call('PUT', '/v1/secrets/WRONG', { value: 'Bearer wrong', hosts: [guarded.bare.server.host] });
    const written = await service.call('PUT', '/v1/servers/without', { ...document(), ...more });
    expect(written.json.health).not.toHaveProperty('signIn');
    expect((await service.call('POST', '/v1/servers/without/authorize')).status).toBe(status);
  });
});

describe('a server that each user connects to', () => {
  const auth = (key: string | undefined): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` });
  const callAdd = async (key: string | undefined) =>
    (await service.call('POST', '/v1/toolsets/each/calls', { name: 'add', arguments: { a: 1, b: 2 } }, auth(key))).json;

  /** In a browser: the page, its form, the authorization server, and back. */
  async function connect(link: string, key: string): Promise<string> {
    const { issuer } = guarded.each;
    expect(await (await fetch(link)).text()).toContain('API key');
    const { origin } = new URL(link);
    const form = await fetch(link, { method: 'POST', body: new URLSearchParams({ key }), headers: { origin } });
    const cookie = form.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const authorizationUrl = (/class="provider" href="([^"]+)"/.exec(await form.text())?.[1] ?? '').replaceAll('&amp;', '&');
    return await (await fetch(issuer.approve(authorizationUrl), { headers: { cookie } })).text();
  }

  it('is listed with the sign-in of the workspace, which no call uses, and says where to connect', async () => {
    const { issuer, server } = guarded.each;
    await service.call('PUT', '/v1/servers/each', { kind: 'mcp', url: server.url, oauth: { per: 'user' } });
    const { json } = await service.call('POST', '/v1/servers/each/authorize');
    await fetch(issuer.approve(json.authorizationUrl));
    await service.call('PUT', '/v1/toolsets/each', { tools: [{ tool: 'each.add', approval: 'never' }] });
    await service.call('PUT', '/v1/agents/each', { model: 'rehearsal/default', toolset: 'each' });
    const refused = await callAdd(undefined);
    expect(refused).toMatchObject({ isError: true, code: 'connection_required' });
    expect(refused.content[0].text).toContain(`${service.url}/connect/each`);
    const messages = [{ role: 'user', content: '/add {"a": 1, "b": 2}' }];
    const chat = await service.call('POST', '/v1/chat/completions', { model: 'agent/each', messages });
    expect(chat.status, chat.text).toBe(200);
    expect(chat.json.choices[0].message.content).toContain(`${service.url}/connect/each`);
  });

  it('is called with the account of the key that calls, also after a restart', async () => {
    const { issuer } = guarded.each;
    const made = (await service.call('POST', '/v1/keys', { name: 'ada', scopes: ['tools'], toolsets: ['each'] })).json;
    const start = await service.call('POST', '/v1/me/connections/each', undefined, auth(made.key));
    expect(await connect(start.json.authorizationUrl, made.key)).toContain('Connected');
    expect(await callAdd(made.key)).toMatchObject({ isError: false });
    expect(await callAdd(undefined)).toMatchObject({ code: 'connection_required' });
    await service.restart();
    expect(await callAdd(made.key)).toMatchObject({ isError: false });
    expect((await service.call('GET', '/v1/servers/each/connections')).json.items).toMatchObject([{ key: made.id, name: 'ada' }]);
    await service.call('DELETE', `/v1/keys/${made.id}`);
    expect((await service.call('GET', '/v1/servers/each/connections')).json.items).toEqual([]);
    const visible = await everything('each');
    for (const token of tokensOf(issuer)) expect(visible).not.toContain(token);
  });

  it.each(['legacy', 'pinned'] as const)(
    'asks the SDK’s client, %s, to open the page, and is called when the user has connected',
    async (era) => {
      const { key } = (await service.call('POST', '/v1/keys', { name: era, scopes: ['tools'], toolsets: ['each'] })).json;
      const opened: string[] = [];
      const client = await connectClient(`${service.url}/mcp/each`, key, era, { elicitation: { url: {} } }, (made) => {
        made.setRequestHandler('elicitation/create', async ({ params }) => {
          const url = params.mode === 'url' ? params.url : '';
          opened.push(url);
          await connect(url, key);
          return { action: 'accept' as const };
        });
      });
      try {
        const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
        expect(result.isError ?? false, JSON.stringify(result)).toBe(false);
        expect(opened).toEqual([`${service.url}/connect/each`]);
      } finally {
        await client.close();
      }
    },
  );
});
