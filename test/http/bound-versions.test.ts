/** A key that is bound to a toolset gets its current version, and no door leads to a tool that was taken out of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const scopes = ['chat', 'tools', 'toolsets'] as const;
const chat = { model: 'rehearsal/default', messages: [{ role: 'user', content: 'Hello' }] };
const listTools = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/list',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const mcpHeaders = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/list',
};

let h: Harness;
let bound: Record<string, string>;
let exact: Record<string, string>;
beforeEach(async () => {
  h = createHarness();
  await h.send('PUT', '/v1/toolsets/tight', { tools: [{ tool: 'builtin.read_file' }, { tool: 'builtin.bash', approval: 'never' }] });
  await h.send('PUT', '/v1/toolsets/tight', { tools: [{ tool: 'builtin.read_file' }] });
  await h.send('PUT', '/v1/agents/pinned', { model: 'rehearsal/default', toolset: 'tight@1' });
  bound = await h.key({ scopes: [...scopes], toolsets: ['tight'] });
  exact = await h.key({ scopes: [...scopes], toolsets: ['tight@1'] });
});

type Door = [name: string, send: (version: number, headers: Record<string, string>) => Promise<Response>, current?: number];
const call = { name: 'builtin.read_file', arguments: { path: '/a' } };

/** `current`: the status for the current version, if it is not 200. */
const doors: Door[] = [
  ['a direct call', (version, headers) => h.send('POST', `/v1/toolsets/tight/calls?version=${version}`, call, headers)],
  ['a dry run', (version, headers) => h.send('POST', `/v1/toolsets/tight/calls?version=${version}&dryRun=true`, call, headers)],
  ['the preview of its tools', (version, headers) => h.send('GET', `/v1/toolsets/tight/tools?version=${version}`, undefined, headers)],
  [
    'resolving a name',
    (version, headers) => h.send('GET', `/v1/toolsets/tight/resolve?name=read_file&version=${version}`, undefined, headers),
  ],
  ['reading the document', (version, headers) => h.send('GET', `/v1/toolsets/tight?version=${version}`, undefined, headers)],
  ['comparing it', (version, headers) => h.send('GET', `/v1/toolsets/tight/diff?from=${version}&to=${version}`, undefined, headers)],
  ['rolling back to it', (version, headers) => h.send('POST', '/v1/toolsets/tight/rollback', { version }, headers)],
  [
    'a chat by header',
    (version, headers) => h.send('POST', '/v1/chat/completions', chat, { ...headers, 'x-moniker-toolset': `tight@${version}` }),
  ],
  ['a chat by body', (version, headers) => h.send('POST', '/v1/chat/completions', { ...chat, toolset: `tight@${version}` }, headers)],
  ['a message', (version, headers) => h.send('POST', '/v1/messages', { ...chat, max_tokens: 9, toolset: `tight@${version}` }, headers)],
  [
    'a response',
    (version, headers) => h.send('POST', '/v1/responses', { model: chat.model, input: 'Hello', toolset: `tight@${version}` }, headers),
  ],
  ['a session', (version, headers) => h.send('POST', '/v1/sessions', { model: chat.model, toolset: `tight@${version}` }, headers), 201],
  ['MCP', (version, headers) => h.send('POST', `/mcp/tight@${version}`, listTools, { ...headers, ...mcpHeaders })],
  ['a copy', (version, headers) => h.send('PUT', '/v1/toolsets/tight', { from: `tight@${version}` }, headers)],
  ['the preview of a copy', (version, headers) => h.send('POST', '/v1/toolsets/tight/preview', { from: `tight@${version}` }, headers)],
];

describe('a key that is bound to a toolset', () => {
  it.each(doors)('reaches no earlier version, only the current one, by %s', async (_door, send, current = 200) => {
    const refused = await send(1, bound);
    expect([refused.status, (await refused.text()).includes('so it has its current version only')]).toEqual([403, true]);
    const allowed = await send(2, bound);
    expect(allowed.status, await allowed.text()).toBe(current);
    // It follows the toolset: what was current is not any more.
    await h.send('PUT', '/v1/toolsets/tight', { description: 'Newer.', tools: [{ tool: 'builtin.read_file' }] });
    expect((await send(2, bound)).status).toBe(403);
  });

  it('does not reach it through an agent that names it, unless it is bound to the agent', async () => {
    const asked = { ...chat, model: 'agent/pinned' };
    expect((await h.send('POST', '/v1/chat/completions', asked, bound)).status).toBe(403);
    expect((await h.send('POST', '/v1/sessions', { agent: 'pinned' }, bound)).status).toBe(403);
    for (const rights of [{ agents: ['pinned'] }, { agents: ['pinned'], toolsets: ['tight'] }, { toolsets: ['tight@1'] }]) {
      const answer = await h.send('POST', '/v1/chat/completions', asked, await h.key({ scopes: ['chat'], ...rights }));
      expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'tight@1.1']);
    }
  });

  it('keeps no session with a version that was current when the session was made', async () => {
    const { id } = await bodyOf(await h.send('POST', '/v1/sessions', { model: chat.model, toolset: 'tight@2' }, bound));
    const turn = () => h.send('POST', `/v1/sessions/${id}/turns`, { input: 'Hello' }, { ...bound, prefer: 'respond-async' });
    expect((await turn()).status).toBe(202);
    await h.send('PUT', '/v1/toolsets/tight', { description: 'Newer.', tools: [{ tool: 'builtin.read_file' }] });
    expect((await turn()).status).toBe(403);
  });

  it('says which versions there are, but not what they were', async () => {
    const { items } = await bodyOf(await h.send('GET', '/v1/toolsets/tight/versions', undefined, bound));
    expect(items).toHaveLength(2);
    expect((await h.send('GET', '/v1/toolsets/tight/diff', undefined, bound)).status).toBe(403);
  });

  it('cannot be widened by the name of a toolset in another spelling', async () => {
    for (const toolset of ['tight@01', 'tight@1.0', 'tight@+1', 'TIGHT@1', 'tight@1@2', ' tight@1', 'tight%401', 'tight@', 'tight@1 '])
      expect([403, 404, 422], toolset).toContain((await h.send('POST', '/v1/chat/completions', { ...chat, toolset }, bound)).status);
  });
});

describe('a key that is bound to one version', () => {
  it('uses exactly that one, by its name with the version', async () => {
    const answer = await h.send('POST', '/v1/chat/completions', { ...chat, toolset: 'tight@1' }, exact);
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'tight@1.1']);
    for (const toolset of ['tight', 'tight@2', 'tight@10'])
      expect((await h.send('POST', '/v1/chat/completions', { ...chat, toolset }, exact)).status).toBe(403);
    expect((await h.send('PUT', '/v1/toolsets/tight', { tools: [{ tool: 'builtin.bash' }] }, exact)).status).toBe(403);
    expect((await h.send('DELETE', '/v1/toolsets/tight', undefined, exact)).status).toBe(403);
  });
});

describe('a retired version', () => {
  const retire = (version: number, method = 'POST', headers = {}) =>
    h.send(method, `/v1/toolsets/tight/versions/${version}/retire`, undefined, headers);

  it.each(doors.filter(([door]) => door !== 'reading the document' && door !== 'comparing it'))(
    'is refused to every key by %s',
    async (_door, send) => {
      const before = await send(1, {});
      expect(before.status, await before.text()).toBeLessThan(300);
      await h.send('PUT', '/v1/toolsets/tight', { description: 'Newer.', tools: [{ tool: 'builtin.read_file' }] });
      expect(await bodyOf(await retire(1))).toMatchObject({ toolset: 'tight', version: 1, retired: true });
      const refused = await send(1, {});
      expect([refused.status, (await refused.text()).includes('retired')]).toEqual([
        expect.toSatisfy((status) => status === 404 || status === 409),
        true,
      ]);
      expect((await retire(1, 'DELETE')).status).toBe(200);
      expect((await send(1, {})).status).toBeLessThan(300);
    },
  );

  it('can be read and is shown among the versions, with who retired it', async () => {
    expect((await retire(1)).status).toBe(200);
    expect((await h.send('GET', '/v1/toolsets/tight?version=1')).status).toBe(200);
    expect((await h.send('GET', '/v1/toolsets/tight/diff?from=1&to=2')).status).toBe(200);
    const { items } = await bodyOf(await h.send('GET', '/v1/toolsets/tight/versions'));
    expect(items).toMatchObject([{ version: 2 }, { version: 1, retired: { by: 'root' } }]);
    expect(items[0]).not.toHaveProperty('retired');
  });

  it('is not the current one, exists, and is retired once', async () => {
    expect(await problemIn(await retire(2))).toBe('409 conflict');
    expect((await retire(7)).status).toBe(404);
    expect((await retire(0)).status).toBe(404);
    expect(await problemIn(await retire(1, 'DELETE'))).toBe('409 conflict');
    expect((await retire(1)).status).toBe(200);
    expect(await problemIn(await retire(1))).toBe('409 conflict');
    expect((await h.send('POST', '/v1/toolsets/none/versions/1/retire')).status).toBe(404);
  });

  it('may be retired by a key that writes the toolset, and restored by an unbound one', async () => {
    expect((await retire(1, 'POST', await h.key({ scopes: ['tools'] }))).status).toBe(403);
    expect((await retire(1, 'POST', await h.key({ scopes: ['toolsets'], toolsets: ['other'] }))).status).toBe(403);
    expect((await retire(1, 'POST', bound)).status).toBe(200);
    expect((await retire(1, 'DELETE', bound)).status).toBe(403);
    expect((await retire(1, 'DELETE', exact)).status).toBe(403);
    expect((await retire(1, 'DELETE', await h.key({ scopes: ['toolsets'] }))).status).toBe(200);
  });

  it('stays retired when the toolset is deleted and created again', async () => {
    await retire(1);
    await h.send('DELETE', '/v1/toolsets/tight');
    await h.send('PUT', '/v1/toolsets/tight', { tools: [{ tool: 'builtin.read_file' }] });
    expect((await h.send('GET', '/v1/toolsets/tight/tools?version=1')).status).toBe(404);
  });
});
