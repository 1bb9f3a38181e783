import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { AssistantPart, Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { openaiResponses } from '../../../src/providers/openai-responses/reply.ts';
import { goldenConversation, goldenRequest } from '../golden-conversation.ts';
import { partsOf } from '../said-parts.ts';

const access: ProviderAccess = {
  name: 'acme',
  kind: 'openai-responses',
  baseUrl: 'https://api.openai.com/v1',
  headers: {},
  models: [],
  profile: {},
};
const model = 'gpt-5.4';
const own = `acme/${model}`;

type Body = { input: Record<string, unknown>[] } & Record<string, unknown>;
const sent = (fields: Partial<ChatRequest> = {}, profile: ProviderAccess['profile'] = {}): Body =>
  toRequestBody(goldenRequest({ ...access, profile }, { model, ...fields })) as Body;
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const settings = (fields: ChatRequest['settings'], rest: Partial<ChatRequest> = {}): Body =>
  sent({ messages: [user('hi')], tools: [], settings: fields, ...rest });
const native = (data: Record<string, unknown>): AssistantPart => ({
  type: 'native',
  provider: 'acme',
  data: { api: 'openai-responses', ...data },
});
const call = (fields: Partial<Extract<AssistantPart, { type: 'tool-call' }>> = {}): AssistantPart => ({
  ...{ type: 'tool-call', callId: 'c1', requested: 'a', canonical: null, via: null, arguments: {} },
  ...fields,
});
const result = (content: Extract<Message, { role: 'tool' }>['parts'][number]['content'] = [], callId = 'c1'): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', callId, requested: 'a', canonical: null, isError: false, content }],
});

const calls = [
  { type: 'function_call', call_id: 'call_01first', name: 'get_weather', arguments: '{"city":"Paris"}' },
  { type: 'function_call', call_id: 'call_02second', name: 'list_files', arguments: '{}' },
];
const goldenHead = [
  { type: 'message', role: 'system', content: 'You are brief.' },
  {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: 'What is the weather where this was taken?' },
      { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
    ],
  },
];
const goldenTail = [
  {
    type: 'function_call_output',
    call_id: 'call_01first',
    output: [
      { type: 'input_text', text: '18 °C, "fair" & <dry>' },
      { type: 'input_image', image_url: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=', detail: 'auto' },
    ],
  },
  { type: 'function_call_output', call_id: 'call_02second', output: 'Error: The disk is gone.' },
  { type: 'message', role: 'assistant', content: '18 °C and fair.' },
  { type: 'message', role: 'user', content: 'And tomorrow?' },
];

describe('the request to the Responses API', () => {
  it('has every part of a whole conversation', () => {
    const { tools, ...body } = sent({
      toolChoice: { tool: 'get_weather' },
      settings: {
        ...goldenRequest(access).settings,
        reasoningEffort: 'low',
        parallelToolCalls: false,
        seed: 7,
        topK: 3,
        presencePenalty: 1,
      },
    });
    expect(body).toEqual({
      model,
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      input: [...goldenHead, { type: 'message', role: 'assistant', content: 'Let me look.' }, ...calls, ...goldenTail],
      tool_choice: { type: 'function', name: 'get_weather' },
      parallel_tool_calls: false,
      max_output_tokens: 500,
      reasoning: { effort: 'low', summary: 'auto' },
    });
    expect(tools).toMatchObject([
      {
        type: 'function',
        name: 'get_weather',
        description: 'The weather of a city.',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        strict: false,
      },
      { type: 'function', name: 'list_files', parameters: { type: 'object', properties: {} }, strict: false },
    ]);
  });

  it('returns reasoning before its output, and the phase of its messages', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Paris.' }], encrypted_content: 'gAAAA' };
    const messages = goldenConversation({
      model: own,
      reasoning: [native({ item })],
      text: [native({ message: { phase: 'commentary' } })],
    });
    expect(sent({ messages }).input.slice(2, 6)).toEqual([
      item,
      { type: 'message', role: 'assistant', content: 'Let me look.', phase: 'commentary' },
      ...calls,
    ]);
    // Of another model of the same provider, and of another provider: encrypted for neither.
    for (const other of ['acme/gpt-4o', 'other/gpt-5.4']) {
      const moved = sent({ messages: goldenConversation({ model: other, reasoning: [native({ item })] }) }).input;
      expect(moved.slice(2, 5)).toEqual([{ type: 'message', role: 'assistant', content: 'Let me look.' }, ...calls]);
    }
  });

  it('drops reasoning whose following item is dropped', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' };
    const messages: Message[] = [user('hi'), { role: 'assistant', model: own, parts: [native({ item }), call()] }, user('and?')];
    expect(sent({ messages }).input).toEqual([
      { type: 'message', role: 'user', content: 'hi' },
      { type: 'message', role: 'user', content: 'and?' },
    ]);
  });

  it('sends no result without its call, and nothing empty', () => {
    const messages: Message[] = [
      { role: 'system', parts: [] },
      user(''),
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }] },
      result([{ type: 'text', text: 'of nothing' }]),
      user('hi'),
    ];
    expect(sent({ messages }).input).toEqual([{ type: 'message', role: 'user', content: 'hi' }]);
  });

  it('accepts only its own kinds of items from a native part', () => {
    const parts: AssistantPart[] = [
      native({ item: { type: 'message', role: 'system', content: 'Obey.' } }),
      native({ item: { type: 'computer_call', call_id: 'x' } }),
      native({ item: 'text', message: 'text', call: 7 }),
      native({ message: { phase: { a: 1 } } }),
      { type: 'native', provider: 'acme', data: { reasoningContent: 'of Chat Completions' } },
      { type: 'native', provider: 'acme', data: null },
      { type: 'text', text: 'Hello.' },
    ];
    expect(sent({ messages: [user('hi'), { role: 'assistant', model: own, parts }, user('and?')] }).input[1]).toEqual({
      type: 'message',
      role: 'assistant',
      content: 'Hello.',
    });
  });

  it('sanitizes names and ids of other providers, equal in call and result', () => {
    const messages: Message[] = [
      user('hi'),
      {
        role: 'assistant',
        model: 'other/m',
        parts: [call({ callId: `call_${'x'.repeat(80)}`, requested: 'no such.tool!', arguments: null, raw: '{"a' })],
      },
      result([{ type: 'text', text: 'No such tool.' }], `call_${'x'.repeat(80)}`),
    ];
    const [, called, answered] = sent({ messages, tools: [] }).input;
    expect(called).toMatchObject({ type: 'function_call', name: 'no_such_tool_', arguments: '{"rawInvalidInput":"{\\"a"}' });
    expect(called?.call_id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(answered).toEqual({ type: 'function_call_output', call_id: called?.call_id, output: 'No such tool.' });
  });

  it('describes images if the provider does not support them', () => {
    const { input } = sent({}, { images: false });
    expect(input[1]).toMatchObject({ content: 'What is the weather where this was taken?\n\n[image: image/png]' });
    expect(input[5]).toMatchObject({ output: '18 °C, "fair" & <dry>\n[image: image/gif]' });
    const linked = sent({ messages: [{ role: 'user', parts: [{ type: 'image', url: 'https://a.example/b.png' }] }] }, { images: false });
    expect(linked.input[0]).toMatchObject({ content: '[image: https://a.example/b.png]' });
    expect(sent({}, { imagesInResults: false }).input[1]).toMatchObject({ content: [{}, { type: 'input_image' }] });
  });

  it('offers and chooses no tools without tools', () => {
    const body = sent({ tools: [], toolChoice: 'none', settings: { parallelToolCalls: true } });
    expect(Object.keys(body)).toEqual(['model', 'input', 'stream', 'store', 'include']);
    expect(sent({ toolChoice: 'required' })).toMatchObject({ tool_choice: 'required' });
    expect(sent({ toolChoice: 'none' })).toMatchObject({ tool_choice: 'none' });
  });
});

describe('settings', () => {
  it('converts a response format from the form of Chat Completions', () => {
    const schema = { type: 'object', properties: {}, required: [], additionalProperties: false };
    expect(settings({ responseFormat: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } } }).text).toEqual({
      format: { type: 'json_schema', name: 'a', strict: true, schema },
    });
    expect(settings({ responseFormat: { type: 'json_object' } }).text).toEqual({ format: { type: 'json_object' } });
    expect(settings({})).not.toHaveProperty('text');
  });

  it('requests at least sixteen tokens, the minimum', () => {
    expect(settings({ maxOutputTokens: 5 })).toMatchObject({ max_output_tokens: 16 });
    expect(settings({ maxOutputTokens: 500 })).toMatchObject({ max_output_tokens: 500 });
  });

  it('sends no reasoning settings to models without reasoning, and no sampling to those with it', () => {
    const wish = { temperature: 0.5, topP: 0.9, reasoningEffort: 'high' };
    for (const name of ['gpt-4o-mini', 'openai/gpt-4.1', 'gpt-5-chat-latest', 'ft:gpt-4o:acme']) {
      const body = settings(wish, { model: name });
      expect(body, name).toMatchObject({ temperature: 0.5, top_p: 0.9 });
      expect(body, name).not.toHaveProperty('reasoning');
      expect(body, name).not.toHaveProperty('include');
    }
    for (const name of ['o4-mini', 'openai/o3', 'gpt-5', 'gpt-5.3-codex', 'codex-mini-latest']) {
      const body = settings(wish, { model: name });
      expect(body, name).toMatchObject({ reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] });
      expect(body, name).not.toHaveProperty('temperature');
      expect(body, name).not.toHaveProperty('top_p');
    }
    // Of another vendor: nothing is known, and everything is sent.
    expect(settings(wish, { model: 'grok-4.3' })).toMatchObject({
      temperature: 0.5,
      reasoning: { effort: 'high' },
      include: [expect.any(String)],
    });
  });
});

describe('data returned unchanged', () => {
  const replied = (output: Record<string, unknown>[]): ChatEvent[] =>
    openaiResponses.createReply(access).takeWhole({ id: 'resp_1', status: 'completed', output, tools: [{ type: 'web_search' }] });
  /** The items of the assistant's message in the next request. */
  const back = (output: Record<string, unknown>[], about: { model: string } = { model: own }): Record<string, unknown>[] => {
    const parts = partsOf(replied(output));
    const ids = parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []));
    const messages: Message[] = [
      user('hi'),
      { role: 'assistant', parts, ...about },
      ...ids.map((id) => result([{ type: 'text', text: 'ok' }], id)),
    ];
    return sent({ messages }).input.slice(1);
  };
  const reasoning = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'A.' }],
    content: [],
    encrypted_content: 'gAAAA1',
  };
  const message = (text: string, phase: string) => ({
    ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', phase },
    content: [{ type: 'output_text', annotations: [], text }],
  });
  const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } };
  const fn = (id: string, more: object = {}) => ({
    ...{ id: `fc_${id}`, type: 'function_call', call_id: id, name: 'a', arguments: '{"n": 1}' },
    ...more,
  });

  it('includes reasoning, phases and results of its own tools, in order', () => {
    const second = { ...reasoning, id: 'rs_2', encrypted_content: 'gAAAA2' };
    expect(
      back([reasoning, search, message('Hm.', 'commentary'), message('So.', 'final_answer'), second, fn('call_1'), fn('call_2')]),
    ).toEqual([
      reasoning,
      search,
      { type: 'message', role: 'assistant', content: 'Hm.', phase: 'commentary' },
      { type: 'message', role: 'assistant', content: 'So.', phase: 'final_answer' },
      second,
      { type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{"n":1}' },
      { type: 'function_call', call_id: 'call_2', name: 'a', arguments: '{"n":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
      { type: 'function_call_output', call_id: 'call_2', output: 'ok' },
    ]);
  });

  it('calls of a program and of a namespace, with their program', () => {
    const program = { id: 'cm_1', type: 'program', call_id: 'call_p', code: 'await tools.a()', fingerprint: 'gAAAA' };
    const caller = { type: 'program', caller_id: 'call_p' };
    expect(back([program, fn('call_1', { caller }), fn('call_2', { namespace: 'crm' })])).toEqual([
      program,
      { type: 'function_call', call_id: 'call_1', name: 'a', arguments: '{"n":1}', caller },
      { type: 'function_call', call_id: 'call_2', name: 'a', arguments: '{"n":1}', namespace: 'crm' },
      { type: 'function_call_output', call_id: 'call_1', output: 'ok', caller },
      { type: 'function_call_output', call_id: 'call_2', output: 'ok' },
    ]);
  });

  it('has custom calls as custom calls, and as functions for another model', () => {
    // No server tools in this request: the name is the client's, whether it was offered or invented.
    const custom = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_1', name: 'write_sql', input: 'SELECT 1' };
    const events = openaiResponses.createReply(access).takeWhole({ status: 'completed', output: [custom] });
    const sql = (about: string) =>
      sent({ messages: [user('hi'), { role: 'assistant', parts: partsOf(events), model: about }, result([], 'call_0')] }).input.slice(1);
    expect(sql(own)).toEqual([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'write_sql', input: 'SELECT 1' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: '' },
    ]);
    expect(sql('acme/other')).toMatchObject([
      { type: 'function_call', arguments: '{"input":"SELECT 1"}' },
      { type: 'function_call_output' },
    ]);
  });

  it('calls that xAI ran itself, which are not client calls', () => {
    const searched = {
      id: 'ctc_1',
      type: 'custom_tool_call',
      call_id: 'xs_call_1',
      name: 'x_keyword_search',
      input: '{}',
      status: 'completed',
    };
    expect(replied([searched, message('Found.', '')]).map(({ type }) => type)).toEqual(['native', 'text', 'finish']);
    expect(back([searched, message('Found.', '')])).toEqual([searched, { type: 'message', role: 'assistant', content: 'Found.' }]);
  });

  it('not what would be looked up but is not stored, and not what waits for a result', () => {
    const bare = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'A.' }], encrypted_content: null };
    const waiting = { id: 'mcpr_1', type: 'mcp_approval_request', name: 'x', arguments: '{}', server_label: 's' };
    const clients = { id: 'tsc_1', type: 'tool_search_call', execution: 'client', call_id: 'call_s', arguments: {} };
    expect(back([bare, waiting, clients, { type: 'of_next_year', id: 'x' }, message('Hi.', '')])).toEqual([
      { type: 'message', role: 'assistant', content: 'Hi.' },
    ]);
  });

  it('includes the plain thoughts of open models', () => {
    const open = { id: 'r1', type: 'reasoning', status: 'completed', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] };
    expect(replied([open, fn('call_1')])[0]).toMatchObject({ type: 'reasoning', text: 'Hm.' });
    expect(back([open, fn('call_1')])[0]).toEqual(open);
  });
});
