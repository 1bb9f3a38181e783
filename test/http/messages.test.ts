import Anthropic from '@anthropic-ai/sdk';
import { beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../src/core/problem.ts';
import { toToolCallId } from '../../src/core/text/reference.ts';
import { nameForTurns } from '../../src/core/model/route.ts';
import type { AskedChat } from '../../src/engine/proxy/translate-chat.ts';
import { bodyOf, createChatHarness, rootKey, type Harness, problemIn } from './harness.ts';

let h: Harness;
let sent: Omit<AskedChat, 'signal'>[] = [];
beforeEach(async () => {
  sent = [];
  h = await createChatHarness({
    proxyChat: async (_principal, request) => {
      sent.push(request);
      return Response.json({ id: 'msg_1', type: 'message' });
    },
    countTokens: async (_principal, request) => {
      sent.push(request);
      return nameForTurns(request.ref).startsWith('claude/') ? Response.json({ input_tokens: 7 }) : null;
    },
  });
});

const user = (content: unknown) => ({ role: 'user', content });
const ask = (body: object, headers?: Record<string, string | undefined>) =>
  h.send('POST', '/v1/messages', { max_tokens: 100, ...body }, headers);
const mine = { name: 'mine', input_schema: { type: 'object' } };
const search = { type: 'web_search_20250305', name: 'web_search' };

describe('a message without agent, toolset and session', () => {
  it('is sent to the provider unchanged, with its version headers, and without Moniker’s own field', async () => {
    const body = { model: 'claude/sonnet', max_tokens: 5, messages: [user('x')], tools: [search], brand_new: { x: 1 } };
    const answer = await ask({ ...body, toolset: null }, { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b', 'x-other': 'no' });
    expect([answer.status, answer.headers.get('x-moniker-session')]).toEqual([200, null]);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      ref: 'claude/sonnet',
      body,
      dialect: { name: 'anthropic-messages' },
      headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' },
    });
    expect(Object.keys(sent[0]?.headers ?? {})).toHaveLength(2);
    expect(h.sessions.all.size).toBe(0);
  });

  it('accepts the query parameters of the stock client’s betas', async () => {
    expect((await h.send('POST', '/v1/messages?beta=true', { model: 'claude/x', max_tokens: 1, messages: [] })).status).toBe(200);
  });
});

describe('a message with server tools', () => {
  it('returns one assistant message of an unlisted session', async () => {
    const answer = await ask({ model: 'agent/helper', system: 'In French.', messages: [user('hello')], temperature: 0.5 });
    const id = answer.headers.get('x-moniker-session') ?? '';
    expect(await bodyOf(answer)).toEqual({
      id: answer.headers.get('x-moniker-completion'),
      type: 'message',
      role: 'assistant',
      model: 'agent/helper',
      content: [{ type: 'text', text: 'You said: hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: { input_tokens: 3, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 },
    });
    expect(h.sessions.all.get(id)?.setup).toEqual({ agent: 'helper', toolset: undefined, listed: false });
    expect(answer.headers.get('x-moniker-edition')).toBe('demo@1.1');
    expect(h.sessions.submitted[0]?.plan).toMatchObject({
      instructions: 'Help.\n\nIn French.',
      settings: { temperature: 0.5, maxOutputTokens: 100 },
    });
  });

  it('streams only events of the wire format, and ends with message_stop', async () => {
    const answer = await ask({ model: 'agent/helper', stream: true, messages: [user('hello')] });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await answer.text();
    expect(text).toContain('event: message_start\n');
    expect(text).toContain('"usage":{"input_tokens":3');
    expect(text).toMatch(/event: message_stop\ndata: {"type":"message_stop"}\n\n$/);
  });

  it.each([
    ['body', { toolset: 'demo' }, {}],
    ['header', {}, { 'x-moniker-toolset': 'demo' }],
  ])('reads the toolset from the %s', async (_where, body, headers) => {
    const answer = await ask({ model: 'rehearsal/default', messages: [user('x')], ...body }, headers);
    expect([answer.status, answer.headers.get('x-moniker-edition')]).toEqual([200, 'demo@1.1']);
  });

  it('also offers the caller’s own tools, and returns their calls', async () => {
    const answer = await ask({ model: 'agent/helper', messages: [user('client')], tools: [mine] });
    const { content, stop_reason: stop } = await bodyOf(answer);
    expect(stop).toBe('tool_use');
    expect(content.at(-1)).toMatchObject({ type: 'tool_use', name: 'mine', input: expect.any(Object) });
  });

  it('rejects a tool that only its provider runs, with its path', async () => {
    const editor = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' };
    const answer = await ask({ model: 'agent/helper', messages: [user('x')], tools: [mine, editor] });
    const { error } = await bodyOf(answer);
    expect([answer.status, error.type]).toEqual([422, 'invalid_request_error']);
    expect(error.message).toMatch(/^tools\[1\]\.type: .*text_editor_20250728/);
  });

  it('drops a search tool that only its provider has, next to the caller’s own tools', async () => {
    const answer = await ask({ model: 'agent/helper', messages: [user('client')], tools: [search, mine] });
    expect((await bodyOf(answer)).content.at(-1)).toMatchObject({ type: 'tool_use', name: 'mine' });
  });

  it('rejects threads with the error on which the stock client continues without them', async () => {
    for (const model of ['agent/helper', 'claude/claude-sonnet-5']) {
      const answer = await ask({ model, messages: [user('x')], thread: { type: 'create' } });
      const { error } = await bodyOf(answer);
      expect([answer.status, error.type, error.details]).toEqual([
        422,
        'invalid_request_error',
        { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      ]);
    }
  });

  it('rejects a caller’s tool that has the name of a server tool if the agent is strict, with its path', async () => {
    await h.send('PUT', '/v1/agents/strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
    const answer = await ask({ model: 'agent/strict', messages: [user('x')], tools: [{ ...mine, name: 'Terminal' }] });
    expect([answer.status, (await bodyOf(answer)).error.message]).toEqual([422, expect.stringMatching(/^tools\[0\]\.name: /)]);
  });

  it('begins a turn with instructions alone', async () => {
    const answer = await ask({ model: 'agent/helper', messages: [{ role: 'system', content: 'Say hi.' }] });
    expect([answer.status, (await bodyOf(answer)).content]).toEqual([200, [expect.objectContaining({ type: 'text' })]]);
  });

  it('continues messages that end with an assistant message', async () => {
    const messages = [user('x'), { role: 'assistant', content: 'Well,' }];
    for (const model of ['agent/helper', 'claude/x']) expect((await ask({ model, messages })).status).toBe(200);
  });

  it('finds the session of its calls by their ids', async () => {
    const id = toToolCallId('call_1', 'ab'.repeat(32));
    const messages = [
      user('a'),
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'mine', input: {} }] },
      user([{ type: 'tool_result', tool_use_id: id, content: 'r' }]),
    ];
    const answer = await ask({ model: 'rehearsal/default', messages, tools: [mine] });
    expect([answer.status, sent.length, h.sessions.submitted[0]?.chat?.results]).toEqual([
      200,
      0,
      [{ callId: id, content: [{ type: 'text', text: 'r' }], isError: false }],
    ]);
  });

  it('sends a request for an agent without tools to its provider, with its instructions and the caller’s headers', async () => {
    await ask({ model: 'agent/plain', messages: [user('x')], tools: [mine] }, { 'anthropic-beta': 'b' });
    expect(sent[0]).toMatchObject({ ref: 'rehearsal/default', agent: { instructions: 'Help.' }, headers: { 'anthropic-beta': 'b' } });
  });
});

describe('the token count', () => {
  const count = (body: object) => h.send('POST', '/v1/messages/count_tokens', body);

  it('is the provider’s own count if it has one', async () => {
    const body = { model: 'claude/sonnet', messages: [user('x')], tools: [search] };
    expect(await bodyOf(await count(body))).toEqual({ input_tokens: 7 });
    expect(sent[0]).toMatchObject({ ref: 'claude/sonnet', body, headers: {} });
  });

  it('is otherwise a marked estimate, which grows with the request', async () => {
    const short = await bodyOf(await count({ model: 'rehearsal/default', messages: [user('x'.repeat(40))] }));
    expect(short).toEqual({ input_tokens: 10, estimated: true });
    const long = await bodyOf(
      await count({ model: 'agent/plain', system: 'x'.repeat(40), messages: [user('x'.repeat(40))], tools: [mine] }),
    );
    expect([long.estimated, long.input_tokens > 20]).toEqual([true, true]);
  });

  it('requires a valid request, and an existing agent', async () => {
    expect(await problemIn(await count({ model: 'rehearsal/default', messages: [] }))).toBe('422 invalid_request_error');
    expect((await count({ model: 'agent/nobody', messages: [user('x')] })).status).toBe(404);
    expect((await bodyOf(await count({ model: 'gpt', messages: [user('x')] }))).error.type).toBe('not_found_error');
  });
});

describe('the key', () => {
  const body = { model: 'agent/helper', max_tokens: 9, messages: [user('x')] };

  it('is accepted as x-api-key on these paths, and on no other', async () => {
    const headers = { authorization: undefined, 'x-api-key': rootKey };
    expect((await h.send('POST', '/v1/messages', body, headers)).status).toBe(200);
    expect((await h.send('POST', '/v1/messages/count_tokens', body, headers)).status).toBe(200);
    expect((await h.send('GET', '/v1/messages/msg_x', undefined, headers)).status).toBe(404);
    expect((await h.send('GET', '/v1/models', undefined, headers)).status).toBe(200);
    for (const path of ['/v1/toolsets', '/v1/modelsx', '/v1/messagesx'])
      expect((await h.send('GET', path, undefined, headers)).status).not.toBe(200);
    expect((await h.send('GET', '/v1/toolsets', undefined, headers)).status).toBe(401);
    expect((await h.send('POST', `/v1/messages?x-api-key=${rootKey}`, body, { authorization: undefined })).status).toBe(401);
  });

  it('is the bearer key if both are sent', async () => {
    expect((await h.send('POST', '/v1/messages', body, { 'x-api-key': 'wrong' })).status).toBe(200);
    expect((await h.send('POST', '/v1/messages', body, { authorization: 'Bearer wrong', 'x-api-key': rootKey })).status).toBe(401);
  });

  it.each([
    ['absent', {}],
    ['blank', { 'x-api-key': ' ' }],
    ['wrong', { 'x-api-key': 'mk_default_1_2' }],
    ['of two words', { 'x-api-key': `Bearer ${rootKey}` }],
    ['too long', { 'x-api-key': 'k'.repeat(5_000) }],
    ['not of this alphabet', { 'x-api-key': 'clé' }],
  ])('that is %s is an authentication error', async (_what, headers) => {
    const answer = await h.send('POST', '/v1/messages', body, { authorization: undefined, ...headers });
    expect([answer.status, (await bodyOf(answer)).error.type]).toEqual([401, 'authentication_error']);
  });
});

describe('faults', () => {
  it.each([
    [{ messages: [user('x')] }, 422, 'invalid_request_error', /^model: /],
    [{ model: 'agent/helper', messages: [user('x')], max_tokens: undefined }, 422, 'invalid_request_error', /^max_tokens: is missing/],
    [{ model: 'agent/helper', messages: [user('x')], max_tokens: 0 }, 422, 'invalid_request_error', /^max_tokens: /],
    [{ model: 'agent/helper', messages: [user('x')], temperature: 1.5 }, 422, 'invalid_request_error', /^temperature: /],
    [{ model: 'agent/helper', messages: [] }, 422, 'invalid_request_error', /^messages: /],
    [{ model: 'agent/helper', messages: [{ role: 'king', content: 'x' }] }, 422, 'invalid_request_error', /^messages\[0\]\.role: /],
    [
      { model: 'agent/helper', messages: [user([{ type: 'document', source: { type: 'base64' } }])] },
      422,
      'invalid_request_error',
      /^messages\[0\]\.content\[0\]\.source: /,
    ],
    [{ model: 'agent/nobody', messages: [user('x')] }, 404, 'not_found_error', /nobody/],
    [{ model: 'gpt', messages: [user('x')] }, 404, 'not_found_error', /gpt/],
  ])('of %j are %i, %s', async (body, status, type, message) => {
    const answer = await ask(body);
    const told = await bodyOf(answer);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json']);
    expect(told).toEqual({
      type: 'error',
      error: { type, message: expect.stringMatching(message), details: { error_code: expect.any(String) } },
      request_id: answer.headers.get('request-id'),
    });
    expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'));
  });

  it('of body, key, method, path and media type have the same format', async () => {
    for (const [answer, status, type] of [
      [await h.send('POST', '/v1/messages', '{'), 400, 'invalid_request_error'],
      [await h.send('POST', '/v1/messages', []), 422, 'invalid_request_error'],
      [await h.send('POST', '/v1/messages', {}, { authorization: 'Bearer no' }), 401, 'authentication_error'],
      [await h.send('POST', '/v1/messages', {}, await h.key({ scopes: ['tools'] })), 403, 'permission_error'],
      [await h.send('GET', '/v1/messages'), 405, 'invalid_request_error'],
      [await h.send('GET', '/v1/messages/batches/x/y'), 404, 'not_found_error'],
      [await h.send('GET', '/v1/messages/a/b'), 404, 'not_found_error'],
      [await h.send('GET', '/v1/messages/msg_x?after=y'), 422, 'invalid_request_error'],
      [await h.send('POST', '/v1/messages', 'x', { 'content-type': 'text/plain' }), 415, 'invalid_request_error'],
      [await h.send('POST', '/v1/messages', `"${'x'.repeat(33 * 1024 * 1024)}"`), 413, 'request_too_large'],
    ] as const) {
      const { type: kind, error, request_id: id } = await bodyOf(answer);
      expect([answer.status, kind, error.type, id]).toEqual([status, 'error', type, answer.headers.get('request-id')]);
    }
  });

  it.each([
    ['rate_limited', {}, 429, 'rate_limit_error'],
    ['upstream_error', { upstreamStatus: 529 }, 502, 'overloaded_error'],
    ['upstream_error', { upstreamStatus: 500 }, 502, 'api_error'],
    ['upstream_timeout', {}, 504, 'timeout_error'],
    ['not_configured', {}, 503, 'api_error'],
  ] as const)('that are %s with %j are %i, %s', async (code, extra, status, type) => {
    h = await createChatHarness({ proxyChat: () => Promise.reject(new Problem(code, 'No.', extra)) });
    const answer = await ask({ model: 'claude/x', messages: [user('x')] });
    expect([answer.status, (await bodyOf(answer)).error.type]).toEqual([status, type]);
  });
});

describe('the stock client', () => {
  const client = (apiKey = rootKey) =>
    new Anthropic({
      apiKey,
      baseURL: 'http://moniker.test',
      maxRetries: 0,
      fetch: async (url, init) => await h.app.request(String(url), init as RequestInit),
    });
  const request = { model: 'agent/helper', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };

  it('reads the same message, streamed and not', async () => {
    const plain = await client().messages.create(request);
    expect(plain.content).toEqual([{ type: 'text', text: 'You said: hello' }]);
    const stream = client().messages.stream(request);
    const final = await stream.finalMessage();
    expect(final).toMatchObject({ content: plain.content, stop_reason: plain.stop_reason, usage: plain.usage });
    expect(stream.request_id).toMatch(/./);
  });

  it('reads a failed turn as an error, streamed and not', async () => {
    const failing = { ...request, messages: [{ role: 'user' as const, content: 'fail' }] };
    await expect(client().messages.create(failing)).rejects.toMatchObject({ status: 502, type: 'api_error', errorCode: 'upstream_error' });
    await expect(client().messages.stream(failing).finalMessage()).rejects.toMatchObject({
      type: 'api_error',
      apiMessage: 'The model is not well.',
    });
  });

  it('understands errors', async () => {
    await expect(client('wrong').messages.create(request)).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    const unknown = client().messages.create({ ...request, model: 'agent/nobody' });
    await expect(unknown).rejects.toMatchObject({ status: 404, errorCode: 'not_found', requestID: expect.any(String) });
  });

  it('counts tokens', async () => {
    const { model, messages } = request;
    expect(await client().messages.countTokens({ model, messages })).toEqual({ input_tokens: 3, estimated: true });
  });
});
