import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const first = { tools: [{ tool: 'builtin.bash', aliases: ['shell'] }, { tool: 'builtin.read_file' }] };
const second = {
  announce: 'none',
  description: 'Two.',
  tools: [{ tool: 'local.roll_dice' }, { tool: 'builtin.bash', name: 'terminal', aliases: ['shell', { name: 'run', mode: 'hidden' }] }],
};

let h: Harness;
beforeEach(async () => {
  h = createHarness();
  await h.send('PUT', '/v1/toolsets/demo', first);
  await h.send('PUT', '/v1/toolsets/demo', second);
});
const put = async (body: object, headers = {}) => await h.send('PUT', '/v1/toolsets/demo', body, headers);
const diff = async (query = '') => await h.send('GET', `/v1/toolsets/demo/diff${query}`);
const rollback = async (version: unknown, query = '', headers = {}) =>
  await h.send('POST', `/v1/toolsets/demo/rollback${query}`, { version }, headers);

describe('the difference of two versions', () => {
  it('compares the newest with the previous version by default', async () => {
    const answer = await diff();
    expect([answer.status, await bodyOf(answer)]).toEqual([
      200,
      {
        toolset: 'demo',
        from: 1,
        to: 2,
        fields: [
          { path: '/announce', from: 'prompt', to: 'none' },
          { path: '/description', to: 'Two.' },
        ],
        changes: [
          { change: 'added', canonical: 'local.roll_dice', wireName: 'roll_dice', fields: [] },
          {
            change: 'changed',
            canonical: 'builtin.bash',
            wireName: 'terminal',
            fields: [
              { path: '/wireName', from: 'shell', to: 'terminal' },
              { path: '/aliases/run', to: { mode: 'hidden' } },
            ],
          },
          { change: 'removed', canonical: 'builtin.read_file', wireName: 'read_file', fields: [] },
        ],
        more: 0,
      },
    ]);
  });

  it('works in both directions, and is empty for the same version', async () => {
    const back = await bodyOf(await diff('?from=2&to=1'));
    expect(back.changes.map(({ change, canonical }: { change: string; canonical: string }) => [change, canonical])).toEqual([
      ['changed', 'builtin.bash'],
      ['added', 'builtin.read_file'],
      ['removed', 'local.roll_dice'],
    ]);
    expect(await bodyOf(await diff('?from=2&to=2'))).toEqual({ toolset: 'demo', from: 2, to: 2, fields: [], changes: [], more: 0 });
  });

  it('contains everything for the first version', async () => {
    const { from, to, changes } = await bodyOf(await diff('?to=1'));
    expect([from, to, changes.map(({ change }: { change: string }) => change)]).toEqual([null, 1, ['added', 'added']]);
  });

  it('skips the number of a removal', async () => {
    await h.send('DELETE', '/v1/toolsets/demo');
    await put(first);
    const { from, to } = await bodyOf(await diff());
    expect([from, to]).toEqual([2, 4]);
  });

  it.each(['?to=3', '?from=3', '?from=9&to=1'])('is not found for %s', async (query) => {
    await h.send('DELETE', '/v1/toolsets/demo');
    await put(first);
    const answer = await diff(query);
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([404, 'not_found']);
  });

  it('requires a rollback if the toolset was removed', async () => {
    await h.send('DELETE', '/v1/toolsets/demo');
    const answer = await diff('?from=1&to=2');
    expect([answer.status, (await bodyOf(answer)).detail]).toEqual([404, expect.stringContaining('rollback')]);
    expect((await h.send('GET', '/v1/toolsets/demo?version=1')).status).toBe(200);
  });

  it.each([
    ['?from=0', 'from'],
    ['?from=x', 'from'],
    ['?to=1.5', 'to'],
    ['?version=1', 'version'],
  ])('is not computed for %s', async (query, path) => {
    expect(await problemIn(await diff(query))).toBe(`422 invalid_request at ${path}`);
  });

  it('requires a key for the toolset', async () => {
    const headers = await h.key({ scopes: ['tools'], toolsets: ['other'] });
    expect((await h.send('GET', '/v1/toolsets/demo/diff', undefined, headers)).status).toBe(403);
  });
});

describe('rolling back to a version', () => {
  it('writes its document as a new one', async () => {
    const answer = await rollback(1);
    expect([answer.status, answer.headers.get('etag'), await bodyOf(answer)]).toEqual([
      200,
      '"3"',
      { toolset: 'demo', version: 3, warnings: [] },
    ]);
    expect(await bodyOf(await h.send('GET', '/v1/toolsets/demo'))).toMatchObject({ announce: 'prompt', tools: first.tools });
    expect((await bodyOf(await diff('?from=1&to=3'))).changes).toEqual([]);
  });

  it('creates no version if nothing changes', async () => {
    const answer = await rollback(2);
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"2"']);
  });

  it('only validates with dryRun', async () => {
    const answer = await rollback(1, '?dryRun=true');
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, null]);
    expect((await bodyOf(await h.send('GET', '/v1/toolsets/demo'))).announce).toBe('none');
  });

  it('respects If-Match', async () => {
    expect((await rollback(1, '', { 'if-match': '"1"' })).status).toBe(412);
    expect((await rollback(1, '', { 'if-match': '"2"' })).status).toBe(200);
  });

  it('restores a removed toolset', async () => {
    await h.send('DELETE', '/v1/toolsets/demo');
    const answer = await rollback(2);
    expect([answer.status, answer.headers.get('etag'), answer.headers.get('location')]).toEqual([201, '"4"', '/v1/toolsets/demo']);
    expect((await h.send('GET', '/v1/toolsets/demo/resolve?name=terminal')).status).toBe(200);
  });

  it.each([3, 99])('is rejected for version %i, which has no document', async (version) => {
    await h.send('DELETE', '/v1/toolsets/demo');
    const answer = await rollback(version);
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([404, 'not_found']);
  });

  it.each([
    [{}, 'version'],
    [{ version: 0 }, 'version'],
    [{ version: '1' }, 'version'],
    [{ version: 1, dryRun: true }, 'dryRun'],
  ])('is rejected for %j', async (body, path) => {
    expect(await problemIn(await h.send('POST', '/v1/toolsets/demo/rollback', body))).toBe(`422 invalid_request at ${path}`);
  });

  it('is rejected if a tool no longer exists, with its path', async () => {
    const withGone: Harness = createHarness(
      {},
      {
        catalog: () => ({
          ...withGone.catalog,
          get: async (kind, name, version) => {
            const document = await withGone.catalog.get(kind, name, version);
            return version === 1 ? { ...document, body: { ...document.body, tools: [...first.tools, { tool: 'gone.tool' }] } } : document;
          },
        }),
      },
    );
    h = withGone;
    await put(first);
    await put(second);
    const answer = await rollback(1);
    expect([answer.status, (await bodyOf(answer)).issues]).toEqual([
      422,
      [{ path: 'tools[2].tool', message: expect.stringContaining('there is no server "gone"') }],
    ]);
    expect((await h.send('GET', '/v1/toolsets/demo')).headers.get('etag')).toBe('"2"');
  });

  it('restores "never" only for an administrator', async () => {
    await put({ tools: [{ tool: 'builtin.bash', approval: 'never' }] });
    await put(first);
    const writer = await h.key({ scopes: ['toolsets'] });
    const answer = await rollback(3, '', writer);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([403, 'tools[0].approval']);
    expect((await rollback(1, '', writer)).status).toBe(200);
    expect((await rollback(3)).status).toBe(200);
  });

  it('requires a key that may write the toolset', async () => {
    for (const rights of [{ scopes: ['tools'] as const }, { scopes: ['toolsets'] as const, toolsets: ['other'] }])
      expect((await rollback(1, '', await h.key(rights))).status).toBe(403);
  });
});

describe('an older version', () => {
  it('is shown as sent, and resolves its own names', async () => {
    const tools = await h.send('GET', '/v1/toolsets/demo/tools?version=1');
    expect([tools.headers.get('x-moniker-edition'), (await bodyOf(tools)).tools[0].wireName]).toEqual(['demo@1.1', 'shell']);
    const resolve = async (query: string) => (await h.send('GET', `/v1/toolsets/demo/resolve?${query}`)).status;
    expect([await resolve('name=read_file&version=1'), await resolve('name=read_file')]).toEqual([200, 404]);
    expect(await resolve('name=read_file&version=7')).toBe(404);
  });

  it('is used by a pin in a chat or a session', async () => {
    const chat = { model: 'rehearsal/default', messages: [{ role: 'user', content: 'Hello' }] };
    const byHeader = await h.send('POST', '/v1/chat/completions', chat, { 'x-moniker-toolset': 'demo@1' });
    expect([byHeader.status, byHeader.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
    const byBody = await h.send('POST', '/v1/chat/completions', { ...chat, toolset: 'demo@2' });
    expect(byBody.headers.get('x-moniker-edition')).toBe('demo@2.1');
    const unknown = await h.send('POST', '/v1/chat/completions', chat, { 'x-moniker-toolset': 'demo@9' });
    expect(unknown.status).toBe(404);
  });

  it('may be pinned by an agent, which is visible to keys of that toolset, and runs for keys that are bound to the agent', async () => {
    const agent = { model: 'rehearsal/default', toolset: 'demo@1' };
    const writer = await h.key({ scopes: ['toolsets', 'chat'], toolsets: ['demo'] });
    expect((await h.send('PUT', '/v1/agents/helper', agent, writer)).status).toBe(403);
    expect((await h.send('PUT', '/v1/agents/helper', agent)).status).toBe(201);
    expect((await h.send('GET', '/v1/agents/helper', undefined, writer)).status).toBe(200);
    const other = await h.key({ scopes: ['toolsets', 'chat'], toolsets: ['other'] });
    expect((await h.send('PUT', '/v1/agents/mine', agent, other)).status).toBe(403);
    expect((await h.send('GET', '/v1/agents/helper', undefined, other)).status).toBe(403);
    const chat = { model: 'agent/helper', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await h.send('POST', '/v1/chat/completions', chat, writer)).status).toBe(403);
    const ofAgent = await h.key({ scopes: ['chat'], toolsets: ['demo'], agents: ['helper'] });
    const answer = await h.send('POST', '/v1/chat/completions', chat, ofAgent);
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
    for (const toolset of ['demo@', 'demo@0', 'demo@1.1', '@1', 'demo@x'])
      expect(await problemIn(await h.send('PUT', '/v1/agents/helper', { ...agent, toolset }))).toBe('422 invalid_request at toolset');
  });
});
