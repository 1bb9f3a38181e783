import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { AssistantPart, Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { cohere } from '../../../src/providers/cohere/reply.ts';
import { goldenConversation, goldenRequest } from '../golden-conversation.ts';
import { partsOf } from '../said-parts.ts';

const access: ProviderAccess = {
  name: 'acme',
  kind: 'cohere',
  baseUrl: 'https://api.cohere.com/v2',
  headers: {},
  models: [],
  profile: {},
};
const model = 'command-a-reasoning-08-2025';
const own = `acme/${model}`;

type Body = { messages: Record<string, unknown>[] } & Record<string, unknown>;
const sent = (fields: Partial<ChatRequest> = {}): Body => toRequestBody(goldenRequest(access, { model, ...fields })) as Body;
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const settings = (fields: ChatRequest['settings'], rest: Partial<ChatRequest> = {}): Body =>
  sent({ messages: [user('hi')], tools: [], settings: fields, ...rest });

const goldenTail = [
  { role: 'tool', tool_call_id: 'call_01first', content: '18 °C, "fair" & <dry>\n[image: image/gif]' },
  { role: 'tool', tool_call_id: 'call_02second', content: 'Error: The disk is gone.' },
  { role: 'assistant', content: '18 °C and fair.' },
  { role: 'user', content: 'And tomorrow?' },
];
const goldenCalls = [
  { id: 'call_01first', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
  { id: 'call_02second', type: 'function', function: { name: 'list_files', arguments: '{}' } },
];

describe('the request to Cohere', () => {
  it('has every part of a whole conversation', () => {
    const body = sent({ model: 'command-a-plus-05-2026', toolChoice: 'required' });
    const { tools, ...rest } = body;
    expect(rest).toEqual({
      model: 'command-a-plus-05-2026',
      stream: true,
      messages: [
        { role: 'system', content: 'You are brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is the weather where this was taken?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
        { role: 'assistant', tool_plan: 'Let me look.', tool_calls: goldenCalls },
        ...goldenTail.slice(0, 2),
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' } }] },
        ...goldenTail.slice(2),
      ],
      tool_choice: 'REQUIRED',
      max_tokens: 500,
      stop_sequences: ['END'],
      temperature: 0.5,
      p: 0.9,
    });
    expect(tools).toMatchObject([
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather of a city.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
      { type: 'function', function: { name: 'list_files', parameters: { type: 'object' } } },
    ]);
  });

  it('returns a tool plan as a plan, and thoughts as thinking', () => {
    const mark = (field: string): AssistantPart => ({ type: 'native', provider: 'acme', data: { api: 'cohere', field } });
    const back = (fields: Parameters<typeof goldenConversation>[0]) => sent({ messages: goldenConversation(fields) }).messages[2];
    expect(back({ model: own, reasoning: [mark('tool_plan')] })).toEqual({
      role: 'assistant',
      tool_plan: 'That is Paris. I look it up.\n\nLet me look.',
      tool_calls: goldenCalls,
    });
    expect(back({ model: own, reasoning: [mark('thinking')] })).toEqual({
      role: 'assistant',
      tool_plan: 'Let me look.',
      content: [{ type: 'thinking', thinking: 'That is Paris. I look it up.' }],
      tool_calls: goldenCalls,
    });
    expect(back({ model: own })).toMatchObject({ tool_plan: 'That is Paris. I look it up.\n\nLet me look.' });
    // Another model's, whoever signed it.
    expect(back({ model: 'acme/command-a-03-2025', reasoning: [mark('thinking')] })).toMatchObject({ tool_plan: 'Let me look.' });
    expect(JSON.stringify(back({ model: 'other/m', reasoning: [mark('tool_plan')] }))).not.toContain('Paris. I');
  });

  it('sends no thinking block if thinking is disabled', () => {
    const thought: AssistantPart[] = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'native', provider: 'acme', data: { api: 'cohere', field: 'thinking' } },
    ];
    const call: AssistantPart = { type: 'tool-call', callId: 'c1', requested: 'a', canonical: null, via: null, arguments: {} };
    const result: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'c1', requested: 'a', canonical: null, isError: false, content: [] }],
    };
    const messages: Message[] = [
      user('hi'),
      { role: 'assistant', model: own, parts: [...thought, { type: 'text', text: 'Hello.' }] },
      user('go'),
      { role: 'assistant', model: own, parts: [...thought, call] },
      result,
    ];
    const on = sent({ messages, settings: { reasoningBudget: 100 } });
    expect(on.messages[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Hello.' },
      ],
    });
    expect(on.messages[3]).toMatchObject({ content: [{ type: 'thinking', thinking: 'Hm.' }] });
    for (const off of [sent({ messages, settings: { reasoningBudget: 0 } }), sent({ messages, model: 'command-a-03-2025' })]) {
      expect(JSON.stringify(off.messages)).not.toContain('"thinking"');
      expect(off.messages[1]).toEqual({ role: 'assistant', content: 'Hello.' });
    }
    expect(sent({ messages, settings: { reasoningEffort: 'none' } }).messages[3]).toMatchObject({ tool_plan: 'Hm.' });
    expect(on.messages[4]).toEqual({ role: 'tool', tool_call_id: 'c1', content: '(no output)' });
  });

  it('limits thinking in tokens', () => {
    expect(settings({ reasoningBudget: 700, reasoningEffort: 'low' }).thinking).toEqual({ type: 'enabled', token_budget: 700 });
    expect(settings({ reasoningBudget: 0 }).thinking).toEqual({ type: 'disabled' });
    expect(settings({ reasoningEffort: 'none' }).thinking).toEqual({ type: 'disabled' });
    expect(settings({ reasoningEffort: 'low' }).thinking).toEqual({ type: 'enabled', token_budget: 2048 });
    expect(settings({ reasoningEffort: 'high' }).thinking).toEqual({ type: 'enabled' });
    expect(settings({})).not.toHaveProperty('thinking');
    expect(settings({ reasoningEffort: 'high' }, { model: 'command-r-plus-08-2024' })).not.toHaveProperty('thinking');
  });

  it('keeps sampling within its ranges, and sends at most five stop sequences', () => {
    const extreme = { topP: 1, topK: 1000, frequencyPenalty: -1, presencePenalty: 2, seed: 7, stop: [...'abcdefg'] };
    expect(settings(extreme)).toMatchObject({
      p: 0.99,
      k: 500,
      frequency_penalty: 0,
      presence_penalty: 1,
      seed: 7,
      stop_sequences: [...'abcde'],
    });
    const silent = settings({ temperature: 0.1, topP: 0.2, topK: 3 }, { access: { ...access, profile: { noSampling: true } } });
    expect(Object.keys(silent).sort()).toEqual(['messages', 'model', 'stream']);
  });

  it('writes the output schema in its own format, and not next to tools', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
    expect(settings({ responseFormat: format }).response_format).toEqual({ type: 'json_object', json_schema: schema });
    expect(settings({ responseFormat: { type: 'json_object' } }).response_format).toEqual({ type: 'json_object' });
    expect(settings({ responseFormat: { type: 'text' } })).not.toHaveProperty('response_format');
    expect(sent({ settings: { responseFormat: format } })).not.toHaveProperty('response_format');
  });

  it('offers and chooses no tools without tools', () => {
    const body = sent({ tools: [], toolChoice: 'none' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
    expect(sent({ toolChoice: 'none' }).tool_choice).toBe('NONE');
    expect(sent({ toolChoice: 'auto' })).not.toHaveProperty('tool_choice');
  });

  it('drops messages without content, and describes images to a model without vision', () => {
    const image: Message = { role: 'user', parts: [{ type: 'image', url: 'https://a.example/b.png' }] };
    const empty: Message[] = [
      { role: 'system', parts: [{ type: 'text', text: '' }] },
      { role: 'assistant', model: own, parts: [{ type: 'reasoning', text: 'Hm.' }] },
    ];
    expect(sent({ messages: [...empty, image], model: 'command-r-08-2024' }).messages).toEqual([
      { role: 'user', content: '[image: https://a.example/b.png]' },
    ]);
  });

  it('sanitizes calls of other providers’ models', () => {
    const parts: AssistantPart[] = [
      {
        type: 'tool-call',
        callId: 'c1',
        requested: 'no such.tool!',
        canonical: null,
        via: null,
        arguments: null,
        raw: '{"a',
        nativeId: 'x:1',
      },
    ];
    const { messages } = sent({ messages: [user('hi'), { role: 'assistant', model: 'other/m', parts }] });
    expect(messages[1]).toEqual({
      role: 'assistant',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'no_such_tool_', arguments: '{"rawInvalidInput":"{\\"a"}' } }],
    });
  });
});

const frame = (type: string, message: unknown, index?: number) => ({ type, ...(index !== undefined && { index }), delta: { message } });
const content = (block: unknown, index = 0) => frame('content-delta', { content: block }, index);
const start = (index: number, id: string, name: string) =>
  frame('tool-call-start', { tool_calls: { id, type: 'function', function: { name, arguments: '' } } }, index);
const piece = (index: number, text: string) => frame('tool-call-delta', { tool_calls: { function: { arguments: text } } }, index);
const ended = (finish: string, rest: object = {}) => ({ type: 'message-end', delta: { finish_reason: finish, ...rest } });

function replyOf(...frames: unknown[]): ChatEvent[] {
  const reply = cohere.createReply(access);
  const events = frames.flatMap((value) => reply.take({ event: '', data: typeof value === 'string' ? value : JSON.stringify(value) }));
  return [...events, ...reply.end()];
}

describe('Cohere’s replies', () => {
  it('are returned unchanged: thoughts, a plan and calls', () => {
    const events = replyOf(
      content({ thinking: 'First' }),
      content({ thinking: ' this.' }),
      { type: 'content-end', index: 0 },
      content({ thinking: 'Then that.' }, 1),
      frame('tool-plan-delta', { tool_plan: 'I will' }),
      frame('tool-plan-delta', { tool_plan: ' look.' }),
      start(0, 'a_1', 'a'),
      piece(0, '{"n":'),
      piece(0, '1}'),
      { type: 'tool-call-end', index: 0 },
      ended('TOOL_CALL'),
    );
    const parts = partsOf(events);
    const result: Message = {
      role: 'tool',
      parts: [
        { type: 'tool-result', callId: 'call_0', requested: 'a', canonical: null, isError: false, content: [{ type: 'text', text: '1' }] },
      ],
    };
    expect(sent({ messages: [user('hi'), { role: 'assistant', model: own, parts }, result] }).messages.slice(1)).toEqual([
      {
        role: 'assistant',
        tool_plan: 'I will look.',
        content: [
          { type: 'thinking', thinking: 'First this.' },
          { type: 'thinking', thinking: 'Then that.' },
        ],
        tool_calls: [{ id: 'a_1', type: 'function', function: { name: 'a', arguments: '{"n":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a_1', content: '1' },
    ]);
  });

  it('count all tokens, not the billed ones, including cached ones', () => {
    const usage = {
      billed_units: { input_tokens: 1, output_tokens: 2 },
      tokens: { input_tokens: 9, output_tokens: 8, reasoning_tokens: 3 },
      cached_tokens: 4,
    };
    const events = replyOf(content({ text: 'Hi' }), ended('COMPLETE', { usage }), '[DONE]');
    expect(events.slice(1)).toEqual([
      { type: 'usage', usage: { inputTokens: 9, outputTokens: 8, reasoningTokens: 3, cachedInputTokens: 4 } },
      { type: 'finish', reason: 'stop', raw: 'COMPLETE' },
    ]);
  });

  it('end by their reason: a stop sequence, a limit, toxic text', () => {
    const end = (...frames: unknown[]) => replyOf(...frames).at(-1);
    expect(end(content({ text: 'a' }), ended('STOP_SEQUENCE'))).toMatchObject({ reason: 'stop' });
    expect(end(start(0, 'a', 'a'), piece(0, '{"n":1}'), ended('MAX_TOKENS'))).toMatchObject({ reason: 'length' });
    expect(end(content({ text: 'a' }), ended('ERROR_TOXIC'))).toMatchObject({ reason: 'content-filter' });
    expect(end(start(0, 'a', 'a'), piece(0, '{}'), ended('COMPLETE'))).toMatchObject({ reason: 'tool-calls', raw: 'COMPLETE' });
    expect(end(content({ text: 'a' }), '[DONE]')).toMatchObject({ type: 'finish', reason: 'unknown', raw: null });
  });

  it('run no call that a limit or a break has cut', () => {
    const cut = replyOf(start(0, 'a', 'a'), piece(0, '{"n":'), ended('MAX_TOKENS'));
    expect(cut.find((event) => event.type === 'call-end')).toMatchObject({ state: 'truncated', arguments: null });
    const broken = replyOf(start(0, 'a', 'a'), piece(0, '{"n":'));
    expect(broken.find((event) => event.type === 'call-end')).toMatchObject({ state: 'truncated' });
    expect(broken.at(-1)).toMatchObject({ type: 'error', retryable: true });
  });

  it('end as an error for each of its error reasons', () => {
    expect(replyOf(ended('ERROR', { error: 'no', error_type: 'INVALID_TOOL_GENERATION' }))).toMatchObject([
      { type: 'error', retryable: true },
    ]);
    expect(replyOf(ended('ERROR', { error: 'the model is sad' }))).toMatchObject([
      { type: 'error', problem: { detail: expect.stringContaining('the model is sad') }, retryable: true },
    ]);
    expect(replyOf(ended('TIMEOUT'))).toMatchObject([{ type: 'error', problem: { code: 'upstream_timeout' }, retryable: true }]);
    expect(replyOf({ id: 'x', message: 'too many requests' })).toMatchObject([
      { type: 'error', problem: { detail: expect.stringContaining('too many requests') } },
    ]);
    expect(replyOf('<html>')).toMatchObject([{ type: 'error' }]);
    expect(replyOf()).toMatchObject([{ type: 'error', retryable: true }]);
  });

  it('are read from unusual servers: calls in a list, without index, without an end, unknown events between', () => {
    const events = replyOf(
      frame('tool-call-start', { tool_calls: [{ id: 'a', function: { name: 'a', arguments: '{' } }] }),
      { type: 'citation-start', index: 0, delta: { message: { citations: { start: 0, end: 1, text: 'x' } } } },
      { type: 'something-new' },
      frame('tool-call-delta', { tool_calls: { function: { arguments: '}' } } }),
      start(1, 'b', 'b'),
      ended('TOOL_CALL'),
    );
    expect(events.filter((event) => event.type === 'call-end')).toMatchObject([
      { call: 0, state: 'ok', arguments: {} },
      { call: 1, state: 'ok', arguments: {} },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' });
  });

  it('are an error if an unstreamed reply has no message', () => {
    const whole = (body: unknown) => cohere.createReply(access).takeWhole(body);
    for (const body of [null, [], 'x', {}, { message: 'down for repairs' }]) expect(whole(body)).toMatchObject([{ type: 'error' }]);
    expect(whole({ message: { content: 'Hi' }, finish_reason: 'COMPLETE' })).toMatchObject([
      { type: 'text', text: 'Hi' },
      { type: 'finish' },
    ]);
  });
});
