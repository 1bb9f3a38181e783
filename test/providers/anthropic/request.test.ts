import { describe, expect, it } from 'vitest';
import type { AssistantPart, InputPart, Message, ToolResultPart } from '../../../src/core/model/message.ts';
import type { Json } from '../../../src/core/json/wire-value.ts';
import type { ModelSettings } from '../../../src/core/model/model-settings.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { goldenConversation, goldenRequest, goldenTools } from '../golden-conversation.ts';

const access = { kind: 'anthropic' as const };
const budgeted = 'claude-sonnet-4-5-20250929';
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const call = (callId: string, fields: object = {}): AssistantPart => ({
  type: 'tool-call',
  callId,
  requested: 'get_weather',
  canonical: 'local.weather',
  via: 'wire',
  arguments: {},
  ...fields,
});
const result = (callId: string, fields: Partial<ToolResultPart> = {}): ToolResultPart => ({
  type: 'tool-result',
  callId,
  requested: 'get_weather',
  canonical: 'local.weather',
  isError: false,
  content: [{ type: 'text', text: 'fair' }],
  ...fields,
});
const assistant = (parts: AssistantPart[], model = `golden/${budgeted}`): Message => ({ role: 'assistant', parts, model });
const tool = (...parts: ToolResultPart[]): Message => ({ role: 'tool', parts });
const thinking: AssistantPart[] = [
  { type: 'reasoning', text: 'Hm.' },
  { type: 'native', provider: 'golden', data: { api: 'anthropic', type: 'thinking', signature: 'sig' } },
];

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field
const sent = (messages: Message[], fields: object = {}): any =>
  toRequestBody(goldenRequest(access, { model: budgeted, messages, ...fields }));
const think = (model: string, settings: ModelSettings, messages: Message[] = [user('hi')]) => {
  const { thinking, output_config, max_tokens } = sent(messages, { model, settings });
  return { thinking, output_config, max_tokens };
};

describe('the golden conversation', () => {
  it('becomes the expected body', () => {
    const own = {
      model: `golden/${budgeted}`,
      reasoning: [{ type: 'native' as const, provider: 'golden', data: { api: 'anthropic', type: 'thinking', signature: 'c2ln' } }],
    };
    expect(sent(goldenConversation(own), { settings: { maxOutputTokens: 500, temperature: 0.5, topP: 0.9, stop: ['END'] } })).toEqual({
      model: budgeted,
      max_tokens: 500,
      stream: true,
      system: [{ type: 'text', text: 'You are brief.', cache_control: { type: 'ephemeral' } }],
      tools: [
        { name: 'get_weather', description: 'The weather of a city.', input_schema: goldenTools[0]?.inputSchema },
        {
          name: 'list_files',
          description: 'What files there are.',
          input_schema: { type: 'object' },
          cache_control: { type: 'ephemeral' },
        },
      ],
      temperature: 0.5,
      stop_sequences: ['END'],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is the weather where this was taken?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'That is Paris. I look it up.', signature: 'c2ln' },
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'call_01first', name: 'get_weather', input: { city: 'Paris' } },
            { type: 'tool_use', id: 'call_02second', name: 'list_files', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_01first',
              content: [
                { type: 'text', text: '18 °C, "fair" & <dry>' },
                { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'R0lGODlhAQABAAAAACw=' } },
              ],
            },
            {
              type: 'tool_result',
              tool_use_id: 'call_02second',
              content: [{ type: 'text', text: 'The disk is gone.' }],
              is_error: true,
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: '18 °C and fair.' }] },
        { role: 'user', content: [{ type: 'text', text: 'And tomorrow?', cache_control: { type: 'ephemeral' } }] },
      ],
    });
  });

  it('is the same body each time, so that the cached prefix stays valid', () => {
    const request = goldenRequest(access, { model: budgeted });
    expect(JSON.stringify(toRequestBody(request))).toBe(JSON.stringify(toRequestBody(request)));
  });

  it('of another model keeps its texts and calls, and loses what only that model could sign', () => {
    const other = goldenConversation({ model: 'openai/gpt-5', reasoning: thinking.slice(1) });
    const [, said] = sent(other).messages;
    expect(said.content.map((block: { type: string }) => block.type)).toEqual(['text', 'tool_use', 'tool_use']);
  });
});

describe('the conversation', () => {
  it('puts each call’s result first in the next turn, in call order, and user text after them', () => {
    const { messages } = sent([
      user('go'),
      assistant([call('call_a'), call('call_b')]),
      tool(result('call_b', { content: [{ type: 'text', text: 'b' }] })),
      user('and hurry'),
      tool(result('call_a', { content: [{ type: 'text', text: 'a' }] })),
    ]);
    expect(messages).toHaveLength(3);
    expect(messages[2].content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'call_a', content: [{ text: 'a' }] },
      { type: 'tool_result', tool_use_id: 'call_b', content: [{ text: 'b' }] },
      { type: 'text', text: 'and hurry' },
    ]);
  });

  it('reports a missing result as such, and describes a result without a call', () => {
    const { messages } = sent([user('go'), assistant([call('call_a')]), user('well?'), tool(result('call_gone'))]);
    expect(messages[2].content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'call_a', is_error: true },
      { type: 'text', text: 'well?' },
      { type: 'text', text: '[Result of an earlier call to get_weather]\nfair' },
    ]);
  });

  it('merges adjacent messages of one role, including calls and results', () => {
    const { messages } = sent([
      user('a'),
      user('b'),
      assistant([call('call_a')]),
      assistant([call('call_b')]),
      tool(result('call_a'), result('call_b')),
      assistant([{ type: 'text', text: 'done' }]),
      user('c'),
    ]);
    expect(messages.map(({ role, content }: { role: string; content: unknown[] }) => [role, content.length])).toEqual([
      ['user', 2],
      ['assistant', 2],
      ['user', 2],
      ['assistant', 1],
      ['user', 1],
    ]);
  });

  it('is not split by system texts in the middle', () => {
    const between: Message = { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] };
    const { messages } = sent([
      user('go'),
      assistant([call('call_a')]),
      between,
      assistant([call('call_b')]),
      between,
      tool(result('call_a'), result('call_b')),
    ]);
    const note = { type: 'text', text: '[System message:]\nBe brief.' };
    expect(messages[2].content).toMatchObject([{ content: [{ text: 'fair' }] }, { content: [{ text: 'fair' }] }, note, note]);
  });

  it('has a system text in the middle in its place if the model takes one there, else as a user message that says so', () => {
    const between: Message = { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] };
    const said = [user('a'), between, assistant([{ type: 'text', text: 'b' }]), between, user('c')];
    const note = { type: 'text', text: '[System message:]\nBe brief.' };
    const [text, answer, more] = ['a', 'b', 'c'].map((letter) => ({ type: 'text', text: letter }));
    expect(sent(said, { tools: [], model: 'claude-opus-4-6' }).messages).toEqual([
      { role: 'user', content: [text, note] },
      { role: 'assistant', content: [answer] },
      { role: 'user', content: [note, more] },
    ]);
    expect(sent(said, { tools: [], model: 'claude-opus-4-8' }).messages).toEqual([
      { role: 'user', content: [text] },
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'assistant', content: [answer] },
      { role: 'user', content: [more] },
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    ]);
  });

  it('begins with the user, even without a user message', () => {
    expect(sent([assistant([{ type: 'text', text: 'Welcome.' }]), user('hi')]).messages).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: expect.any(String) }] },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    expect(sent([user(' ')]).messages).toMatchObject([{ role: 'user', content: [{ type: 'text' }] }]);
  });

  it('removes blank texts of messages, results and system texts', () => {
    const history: Message[] = [
      { role: 'system', parts: [{ type: 'text', text: ' ' }] },
      user('hi'),
      assistant([{ type: 'text', text: '\n\n' }, call('call_a')]),
      tool(result('call_a', { content: [{ type: 'text', text: '' }] })),
      assistant([{ type: 'text', text: '' }]),
      user('and?'),
    ];
    const body = sent(history, { tools: [] });
    expect(body.system).toBeUndefined();
    expect(body.messages[1].content).toMatchObject([{ type: 'tool_use' }]);
    expect(body.messages[2].content).toEqual([
      { type: 'tool_result', tool_use_id: 'call_a' },
      { type: 'text', text: 'and?' },
    ]);
  });

  it('gives a failure without output a text, because it would be rejected', () => {
    const { messages } = sent([user('hi'), assistant([call('call_a')]), tool(result('call_a', { isError: true, content: [] }))]);
    expect(messages[2].content).toMatchObject([{ is_error: true, content: [{ type: 'text', text: expect.stringMatching(/./) }] }]);
  });

  it('sanitizes names, ids and inputs of other APIs', () => {
    const { messages } = sent([
      user('hi'),
      assistant(
        [call('functions.bash:0', { requested: 'no such.tool!', arguments: null, raw: '{"a' }), { type: 'text', text: 'Wait.' }],
        'kimi/k2',
      ),
      tool(result('functions.bash:0')),
    ]);
    const [said, made] = messages[1].content;
    expect(said).toEqual({ type: 'text', text: 'Wait.' });
    expect(made).toMatchObject({ type: 'tool_use', name: 'no_such_tool_', input: { rawInvalidInput: '{"a' } });
    expect(made.id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(messages[2].content[0].tool_use_id).toBe(made.id);
  });

  it('declares the tools of its history if none are offered, but forbids calls', () => {
    const history = [user('hi'), assistant([call('call_a')]), tool(result('call_a'))];
    expect(sent(history, { tools: [], toolChoice: 'auto' })).toMatchObject({
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
    expect(sent([user('hi')], { tools: [] })).not.toHaveProperty('tools');
    expect(sent([user('hi')], { tools: [], toolChoice: 'none' })).not.toHaveProperty('tool_choice');
  });

  it('puts the system texts at the beginning into the system field, the cache mark on the last', () => {
    const texts = ['A.', 'B.'].map((text): Message => ({ role: 'system', parts: [{ type: 'text', text }] }));
    expect(sent([...texts, user('hi')]).system).toEqual([
      { type: 'text', text: 'A.' },
      { type: 'text', text: 'B.', cache_control: { type: 'ephemeral' } },
    ]);
  });

  it('marks the end of each step of a tool loop, so that the next one finds its prefix in the cache', () => {
    const history = [user('hi')];
    let before: Json[] = [];
    for (let step = 0; step < 4; step++) {
      const { messages } = sent(history);
      const marked = messages
        .flatMap((turn: { content: Json[] }) => turn.content)
        .filter((block: Json) => block.cache_control !== undefined);
      expect(marked).toHaveLength(step === 0 ? 1 : 2);
      // Two plus those of the tools and the system text are four, and the last of one step is the last but one of the next.
      if (step > 0) expect(marked[0]).toEqual(before.at(-1));
      before = marked;
      history.push(assistant([...thinking, call(`call_${step}`)]), tool(result(`call_${step}`)));
    }
    expect(JSON.stringify(sent([user('hi')], { tools: [] }).messages)).not.toContain('cache_control');
  });

  it('ends without blanks if the model continues its own text, and asks newer models to continue', () => {
    const history = [user('hi'), assistant([...thinking, { type: 'text', text: 'Once upon \n' }])];
    expect(sent(history).messages.slice(1)).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'Once upon' }] }]);
    expect(sent(history, { model: 'claude-opus-4-6' }).messages.at(-1)).toMatchObject({ role: 'user' });
    expect(sent(history, { settings: { reasoningBudget: 2000 } }).messages.at(-1)).toMatchObject({ role: 'user' });
  });
});

describe('images', () => {
  const image = (fields: object, profile: object = {}) => {
    const parts: InputPart[] = [{ type: 'image', ...fields }];
    return toRequestBody(goldenRequest({ ...access, profile }, { messages: [{ role: 'user', parts }], tools: [] })).messages;
  };
  const block = (source: object) => [{ role: 'user', content: [{ type: 'image', source }] }];

  it('are sent as base64 with the type of their bytes, or as a URL', () => {
    expect(image({ data: '/9j/AAAA' })).toEqual(block({ type: 'base64', media_type: 'image/jpeg', data: '/9j/AAAA' }));
    expect(image({ data: 'UklGRAAA', mediaType: 'image/webp' })).toEqual(
      block({ type: 'base64', media_type: 'image/webp', data: 'UklGRAAA' }),
    );
    expect(image({ url: 'DATA:image/JPG;base64,/9j/AAAA' })).toEqual(block({ type: 'base64', media_type: 'image/jpeg', data: '/9j/AAAA' }));
    expect(image({ url: 'https://a.example/b.png' })).toEqual(block({ type: 'url', url: 'https://a.example/b.png' }));
  });

  it('that the API does not support are described', () => {
    const text = (text: string) => [{ role: 'user', content: [{ type: 'text', text }] }];
    expect(image({ data: 'AAAA', mediaType: 'image/svg+xml' })).toEqual(text('[image: image/svg+xml]'));
    expect(image({ url: 'http://a.example/b.png' })).toEqual(text('[image: http://a.example/b.png]'));
    expect(image({ data: '/9j/AAAA' }, { images: false })).toEqual(text('[image: image/jpeg]'));
  });
});

describe('the choice of a tool', () => {
  it.each([
    ['auto', undefined],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [{ tool: 'get_weather' }, { type: 'tool', name: 'get_weather' }],
  ])('%j becomes %j', (toolChoice, expected) => {
    expect(sent([user('hi')], { toolChoice }).tool_choice).toEqual(expected);
  });

  it('includes one call at a time', () => {
    const settings = { parallelToolCalls: false };
    expect(sent([user('hi')], { settings }).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(sent([user('hi')], { settings, toolChoice: 'required' }).tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true });
  });

  it('cannot be forced while the model thinks', () => {
    expect(sent([user('hi')], { settings: { reasoningEffort: 'high' }, toolChoice: 'required' })).not.toHaveProperty('tool_choice');
  });
});

describe('settings', () => {
  it('stay within what the API supports', () => {
    expect(sent([user('hi')], { settings: { temperature: 1.7, topK: 5, seed: 1, stop: [' ', '\n'] } })).toMatchObject({
      temperature: 1,
      top_k: 5,
    });
    expect(sent([user('hi')], { settings: { topP: 0.9 } })).toMatchObject({ top_p: 0.9, max_tokens: 64_000 });
    for (const field of ['seed', 'stop_sequences', 'thinking'])
      expect(sent([user('hi')], { settings: { seed: 1, stop: [' '] } })).not.toHaveProperty(field);
    expect(sent([user('hi')], { model: 'claude-opus-4-7', settings: { temperature: 0.5, topK: 5 } })).not.toHaveProperty('temperature');
    expect(sent([user('hi')], { model: 'claude-3-haiku-20240307', settings: {} }).max_tokens).toBe(4096);
  });

  it('include an output schema, next to the effort', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const settings = { responseFormat: { type: 'json_schema', json_schema: { name: 'x', schema } }, reasoningEffort: 'low' };
    expect(sent([user('hi')], { model: 'claude-opus-4-6', settings }).output_config).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema },
    });
    expect(sent([user('hi')], { settings: { responseFormat: { type: 'json_object' } } })).not.toHaveProperty('output_config');
  });
});

describe('thinking', () => {
  it('is a budget up to Claude 4.5, with room for the output', () => {
    expect(think(budgeted, { reasoningBudget: 3000 })).toEqual({ thinking: { type: 'enabled', budget_tokens: 3000 }, max_tokens: 64_000 });
    expect(think(budgeted, { reasoningEffort: 'high', maxOutputTokens: 500 })).toEqual({
      thinking: { type: 'enabled', budget_tokens: 16_384 },
      max_tokens: 16_884,
    });
    expect(think(budgeted, { reasoningBudget: 10 })).toMatchObject({ thinking: { budget_tokens: 1024 } });
    expect(think(budgeted, { reasoningBudget: 0, reasoningEffort: 'high' })).not.toMatchObject({ thinking: expect.anything() });
    expect(sent([user('hi')], { settings: { reasoningEffort: 'low', temperature: 0.2, topP: 0.9, topK: 3 } })).not.toMatchObject({
      temperature: expect.anything(),
    });
  });

  it.each([
    ['claude-opus-4-6', 'xhigh', { type: 'adaptive', display: 'summarized' }, 'max'],
    ['claude-opus-4.7', 'xhigh', { type: 'adaptive', display: 'summarized' }, 'xhigh'],
    ['claude-sonnet-5', 'minimal', { type: 'adaptive', display: 'summarized' }, 'low'],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-opus-5-5', 'none', undefined, 'low'],
    ['claude-fable-5', 'none', undefined, 'low'],
  ])('of %s with the effort %s is %j', (model, reasoningEffort, thinking, effort) => {
    expect(think(model, { reasoningEffort })).toEqual({
      thinking,
      output_config: effort === undefined ? undefined : { effort },
      max_tokens: 32_000,
    });
  });

  it.each([
    'claude-opus-4-20250514',
    'claude-3-7-sonnet-20250219',
    'claude-haiku-4-5-20251001',
    'claude-opus-4-1',
    'claude-opus-4-5-20251101',
  ])('of %s has a budget: dates are not versions', (model) => {
    expect(think(model, { reasoningEffort: 'low' })).toMatchObject({ thinking: { type: 'enabled' } });
  });

  it('is not sent to models without it', () => {
    expect(think('claude-3-5-haiku-latest', { reasoningEffort: 'high' })).toEqual({ max_tokens: 8192 });
  });

  it('of a model without token budgets converts a budget to an effort', () => {
    expect(think('claude-opus-4-6', { reasoningBudget: 2000 })).toMatchObject({ output_config: { effort: 'low' } });
    expect(think('claude-opus-4-6', { reasoningBudget: 60_000 })).toMatchObject({ output_config: { effort: 'high' } });
  });

  it('pauses for a step whose tool loop another model began, unless it is adaptive', () => {
    const settings = { reasoningBudget: 2000 };
    const loop = (parts: AssistantPart[], model: string) => [
      user('hi'),
      assistant([...parts, call('call_a')], model),
      tool(result('call_a')),
    ];
    expect(think(budgeted, settings, loop([], 'openai/gpt-5')).thinking).toBeUndefined();
    expect(think(budgeted, settings, loop(thinking, `golden/${budgeted}`)).thinking).toBeDefined();
    expect(think('claude-opus-4-6', settings, loop([], 'openai/gpt-5')).thinking).toBeDefined();
    expect(
      think(budgeted, settings, [...loop([], 'openai/gpt-5'), assistant([{ type: 'text', text: 'ok' }]), user('next')]).thinking,
    ).toBeDefined();
    // Later steps of a loop may omit it: the first one counts.
    const second = [assistant([call('call_b')]), tool(result('call_b')), user('hurry')];
    expect(think(budgeted, settings, [...loop(thinking, `golden/${budgeted}`), ...second]).thinking).toBeDefined();
  });

  it('that is bound to its conversation is only returned while the tools of its turn run', () => {
    const model = 'claude-opus-5-5';
    const step = (id: string) => [assistant([...thinking, call(id)], `golden/${model}`), tool(result(id))];
    const { messages } = sent(
      [user('hi'), ...step('call_a'), assistant([{ type: 'text', text: 'ok' }], `golden/${model}`), user('more'), ...step('call_b')],
      {
        model,
      },
    );
    const types = messages.map(({ content }: { content: { type: string }[] }) => content.map((block) => block.type).join(' '));
    expect(types).toEqual(['text', 'tool_use', 'tool_result', 'text', 'text', 'thinking tool_use', 'tool_result']);
  });
});
