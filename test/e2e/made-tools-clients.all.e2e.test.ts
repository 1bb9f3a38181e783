/**
 * Made tools, code mode and the shell as clients use them. MCP clients of both eras: tools are listed under their aliases with correct
 * hints, and approvals of nested calls are elicited while the outer call is open. Chat clients of the three dialects: they receive the
 * pending nested call, and the conversation continues from there.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer } from '../fakes/mcp-server.ts';
import { clients } from './dialect-clients.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
let server: FakeMcpServer;
const said = (text: string) => ({ content: [{ type: 'text', text }] });

beforeAll(async () => {
  server = await listenMcpServer({
    eras: 'both',
    tools: [
      { name: 'note', inputSchema: { type: 'object' }, answer: () => said('noted') },
      { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true }, answer: () => said('looked') },
      { name: 'wipe', inputSchema: { type: 'object' }, annotations: { destructiveHint: true }, answer: () => said('wiped') },
    ],
  });
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect(status, text).toBeLessThan(300);
  };
  await put('/v1/servers/desk', { kind: 'mcp', url: server.url, trusted: true });
  const implementation =
    'const noted = await tools["desk.note"]({}); const wiped = await tools["desk.wipe"]({ what: args.what }); return { noted: noted.output, wiped: wiped.output ?? null, code: wiped.code ?? null };';
  await put('/v1/tools/made.tidy', {
    description: 'Notes, then wipes.',
    parameters: [{ name: 'what', type: 'string', required: true }],
    implementation,
    aliases: ['clean_up'],
  });
  await put('/v1/tools/made.peek', {
    description: 'Looks twice.',
    parameters: [],
    implementation: 'await tools["desk.look"]({}); return (await tools["desk.look"]({})).output;',
  });
  await put('/v1/toolsets/shop', {
    tools: [
      { tool: 'made.tidy', aliases: ['sweep'] },
      ...['made.peek', 'builtin.run_code', 'builtin.bash', 'builtin.edit_file', 'desk.note', 'desk.wipe', 'desk.look'].map((tool) => ({
        tool,
      })),
    ],
  });
});
afterAll(() => server.close());
beforeAll(async () => {
  const agent = { model: 'rehearsal/default', toolset: 'shop', instructions: '' };
  await service.call('PUT', '/v1/agents/coder', { ...agent, codeMode: true });
  await service.call('PUT', '/v1/agents/keeper', { ...agent, tools: ['Sweep', 'made.peek'] });
});

const ran = (): string[] => server.calls().map(({ name }) => name);
const rowsOf = async (canonical: string) => {
  const { items } = (await service.call('GET', '/v1/audit?limit=200')).json;
  return items.filter((row: { canonical: string }) => row.canonical === canonical);
};

describe.each(['legacy', 'pinned'] as const)("the SDK's client, %s", (era) => {
  let client: Client;
  const questions: string[] = [];
  let answer: Record<string, unknown> = {};
  const connect = (key: string, capabilities: object) =>
    connectClient(`${service.url}/mcp/shop`, key, era, capabilities, (made) => {
      if ('elicitation' in capabilities)
        made.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params.message);
          return answer as never;
        });
    });
  const call = async (name: string, args: Record<string, unknown>, by = client) => {
    const before = server.calls().length;
    questions.length = 0;
    const result = await by.callTool({ name, arguments: args });
    return { text: textOf(result), isError: result.isError ?? false, ran: ran().slice(before), meta: result._meta };
  };
  beforeAll(async () => {
    client = await connect(service.key, { elicitation: { form: {} } });
  });
  afterAll(() => client.close());

  it('lists them with their effects as annotations', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['sweep', 'peek', 'run_code', 'bash', 'edit_file', 'note', 'wipe', 'look']);
    const [sweep, peek] = tools;
    expect(sweep).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: true },
      _meta: { canonical: 'made.tidy', aliases: [] },
      inputSchema: { required: ['what'] },
    });
    expect(peek?.annotations).toMatchObject({ readOnlyHint: true });
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
  });

  it('elicits approval for a nested call, and runs the calls before it once', async () => {
    answer = { action: 'accept', content: { approve: true } };
    const called = await call('sweep', { what: 'all' });
    expect(JSON.parse(called.text)).toEqual({ noted: 'noted', wiped: 'wiped', code: null });
    expect(called.ran).toEqual(['note', 'wipe']);
    expect(called.meta).toMatchObject({ canonical: 'made.tidy', via: 'wire' });
    expect(questions).toEqual([
      expect.stringMatching(/^Allow one call of desk\.wipe, named wipe here\?\nReason: [^\n]+\nArguments: \{"what":"all"\}$/),
    ]);
    const [row] = await rowsOf('desk.wipe');
    const [outer] = await rowsOf('made.tidy');
    expect([row.parent, row.verdict]).toEqual([outer.callId, 'ran']);
  });

  it('returns a denial as a result that the code continues with', async () => {
    answer = { action: 'decline' };
    const called = await call('sweep', { what: 'all' });
    expect(JSON.parse(called.text)).toMatchObject({ noted: 'noted', code: 'denied' });
    expect(called.ran).toEqual(['note']);
  });

  it('does the same for run_code and for the shell', async () => {
    answer = { action: 'accept', content: { approve: true } };
    const code = 'await tools.note({}); return [(await tools.wipe({})).success, (await tools.wipe({})).success];';
    const inCode = await call('run_code', { code });
    expect([inCode.text, inCode.ran, questions.length]).toEqual(['[true,true]', ['note', 'wipe', 'wipe'], 2]);
    const inShell = await call('bash', { command: 'tool note && tool desk.wipe && echo over' });
    expect([inShell.ran, questions.length]).toEqual([['note', 'wipe'], 1]);
    expect(inShell.text).toContain('over');
  });

  it('returns an error that says what to do when it cannot elicit', async () => {
    const silent = await connect(service.key, {});
    const code = 'const { error } = await tools.wipe({}); return error;';
    const unasked = await call('run_code', { code }, silent);
    expect(unasked.text).toMatch(
      /requires a person's approval, and this client cannot ask for one \(MCP elicitation\)\. .*call the tool in a Moniker session/,
    );
    await silent.close();
    const { key } = (await service.call('POST', '/v1/keys', { name: `plain-${era}`, scopes: ['tools'] })).json;
    const plain = await connect(key, { elicitation: { form: {} } });
    expect((await call('run_code', { code }, plain)).text).toContain('this key does not have the scope');
    expect(questions).toEqual([]);
    await plain.close();
  });
});

describe.each(clients.map((client) => [client.name, client] as const))('the stock client over %s', (_name, client) => {
  const code = 'await tools.note({}); return (await tools.wipe({ what: "all" })).output + " it is";';
  it.each([
    ['coder', 'run_code', `/run_code ${JSON.stringify({ code })}`, 'wiped it is'],
    ['keeper', 'a made tool', '/sweep {"what": "all"}', '"wiped":"wiped"'],
  ])('receives the pending nested call of %s, in %s, and the rest with its next request', async (agent, _what, input, rest) => {
    for (const streamed of [false, true]) {
      const before = server.calls().length;
      const asking = { model: `agent/${agent}`, system: '', streamed };
      const items: unknown[] = [client.user(input)];
      const asked = await client.ask(service, { ...asking, items, headers: { 'x-moniker-session': 'new' } });
      expect([asked.finish, asked.calls]).toEqual(['stop', []]);
      expect(asked.text).toContain('desk.wipe');
      const session = asked.headers.get('x-moniker-session') ?? '';
      const callId = /\(call (call_[^)]+)\)/.exec(asked.text)?.[1] ?? 'none';
      expect(callId).toMatch(/^call_\w+\.2$/);
      const decided = await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
      expect(decided.status, decided.text).toBe(200);
      items.push(...asked.items, client.user('And?'));
      const next = await client.ask(service, { ...asking, items, headers: { 'x-moniker-session': session } });
      expect([next.finish, next.headers.get('x-moniker-session')]).toEqual(['stop', session]);
      expect(next.text).toContain(rest);
      expect(ran().slice(before)).toEqual(['note', 'wipe']);
    }
  });
});

it.each(['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere', 'ollama', 'openai-compatible'])(
  '%s receives a made tool like any other',
  async (provider) => {
    const { tools } = (await service.call('GET', `/v1/toolsets/shop/tools?provider=${provider}`)).json;
    expect(tools[0]).toMatchObject({ canonical: 'made.tidy', wireName: 'sweep', state: 'ready' });
    const sent = JSON.stringify(tools[0].definition);
    for (const part of ['"sweep"', '"what"', 'Notes, then wipes.']) expect(sent).toContain(part);
    expect(sent).not.toContain('desk.note');
  },
);

it('the text protocol lists a made tool in its prompt, and any spelling of its names resolves', async () => {
  const { prompt } = (await service.call('GET', '/v1/toolsets/shop/tools?provider=text')).json;
  expect(prompt).toContain('sweep');
  for (const [name, via] of [
    ['sweep', 'wire'],
    ['made.tidy', 'canonical'],
    ['tidy', 'own'],
    ['Sweep', 'folded'],
  ])
    expect((await service.call('GET', `/v1/toolsets/shop/resolve?name=${name}`)).json).toMatchObject({ canonical: 'made.tidy', via });
  // Its default alias was replaced by the entry's.
  expect((await service.call('GET', '/v1/toolsets/shop/resolve?name=clean_up')).status).toBe(404);
});

it('the configuration tools find made tools and add them to toolsets', async () => {
  const client = await connectClient(`${service.url}/mcp`, service.key, 'pinned');
  const call = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify((await client.callTool({ name, arguments: args })).structuredContent);
  expect(await call('list-available-tools', { server: 'made' })).toContain('"made.tidy"');
  const tools = [{ namespacedName: 'made.tidy', alias: 'broom' }, { namespacedName: 'made.peek' }];
  expect(await call('build-toolset', { name: 'built', tools, autoEquip: true })).toContain('"broom"');
  const { tools: listed } = await client.listTools();
  expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(['broom', 'peek']));
  expect(textOf(await client.callTool({ name: 'peek', arguments: {} }))).toBe('looked');
  await client.close();
});

it('a skill can name made tools, which are reported as unavailable where they are missing', async () => {
  const skill = (name: string, tool: string) =>
    `---\nname: ${name}\ndescription: Tidies up.\nallowed-tools: ${tool}\nrequires: ${tool}\n---\nCall \`${tool}\`.\n`;
  for (const [name, tool] of [
    ['tidying', 'made.tidy'],
    ['losing', 'made.nothing'],
  ] as const) {
    const stored = await service.call('PUT', `/v1/skills/${name}`, { content: skill(name, tool) });
    expect(stored.status, stored.text).toBeLessThan(300);
  }
  await service.call('PUT', '/v1/agents/skilled', { model: 'rehearsal/default', toolset: 'shop', skills: ['tidying', 'losing'] });
  const { id } = (await service.call('POST', '/v1/sessions', { agent: 'skilled' })).json;
  const { json } = await service.call('POST', `/v1/sessions/${id}/turns`, { input: '/use_skill name=tidying\n/use_skill name=losing' });
  const [tidying, losing] = json.toolCalls.map(({ content }: { content: unknown }) => JSON.stringify(content));
  expect(tidying).toContain('sweep');
  expect(losing).toContain('made.nothing');
});
