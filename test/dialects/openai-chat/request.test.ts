import { describe, expect, it } from 'vitest';
import { toToolCallId } from '../../../src/core/text/reference.ts';
import {
  ChatCompletionRequest,
  sessionOfChatCalls,
  readChatRequest,
  toChatConversation,
} from '../../../src/dialects/openai-chat/request.ts';

const [one, two] = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)];

const request = (fields: Record<string, unknown>) =>
  ChatCompletionRequest.parse({ model: 'rehearsal/default', messages: [{ role: 'user', content: 'hi' }], ...fields });

describe('a chat request', () => {
  it('allows unknown fields', () => {
    expect(request({ store: true, metadata: { a: 1 }, service_tier: 'auto' })).toMatchObject({ store: true, metadata: { a: 1 } });
  });

  it.each([
    [{ messages: [] }, ['messages']],
    [{ messages: [{ role: 'robot', content: 'x' }] }, ['messages', 0, 'role']],
    [{ messages: [{ role: 'user', content: 7 }] }, ['messages', 0, 'content']],
    [{ messages: [{ role: 'tool', content: 'x' }] }, ['messages', 0, 'tool_call_id']],
    [{ temperature: 99 }, ['temperature']],
    [{ model: 7 }, ['model']],
    [{ stream: 'yes' }, ['stream']],
    [{ max_tokens: 0 }, ['max_tokens']],
    [{ tools: [{ type: 'function', function: {} }] }, ['tools', 0, 'function', 'name']],
  ])('reports the fault of %j with its path', (fields, path) => {
    const result = ChatCompletionRequest.safeParse({ model: 'a/b', messages: [{ role: 'user', content: 'hi' }], ...fields });
    expect(result.error?.issues.map((issue) => issue.path)).toContainEqual(path);
  });

  it('may ask for one choice, as its default is', () => {
    expect(request({ n: 1 })).toMatchObject({ n: 1 });
    expect(() => request({ n: 0 })).toThrow();
  });

  it('becomes neutral messages, with the system text separate', () => {
    const { system, history, input } = toChatConversation(
      request({
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
              { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } },
              { id: 'c2', type: 'function', function: { name: 'shell', arguments: '{"comm' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
          { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'bad' }] },
          { role: 'assistant', content: 'One file.' },
          { role: 'user', content: 'Thanks' },
        ],
      }),
    );
    expect(system).toBe('Be kind.\n\nBe brief.');
    expect(input).toEqual([{ type: 'text', text: 'Thanks' }]);
    expect(history).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'See' },
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'image', url: 'https://a.example/b.png' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', callId: 'c1', requested: 'shell', canonical: null, via: null, nativeId: 'c1', arguments: { command: 'ls' } },
          {
            type: 'tool-call',
            callId: 'c2',
            requested: 'shell',
            canonical: null,
            via: null,
            nativeId: 'c2',
            arguments: null,
            raw: '{"comm',
          },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: 'c1',
            requested: 'shell',
            canonical: null,
            isError: false,
            content: [{ type: 'text', text: 'a.txt' }],
          },
          {
            type: 'tool-result',
            callId: 'c2',
            requested: 'shell',
            canonical: null,
            isError: false,
            content: [{ type: 'text', text: 'bad' }],
          },
        ],
      },
      { role: 'assistant', parts: [{ type: 'text', text: 'One file.' }] },
    ]);
  });

  const call = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '' } }],
  });
  const result = (id: string, content = 'r') => ({ role: 'tool', tool_call_id: id, content });
  const user = (content: string) => ({ role: 'user', content });

  it('may have null for the fields that a part does not have, as the Agents SDK of OpenAI sends it', () => {
    const text = (said: string) => [{ type: 'text', text: said, refusal: null, image_url: null }];
    const image = { type: 'image_url', text: null, refusal: null, image_url: { url: 'https://x.example/a.png' } };
    const messages = [
      { role: 'user', content: text('Hi') },
      { role: 'assistant', content: text('Hello.'), refusal: null, tool_calls: null },
      { role: 'user', content: [...text('Look.'), image] },
    ];
    expect(toChatConversation(request({ messages }))).toMatchObject({
      history: [{ parts: [{ text: 'Hi' }] }, { parts: [{ text: 'Hello.' }] }],
      input: [
        { type: 'text', text: 'Look.' },
        { type: 'image', url: 'https://x.example/a.png' },
      ],
    });
  });

  it('separates what follows the last assistant message: results of calls, and user input', () => {
    const { history, results, input } = toChatConversation(
      request({ messages: [user('a'), call('c1'), result('c1', 'old'), call('c2'), result('c2'), user('b'), user('c')] }),
    );
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(results).toEqual([{ callId: 'c2', content: [{ type: 'text', text: 'r' }], isError: false }]);
    expect(input).toEqual([
      { type: 'text', text: 'b' },
      { type: 'text', text: 'c' },
    ]);
  });

  it('accepts images in the results of calls as in the input, by URL as links', () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url } });
    const content = [{ type: 'text', text: 'See' }, image('data:image/gif;base64,AAAA'), image('https://a.example/b.png')];
    const { results } = toChatConversation(request({ messages: [{ role: 'tool', tool_call_id: 'c1', content }] }), { inSession: true });
    expect(results[0]?.content).toEqual([
      { type: 'text', text: 'See' },
      { type: 'image', data: 'AAAA', mimeType: 'image/gif' },
      { type: 'resource_link', uri: 'https://a.example/b.png', name: 'image' },
    ]);
  });

  it('merges adjacent messages with calls, so that the results of all follow', () => {
    const { history } = toChatConversation(
      request({ messages: [call('c1'), call('c2'), result('c1'), result('c2'), call('c3'), user('b')] }),
    );
    expect(history.map(({ role, parts }) => [role, ...parts.map((part) => 'callId' in part && part.callId)])).toEqual([
      ['assistant', 'c1', 'c2'],
      ['tool', 'c1', 'c2'],
      ['assistant', 'c3'],
    ]);
  });

  it('may contain only results if a session has their calls', () => {
    const alone = request({ messages: [result('c1')] });
    expect(toChatConversation(alone, { inSession: true }).results).toHaveLength(1);
    expect(toChatConversation(alone)).toMatchObject({ results: [], input: [{ text: '[Result of an earlier tool call:]' }, { text: 'r' }] });
    expect(toChatConversation(request({ messages: [result(toToolCallId('c1', one))] })).results).toHaveLength(1);
  });

  it('must say something', () => {
    const empty = [
      { messages: [{ role: 'user' }] },
      {
        messages: [
          { role: 'system', content: '' },
          { role: 'user', content: [] },
        ],
      },
    ];
    for (const fields of empty)
      expect(() => toChatConversation(request(fields))).toThrow(
        expect.objectContaining({ extra: { issues: [expect.objectContaining({ path: 'messages' })] } }),
      );
  });

  it('may end with an assistant message, or have system messages alone', () => {
    expect(toChatConversation(request({ messages: [user('a'), call('c1')] }))).toMatchObject({ input: [], results: [] });
    expect(toChatConversation(request({ messages: [{ role: 'system', content: 'Say hi.' }] }))).toMatchObject({
      system: 'Say hi.',
      history: [],
    });
  });

  it('may have the forms that other servers accept: no content, arguments as an object, deprecated calls of functions', () => {
    const said = { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: { a: 1 } } }] };
    const old = { role: 'assistant', content: null, function_call: { name: 'g', arguments: '{}' } };
    const messages = [
      user('a'),
      said,
      { role: 'tool', tool_call_id: 'c1', content: null },
      old,
      { role: 'function', name: 'g', content: 'r' },
    ];
    const { history } = toChatConversation(request({ messages }), { whole: true });
    expect(history).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ callId: 'c1', arguments: { a: 1 } }] },
      { role: 'tool', parts: [{ callId: 'c1', content: [] }] },
      { role: 'assistant', parts: [{ requested: 'g', arguments: {} }] },
      { role: 'tool', parts: [{ requested: 'g', content: [{ text: 'r' }] }] },
    ]);
  });

  it('has its system messages in their places if it is read as a whole', () => {
    const system = (content: string) => ({ role: 'system', content });
    const messages = [system('A.'), { role: 'developer', content: 'B.' }, user('a'), system('C.'), call('c1'), result('c1'), system('D.')];
    const { history } = toChatConversation(request({ messages }), { whole: true });
    expect(history[0]).toEqual({ role: 'system', parts: [{ type: 'text', text: 'A.\n\nB.' }] });
    expect(history.map(({ role }) => role)).toEqual(['system', 'user', 'system', 'assistant', 'tool', 'system']);
    expect(toChatConversation(request({ messages })).system).toBe('A.\n\nB.\n\nC.\n\nD.');
  });

  it('leads to its session by the results at the end, otherwise by the latest call', () => {
    const [mine, other] = [toToolCallId('c1', one), toToolCallId('c1', two)];
    expect(sessionOfChatCalls([user('a'), call('c1'), result('c1')])).toBeNull();
    expect(sessionOfChatCalls([user('a'), call(other), result(other), call(mine), result(mine)])).toBe(one);
    expect(
      sessionOfChatCalls([user('a'), call(other), result(other), call(mine), result(mine), { role: 'assistant', content: 'x' }, user('b')]),
    ).toBe(one);
    expect(sessionOfChatCalls([result(mine), user('b')])).toBe(one);
    expect(() => sessionOfChatCalls([result(mine), result(other)])).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    for (const messages of [undefined, 'x', [null, 7, { role: 'tool' }, { role: 'assistant', tool_calls: [null, { id: 7 }] }]])
      expect(sessionOfChatCalls(messages)).toBeNull();
  });

  it('reports the faults of tools with their path', () => {
    const read = (tools?: object[]) => readChatRequest({ ...request({}), tools }).clientTools();
    const tool = (fields: object) => ({ type: 'function', function: { name: 'f', ...fields } });
    expect(read([tool({ parameters: null, strict: true })])).toEqual([
      { name: 'f', description: '', inputSchema: { type: 'object' }, strict: true },
    ]);
    expect([read(), read([])]).toEqual([null, []]);
    const bad = [{ type: 'custom' }, tool({ name: 'no good' }), tool({ description: 'x'.repeat(20_000) })];
    expect(() => read(bad)).toThrow(
      expect.objectContaining({
        extra: {
          issues: ['tools[0].type', 'tools[1].function.name', 'tools[2].function.description'].map((path) =>
            expect.objectContaining({ path }),
          ),
        },
      }),
    );
    expect(() => read(Array.from({ length: 1001 }, (_, index) => tool({ name: `f${index}` })))).toThrow();
  });

  it('rejects what a turn does not support, each with its path', () => {
    const bad = request({
      messages: [
        { role: 'user', content: [{ type: 'hologram' }] },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c', type: 'custom', custom: {} }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,no base64' } }] },
      ],
    });
    expect(() => toChatConversation(bad)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        extra: {
          issues: ['messages[0].content[0].type', 'messages[1].tool_calls[0]', 'messages[2].content[0].image_url'].map((path) =>
            expect.objectContaining({ path }),
          ),
        },
      }),
    );
  });

  it('converts its settings to neutral names', () => {
    expect(
      readChatRequest(
        request({
          temperature: 0,
          top_p: 0.5,
          max_tokens: 5,
          max_completion_tokens: 9,
          stop: 'x',
          seed: 1,
          frequency_penalty: 0.5,
          presence_penalty: -0.5,
          reasoning_effort: 'low',
          parallel_tool_calls: false,
          response_format: { type: 'json_object' },
          tool_choice: { type: 'function', function: { name: 'shell' } },
        }),
      ).settings(),
    ).toEqual({
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 9,
      stop: ['x'],
      seed: 1,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
      reasoningEffort: 'low',
      parallelToolCalls: false,
      responseFormat: { type: 'json_object' },
      toolChoice: { tool: 'shell' },
    });
    expect(readChatRequest(request({ temperature: null, response_format: { type: 'text' } })).settings()).toEqual({});
  });
});

describe('features of OpenAI’s own service', () => {
  const read = (more: object) => readChatRequest({ model: 'a/b', messages: [{ role: 'user', content: 'x' }], ...more });

  it('are settings where other APIs have them, and else named if the answer is right without them', () => {
    const steering = {
      store: true,
      metadata: { a: 'b' },
      user: 'u',
      service_tier: 'auto',
      prediction: { type: 'content', content: 'x' },
      verbosity: 'low',
    };
    const nothing = {
      stop: null,
      logprobs: false,
      logit_bias: {},
      modalities: ['text'],
      functions: [],
      parallel_tool_calls: null,
      tool_choice: null,
    };
    const given = read({ ...steering, ...nothing });
    expect(given.settings()).toEqual({ user: 'u', serviceTier: 'auto', verbosity: 'low', metadata: { a: 'b' } });
    expect(given.dropped.items().map(({ name }) => name)).toEqual(['store', 'prediction']);
    const dear = read({ service_tier: 'priority', user: 'a', safety_identifier: 'b', novelty: 1 });
    expect(dear.settings()).toEqual({ user: 'b' });
    expect(dear.dropped.items().map(({ name }) => name)).toEqual(['novelty', 'user', 'service_tier']);
  });

  it.each([
    ['functions', { functions: [{ name: 'f' }] }],
    ['logprobs', { logprobs: true, top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { 50256: -100 } }],
    ['modalities[1]', { modalities: ['text', 'audio'], audio: { voice: 'x', format: 'wav' } }],
  ])('are rejected with their path otherwise: %s', (path, more) => {
    expect(() => read(more)).toThrow(expect.objectContaining({ extra: { issues: [{ path, message: expect.any(String) }] } }));
  });

  it('supports allowed tools, and offers only those', () => {
    const tools = ['a', 'b', 'no name'].map((name) => ({ type: 'function', function: { name } }));
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] } };
    const request = read({ tools, tool_choice: choice });
    expect([request.clientTools()?.map(({ name }) => name), request.settings(), request.toolPath(0)]).toEqual([
      ['b'],
      { toolChoice: 'required' },
      'tools[1].function.name',
    ]);
  });
});
