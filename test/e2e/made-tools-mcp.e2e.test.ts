/**
 * Made tools, code mode and the shell as MCP clients of both eras have them: listed under their aliases, with honest hints, and what a call
 * beneath them needs a person for is asked of the client's person while the outer call is open.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer } from '../fakes/mcp-server.ts';
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

  it('lists them with what they do to the world', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['sweep', 'peek', 'run_code', 'shell', 'edit_file', 'note', 'wipe', 'look']);
    const [sweep, peek] = tools;
    expect(sweep).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: true },
      _meta: { canonical: 'made.tidy', aliases: [] },
      inputSchema: { required: ['what'] },
    });
    expect(peek?.annotations).toMatchObject({ readOnlyHint: true });
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
  });

  it('is asked for a call beneath, and what ran before it runs once', async () => {
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

  it('a no is a result that code goes on with', async () => {
    answer = { action: 'decline' };
    const called = await call('sweep', { what: 'all' });
    expect(JSON.parse(called.text)).toMatchObject({ noted: 'noted', code: 'denied' });
    expect(called.ran).toEqual(['note']);
  });

  it('the same of run_code and of the shell', async () => {
    answer = { action: 'accept', content: { approve: true } };
    const code = 'await tools.note({}); return [(await tools.wipe({})).success, (await tools.wipe({})).success];';
    const inCode = await call('run_code', { code });
    expect([inCode.text, inCode.ran, questions.length]).toEqual(['[true,true]', ['note', 'wipe', 'wipe'], 2]);
    const inShell = await call('bash', { command: 'tool note && tool desk.wipe && echo over' });
    expect([inShell.ran, questions.length]).toEqual([['note', 'wipe'], 1]);
    expect(inShell.text).toContain('over');
  });

  it('what cannot be asked is told with what to do', async () => {
    const silent = await connect(service.key, {});
    const code = 'const { error } = await tools.wipe({}); return error;';
    const unasked = await call('run_code', { code }, silent);
    expect(unasked.text).toMatch(/needs a person's approval, and this client cannot ask one \(MCP elicitation\)\. Call it in a session/);
    await silent.close();
    const { key } = (await service.call('POST', '/v1/keys', { name: `plain-${era}`, scopes: ['tools'] })).json;
    const plain = await connect(key, { elicitation: { form: {} } });
    expect((await call('run_code', { code }, plain)).text).toContain('this key lacks the scope');
    expect(questions).toEqual([]);
    await plain.close();
  });
});
