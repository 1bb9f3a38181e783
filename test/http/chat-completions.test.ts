import { beforeEach, describe, expect, it, vi } from 'vitest';
import { toToolCallId } from '../../src/core/text/reference.ts';
import { bodyOf, createChatHarness, type Harness } from './harness.ts';
import { expectFault, stockClient } from './stock-openai.ts';

let h: Harness;
beforeEach(async () => {
  h = await createChatHarness();
});

const user = (content: string) => ({ role: 'user' as const, content });
const chat = (body: object, headers?: Record<string, string>) => h.send('POST', '/v1/chat/completions', body, headers);
const ownTools = [{ type: 'function', function: { name: 'mine', parameters: {} } }];

describe('a request without agent, toolset and session', () => {
  it('is sent to the provider unchanged, including unknown fields', async () => {
    const body = { model: 'rehearsal/a/b', messages: [user('x')], tools: ownTools, brand_new: { x: 1 } };
    const answer = await chat(body);
    expect([answer.status, answer.headers.get('x-moniker-session'), answer.headers.get('x-request-id')]).toEqual([
      200,
      null,
      expect.any(String),
    ]);
    expect(h.proxied).toEqual([{ model: 'rehearsal/a/b', body }]);
    expect(h.sessions.all.size).toBe(0);
  });

  it('does not send Moniker’s own field to the provider', async () => {
    await chat({ model: 'rehearsal/default', messages: [user('x')], toolset: null });
    expect(h.proxied[0]?.body).toEqual({ model: 'rehearsal/default', messages: [user('x')] });
  });
});

describe('a request to an agent with tools of the client only', () => {
  it('is sent to the provider, and counts as a use of the agent', async () => {
    await h.send('PUT', '/v1/agents/plain', { model: 'rehearsal/default', limits: { requestsPerMinute: 5 } });
    const count = vi.spyOn(h.services.limiter, 'countRequest').mockResolvedValue(undefined);
    expect((await chat({ model: 'agent/plain', messages: [user('x')], tools: ownTools })).status).toBe(200);
    expect(h.sessions.all.size).toBe(0);
    expect(count.mock.calls.flatMap(([, holders]) => holders.filter(({ of }) => of === 'agent'))).toHaveLength(1);
  });
});

describe('a request with server tools', () => {
  it('names what is left out of it, in the header and in the plan', async () => {
    const body = { model: 'agent/helper', messages: [{ ...user('hello'), name: 'ann' }], store: true, novel: 1, temperature: 1 };
    const answer = await chat(body);
    expect(answer.headers.get('x-moniker-dropped')).toBe('messages[].name, store, novel');
    expect(h.sessions.submitted.at(-1)?.plan.dropped?.items.map(({ name }) => name)).toEqual(['messages[].name', 'store', 'novel']);
    expect((await chat({ ...body, stream: true })).headers.get('x-moniker-dropped')).toBe('messages[].name, store, novel');
    expect((await chat({ model: 'agent/helper', messages: [user('hello')] })).headers.get('x-moniker-dropped')).toBeNull();
  });

  it('runs in an unlisted session', async () => {
    const answer = await chat({ model: 'agent/helper', messages: [user('hello')] });
    expect(await bodyOf(answer)).toMatchObject({
      object: 'chat.completion',
      model: 'agent/helper',
      choices: [{ message: { role: 'assistant', content: 'You said: hello' }, finish_reason: 'stop' }],
    });
    const id = answer.headers.get('x-moniker-session') ?? '';
    expect(h.sessions.all.get(id)?.setup).toEqual({ agent: 'helper', toolset: undefined, listed: false });
    expect(answer.headers.get('x-moniker-edition')).toBe('demo@1.1');
  });

  it.each([
    ['body', { toolset: 'demo' }, {}],
    ['header', {}, { 'x-moniker-toolset': 'demo' }],
    ['both', { toolset: 'demo' }, { 'x-moniker-toolset': 'demo' }],
  ])('reads the toolset from the %s', async (_where, body, headers) => {
    const answer = await chat({ model: 'rehearsal/default', messages: [user('x')], ...body }, headers);
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
    expect(h.proxied).toEqual([]);
  });

  it('gives the turn its history, input, system text and settings', async () => {
    await chat({
      model: 'agent/helper',
      messages: [
        { role: 'system', content: 'In French.' },
        user('one'),
        { role: 'assistant', content: 'two' },
        user('three'),
        user('four'),
      ],
      temperature: 0.5,
      max_tokens: 7,
    });
    const [submitted] = h.sessions.submitted;
    expect(submitted?.history?.map((message) => message.role)).toEqual(['user', 'assistant']);
    expect(submitted?.input).toEqual([
      { type: 'text', text: 'three' },
      { type: 'text', text: 'four' },
    ]);
    expect(submitted?.plan).toMatchObject({
      agent: 'helper',
      instructions: 'Help.\n\nIn French.',
      settings: { temperature: 0.5, maxOutputTokens: 7 },
    });
  });

  it('streams chunks and ends with [DONE]', async () => {
    const answer = await chat({ model: 'agent/helper', stream: true, stream_options: { include_usage: true }, messages: [user('hello')] });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await answer.text();
    expect(text).toContain('"usage":{"prompt_tokens":3');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it.each([
    ['an agent', { model: 'agent/helper' }, {}],
    ['a toolset', { model: 'rehearsal/default', toolset: 'demo' }, {}],
    ['a session', { model: 'rehearsal/default' }, { 'x-moniker-session': 'new' }],
  ])('offers the caller’s own tools in addition to %s, and returns their calls', async (_what, body, headers) => {
    const answer = await chat({ ...body, messages: [user('client')], tools: ownTools }, headers);
    const { choices } = await bodyOf(answer);
    expect(h.sessions.submitted[0]?.plan.clientTools).toEqual([{ name: 'mine', description: '', inputSchema: {} }]);
    expect(choices[0]).toMatchObject({ message: { tool_calls: [{ function: { name: 'mine' } }] }, finish_reason: 'tool_calls' });
    expect(answer.headers.get('x-moniker-completion')).toMatch(/^chatcmpl-/);
  });

  it('leaves out a server tool whose name a caller’s tool has, and says so in a header', async () => {
    const tools = [{ type: 'function', function: { name: 'Terminal' } }];
    const answer = await chat({ model: 'agent/helper', messages: [user('x')], tools });
    expect([answer.status, answer.headers.get('x-moniker-replaced-tools')]).toEqual([200, 'builtin.bash=Terminal']);
    expect(h.sessions.submitted[0]?.plan.allow).not.toContain('builtin.bash');
  });

  it('rejects a caller’s tool that has the name of a server tool if the agent is strict, naming both', async () => {
    await h.send('PUT', '/v1/agents/strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
    const tools = [{ type: 'function', function: { name: 'Terminal' } }];
    const answer = await chat({ model: 'agent/strict', messages: [user('x')], tools });
    const { error } = await bodyOf(answer);
    expect([answer.status, error.param, error.code]).toEqual([422, 'tools[0].function.name', 'invalid_request']);
    expect(error.message).toMatch(/client\.Terminal|builtin\.bash/);
    expect(h.sessions.all.size).toBe(0);
  });

  it('accepts a tool choice of the caller’s tool', async () => {
    const choose = (name: string) => ({ tool_choice: { type: 'function', function: { name } } });
    await chat({ model: 'agent/helper', messages: [user('x')], tools: ownTools, ...choose('mine') });
    expect(h.sessions.submitted[0]?.plan.settings.toolChoice).toEqual({ tool: 'mine' });
    const answer = await chat({ model: 'agent/helper', messages: [user('x')], tools: ownTools, ...choose('nobodys') });
    expect([answer.status, (await bodyOf(answer)).error.param]).toEqual([422, 'tool_choice']);
  });

  it('is an ordinary conversation if the session of its calls does not exist', async () => {
    const id = toToolCallId('call_1', 'ab'.repeat(32));
    const messages = [
      user('a'),
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'mine' } }] },
      { role: 'tool', tool_call_id: id, content: 'r' },
    ];
    const answer = await chat({ model: 'rehearsal/default', messages, tools: ownTools });
    expect([answer.status, h.proxied.length, h.sessions.all.size]).toEqual([200, 0, 1]);
    expect(h.sessions.submitted[0]).toMatchObject({ input: [], chat: { results: [{ callId: id }] } });
    const named = await chat({ model: 'rehearsal/default', messages, tools: ownTools }, { 'x-moniker-session': 'nobody' });
    expect(named.status).toBe(404);
  });

  it('lets an agent without tools use the caller’s', async () => {
    await chat({ model: 'agent/plain', messages: [{ role: 'system', content: 'In French.' }, user('x')], tools: ownTools });
    expect(h.proxied).toEqual([
      {
        model: 'rehearsal/default',
        body: { model: 'agent/plain', messages: [{ role: 'system', content: 'In French.' }, user('x')], tools: ownTools },
        agent: { instructions: 'Help.\n\nIn French.', settings: {}, isOwn: false },
      },
    ]);
  });

  it('returns a failed turn as an error without streaming', async () => {
    const answer = await chat({ model: 'agent/helper', messages: [user('fail')] });
    expect([answer.status, await bodyOf(answer)]).toEqual([
      502,
      { error: { message: 'The model is not well.', type: 'server_error', param: null, code: 'upstream_error' } },
    ]);
  });
});

describe('a request with a session', () => {
  it('is created by "new", is listed, and stores the conversation', async () => {
    const first = await chat({ model: 'rehearsal/default', messages: [user('one')] }, { 'x-moniker-session': 'new' });
    const id = first.headers.get('x-moniker-session') ?? '';
    expect(h.sessions.all.get(id)?.setup).toMatchObject({ model: 'rehearsal/default', listed: true });
    const second = await chat({ model: 'rehearsal/default', messages: [user('two')] }, { 'x-moniker-session': id });
    expect(second.headers.get('x-moniker-session')).toBe(id);
    expect(h.sessions.all.get(id)?.messages).toHaveLength(4);
  });

  it('is forked if the messages differ from the stored ones', async () => {
    const first = await chat({ model: 'rehearsal/default', messages: [user('one')] }, { 'x-moniker-session': 'new' });
    const id = first.headers.get('x-moniker-session') ?? '';
    const again = await chat(
      { model: 'rehearsal/default', messages: [user('one'), { role: 'assistant', content: 'never said' }, user('two')] },
      { 'x-moniker-session': id },
    );
    const forked = again.headers.get('x-moniker-session');
    expect(forked).not.toBe(id);
    expect((await bodyOf(again)).choices[0].message.content).toBe('You said: two');
    expect(h.sessions.all.has(forked ?? '')).toBe(true);
  });

  it('brings its own toolset and instructions', async () => {
    const { id } = await bodyOf(
      await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo', instructions: 'Be brief.' }),
    );
    await chat({ model: 'rehearsal/default', messages: [{ role: 'developer', content: 'Now.' }, user('x')] }, { 'x-moniker-session': id });
    expect(h.sessions.submitted[0]?.plan).toMatchObject({ instructions: 'Be brief.\n\nNow.', edition: { toolset: 'demo' } });
  });

  it('must exist', async () => {
    const answer = await chat({ model: 'rehearsal/default', messages: [user('x')] }, { 'x-moniker-session': 'nobody' });
    expect([answer.status, (await bodyOf(answer)).error.code]).toEqual([404, 'not_found']);
  });
});

describe('faults', () => {
  it.each([
    [{ messages: [] }, 422, 'model'],
    [{ model: 7, messages: [] }, 422, 'model'],
    [{ model: 'gpt', messages: [] }, 404, 'model'],
    [{ model: '/x', messages: [] }, 404, 'model'],
    [{ model: 'x/', messages: [] }, 404, 'model'],
    [{ model: 'agent/helper' }, 422, 'messages'],
    [{ model: 'agent/helper', messages: [] }, 422, 'messages'],
    [{ model: 'agent/helper', messages: [{ role: 'user', content: 7 }] }, 422, 'messages[0].content'],
    [{ model: 'agent/helper', messages: [{ role: 'king', content: 'x' }] }, 422, 'messages[0].role'],
    [{ model: 'agent/helper', messages: [user('x')], temperature: 'hot' }, 422, 'temperature'],
    [{ model: 'agent/helper', messages: [user('x')], n: 2 }, 422, 'n'],
    [{ model: 'agent/nobody', messages: [user('x')] }, 404, null],
    [{ model: 'agent/../x', messages: [user('x')] }, 404, null],
    [{ model: 'nobody/x', toolset: 'demo', messages: [user('x')] }, 404, null],
    [{ model: 'rehearsal/default', toolset: 'nobody', messages: [user('x')] }, 404, null],
    [{ model: 'rehearsal/default', toolset: 7, messages: [user('x')] }, 422, 'toolset'],
  ])('of %j have the OpenAI format, status %i, at %s', async (body, status, param) => {
    await expectFault(h, await chat(body), status, param);
  });

  it('of the body, the key and the method have the OpenAI format, too', async () => {
    for (const [answer, status] of [
      [await h.send('POST', '/v1/chat/completions', '{'), 400],
      [await h.send('POST', '/v1/chat/completions', []), 422],
      [await h.send('POST', '/v1/chat/completions', {}, { authorization: 'Bearer no' }), 401],
      [await h.send('POST', '/v1/chat/completions', {}, await h.key({ scopes: ['tools'] })), 403],
      [await h.send('GET', '/v1/chat/completions'), 405],
    ] as const) {
      expect([answer.status, (await bodyOf(answer)).error?.code]).toEqual([status, expect.any(String)]);
    }
  });

  it('of two different toolsets is reported', async () => {
    const answer = await chat({ model: 'rehearsal/default', toolset: 'demo', messages: [user('x')] }, { 'x-moniker-toolset': 'other' });
    expect([answer.status, (await bodyOf(answer)).error.param]).toEqual([422, 'toolset']);
  });
});

describe('the stock client', () => {
  const client = () => stockClient(h);

  it('completes, streams and lists models', async () => {
    const whole = await client().chat.completions.create({ model: 'agent/helper', messages: [user('hello')] });
    expect(whole.choices[0]?.message.content).toBe('You said: hello');
    expect(whole.usage?.total_tokens).toBe(5);
    let text = '';
    for await (const chunk of await client().chat.completions.create({ model: 'agent/helper', messages: [user('hello')], stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('You said: hello');
    const ids = (await client().models.list()).data.map((model) => model.id);
    expect(ids).toEqual(['agent/helper', 'agent/plain', 'rehearsal/default']);
    expect(await client().models.retrieve('rehearsal/default')).toMatchObject({ id: 'rehearsal/default', object: 'model' });
    await expect(client().models.retrieve('no/such')).rejects.toMatchObject({ status: 404 });
  });

  it('understands errors', async () => {
    await expect(client().chat.completions.create({ model: 'agent/nobody', messages: [user('x')] })).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });
});
