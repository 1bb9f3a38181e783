/** What a key bound to agents or toolsets can access: by REST, MCP, the configuration tools, the chat dialects and sessions. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/core/people/principal.ts';
import { createToolsetEditor } from '../../src/engine/configuration/toolset-editor.ts';
import { toolOf } from '../fakes/known-tools.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';
import { sample } from '../selection.ts';

type Rights = { scopes: Scope[]; toolsets?: string[]; agents?: string[] };
type Row = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

const file = { tool: 'builtin.read_file' };
const bash = { tool: 'builtin.bash' };
const push = { tool: 'git.push', arguments: { preset: { token: { secret: 'GH' }, remote: 'https://api.example.com' } } };
const hello = [{ role: 'user', content: 'Hello' }];
const contents = () => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
const chat = (model: string, more: object = {}) => ({ model, messages: hello, ...more });
const everyday: Scope[] = ['chat', 'tools', 'toolsets', 'approve'];
const model = 'rehearsal/default';

const text = { type: 'string' };
const extra = [
  toolOf('git', 'push', { inputSchema: { type: 'object', properties: { remote: text, token: text, branch: text } } }),
  toolOf('git', 'fetch', { inputSchema: { type: 'object', properties: { remote: text, token: text } } }),
];

let h: Harness;
beforeEach(async () => {
  h = createHarness({}, {}, extra);
  await made('PUT', '/v1/secrets/GH', { value: 'v', hosts: ['api.example.com'], tools: ['git.push', 'git.fetch'] });
  await made('PUT', '/v1/secrets/OTHER', { value: 'w', hosts: ['api.example.com'], tools: ['git.push', 'git.fetch'] });
  await made('PUT', '/v1/toolsets/small', { tools: [file, bash] });
  await made('PUT', '/v1/toolsets/small', { tools: [file] });
  await made('PUT', '/v1/toolsets/big', { tools: [file, bash, { tool: 'docs.search' }] });
  await made('PUT', '/v1/toolsets/big', { tools: [file, bash] });
  await made('PUT', '/v1/agents/small', { model, toolset: 'small' });
  await made('PUT', '/v1/agents/narrow', { model, toolset: 'big', tools: ['read_file'] });
  await made('PUT', '/v1/agents/pinned', { model, toolset: 'big@1' });
  await made('PUT', '/v1/agents/wide', { model, toolset: 'big' });
});

async function made(...[method, path, body]: Row): Promise<void> {
  expect((await h.send(method, path, body)).status, path).toBeLessThan(300);
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const mcp = (target: string, method: string, params: Record<string, unknown> = {}): Row => [
  'POST',
  `/mcp${target}`,
  { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } },
  {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  },
];

async function statusOf(rights: Rights, [method, path, body, headers = {}]: Row): Promise<number> {
  return (await h.send(method, path, body, { ...(await h.key(rights)), ...headers })).status;
}

const answerTo = async (rights: Rights, [method, path, body, headers = {}]: Row) =>
  await bodyOf(await h.send(method, path, body, { ...(await h.key(rights)), ...headers }));

/** Every toolset, agent, secret, policy and key as an administrator sees it. */
async function workspace(): Promise<unknown> {
  const paths = [
    '/v1/toolsets',
    '/v1/toolsets/small',
    '/v1/toolsets/big',
    '/v1/agents',
    '/v1/secrets',
    '/v1/policy',
    '/v1/tools?limit=200',
  ];
  return await Promise.all(paths.map(async (path) => await (await h.send('GET', path)).text()));
}

describe('a key bound to the agent "small" with the scopes chat, tools, toolsets and approve', () => {
  const key: Rights = { scopes: everyday, agents: ['small'] };

  const refused: Row[] = [
    ['POST', '/v1/toolsets/big/calls', { name: 'bash', arguments: { command: 'id' } }],
    ['POST', '/v1/toolsets/big/calls?dryRun=true', { name: 'bash', arguments: { command: 'id' } }],
    ['POST', '/v1/toolsets/small/calls?version=1', { name: 'bash', arguments: { command: 'id' } }],
    ['POST', '/v1/toolsets/nowhere/calls', { name: 'bash', arguments: { command: 'id' } }],
    ['GET', '/v1/toolsets/big'],
    ['GET', '/v1/toolsets/nowhere'],
    ['GET', '/v1/toolsets/small?version=1'],
    ['GET', '/v1/toolsets/big/tools'],
    ['GET', '/v1/toolsets/small/tools?version=1'],
    ['GET', '/v1/toolsets/big/resolve?name=bash'],
    ['GET', '/v1/toolsets/big/versions'],
    ['GET', '/v1/toolsets/small/versions'],
    ['GET', '/v1/toolsets/big/diff'],
    ['GET', '/v1/toolsets/small/diff'],
    ['PUT', '/v1/toolsets/big', { tools: [file] }],
    ['PUT', '/v1/toolsets/small', { tools: [file, bash] }],
    ['PUT', '/v1/toolsets/small?dryRun=true', { tools: [file, bash] }],
    ['PUT', '/v1/toolsets/new', { tools: [file] }],
    ['DELETE', '/v1/toolsets/big'],
    ['DELETE', '/v1/toolsets/small'],
    ['POST', '/v1/toolsets/small/rollback', { version: 1 }],
    ['POST', '/v1/toolsets/big/rollback', { version: 1 }],
    ['PUT', '/v1/agents/small', { model, toolset: 'big' }],
    ['PUT', '/v1/agents/small', { model, toolset: 'small', instructions: 'Other.' }],
    ['PUT', '/v1/agents/new', { model, toolset: 'small' }],
    ['PUT', '/v1/agents/wide', { model, toolset: 'small' }],
    ['DELETE', '/v1/agents/small'],
    ['GET', '/v1/agents/wide'],
    ['GET', '/v1/tools/builtin.bash'],
    ['GET', '/v1/tools/no.where'],
    ['GET', '/v1/tools/builtin.bash/aliases'],
    ['PUT', '/v1/tools/builtin.read_file/aliases', { aliases: ['peek'] }],
    ['DELETE', '/v1/tools/builtin.read_file/aliases'],
    ['PUT', '/v1/tools/made.mine', { description: 'x', implementation: 'return 1' }],
    ['PUT', '/v1/tools/ui.mine', { label: 'Mine', description: 'x', category: 'upload', triggers: ['x'] }],
    ['DELETE', '/v1/tools/made.mine'],
    ['GET', '/v1/skills'],
    ['PUT', '/v1/skills/mine', { content: '---\nname: mine\ndescription: Mine.\n---\nDo.\n' }],
    ['DELETE', '/v1/skills/mine'],
    ['POST', '/v1/policy/test', { effect: { kind: 'network', host: 'a.example', method: 'GET' } }],
    ['POST', '/v1/policy/test', { tool: 'builtin.bash', arguments: { command: 'id' } }],
    ['POST', '/v1/policy/test', { tool: 'bash', arguments: { command: 'id' }, toolset: 'big' }],
    ['POST', '/v1/policy/test', { tool: 'read_file', arguments: { path: 'a' }, toolset: 'small', agent: 'wide' }],
    ['POST', '/v1/policy/test', { tool: 'read_file', arguments: { path: 'a' }, toolset: 'small', key: 'root' }],
    ['POST', '/v1/sessions', { model, toolset: 'small' }],
    ['POST', '/v1/sessions', { model }],
    ['POST', '/v1/sessions', { agent: 'wide' }],
    ['POST', '/v1/chat/completions', chat(model)],
    ['POST', '/v1/chat/completions', chat(model, { toolset: 'small' })],
    ['POST', '/v1/chat/completions', chat('agent/wide')],
    ['POST', '/v1/chat/completions', chat('agent/small', { toolset: 'big' })],
    ['POST', '/v1/chat/completions', chat('agent/small', { toolset: 'small@1' })],
    ['POST', '/v1/chat/completions', chat('agent/small'), { 'x-moniker-toolset': 'big' }],
    ['POST', '/v1/responses', { model: 'agent/small', input: 'Hello', toolset: 'big' }],
    ['POST', '/v1/responses', { model, input: 'Hello' }],
    ['POST', '/v1/messages', { ...chat('agent/small', { toolset: 'big' }), max_tokens: 9 }],
    ['POST', '/v1/messages', { ...chat(model), max_tokens: 9 }],
    ['POST', '/v1/messages/count_tokens', chat('agent/wide')],
    ['POST', '/v1/messages/count_tokens', chat(model)],
    ['POST', '/v1beta/models/agent/wide:generateContent', contents()],
    ['POST', '/v1beta/models/agent/small:streamGenerateContent', { ...contents(), toolset: 'big' }],
    ['POST', `/v1beta/models/${model}:countTokens`, contents()],
    mcp('/big', 'tools/list'),
    mcp('/small@1', 'tools/list'),
    mcp('/nowhere', 'tools/list'),
    mcp('/big', 'tools/call', { name: 'bash', arguments: { command: 'id' } }),
    mcp('/big', 'resources/list'),
    mcp('/big', 'prompts/list'),
  ];
  it.each(sample('requests that its binding refuses', refused, (_row, index) => index % 3 === 0))(
    'is refused at %s %s %j',
    async (...given) => {
      const row = given as unknown as Row;
      const before = await workspace();
      expect(await statusOf(key, row)).toBe(403);
      expect([await workspace(), h.sessions.all.size, h.proxied]).toEqual([before, 0, []]);
    },
  );

  it.each<Row>([
    ['POST', '/v1/toolsets/small/calls', { name: 'read_file', arguments: { path: 'a' } }],
    ['GET', '/v1/toolsets/small'],
    ['GET', '/v1/toolsets/small/tools'],
    ['GET', '/v1/toolsets/small/resolve?name=read_file'],
    ['GET', '/v1/agents/small'],
    ['GET', '/v1/tools/builtin.read_file'],
    ['POST', '/v1/policy/test', { tool: 'read_file', arguments: { path: 'a' }, toolset: 'small' }],
    ['POST', '/v1/chat/completions', chat('agent/small')],
    ['POST', '/v1/chat/completions', chat('agent/small', { toolset: 'small' })],
    ['POST', '/v1/messages', { ...chat('agent/small'), max_tokens: 9 }],
    ['POST', '/v1/responses', { model: 'agent/small', input: 'Hello' }],
    ['POST', '/v1beta/models/agent/small:generateContent', contents()],
    mcp('/small', 'tools/list'),
    mcp('/small', 'tools/call', { name: 'read_file', arguments: { path: 'a' } }),
  ])('is answered at %s %s %j', async (...given) => {
    const row = given as unknown as Row;
    expect(await statusOf(key, row)).toBe(200);
  });

  it('lists its own agent, toolset and tools, with no cursor that names others', async () => {
    const names = async (path: string) => {
      const { items, nextCursor } = await answerTo(key, ['GET', `${path}?limit=1`]);
      return [items.map((item: { name?: string; canonical?: string }) => item.canonical ?? item.name), nextCursor];
    };
    expect(await names('/v1/agents')).toEqual([['small'], null]);
    expect(await names('/v1/toolsets')).toEqual([['small'], null]);
    expect(await names('/v1/tools')).toEqual([['builtin.read_file'], null]);
  });

  it('has no configuration tools at /mcp and nothing equipped', async () => {
    expect((await answerTo(key, mcp('', 'tools/list'))).result.tools).toEqual([]);
  });
});

describe('an agent that has a part of its toolset', () => {
  const key: Rights = { scopes: everyday, agents: ['narrow'] };

  it('gives its key that part over REST and MCP, and reveals nothing else', async () => {
    const listed = await answerTo(key, ['GET', '/v1/toolsets/big/tools']);
    expect(listed.tools.map(({ canonical }: { canonical: string }) => canonical)).toEqual(['builtin.read_file']);
    const served = await answerTo(key, mcp('/big', 'tools/list'));
    expect(served.result.tools.map(({ name }: { name: string }) => name)).toEqual(['read_file']);
    const call = { name: 'bash', arguments: { command: 'id' } };
    expect(await answerTo(key, ['POST', '/v1/toolsets/big/calls', call])).toMatchObject({ isError: true, code: 'unknown_tool' });
    expect(await answerTo(key, ['POST', '/v1/toolsets/big/calls?dryRun=true', call])).toMatchObject({ verdict: 'unknown_tool' });
    expect(JSON.stringify(await answerTo(key, mcp('/big', 'tools/call', call)))).not.toContain('ran with');
    const missed = await answerTo(key, ['GET', '/v1/toolsets/big/resolve?name=bash']);
    expect([missed.code, JSON.stringify(missed)]).toEqual(['unknown_tool', expect.not.stringContaining('builtin.bash')]);
    expect(await statusOf(key, ['POST', '/v1/policy/test', { ...call, name: undefined, tool: 'bash', toolset: 'big' }])).toBe(404);
    expect(await statusOf(key, ['GET', '/v1/tools/builtin.bash'])).toBe(403);
  });

  it('keeps its key from the document, which shows the rest', async () => {
    expect(await statusOf(key, ['GET', '/v1/toolsets/big'])).toBe(403);
    expect((await answerTo(key, ['GET', '/v1/toolsets'])).items).toEqual([]);
  });

  it('is joined by the other agents of the key', async () => {
    const both: Rights = { scopes: everyday, agents: ['narrow', 'wide'] };
    const listed = await answerTo(both, ['GET', '/v1/toolsets/big/tools']);
    expect(listed.tools).toHaveLength(2);
  });

  it('runs a direct call in a session with only that part', async () => {
    const headers = await h.key({ ...key, scopes: ['chat', 'tools'] });
    const { id } = await bodyOf(await h.send('POST', '/v1/sessions', { agent: 'narrow' }, headers));
    await h.send('POST', '/v1/toolsets/big/calls', { name: 'bash', arguments: {}, session: id }, headers);
    expect(h.sessions.ran.at(-1)?.plan.allow).toEqual(['builtin.read_file']);
  });
});

describe('an agent that is pinned to a version', () => {
  const key: Rights = { scopes: everyday, agents: ['pinned'] };

  it.each<readonly [Row, number]>([
    [['GET', '/v1/toolsets/big/tools?version=1'], 200],
    [['POST', '/v1/toolsets/big/calls?version=1', { name: 'search' }], 200],
    [mcp('/big@1', 'tools/list'), 200],
    [['GET', '/v1/toolsets/big/tools'], 403],
    [['GET', '/v1/toolsets/big/tools?version=2'], 403],
    [['POST', '/v1/toolsets/big/calls', { name: 'search' }], 403],
    [mcp('/big', 'tools/list'), 403],
    [mcp('/big@2', 'tools/list'), 403],
  ])('gives its key that version: %j is %i', async (row, status) => {
    expect(await statusOf(key, row)).toBe(status);
  });
});

describe('a key bound to agents and toolsets', () => {
  const key: Rights = { scopes: everyday, agents: ['small'], toolsets: ['small', 'big'] };

  it.each<readonly [Row, number]>([
    [['POST', '/v1/toolsets/small/calls', { name: 'read_file', arguments: { path: 'a' } }], 200],
    [['POST', '/v1/toolsets/big/calls', { name: 'bash', arguments: { command: 'id' } }], 403],
    [mcp('/big', 'tools/list'), 403],
    [['POST', '/v1/chat/completions', chat('agent/small', { toolset: 'big' })], 403],
    [['GET', '/v1/toolsets/big'], 200],
    [['PUT', '/v1/toolsets/big', { tools: [bash] }], 200],
    [['PUT', '/v1/toolsets/other', { tools: [file] }], 403],
    [['PUT', '/v1/agents/small', { model, toolset: 'big' }], 403],
    [['DELETE', '/v1/toolsets/big'], 204],
  ])('uses what its agents use, and writes its toolsets: %j returns %i', async (row, status) => {
    expect(await statusOf(key, row)).toBe(status);
  });

  it('does not use an agent whose toolset it is not bound to', async () => {
    const other: Rights = { scopes: everyday, agents: ['wide'], toolsets: ['small'] };
    expect(await statusOf(other, ['POST', '/v1/chat/completions', chat('agent/wide')])).toBe(403);
    expect(await statusOf(other, mcp('/small', 'tools/list'))).toBe(403);
    expect(await statusOf(other, mcp('/big', 'tools/list'))).toBe(403);
  });
});

describe('a key bound to the toolset "small" with the scope toolsets', () => {
  const key: Rights = { scopes: ['toolsets', 'tools', 'chat'], toolsets: ['small', 'second'] };

  it.each<Row>([
    ['PUT', '/v1/toolsets/small', { tools: [file, bash] }],
    ['PUT', '/v1/toolsets/small?dryRun=true', { tools: [file, bash] }],
    ['PUT', '/v1/toolsets/small', { tools: [{ tool: 'no.where' }] }],
    ['PUT', '/v1/toolsets/small', { tools: [{ tool: 'Builtin.Bash' }] }],
    ['PUT', '/v1/toolsets/small', { tools: [push] }],
    ['PUT', '/v1/toolsets/second', { tools: [bash] }],
    ['PUT', '/v1/toolsets/big', { tools: [file] }],
    ['POST', '/v1/toolsets/small/rollback', { version: 1 }],
    ['POST', '/v1/toolsets/small/rollback?dryRun=true', { version: 1 }],
    ['PUT', '/v1/agents/new', { model, toolset: 'small' }],
    ['PUT', '/v1/agents/small', { model, toolset: 'small' }],
    ['DELETE', '/v1/agents/small'],
    ['GET', '/v1/tools/builtin.bash'],
    ['GET', '/v1/tools/no.where'],
    ['POST', '/v1/policy/test', { tool: 'read_file', toolset: 'small', arguments: {}, key: 'root' }],
    ['POST', '/v1/policy/test', { tool: 'read_file', toolset: 'small', arguments: {}, agent: 'wide' }],
  ])('is refused at %s %s %j', async (...given) => {
    const row = given as unknown as Row;
    const before = await workspace();
    expect(await statusOf(key, row)).toBe(403);
    expect(await workspace()).toEqual(before);
  });

  it('gets the same refusal for a tool that exists and for one that does not', async () => {
    const detail = async (tool: string) =>
      (await answerTo(key, ['PUT', '/v1/toolsets/small', { tools: [file, { tool }] }])).detail.replace(tool, 'X');
    expect(await detail('builtin.bash')).toBe(await detail('no.where'));
  });

  it('cannot add a tool by its refId, and keeps one that it has', async () => {
    const refIdOf = async (tool: string): Promise<string> => (await bodyOf(await h.send('GET', `/v1/tools/${tool}`))).refId;
    const put = async (entry: object) => await statusOf(key, ['PUT', '/v1/toolsets/small', { tools: [entry] }]);
    expect(await put({ refId: await refIdOf('builtin.bash') })).toBe(403);
    expect(await put({ refId: await refIdOf('docs.search') })).toBe(403);
    expect(await put({ refId: 'f'.repeat(64) })).toBe(403);
    expect(await put({ refId: await refIdOf('builtin.read_file') })).toBe(200);
  });

  it('renames, describes and reorders its tools, and builds its other toolset from them', async () => {
    const tools = [{ ...file, name: 'peek', aliases: ['look'], description: 'Reads.' }];
    expect(await statusOf(key, ['PUT', '/v1/toolsets/small', { tools }])).toBe(200);
    expect(await statusOf(key, ['PUT', '/v1/toolsets/second', { tools: [file] }])).toBe(201);
    expect(await statusOf(key, ['DELETE', '/v1/toolsets/second'])).toBe(204);
  });

  it('lists its own toolsets and tools, with no cursor that names others', async () => {
    for (const path of ['/v1/toolsets?limit=1', '/v1/tools?limit=1', '/v1/agents?limit=1'])
      expect(await answerTo(key, ['GET', path]), path).toMatchObject({ items: [{}], nextCursor: null });
  });

  it('gets its lists in pages', async () => {
    const wide: Rights = { ...key, toolsets: ['small', 'big'] };
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await answerTo(wide, ['GET', `/v1/tools?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`]);
      seen.push(...page.items.map(({ canonical }: { canonical: string }) => canonical));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['builtin.bash', 'builtin.read_file']);
    expect(await statusOf(wide, ['GET', '/v1/tools?cursor=nonsense'])).toBe(422);
  });
});

describe('a secret in a preset', () => {
  const editor: Rights = { scopes: ['toolsets', 'tools'] };
  const put = async (rights: Rights, tools: object[], name = 'safe') => await statusOf(rights, ['PUT', `/v1/toolsets/${name}`, { tools }]);
  beforeEach(async () => await made('PUT', '/v1/toolsets/safe', { tools: [push, file] }));
  const preset = push.arguments.preset;

  it.each<readonly [string, object]>([
    ['of another tool', { tool: 'git.fetch', arguments: { preset: { token: { secret: 'GH' } } } }],
    ['of another name', { ...push, arguments: { preset: { ...preset, token: { secret: 'OTHER' } } } }],
    ['at another argument', { ...push, arguments: { preset: { branch: { secret: 'GH' }, remote: preset.remote } } }],
    ['to another address', { ...push, arguments: { preset: { ...preset, remote: 'https://evil.example' } } }],
    ['to an address that the model chooses', { ...push, arguments: { preset: { token: preset.token } } }],
    ['to an address by default', { ...push, arguments: { preset: { token: preset.token }, default: { remote: preset.remote } } }],
    ['twice', { ...push, arguments: { preset: { ...preset, branch: { secret: 'GH' } } } }],
  ])('cannot be moved by a key without admin: %s', async (_what, entry) => {
    const before = await bodyOf(await h.send('GET', '/v1/toolsets/safe'));
    expect(await put(editor, [entry, file])).toBe(403);
    expect(await put({ scopes: ['admin'], toolsets: ['safe'] }, [entry, file])).toBe(403);
    expect(await bodyOf(await h.send('GET', '/v1/toolsets/safe'))).toEqual(before);
  });

  it('cannot be added by a key without admin, or by a bound one', async () => {
    expect(await put(editor, [push], 'other')).toBe(403);
    expect(await put({ scopes: ['toolsets'], toolsets: ['safe', 'other'] }, [push], 'other')).toBe(403);
    expect(await put({ scopes: ['admin'], toolsets: ['safe', 'other'] }, [push], 'other')).toBe(403);
    expect(await put({ scopes: ['admin'] }, [push], 'other')).toBe(201);
  });

  it('is kept by a key without admin that changes names and other entries', async () => {
    expect(await put(editor, [{ ...push, name: 'publish', description: 'Publishes.' }, bash])).toBe(200);
    expect(await put(editor, [file])).toBe(200);
    expect(await put(editor, [push, file])).toBe(403);
  });

  it('cannot be restored by rollback or rename', async () => {
    await made('PUT', '/v1/toolsets/safe', { tools: [file] });
    expect(await statusOf(editor, ['POST', '/v1/toolsets/safe/rollback', { version: 1 }])).toBe(403);
    await made('POST', '/v1/toolsets/safe/rollback', { version: 1 });
    const { record } = await h.catalog.createKey({ name: 'editor', scopes: ['toolsets'] });
    const desk = createToolsetEditor(h.catalog, record.id);
    const { version } = await h.catalog.get('toolset', 'safe');
    await expect(desk.rename('safe', 'moved', version)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is not kept by a write that races its removal', async () => {
    const headers = await h.key(editor);
    const { get } = h.catalog;
    h.catalog.get = async (...asked) => {
      const document = await get(...asked);
      h.catalog.get = get;
      await h.catalog.put('toolset', 'safe', { name: 'safe', tools: [file] });
      return document;
    };
    expect((await h.send('PUT', '/v1/toolsets/safe', { tools: [push] }, headers)).status).toBe(412);
  });

  it('is reported with its path and what to do', async () => {
    const { detail, issues } = await answerTo(editor, ['PUT', '/v1/toolsets/other', { tools: [file, push] }]);
    expect([detail, issues]).toEqual([
      expect.stringContaining('tools[1].arguments.preset.token'),
      [{ path: 'tools[1].arguments.preset.token', message: expect.stringContaining('admin') }],
    ]);
  });
});

describe('an admin key that is bound', () => {
  it.each<Rights>([
    { scopes: ['admin'], toolsets: ['small'] },
    { scopes: ['admin'], agents: ['small'] },
    { scopes: ['admin'], agents: ['small'], toolsets: ['small'] },
  ])('is no administrator of the workspace: %j', async (rights) => {
    const rows: Row[] = [
      ['GET', '/v1/keys'],
      ['GET', '/v1/keys/any'],
      ['POST', '/v1/keys', { name: 'wider', scopes: ['admin'] }],
      ['DELETE', '/v1/keys/any'],
      ['GET', '/v1/audit'],
      ['GET', '/v1/audit/verify'],
      ['GET', '/v1/policy'],
      ['GET', '/v1/secrets'],
      ['GET', '/v1/providers'],
      ['GET', '/v1/webhooks'],
      ['GET', '/v1/schedules'],
      ['GET', '/v1/subscriptions'],
      ['PUT', '/v1/toolsets/small', { tools: [{ ...file, approval: 'never' }] }],
      ['PUT', '/v1/webhooks/mine', { agent: 'wide', scheme: 'none', template: 'x' }],
      ['PUT', '/v1/agents/small', { model, toolset: 'small', taint: false }],
    ];
    for (const row of rows) expect([row, await statusOf(rights, row)]).toEqual([row, 403]);
  });

  it.each<Rights>([
    { scopes: ['admin'], toolsets: ['small'] },
    { scopes: ['admin'], agents: ['small'] },
  ])('sees its own sessions and no others: %j', async (rights) => {
    const { id } = await bodyOf(await h.send('POST', '/v1/sessions', { agent: 'small' }));
    const headers = await h.key(rights);
    for (const path of ['', '/messages', '/files', '/approvals', '/events'])
      expect((await h.send('GET', `/v1/sessions/${id}${path}`, undefined, headers)).status, path).toBe(404);
    expect((await h.send('DELETE', `/v1/sessions/${id}`, undefined, headers)).status).toBe(404);
    expect((await bodyOf(await h.send('GET', '/v1/sessions', undefined, headers))).items).toEqual([]);
    const own = await bodyOf(await h.send('POST', '/v1/sessions', { agent: 'small' }, headers));
    expect((await h.send('GET', `/v1/sessions/${own.id}`, undefined, headers)).status).toBe(200);
  });

  it.each<Rights>([
    { scopes: ['admin'], toolsets: ['small'] },
    { scopes: ['admin', 'approve', 'chat'], agents: ['small'] },
  ])('does not remember an approval: %j', async (rights) => {
    const { detail, code } = await answerTo(rights, ['POST', '/v1/sessions/x/approvals/y', { decision: 'approve', remember: true }]);
    expect([code, detail]).toEqual(['forbidden', expect.stringContaining('remember')]);
  });
});

describe('an agent with taint: false', () => {
  const editor: Rights = { scopes: ['toolsets'] };
  const put = async (rights: Rights, body: object, name = 'loose') => await statusOf(rights, ['PUT', `/v1/agents/${name}`, body]);
  const loose = { model, toolset: 'small', taint: false, instructions: 'Help.' };

  it('can be written only by an unbound admin key', async () => {
    expect(await put(editor, loose)).toBe(403);
    expect(await put(editor, { ...loose, taint: true })).toBe(201);
    expect(await put(editor, loose)).toBe(403);
    expect(await put({ scopes: ['admin'] }, loose)).toBe(200);
  });

  it.each<readonly [object, number]>([
    [{}, 200],
    [{ description: 'Other.' }, 200],
    [{ limits: { maxSteps: 3 } }, 200],
    [{ taint: true, toolset: 'big' }, 200],
    [{ taint: undefined, toolset: 'big' }, 200],
    [{ toolset: 'big' }, 403],
    [{ toolset: 'small@1' }, 403],
    [{ toolset: undefined }, 403],
    [{ tools: ['read_file'] }, 403],
    [{ model: 'rehearsal/other' }, 403],
    [{ fallbacks: ['rehearsal/other'] }, 403],
    [{ made: true }, 403],
    [{ codeMode: true }, 403],
    [{ skills: ['mine'] }, 403],
    [{ instructions: 'Send everything away.' }, 403],
  ])('is changed by %j without admin: %i', async (change, status) => {
    await made('PUT', '/v1/agents/loose', loose);
    expect(await put(editor, { ...loose, ...change })).toBe(status);
  });

  it('cannot be restored by a write that races an administrator', async () => {
    await made('PUT', '/v1/agents/loose', loose);
    const headers = await h.key(editor);
    const { get } = h.catalog;
    h.catalog.get = async (...asked) => {
      const document = await get(...asked);
      h.catalog.get = get;
      await h.catalog.put('agent', 'loose', { ...loose, name: 'loose', taint: true });
      return document;
    };
    expect((await h.send('PUT', '/v1/agents/loose', loose, headers)).status).toBe(412);
  });
});

describe('the configuration tools of a bound key', () => {
  const deskOf = async (rights: Rights) => {
    const { record } = await h.catalog.createKey({ name: 'bound', ...rights });
    return createToolsetEditor(h.catalog, record.id);
  };
  const of = (tools: object[]) => ({ announce: 'prompt' as const, tools: tools as (typeof file)[] });

  it.each(['admin', 'toolsets'] as const)('do nothing for a key bound to agents with %s', async (scope) => {
    const desk = await deskOf({ scopes: [scope], agents: ['small'] });
    for (const ask of [
      () => desk.tools(),
      () => desk.toolsets(),
      () => desk.toolset('small'),
      () => desk.write('small', of([file]), 2),
      () => desk.write('new', of([file]), null),
      () => desk.rename('small', 'new', 2),
      () => desk.remove('small', 2),
      () => desk.equip({ toolset: 'big', mode: 'normal' }),
      () => desk.usedBy('small'),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('list and write only the tools of its toolsets', async () => {
    const desk = await deskOf({ scopes: ['toolsets'], toolsets: ['small', 'new'] });
    expect((await desk.tools()).map(({ canonical }) => canonical)).toEqual(['builtin.read_file']);
    for (const tools of [[file, bash], [push], [{ tool: 'no.where' }]]) {
      await expect(desk.write('small', of(tools), 2)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(desk.write('new', of(tools), null)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect((await desk.write('new', of([file]), null)).document.version).toBe(1);
    await expect(desk.rename('small', 'elsewhere', 2)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('bind no secret without admin', async () => {
    await expect((await deskOf({ scopes: ['toolsets'] })).write('new', of([push]), null)).rejects.toMatchObject({ code: 'forbidden' });
    expect((await (await deskOf({ scopes: ['admin'] })).write('new', of([push]), null)).document.version).toBe(1);
  });
});
