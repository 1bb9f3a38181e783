import {
  readMessagesRequest,
  sessionOfMessagesCalls,
  withMessagesInstructions,
  withoutMessagesTokens,
  estimateMessagesTokens,
} from '../../../src/dialects/anthropic/request.ts';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { Issue, Problem } from '../../../src/core/problem.ts';
import { toToolCallId } from '../../../src/core/text/reference.ts';
import { anthropicMessages } from '../../../src/dialects/anthropic/dialect.ts';
import { toReplyDocument } from '../../../src/dialects/reply-encoder.ts';

const base = { model: 'claude/sonnet', max_tokens: 100 };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const read = (messages: unknown[], more: object = {}, inSession = false) =>
  readMessagesRequest({ ...base, messages, ...more }).conversation({ inSession });
const settingsOf = (more: object) => readMessagesRequest({ ...base, messages: [user('x')], ...more }).settings();
const toolsOf = (tools: unknown) => readMessagesRequest({ ...base, messages: [user('x')], tools }).clientTools();
const issuesOf = (act: () => unknown): Issue[] => {
  try {
    act();
  } catch (error) {
    return (error as Problem).extra.issues as Issue[];
  }
  throw new Error('it was taken');
};
const pathsOf = (act: () => unknown): string[] => issuesOf(act).map(({ path }) => path);
const text = (said: string) => ({ type: 'text', text: said });
const png = 'iVBORw0KGgo=';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };

describe('a Messages request', () => {
  it('is read completely: system, thinking, parallel calls, their results, new input', () => {
    const conversation = read(
      [
        user([text('Look.'), image]),
        assistant([
          { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
          text('I look.'),
          { type: 'tool_use', id: 'toolu_1', name: 'a', input: { x: 1 } },
          { type: 'tool_use', id: 'toolu_2', name: 'b', input: {} },
        ]),
        user([
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' },
          { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: [text('two'), image] },
          text('And?'),
        ]),
        assistant('Done.'),
        user([{ ...text('Thanks.'), cache_control: { type: 'ephemeral' } }]),
      ],
      { system: [text('Be brief.'), { ...text('Be kind.'), cache_control: { type: 'ephemeral' } }], metadata: { user_id: 'u' } },
    );
    const call = { type: 'tool-call', canonical: null, via: null };
    const result = { type: 'tool-result', canonical: null };
    expect(conversation).toEqual({
      decisions: [],
      system: 'Be brief.\n\nBe kind.',
      history: [
        { role: 'user', parts: [text('Look.'), { type: 'image', mediaType: 'image/png', data: png }] },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'native', provider: 'claude', data: { api: 'anthropic', type: 'thinking', signature: 'sig' } },
            text('I look.'),
            { ...call, callId: 'toolu_1', requested: 'a', nativeId: 'toolu_1', arguments: { x: 1 } },
            { ...call, callId: 'toolu_2', requested: 'b', nativeId: 'toolu_2', arguments: {} },
          ],
        },
        {
          role: 'tool',
          parts: [
            { ...result, callId: 'toolu_1', requested: 'a', isError: false, content: [text('one')] },
            {
              ...result,
              callId: 'toolu_2',
              requested: 'b',
              isError: true,
              content: [text('two'), { type: 'image', data: png, mimeType: 'image/png' }],
            },
          ],
        },
        { role: 'user', parts: [text('And?')] },
        { role: 'assistant', parts: [text('Done.')] },
      ],
      results: [],
      input: [text('Thanks.')],
    });
  });

  it('treats what follows the assistant as new: results first, then input', () => {
    const messages = [
      user('go'),
      assistant([{ type: 'tool_use', id: 't', name: 'a', input: {} }]),
      user([{ type: 'tool_result', tool_use_id: 't' }]),
      user('and then'),
    ];
    expect(read(messages)).toMatchObject({ results: [{ callId: 't', isError: false, content: [] }], input: [text('and then')] });
  });

  it('merges adjacent messages of one role: results of both follow the last', () => {
    const messages = [
      user('one'),
      user('two'),
      assistant([{ type: 'tool_use', id: 't', name: 'a', input: {} }]),
      assistant('more'),
      user([{ type: 'tool_result', tool_use_id: 't', content: 'r' }]),
      assistant('end'),
      user('x'),
    ];
    expect(read(messages).history.map(({ role, parts }) => `${role} ${parts.length}`)).toEqual([
      'user 1',
      'user 1',
      'assistant 2',
      'tool 1',
      'assistant 1',
    ]);
  });

  it('may end with a prefilled assistant message, which is the last of its history', () => {
    const { history, input, results } = read([user('x'), assistant('{"a":')]);
    expect([history.at(-1), input, results]).toEqual([{ role: 'assistant', parts: [text('{"a":')] }, [], []]);
  });

  it('accepts system messages between others as system text', () => {
    expect(read([{ role: 'system', content: 'Now.' }, user('x')], { system: 'First.' }).system).toBe('First.\n\nNow.');
  });

  it('accepts text documents, search results and images by URL, where supported', () => {
    const document = { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'body' } };
    const parts = { type: 'document', source: { type: 'content', content: [text('a'), image] } };
    const found = { type: 'search_result', source: 'https://x.test', title: 'F', content: [text('hit')] };
    const linked = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } };
    const { input, results } = read(
      [user([{ type: 'tool_result', tool_use_id: 't', content: [document, linked] }, document, parts, found, linked])],
      {},
      true,
    );
    expect(input).toEqual([
      text('T'),
      text('body'),
      text('a'),
      { type: 'image', mediaType: 'image/png', data: png },
      text('F\nhttps://x.test\nhit'),
      { type: 'image', url: 'https://x.test/a.png' },
    ]);
    expect(results[0]?.content).toEqual([text('T'), text('body'), { type: 'resource_link', uri: 'https://x.test/a.png', name: 'image' }]);
  });

  it('preserves provider blocks for the provider that the request names, and for no agent', () => {
    const hidden = { type: 'redacted_thinking', data: 'opaque' };
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
    const messages = [user('x'), assistant([hidden, search, found, text('y')]), user('z')];
    const native = (block: object) => ({ type: 'native', provider: 'claude', data: { api: 'anthropic', type: 'block', block } });
    expect(read(messages).history[1]?.parts).toEqual([native(hidden), native(search), native(found), text('y')]);
    expect(read(messages, { model: 'agent/x' }).history[1]?.parts).toEqual([text('y')]);
  });

  it('keeps arguments that are not an object unchanged', () => {
    const { history } = read([user('x'), assistant([{ type: 'tool_use', id: 't', name: 'a', input: [1] }]), user('y')]);
    expect(history[1]?.parts[0]).toMatchObject({ arguments: null, raw: '[1]' });
  });

  it.each([
    ['a PDF that is not base64', user([{ type: 'document', source: { type: 'base64', data: 'x' } }]), 'messages[0].content[0].source'],
    ['a stored file', user([{ type: 'document', source: { type: 'file', file_id: 'f' } }]), 'messages[0].content[0].source.type'],
    ['a file', user([text('a'), { type: 'image', source: { type: 'file', file_id: 'f' } }]), 'messages[0].content[1].source.type'],
    [
      'an invalid image',
      user([{ type: 'image', source: { type: 'base64', media_type: 'text/html', data: 'eA==' } }]),
      'messages[0].content[0].source',
    ],
    ['a block of tomorrow', user([{ type: 'hologram' }]), 'messages[0].content[0].type'],
    ['text without text', user([{ type: 'text' }]), 'messages[0].content[0].text'],
    ['a block without a type', user([{ text: 'x' }]), 'messages[0].content[0].type'],
    [
      'an unknown block in a document',
      user([{ type: 'document', source: { type: 'content', content: [{ type: 'hologram' }] } }]),
      'messages[0].content[0].source.content[0].type',
    ],
    ['nothing', user([]), 'messages'],
  ])('with %s is rejected with its path', (_what, message, path) => {
    expect(pathsOf(() => read([message]))).toEqual([path]);
  });

  it('rejects unsupported content in results and assistant messages, with its path', () => {
    const messages = [
      user('x'),
      assistant([{ type: 'tool_use', id: 't', name: 'a', input: {} }, { type: 'image' }, { type: 'thinking' }]),
      user([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'document', source: { type: 'url', url: 'x' } }] }]),
    ];
    expect(pathsOf(() => read(messages))).toEqual([
      'messages[1].content[1].type',
      'messages[1].content[2].thinking',
      'messages[2].content[0].content[0].source',
    ]);
  });

  it('reads the tools that a search found as their names', () => {
    const found = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'mcp__git__log' }] };
    const { results } = read([user('x'), assistant([{ type: 'tool_use', id: 't', name: 'find', input: {} }]), user([found])]);
    expect(results).toMatchObject([{ content: [{ type: 'text', text: '[tool: mcp__git__log]' }] }]);
  });

  it.each([
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ temperature: 1.1 }, 'temperature'],
    [{ top_k: -1 }, 'top_k'],
    [{ stop_sequences: 'x' }, 'stop_sequences'],
    [{ system: [{ type: 'image' }] }, 'system[0].type'],
    [{ thinking: { type: 'enabled', budget_tokens: 0 } }, 'thinking.budget_tokens'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'must' } }, 'tool_choice.type'],
    [{ mcp_servers: [{ type: 'url', name: 'a', url: 'https://a.example' }] }, 'mcp_servers'],
  ])('with %j is rejected with its path', (more, path) => {
    expect(pathsOf(() => settingsOf(more))[0]).toBe(path);
  });
});

describe('settings', () => {
  it('are read from the wire’s fields', () => {
    const schema = { type: 'object' };
    expect(
      settingsOf({
        temperature: 0.5,
        top_p: 0.9,
        top_k: 4,
        stop_sequences: ['END'],
        thinking: { type: 'enabled', budget_tokens: 2048 },
        output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      }),
    ).toEqual({
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      stop: ['END'],
      reasoningBudget: 2048,
      reasoningEffort: 'low',
      responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    });
  });

  it.each([
    [{ type: 'disabled' }, undefined, { reasoningBudget: 0 }],
    [{ type: 'adaptive' }, undefined, { reasoningEffort: 'high' }],
    [{ type: 'enabled' }, undefined, { reasoningEffort: 'high' }],
    [{ type: 'adaptive' }, { effort: 'medium' }, { reasoningEffort: 'medium' }],
  ])('read thinking %j with %j', (thinking, output, expected) => {
    expect(settingsOf({ thinking, output_config: output })).toEqual({ maxOutputTokens: 100, ...expected });
  });

  it.each([
    [{ type: 'auto' }, { toolChoice: 'auto' }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { toolChoice: 'required', parallelToolCalls: false },
    ],
    [{ type: 'none' }, { toolChoice: 'none' }],
    [{ type: 'tool', name: 'a' }, { toolChoice: { tool: 'a' } }],
  ])('read the choice %j', (choice, expected) => {
    expect(settingsOf({ tool_choice: choice })).toEqual({ maxOutputTokens: 100, ...expected });
  });
});

describe('the client’s tools', () => {
  it('are those of its own kind', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(
      toolsOf([
        { name: 'a', description: 'A.', input_schema: schema },
        { type: 'custom', name: 'b' },
      ]),
    ).toEqual([
      { name: 'a', description: 'A.', inputSchema: schema },
      { name: 'b', description: '', inputSchema: { type: 'object' } },
    ]);
    expect(toolsOf(undefined)).toBeNull();
  });

  it('are offered without an optional provider search, with their original paths', () => {
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { name: 'a' },
      { type: 'tool_search_tool_bm25_20251119', name: 'find' },
    ];
    expect(toolsOf(tools)).toEqual([{ name: 'a', description: '', inputSchema: { type: 'object' } }]);
    expect(readMessagesRequest({ ...base, messages: [user('x')], tools }).toolPath(0)).toBe('tools[1].name');
  });

  it('are rejected if one that only the provider runs is the only one, or its search the forced one', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const fetch = { type: 'web_fetch_20250910', name: 'web_fetch' };
    expect(issuesOf(() => toolsOf([fetch]))).toEqual([{ path: 'tools[0].type', message: expect.stringContaining('web_fetch_20250910') }]);
    const must = { ...base, messages: [user('x')], tools: [search, { name: 'a' }], tool_choice: { type: 'tool', name: 'web_search' } };
    expect(issuesOf(() => readMessagesRequest(must).clientTools())).toEqual([
      { path: 'tool_choice.name', message: expect.stringContaining('web search') },
    ]);
  });

  it('are rejected with their paths', () => {
    const tools = [{ type: 'bash_20250124', name: 'bash' }, { input_schema: {} }, { name: 'two words' }];
    expect(issuesOf(() => toolsOf(tools))).toEqual([
      { path: 'tools[0].type', message: expect.stringContaining('bash_20250124') },
      { path: 'tools[1].name', message: 'is missing' },
      { path: 'tools[2].name', message: expect.any(String) },
    ]);
  });
});

describe('the session of a request', () => {
  const [one, two] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];
  const call = (session: string) => ({ type: 'tool_use', id: toToolCallId('call_1', session), name: 'a', input: {} });
  const result = (session: string) => ({ type: 'tool_result', tool_use_id: toToolCallId('call_1', session) });

  it('is that of the results at its end, otherwise of the latest call', () => {
    expect(sessionOfMessagesCalls([assistant([call(one)]), user([result(two)])])).toBe(two);
    expect(sessionOfMessagesCalls([assistant([call(one)]), user('x'), assistant('y'), user('z')])).toBe(one);
    expect(sessionOfMessagesCalls([user('x'), assistant([{ type: 'tool_use', id: 'toolu_1' }])])).toBeNull();
    for (const odd of [undefined, 7, [null, 7, {}, { role: 'user', content: [null, { type: 'tool_result' }] }]])
      expect(sessionOfMessagesCalls(odd)).toBeNull();
  });

  it('cannot be two sessions', () => {
    expect(pathsOf(() => sessionOfMessagesCalls([user([result(one), result(two)])]))).toEqual(['messages[0].content[1].tool_use_id']);
  });
});

describe('a request for a provider of this wire', () => {
  it('gets the agent’s instructions as system text, and is otherwise unchanged', () => {
    const body = { ...base, system: 'Mine.', messages: [{ role: 'system', content: 'Too.' }, user('x')], brand_new: 1 };
    expect(withMessagesInstructions(body, 'Theirs.')).toEqual({ ...base, system: 'Theirs.', messages: [user('x')], brand_new: 1 });
    expect(withMessagesInstructions(body, '')).toEqual({ ...base, messages: [user('x')], brand_new: 1 });
  });

  it('is stripped of our tokens, and is the same object without any', () => {
    const theirs = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
    const ours = [
      { type: 'thinking', thinking: 'Hm.', signature: 'moniker.unsigned' },
      { type: 'redacted_thinking', data: 'moniker.abcd' },
    ];
    const clean = { ...base, messages: [user('x'), assistant([theirs, text('y')]), user('moniker.')] };
    expect(withoutMessagesTokens(clean)).toBe(clean);
    const messages = [user('x'), assistant([...ours, text('y')]), user('z'), assistant(ours), user('!')];
    expect(withoutMessagesTokens({ ...base, messages })).toEqual({
      ...base,
      messages: [user('x'), assistant([text('y')]), user('z'), user('!')],
    });
  });
});

describe('provider data', () => {
  it('is restored exactly from the answer that the client sends back', () => {
    const data = { api: 'openai-responses', item: { id: 'rs_1', encrypted_content: 'ü…' } };
    const native: ChatEvent = { type: 'native', provider: 'openai', data };
    const events: ChatEvent[] = [
      { type: 'reasoning', text: 'Hm.' },
      native,
      { type: 'text', text: 'Well.' },
      { type: 'call-start', call: 0, name: 'a', nativeId: 'c1' },
      { type: 'call-delta', call: 0, text: '{"x":1}' },
      { type: 'call-end', call: 0, state: 'ok', arguments: { x: 1 }, raw: '{"x":1}' },
      native,
      { type: 'finish', reason: 'tool-calls', raw: null },
    ];
    const { content } = toReplyDocument(anthropicMessages, events, { id: 'msg_1', model: 'openai/o', created: 0 });
    const { history } = read([user('x'), assistant(content), user([{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }])], {
      model: 'agent/any',
    });
    const part = { type: 'native', provider: 'openai', data };
    expect(history[1]?.parts).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      part,
      text('Well.'),
      expect.objectContaining({ type: 'tool-call', callId: 'c1', arguments: { x: 1 } }),
      part,
    ]);
  });
});

describe('the token estimate', () => {
  it('counts system text, messages, results, tools and instructions; images at a fixed size', () => {
    const bare = { model: 'm/m', messages: [user('x'.repeat(400))] };
    const count = (more: object, before = '') => estimateMessagesTokens({ ...bare, ...more }, before);
    expect(count({})).toBe(100);
    expect(count({ system: 'x'.repeat(40) }, 'x'.repeat(40))).toBe(120);
    expect(count({ messages: [user([image])] })).toBe(1500);
    expect(count({ messages: [user([{ type: 'tool_result', tool_use_id: 'of a session', content: 'x'.repeat(80) }])] })).toBe(20);
    expect(count({ tools: [{ name: 'a', input_schema: { type: 'object' } }] })).toBeGreaterThan(100);
  });
});
