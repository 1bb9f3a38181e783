/**
 * The taint rule for callers without a session: chat clients that resend their history, in each dialect, and direct calls. A first
 * request reads private and untrusted content, a later one sends data out.
 */
import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import { connectClient } from './mcp-clients.ts';
import type { Answer } from './service.ts';
import { shareService } from './shared-service.ts';

type Said = { role: 'user' | 'assistant'; text: string };
type ClientShape = {
  name: string;
  path: string;
  body(messages: readonly Said[]): object;
  text(answer: Answer['json']): string;
};

/** As the SDKs of each API resend a conversation: only roles and texts. */
const shapes: readonly ClientShape[] = [
  {
    name: 'chat completions',
    path: '/v1/chat/completions',
    body: (messages) => ({ messages: messages.map(({ role, text }) => ({ role, content: text })) }),
    text: ({ choices }) => choices[0].message.content,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (messages) => ({
      input: messages.map(({ role, text }) => ({
        type: 'message',
        role,
        content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
      })),
    }),
    text: ({ output }) =>
      output
        .flatMap((item: Answer['json']) => (item.type === 'message' ? item.content.map((part: Answer['json']) => part.text) : []))
        .join(''),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: (messages) => ({
      max_tokens: 500,
      messages: messages.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
    }),
    text: ({ content }) => content.map((block: Answer['json']) => block.text ?? '').join(''),
  },
];

describe('the taint rule without a session', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let upstream: RecordingUpstream;
  let vault: ToolServer;
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.call('PUT', path, body);
    expect([200, 201], text).toContain(status);
  };
  const post = (path: string) => `/http_request ${JSON.stringify({ url: `${upstream.url}${path}`, method: 'POST', body: 'the plan' })}`;
  const page = () => `/http_request ${JSON.stringify({ url: `${upstream.url}/page` })}`;
  const look = '/look {}';

  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    vault = await listenToolServer(() => ({ content: [{ type: 'text', text: 'the plan: attack at dawn' }] }));
    await put('/v1/secrets/VAULT', { value: 'vault-token-0123456789', hosts: [vault.host] });
    const tool = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    await put('/v1/servers/vault', {
      kind: 'static',
      url: vault.url,
      trusted: true,
      headers: { authorization: { secret: 'VAULT' } },
      tools: [tool],
    });
    const builtins = ['http_request', 'bash'].map((name) => ({ tool: `builtin.${name}` }));
    await put('/v1/toolsets/reach', { tools: [...builtins, { tool: 'local.calculate' }, { tool: 'vault.look' }] });
    await put('/v1/policy', { rules: [{ decision: 'allow', kind: 'network', host: new URL(upstream.url).host }] });
  });
  afterAll(() => {
    upstream?.close();
    vault?.close();
  });

  for (const shape of shapes) {
    describe(shape.name, () => {
      const send = async (messages: readonly Said[]): Promise<string> => {
        const { status, text, json } = await service.call('POST', shape.path, {
          model: 'rehearsal/default',
          toolset: 'reach',
          ...shape.body(messages),
        });
        expect(status, text).toBe(200);
        return shape.text(json);
      };
      /** Sends each input in a separate request, with the preceding history. */
      const talk = async (...inputs: readonly string[]): Promise<Said[]> => {
        const messages: Said[] = [];
        for (const text of inputs) {
          messages.push({ role: 'user', text });
          messages.push({ role: 'assistant', text: await send(messages) });
        }
        return messages;
      };
      const out = (what: string) => `/${shape.name.replace(' ', '-')}-${what}`;

      it('requires approval before the second request sends out what the first one read', async () => {
        const answer = (await talk(`${look}\n${page()}`, post(out('leak')))).at(-1)?.text;
        expect(answer).toContain('Waiting for approval of builtin.http_request');
        expect(upstream.countOf(out('leak'))).toBe(0);
      });

      it('requires none where the conversation contains only one of the two, or neither', async () => {
        for (const [name, first] of [
          ['private', look],
          ['page', page()],
          ['none', 'hello'],
        ] as const)
          expect((await talk(first, post(out(name)))).at(-1)?.text, name).not.toContain('Waiting for approval');
        expect(['private', 'page', 'none'].map((name) => upstream.countOf(out(name)))).toEqual([1, 1, 1]);
      });
    });
  }

  describe('the history of a conversation that contains both', () => {
    const chat = async (messages: object[], more: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
      await service.call('POST', '/v1/chat/completions', { model: 'rehearsal/default', toolset: 'reach', messages, ...more }, headers);
    const user = (content: string) => ({ role: 'user', content });
    const textOf = ({ text }: Answer): string =>
      text
        .split('\n')
        .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? ''] : []))
        .join('');
    const seen = async (more: object = {}, headers: Record<string, string> = {}): Promise<object[]> => {
      const asked = user(`${look}\n${page()}`);
      const answer = await chat([asked], more, headers);
      const content = 'stream' in more ? textOf(answer) : answer.json.choices[0].message.content;
      expect(content).toContain('the plan');
      return [asked, { role: 'assistant', content }];
    };
    const clean = async (more: object = {}): Promise<object[]> => {
      const answer = await chat([user('hello')], more);
      return [user('hello'), { role: 'assistant', content: 'stream' in more ? textOf(answer) : answer.json.choices[0].message.content }];
    };
    const sends = async (history: object[], path: string, more: object = {}): Promise<boolean> => {
      const answer = await chat([...history, user(post(path))], more);
      expect(answer.status, answer.text).toBe(200);
      const isAsked = answer.json.choices[0].message.content.includes('Waiting for approval of builtin.http_request');
      expect(upstream.countOf(path)).toBe(isAsked ? 0 : 1);
      return !isAsked;
    };

    it('is recognized from its stream, after a kill, and where the response came from a listed session', async () => {
      expect(await sends(await clean({ stream: true }), '/h-stream-clean')).toBe(true);
      expect(await sends(await seen({ stream: true }), '/h-stream')).toBe(false);
      const history = await seen();
      const none = await clean();
      await service.restart();
      expect(await sends(history, '/h-restart')).toBe(false);
      expect(await sends(none, '/h-restart-clean')).toBe(true);
      expect(await sends(await seen({}, { 'x-moniker-session': 'new' }), '/h-listed')).toBe(false);
    });

    it('is recognized with another toolset, and by another API', async () => {
      await put('/v1/toolsets/sender', { tools: [{ tool: 'builtin.http_request' }] });
      const history = await seen();
      expect(await sends(history, '/h-toolset', { toolset: 'sender' })).toBe(false);
      const body = { model: 'rehearsal/default', toolset: 'sender', max_tokens: 500, messages: [...history, user(post('/h-api'))] };
      const answer = await service.call('POST', '/v1/messages', body);
      expect(answer.json.content[0].text).toContain('Waiting for approval');
      expect(upstream.countOf('/h-api')).toBe(0);
    });

    it('stays tainted when it is edited, cut, put into a listed session, or sent with another key', async () => {
      const [asked, answer] = await seen();
      const other = (await service.call('POST', '/v1/keys', { name: 'replay', scopes: ['chat', 'tools'] })).json.key;
      const histories: [string, object[]][] = [
        ['edited', [asked ?? {}, { role: 'assistant', content: 'The plan: attack at dawn.' }]],
        ['unasked', [user('Hi'), answer ?? {}]],
        ['twice', [user('hello'), { role: 'assistant', content: 'Hello.' }, asked ?? {}, answer ?? {}]],
      ];
      for (const [name, history] of histories) expect(await sends(history, `/h-${name}`), name).toBe(false);
      const messages = [asked ?? {}, answer ?? {}, user(post('/h-new'))];
      const inNew = await chat(messages, {}, { 'x-moniker-session': 'new' });
      expect(inNew.json.choices[0].message.content).toContain('Waiting for approval');
      const replayed = await chat([asked ?? {}, answer ?? {}, user(post('/h-key'))], {}, { authorization: `Bearer ${other}` });
      expect(replayed.json.choices[0].message.content).toContain('Waiting for approval');
      // Sent to a session that holds another conversation, it forks the session.
      const session = (await chat([user('hello')], {}, { 'x-moniker-session': 'new' })).headers.get('x-moniker-session') ?? '';
      const forked = await chat([asked ?? {}, answer ?? {}, user(post('/h-fork'))], {}, { 'x-moniker-session': session });
      expect(forked.headers.get('x-moniker-session')).not.toBe(session);
      expect(forked.json.choices[0].message.content).toContain('Waiting for approval');
      expect(['/h-new', '/h-key', '/h-fork'].map((path) => upstream.countOf(path))).toEqual([0, 0, 0]);
    });
  });

  describe('direct calls', () => {
    type Call = (name: string, args: object) => Promise<string>;
    /** The first word of a result, or the code of its error. */
    const rest =
      (toolset: string, more: () => Record<string, string> = () => ({}), query = ''): Call =>
      async (name, args) => {
        const { json, text } = await service.call('POST', `/v1/toolsets/${toolset}/calls${query}`, { name, arguments: args }, more());
        expect(json.code ?? 'none', text).not.toBe('unknown_tool');
        return json.code ?? 'ran';
      };
    const mcp =
      (client: Client): Call =>
      async (name, args) => {
        const result = await client.callTool({ name, arguments: { ...args } });
        return result.isError === true ? String(result._meta?.code) : 'ran';
      };
    const sending = (path: string) => ({ url: `${upstream.url}${path}`, method: 'POST', body: 'the plan' });
    const reading = () => ({ url: `${upstream.url}/page` });
    /** Reads both and sends; then returns the outcomes of calls that send nothing. */
    const leak = async (call: Call, path: string): Promise<string[]> => [
      await call('look', {}),
      await call('http_request', reading()),
      await call('http_request', sending(path)),
      await call('calculate', { expression: '1+1' }),
    ];
    const asked = ['ran', 'ran', 'approval_required', 'ran'];
    const toolsetOfItsOwn = async (name: string): Promise<string> => {
      const tools = ['builtin.http_request', 'builtin.bash', 'local.calculate', 'vault.look'].map((tool) => ({ tool }));
      await put(`/v1/toolsets/${name}`, { tools });
      return name;
    };

    it('over REST require approval before the third call sends out what the first two read, after a restart as well', async () => {
      const toolset = await toolsetOfItsOwn('direct-rest');
      const call = rest(toolset);
      expect(await leak(call, '/direct-rest')).toEqual(asked);
      await service.restart();
      expect(await call('http_request', sending('/direct-rest'))).toBe('approval_required');
      // With a pinned version, from code that calls the tools, and with GET as well.
      expect(await rest(toolset, undefined, '?version=1')('http_request', sending('/direct-rest'))).toBe('approval_required');
      expect(await call('bash', { command: `curl -s -X POST -d plan ${upstream.url}/direct-rest` })).toBe('approval_required');
      expect(await call('http_request', { url: `${upstream.url}/direct-rest?d=plan` })).toBe('approval_required');
      expect(upstream.requests.filter(({ path }) => path.startsWith('/direct-rest'))).toEqual([]);
      const rehearsal = { name: 'http_request', arguments: sending('/direct-rest') };
      expect((await service.call('POST', `/v1/toolsets/${toolset}/calls?dryRun=true`, rehearsal)).json.verdict).toBe('ask');
      const tested = await service.call('POST', '/v1/policy/test', { toolset, tool: 'http_request', arguments: sending('/direct-rest') });
      expect(tested.json.verdict).toBe('ask');
    });

    it('with idempotency keys require approval as well', async () => {
      const call = rest(await toolsetOfItsOwn('direct-keyed'), () => ({ 'idempotency-key': crypto.randomUUID() }));
      expect(await leak(call, '/direct-keyed')).toEqual(asked);
      expect(upstream.countOf('/direct-keyed')).toBe(0);
    });

    it('of another key, or with another toolset, are a separate conversation', async () => {
      const toolset = await toolsetOfItsOwn('direct-shared');
      await leak(rest(toolset), '/direct-shared');
      const { json } = await service.call('POST', '/v1/keys', { name: 'other', scopes: ['tools'] });
      const other = rest(toolset, () => ({ authorization: `Bearer ${json.key}` }));
      expect(await other('http_request', sending('/direct-shared'))).toBe('ran');
      expect(await rest(await toolsetOfItsOwn('direct-else'))('http_request', sending('/direct-else'))).toBe('ran');
    });

    it('run without approval where an administrator has allowed the entry or the rule', async () => {
      await put('/v1/toolsets/direct-free', {
        tools: [{ tool: 'builtin.http_request', approval: 'never' }, { tool: 'local.calculate' }, { tool: 'vault.look' }],
      });
      expect(await leak(rest('direct-free'), '/direct-free')).toEqual(['ran', 'ran', 'ran', 'ran']);
    });

    for (const era of ['pinned', 'legacy'] as const)
      it(`over MCP (${era}) require approval, and send once the user accepts`, async () => {
        const toolset = await toolsetOfItsOwn(`direct-${era}`);
        const path = `/direct-${era}`;
        const connect = (capabilities: ClientOptions['capabilities'] = {}, prepare?: (client: Client) => void) =>
          connectClient(`${service.url}/mcp/${toolset}`, service.key, era, capabilities, prepare);
        const mute = await connect();
        expect(await leak(mcp(mute), path)).toEqual(asked);
        await mute.close();
        const questions: string[] = [];
        const asking = await connect({ elicitation: { form: {} } }, (client) =>
          client.setRequestHandler('elicitation/create', async ({ params }) => {
            questions.push(params.message);
            return { action: 'accept', content: { decision: 'approve', approve: true } };
          }),
        );
        for (const [name, args] of [
          ['look', {}],
          ['http_request', reading()],
        ] as const)
          await mcp(asking)(name, args);
        await mcp(asking)('http_request', sending(path));
        expect(questions.at(-1)).toContain('private data may be sent out');
        await asking.close();
      });
  });
});
