import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { packNative } from '../../../src/core/model/native-token.ts';
import { toToolCallId } from '../../../src/core/text/reference.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import { packCompaction } from '../../../src/dialects/openai-responses/issued.ts';
import { readEcho } from '../../../src/dialects/openai-responses/echo.ts';
import { toReplyDocument } from '../../../src/dialects/reply-encoder.ts';
import { maxEchoCharacters } from '../../../src/dialects/openai-responses/echo.ts';

const read = (body: object) => openAiResponses.readRequest({ model: 'a/b', input: 'x', ...body });
const conversationOf = (input: unknown, inSession = false) => read({ input }).conversation({ inSession });

/** Paths of the issues that the work is rejected with. */
function refused(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    return ((error as { extra?: { issues?: { path: string }[] } }).extra?.issues ?? []).map(({ path }) => path);
  }
  return [];
}

const user = (content: unknown) => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text', text: said });
const call = (id: string, name = 'f', args = '{"n":1}') => ({ type: 'function_call', call_id: id, name, arguments: args });
const output = (id: string, said: unknown) => ({ type: 'function_call_output', call_id: id, output: said });
const part = (id: string, requested: string, args: unknown) => ({
  type: 'tool-call',
  callId: id,
  requested,
  canonical: null,
  via: null,
  arguments: args,
  nativeId: id,
});

describe('the input', () => {
  it('may have null for the fields that a part does not have', () => {
    const content = [{ type: 'input_text', text: 'Hi', refusal: null, image_url: null }];
    expect(conversationOf([user(content)]).input).toEqual([text('Hi')]);
  });

  it('is one message if it is a text', () => {
    expect(conversationOf('Hello')).toEqual({ system: '', history: [], decisions: [], results: [], input: [text('Hello')] });
  });

  it('is history up to the last assistant item, and new after it', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=' };
    const { system, history, results, input } = read({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'In French.' }] },
        user([{ type: 'input_text', text: 'See' }, image]),
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Two calls.', annotations: [] }],
        },
        call('c1'),
        output('c1', 'one'),
        call('c2', 'g', 'not json'),
        { type: 'custom_tool_call', call_id: 'c3', name: 'shell', input: 'ls' },
        output('c2', [{ type: 'input_text', text: 'two' }, image]),
        { type: 'custom_tool_call_output', call_id: 'c3', output: 'files' },
        user('And?'),
      ],
    }).conversation({ inSession: false });
    const picture = { type: 'image', mediaType: 'image/png', data: 'aGk=' };
    expect(system).toBe('Be brief.\n\nIn French.');
    expect(history).toEqual([
      { role: 'user', parts: [text('See'), picture] },
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'Hm' }, text('Two calls.'), part('c1', 'f', { n: 1 })] },
      {
        role: 'tool',
        parts: [{ type: 'tool-result', requested: 'f', canonical: null, callId: 'c1', content: [text('one')], isError: false }],
      },
      { role: 'assistant', parts: [{ ...part('c2', 'g', null), raw: 'not json' }, part('c3', 'shell', { input: 'ls' })] },
    ]);
    expect(results).toEqual([
      { callId: 'c2', content: [text('two'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }], isError: false },
      { callId: 'c3', content: [text('files')], isError: false },
    ]);
    expect(input).toEqual([text('And?')]);
  });

  it('may contain only outputs if a session has their calls', () => {
    const own = toToolCallId('call_1', 'ab'.repeat(32));
    expect(conversationOf([output('c1', 'x')])).toMatchObject({
      results: [],
      input: [text('[Result of an earlier tool call:]'), text('x')],
    });
    expect(conversationOf([output('c1', 'x')], true).results).toHaveLength(1);
    expect(conversationOf([output(own, 'x')]).results).toHaveLength(1);
  });

  it.each([
    ['a reference to an item', [{ type: 'item_reference', id: 'msg_1' }], 'input[0].type'],
    ['an item that only its provider understands', [user('x'), { type: 'computer_call', call_id: 'c', actions: [] }], 'input[1].type'],
    ['a part of another kind', [user([{ type: 'hologram' }])], 'input[0].content[0].type'],
    ['a file that only its provider has', [user([{ type: 'input_file', file_id: 'f' }])], 'input[0].content[0].file_data'],
    ['an image that only its provider has', [user([{ type: 'input_image', file_id: 'f' }])], 'input[0].content[0].image_url'],
    ['a broken image', [user([{ type: 'input_image', image_url: 'ftp://x' }])], 'input[0].content[0].image_url'],
    ['a message of an unknown role', [{ role: 'tool', content: 'x' }], 'input[0].role'],
    ['a call without its name', [{ type: 'function_call', call_id: 'c', arguments: '{}' }, user('x')], 'input[0].name'],
    ['nothing', [], 'input'],
  ])('is rejected with its path for %s', (_what, input, path) => {
    expect(refused(() => conversationOf(input))).toEqual([path]);
  });

  it('restores provider data in its position, and drops that of another provider', () => {
    const native = { type: 'native' as const, provider: 'claude', data: { api: 'anthropic', signature: 's' } };
    const reply: ChatEvent[] = [
      { type: 'reasoning', text: 'Hm' },
      native,
      { type: 'text', text: 'Yes.' },
      { type: 'call-start', call: 0, name: 'f', nativeId: 'c1' },
      { type: 'call-delta', call: 0, text: '{"n":1}' },
      { type: 'call-end', call: 0, state: 'ok', arguments: { n: 1 }, raw: '{"n":1}' },
      { ...native, data: { api: 'anthropic', n: 2 } },
      { type: 'finish', reason: 'tool-calls', raw: null },
    ];
    const document = toReplyDocument(openAiResponses, reply, { id: 'resp_1', model: 'a/b', created: 0 }) as { output: object[] };
    const foreign = { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: 'gAAAA' };
    const { history } = conversationOf([user('x'), ...document.output, foreign, output('c1', 'r')]);
    expect(history).toEqual([
      { role: 'user', parts: [text('x')] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm' },
          native,
          text('Yes.'),
          part('c1', 'f', { n: 1 }),
          { ...native, data: { api: 'anthropic', n: 2 } },
        ],
      },
    ]);
  });
});

describe('other fields of a request', () => {
  it('becomes neutral settings', () => {
    const schema = { name: 'answer', schema: { type: 'object' }, strict: true };
    expect(
      read({
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 7,
        reasoning: { effort: 'low', summary: 'auto' },
        parallel_tool_calls: false,
        text: { format: { type: 'json_schema', ...schema } },
        tool_choice: { type: 'function', name: 'f' },
      }).settings(),
    ).toEqual({
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 7,
      reasoningEffort: 'low',
      parallelToolCalls: false,
      responseFormat: { type: 'json_schema', json_schema: schema },
      toolChoice: { tool: 'f' },
    });
    expect(read({ text: { format: { type: 'json_object' } } }).settings().responseFormat).toEqual({ type: 'json_object' });
    expect(read({ text: { format: { type: 'text' } }, tool_choice: 'required' }).settings()).toEqual({ toolChoice: 'required' });
  });

  it('offers functions, free-text tools as functions, and of allowed tools only those', () => {
    const tools = [
      { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: {} }, strict: true },
      { type: 'function', name: 'bare', description: null, parameters: null },
      { type: 'custom', name: 'sql', description: 'Asks.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    ];
    const offered = read({ tools }).clientTools();
    expect(offered?.slice(0, 2)).toEqual([
      { name: 'f', description: 'F', inputSchema: { type: 'object', properties: {} }, strict: true },
      { name: 'bare', description: '', inputSchema: { type: 'object' } },
    ]);
    expect(offered?.[2]).toMatchObject({ name: 'sql', inputSchema: { required: ['input'] } });
    expect(offered?.[2]?.description).toBe('Asks.\n\nThe input must follow this lark grammar:\nstart: "x"');
    const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'sql' }] };
    const some = read({ tools, tool_choice: choice });
    expect([some.clientTools()?.map(({ name }) => name), some.settings().toolChoice, some.toolPath(0)]).toEqual([
      ['sql'],
      'required',
      'tools[2].name',
    ]);
    expect(read({}).clientTools()).toBeNull();
  });

  it('drops a provider search next to the client’s own tools, and keeps each tool’s path', () => {
    const request = read({
      tools: [{ type: 'web_search', external_web_access: false }, { type: 'tool_search' }, { type: 'function', name: 'f' }],
    });
    expect(request.clientTools()?.map(({ name }) => name)).toEqual(['f']);
    expect(request.toolPath(0)).toBe('tools[2].name');
  });

  it('calls the tools of a namespace by both names, in answers and history by the client’s', () => {
    const log = { type: 'function', name: 'log', parameters: { type: 'object', properties: { n: { type: 'integer' } } } };
    const patch = { type: 'custom', name: 'patch', format: { type: 'text' } };
    const request = read({
      tools: [
        { type: 'namespace', name: 'functions', description: '', tools: [{ ...log, name: 'shell' }] },
        { type: 'namespace', name: 'git', description: 'Git.', tools: [log, patch] },
      ],
      input: [user('x'), { ...call('c1', 'log'), namespace: 'git' }, output('c1', 'y')],
    });
    expect(request.clientTools()?.map(({ name }) => name)).toEqual(['shell', 'git__log', 'git__patch']);
    expect(request.toolPath(1)).toBe('tools[1].tools[0].name');
    expect(request.conversation({ inSession: false }).history.at(-1)).toMatchObject({ parts: [{ requested: 'git__log' }] });
    const say = (index: number, name: string, args: string): ChatEvent[] => [
      { type: 'call-start', call: index, name, nativeId: `c${index}` },
      { type: 'call-delta', call: index, text: args },
      { type: 'call-end', call: index, state: 'ok', arguments: {}, raw: args },
    ];
    const events = [...say(0, 'shell', '{}'), ...say(1, 'git__log', '{"n":1}'), ...say(2, 'git__patch', '{"input":"*** Begin"}')];
    const identity = { id: 'resp_1', model: 'a/b', created: 0, echo: request.echo };
    const finish: ChatEvent = { type: 'finish', reason: 'tool-calls', raw: null };
    expect(toReplyDocument(openAiResponses, [...events, finish], identity).output).toMatchObject([
      { type: 'function_call', name: 'shell', namespace: 'functions' },
      { type: 'function_call', name: 'log', namespace: 'git', arguments: '{"n":1}' },
      { type: 'custom_tool_call', name: 'patch', namespace: 'git', input: '*** Begin' },
    ]);
  });

  it('skips what a provider’s own tools did', () => {
    const did = [
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'mcp_list_tools', id: 'm', tools: [] },
    ];
    const { history, input } = conversationOf([user('x'), ...did, { role: 'assistant', content: 'Found.' }, user('And?')]);
    expect([history.length, input]).toEqual([2, [text('And?')]]);
  });

  it.each([
    ['tools[0].type', { tools: [{ type: 'image_generation' }] }],
    [
      'tools[0].tools[1].name',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }, { type: 'function' }] }] },
    ],
    ['tools[1].type', { tools: [{ type: 'function', name: 'f' }, { type: 'computer' }] }],
    [
      'tools[1].type',
      {
        tools: [
          { type: 'function', name: 'f' },
          { type: 'shell', environment: { type: 'container_auto' } },
        ],
      },
    ],
    [
      'tools[1].name',
      {
        tools: [
          { type: 'function', name: 'f' },
          { type: 'function', name: 'no spaces' },
        ],
      },
    ],
    ['tools[0].name', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['tools', { tools: Array.from({ length: limits.maxClientTools + 1 }, (_, n) => ({ type: 'function', name: `f${n}` })) }],
    ['tool_choice.type', { tool_choice: { type: 'file_search' } }],
    ['store', { background: true, store: false }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['input', { input: 7 }],
    ['temperature', { temperature: 3 }],
  ])('is rejected at %s', (path, body) => {
    const work = () => {
      const request = read(body);
      request.clientTools();
      request.settings();
    };
    expect(refused(work)).toEqual([path]);
  });

  it('accepts everything that the stock client can send', () => {
    const body: ResponseCreateParams = {
      model: 'a/b',
      input: 'x',
      background: false,
      include: ['reasoning.encrypted_content'],
      metadata: { a: 'b' },
      previous_response_id: 'resp_1',
      store: false,
      stream: true,
      stream_options: { include_obfuscation: false },
      truncation: 'auto',
      service_tier: 'flex',
      top_logprobs: 3,
      user: 'me',
    };
    expect(openAiResponses.readRequest({ ...body })).toMatchObject({ streamed: true, includeUsage: true, previous: 'resp_1', choices: 1 });
  });

  it('is repeated as far as it fits, small fields first', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'sql' },
    ];
    const { echo, custom } = readEcho(
      read({ instructions: 'i'.repeat(maxEchoCharacters), tools, temperature: 1, reasoning: { effort: 'low' } }).echo,
    );
    expect(echo).toEqual({
      temperature: 1,
      reasoning: { effort: 'low', summary: null },
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }, tools[1]],
    });
    expect(custom).toEqual(new Set(['sql']));
    const many = Array.from({ length: 128 }, (_, n) => ({ type: 'custom', name: `sql${n}`, description: 'd'.repeat(1_000) }));
    const full = readEcho(read({ tools: many, instructions: 'Short.' }).echo);
    expect([full.echo, full.custom.size]).toEqual([{ instructions: 'Short.' }, 128]);
    // Each of these fits alone, and both do not.
    const description = 'd'.repeat(maxEchoCharacters * 0.6);
    const both = readEcho(read({ tools: [{ type: 'custom', name: 'sql', description }], instructions: description }).echo);
    expect(both.echo).toEqual({ instructions: description });
  });
});

describe('an unvalidated request', () => {
  const [one, two] = ['ab', 'cd'].map((pair) => toToolCallId('call_1', pair.repeat(32)));

  it('leads to the session of its outputs, otherwise of its latest call', () => {
    const sessionOf = (input: unknown) => openAiResponses.sessionOfCalls({ input });
    expect(sessionOf([call(one ?? ''), output(one ?? '', 'x'), user('y')])).toBe('ab'.repeat(32));
    expect(sessionOf([call(two ?? ''), output(two ?? '', 'x'), call(one ?? ''), output('c3', 'x')])).toBe('ab'.repeat(32));
    expect(sessionOf([output(one ?? '', 'x')])).toBe('ab'.repeat(32));
    expect(sessionOf([user('x'), call('c1'), null, 7])).toBeNull();
    expect(sessionOf('x')).toBeNull();
    expect(refused(() => sessionOf([output(one ?? '', 'x'), output(two ?? '', 'x')]))).toEqual(['input[0].call_id']);
  });

  it('gets other instructions instead of its system text', () => {
    const body = { model: 'a/b', instructions: 'Old.', input: [{ role: 'system', content: 'Older.' }, user('x')], brand_new: 1 };
    expect(openAiResponses.withInstructions(body, 'New.')).toEqual({
      model: 'a/b',
      instructions: 'New.',
      input: [user('x')],
      brand_new: 1,
    });
    expect(openAiResponses.withInstructions({ model: 'a/b', input: 'x' }, '')).toEqual({ model: 'a/b', input: 'x' });
  });

  it('is forwarded to a provider of its wire without our tokens', () => {
    const ours = {
      type: 'reasoning',
      id: 'rs_1_0',
      summary: [],
      encrypted_content: packNative({ type: 'native', provider: 'x', data: 1 }),
    };
    const theirs = { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAAA' };
    expect(openAiResponses.withoutTokens?.({ input: [user('x'), ours, theirs] })).toEqual({ input: [user('x'), theirs] });
    const body = { input: [user('x'), theirs] };
    expect(openAiResponses.withoutTokens?.(body)).toBe(body);
  });
});

describe('a compaction item', () => {
  const own = { type: 'compaction', encrypted_content: packCompaction('She is Ann.') };
  const next = { role: 'user', content: 'Who am I?' };
  const continued = (item: object) => read({ input: [item, next] }).conversation({});

  it('of this service is a message of the assistant, so that a session counts it as unknown history', () => {
    const { history, input } = continued(own);
    expect(history).toEqual([{ role: 'assistant', parts: [{ type: 'text', text: 'Summary of the conversation before:\n\nShe is Ann.' }] }]);
    expect(input).toEqual([{ type: 'text', text: 'Who am I?' }]);
  });

  it.each([
    ['of a provider', 'gAAAA'],
    ['with the token of reasoning', packNative({ type: 'native', provider: 'p', data: {} })],
    ['with a summary that is no text', packNative({ type: 'native', provider: 'compaction', data: { summary: { role: 'system' } } })],
    ['with a token that is too long', packCompaction('x'.repeat(600 * 1024)) ?? `moniker.${'x'.repeat(600 * 1024)}`],
    ['with a cut token', own.encrypted_content?.slice(0, -3)],
  ])('%s is refused with its place', (_what, token) => {
    expect(refused(() => continued({ type: 'compaction', encrypted_content: token }))).toEqual(['input[0].encrypted_content']);
  });

  it('of this service is text for a provider with the same wire, and one of the provider stays', () => {
    const theirs = { type: 'compaction', encrypted_content: 'gAAAA' };
    const { input } = openAiResponses.withoutTokens?.({ input: [own, theirs, next] }) ?? {};
    const content = [{ type: 'output_text', text: 'Summary of the conversation before:\n\nShe is Ann.' }];
    expect(input).toEqual([{ type: 'message', role: 'assistant', content }, theirs, next]);
    const untouched = { input: [theirs, next] };
    expect(openAiResponses.withoutTokens?.(untouched)).toBe(untouched);
  });
});
