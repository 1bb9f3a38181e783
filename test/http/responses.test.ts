import { beforeEach, describe, expect, it } from 'vitest';
import { toCompletionId } from '../../src/core/text/reference.ts';
import type { CompletionOptions, SessionPort } from '../../src/ports/session.ts';
import { bodyOf, createChatHarness, createHarness, type Harness } from './harness.ts';
import { expectFault, stockClient } from './stock-openai.ts';

let h: Harness;
beforeEach(async () => {
  h = await createChatHarness();
});

const respond = (body: object, headers?: Record<string, string>) => h.send('POST', '/v1/responses', body, headers);
const ownTools = [{ type: 'function', name: 'mine', parameters: {} }];
const sessionId = 'ab'.repeat(32);
const ours = toCompletionId('openai-responses', 'cmpl_1', sessionId);

describe('a request without agent, toolset and session', () => {
  it('is sent to the provider unchanged, including provider-specific tools and responses', async () => {
    const tools = [{ type: 'web_search' }];
    const body = {
      model: 'rehearsal/default',
      input: 'x',
      tools,
      previous_response_id: 'resp_theirs',
      conversation: 'conv_theirs',
      brand_new: 1,
    };
    const answer = await respond(body);
    expect([answer.status, answer.headers.get('x-moniker-session')]).toEqual([200, null]);
    expect(h.proxied).toEqual([{ model: 'rehearsal/default', body }]);
  });

  it('does not send Moniker’s own field to the provider', async () => {
    await respond({ model: 'rehearsal/default', input: 'x', toolset: null });
    expect(h.proxied[0]?.body).toEqual({ model: 'rehearsal/default', input: 'x' });
  });

  it('for an agent without tools is sent to its model, with its instructions', async () => {
    await respond({ model: 'agent/plain', input: 'x', instructions: 'In French.', tools: ownTools });
    expect(h.proxied[0]).toMatchObject({ model: 'rehearsal/default', agent: { instructions: 'Help.\n\nIn French.', isOwn: false } });
  });
});

describe('a WebSocket', () => {
  it('is refused with 426 where the runtime has none, as in an edge handler, so that clients use HTTP', async () => {
    const answer = await h.send('GET', '/v1/responses', undefined, { upgrade: 'websocket' });
    expect(answer.status).toBe(426);
    expect((await bodyOf(answer)).error.message).toContain('this installation has no WebSockets');
  });
});

describe('a request with server tools', () => {
  it('runs in an unlisted session', async () => {
    const answer = await respond({ model: 'agent/helper', input: 'hello', metadata: { a: 'b' } });
    expect(await bodyOf(answer)).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'agent/helper',
      metadata: { a: 'b' },
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'You said: hello' }] }],
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
    });
    const id = answer.headers.get('x-moniker-session') ?? '';
    expect(h.sessions.all.get(id)?.setup).toEqual({ agent: 'helper', toolset: undefined, listed: false });
    expect(answer.headers.get('x-moniker-edition')).toBe('demo@1.1');
    expect(answer.headers.get('x-moniker-completion')).toMatch(/^resp_/);
  });

  it.each([
    ['body', { toolset: 'demo' }, {}],
    ['header', {}, { 'x-moniker-toolset': 'demo' }],
  ])('reads the toolset from the %s', async (_where, body, headers) => {
    const answer = await respond({ model: 'rehearsal/default', input: 'x', ...body }, headers);
    expect([answer.status, answer.headers.get('x-moniker-edition'), h.proxied]).toEqual([200, 'demo@1.1', []]);
  });

  it('gives the turn its history, input, system text and settings', async () => {
    await respond({
      model: 'agent/helper',
      instructions: 'In French.',
      input: [
        { role: 'user', content: 'one' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
        { role: 'user', content: 'three' },
      ],
      max_output_tokens: 7,
      tools: ownTools,
      tool_choice: { type: 'function', name: 'mine' },
    });
    const [submitted] = h.sessions.submitted;
    expect(submitted?.history?.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(submitted?.input).toEqual([{ type: 'text', text: 'three' }]);
    expect(submitted?.plan).toMatchObject({
      instructions: 'Help.\n\nIn French.',
      settings: { maxOutputTokens: 7, toolChoice: { tool: 'mine' } },
      clientTools: [{ name: 'mine' }],
    });
    expect(submitted?.chat).toMatchObject({
      dialect: 'openai-responses',
      model: 'agent/helper',
      echo: { shown: { max_output_tokens: 7 } },
    });
  });

  it('returns only calls of the caller’s tools', async () => {
    const { output, status } = await bodyOf(await respond({ model: 'agent/helper', input: 'client', tools: ownTools }));
    expect([status, output.map(({ type, name }: { type: string; name: string }) => [type, name])]).toEqual([
      'completed',
      [['function_call', 'mine']],
    ]);
  });

  it('streams numbered events with ids, and ends with the complete response', async () => {
    const answer = await respond({ model: 'agent/helper', stream: true, input: 'hello' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await answer.text();
    const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual([...numbers.keys()]);
    expect(text.match(/^id: \S+$/gm)).toHaveLength(numbers.length);
    expect(text).toMatch(/event: response\.completed\ndata: .*"status":"completed".*\n\n$/);
    expect(text).not.toContain('[DONE]');
  });

  it('rejects a caller’s tool that has the name of a server tool if the agent is strict, with its path in this dialect', async () => {
    await h.send('PUT', '/v1/agents/strict', { model: 'rehearsal/default', toolset: 'demo', clientTools: 'strict' });
    const answer = await respond({ model: 'agent/strict', input: 'x', tools: [...ownTools, { type: 'function', name: 'Terminal' }] });
    const { error } = await bodyOf(answer);
    expect([answer.status, error.param, error.code]).toEqual([422, 'tools[1].name', 'invalid_request']);
  });

  it('returns a failed turn as an error, and as events in streams', async () => {
    const answer = await respond({ model: 'agent/helper', input: 'fail' });
    expect([answer.status, (await bodyOf(answer)).error.code]).toEqual([502, 'upstream_error']);
    const streamed = await (await respond({ model: 'agent/helper', input: 'fail', stream: true })).text();
    expect([...streamed.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
    ]);
  });
});

describe('a previous response', () => {
  it('identifies its session', async () => {
    const asked: unknown[] = [];
    const session = {
      setup: async () => ({ model: 'rehearsal/default', listed: true }),
      submit: async (_caller: unknown, request: { chat?: unknown; input: unknown }) => {
        asked.push(request.chat, request.input);
        return { turn: 't', position: 0, session: sessionId, edition: null, completion: ours };
      },
      completion: async () => new Response('{}').body,
    } as unknown as SessionPort; // What this test needs of it.
    const opened: string[] = [];
    const get = (id: string): SessionPort => {
      opened.push(id);
      return session;
    };
    const sessions = Object.assign(h.sessions, { get });
    h = createHarness({}, { sessions });
    const answer = await respond({ model: 'rehearsal/default', previous_response_id: ours, input: 'And?' });
    expect([answer.status, answer.headers.get('x-moniker-session')]).toEqual([200, sessionId]);
    expect(new Set(opened)).toEqual(new Set([sessionId]));
    expect(asked).toMatchObject([{ previous: ours, results: [] }, [{ type: 'text', text: 'And?' }]]);
  });

  it.each([
    ['ours, of a session that is gone', { previous_response_id: ours }, {}, 404, 'previous_response_id'],
    [
      'a provider’s, where server tools run',
      { model: 'agent/helper', previous_response_id: 'resp_theirs' },
      {},
      404,
      'previous_response_id',
    ],
    ['ours, and "new"', { previous_response_id: ours }, { 'x-moniker-session': 'new' }, 422, 'x-moniker-session'],
  ])('is rejected with what to do: %s', async (_what, body, headers, status, param) => {
    const answer = await respond({ model: 'rehearsal/default', input: 'x', ...body }, headers);
    expect([answer.status, (await bodyOf(answer)).error.param]).toEqual([status, param]);
    expect(h.sessions.submitted).toEqual([]);
  });
});

describe('a stored response', () => {
  const read: (CompletionOptions & { cancelled?: string })[] = [];
  beforeEach(async () => {
    read.length = 0;
    const session = {
      completionTurn: async () => ({ turn: 'turn_1', edition: null }),
      completion: async (_caller: unknown, completion: string, options: CompletionOptions) => {
        expect(completion).toBe(ours);
        read.push(options);
        return new Response('{}').body;
      },
      cancel: async (_caller: unknown, completion: string) => {
        read.push({ streamed: false, cancelled: completion });
        return { turn: null, cancelled: false };
      },
    } as unknown as SessionPort; // What these tests need of it.
    h = createHarness({}, { sessions: Object.assign(h.sessions, { get: () => session }) });
  });

  it.each([
    ['', {}, { streamed: false }],
    ['?stream=true', {}, { streamed: true }],
    ['?stream=false&include[]=x', {}, { streamed: false }],
    ['?stream=true&starting_after=12', {}, { streamed: true, startingAfter: 12 }],
    ['?starting_after=0', {}, { streamed: true, startingAfter: 0 }],
    ['?after=7.2', {}, { streamed: true, after: '7.2' }],
    ['', { 'last-event-id': '7' }, { streamed: true, after: '7' }],
    ['', { accept: 'text/event-stream' }, { streamed: true }],
  ])('is read with %j and %j', async (query, headers, options) => {
    const answer = await h.send('GET', `/v1/responses/${ours}${query}`, undefined, headers);
    expect([answer.status, answer.headers.get('x-moniker-session'), read]).toEqual([200, sessionId, [options]]);
  });

  it.each(['?stream=yes', '?starting_after=-1', '?starting_after=x', '?after=x', '?after=1&starting_after=1'])(
    'is not read with %s',
    async (query) => {
      const answer = await h.send('GET', `/v1/responses/${ours}${query}`);
      expect([answer.status, (await bodyOf(answer)).error.code, read]).toEqual([422, 'invalid_request', []]);
    },
  );

  it('is cancelled by its id', async () => {
    const answer = await h.send('POST', `/v1/responses/${ours}/cancel`);
    expect([answer.status, read]).toEqual([200, [{ streamed: false, cancelled: ours }, { streamed: false }]]);
  });

  it('of a provider is not found', async () => {
    for (const [method, path] of [
      ['GET', '/v1/responses/resp_theirs'],
      ['POST', '/v1/responses/resp_theirs/cancel'],
      ['GET', `/v1/responses/${toCompletionId('openai-chat', 'cmpl_1', sessionId)}`],
    ] as const) {
      const answer = await h.send(method, path);
      expect([answer.status, (await bodyOf(answer)).error.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('faults', () => {
  it.each([
    [{ input: 'x' }, 422, 'model'],
    [{ model: 'gpt', input: 'x' }, 404, 'model'],
    [{ model: 'agent/helper' }, 422, 'input'],
    [{ model: 'agent/helper', input: [] }, 422, 'input'],
    [{ model: 'agent/helper', input: [{ type: 'item_reference', id: 'msg_1' }] }, 422, 'input[0].id'],
    [{ model: 'agent/helper', input: [{ role: 'user', content: 7 }] }, 422, 'input[0].content'],
    [{ model: 'agent/helper', input: 'x', tools: [{ type: 'image_generation' }] }, 422, 'tools[0].type'],
    [{ model: 'agent/helper', input: 'x', background: true, store: false }, 422, 'store'],
    [{ model: 'agent/helper', input: 'x', temperature: 'hot' }, 422, 'temperature'],
    [{ model: 'agent/nobody', input: 'x' }, 404, null],
    [{ model: 'rehearsal/default', toolset: 7, input: 'x' }, 422, 'toolset'],
  ])('of %j have the OpenAI format, status %i, at %s', async (body, status, param) => {
    await expectFault(h, await respond(body), status, param);
  });

  it('of the body, the key, the path and the method have the OpenAI format, too', async () => {
    const root = '/v1/responses';
    for (const [answer, status] of [
      [await h.send('POST', root, '{'), 400],
      [await h.send('POST', root, '{}', { 'content-type': 'text/plain' }), 415],
      [await h.send('POST', root, {}, { authorization: 'Bearer no' }), 401],
      [await h.send('POST', root, {}, await h.key({ scopes: ['tools'] })), 403],
      [await h.send('GET', root), 426],
      [await h.send('PUT', root, {}), 405],
      [await h.send('GET', `${root}/a/b/c`), 404],
    ] as const) {
      expect([answer.status, (await bodyOf(answer)).error?.code]).toEqual([status, expect.any(String)]);
    }
  });
});

describe('the stock client', () => {
  const client = () => stockClient(h);

  it('creates and streams', async () => {
    const whole = await client().responses.create({ model: 'agent/helper', input: 'hello' });
    expect([whole.output_text, whole.usage?.total_tokens]).toEqual(['You said: hello', 5]);
    const stream = client().responses.stream({ model: 'agent/helper', input: 'hello' });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    expect([(await stream.finalResponse()).output_text, text]).toEqual(['You said: hello', 'You said: hello']);
  });

  it('throws the error of a failed stream', async () => {
    const stream = client().responses.stream({ model: 'agent/helper', input: 'fail' });
    await expect(stream.finalResponse()).rejects.toMatchObject({ code: 'upstream_error' });
    const iterate = async () => {
      for await (const _event of await client().responses.create({ model: 'agent/helper', input: 'fail', stream: true }));
    };
    await expect(iterate()).rejects.toMatchObject({ code: 'upstream_error', message: expect.stringContaining('not well') });
  });
});
