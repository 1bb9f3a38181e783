import { describe, expect, it } from 'vitest';
import type { AssistantPart, Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { chatCompletions } from '../../../src/providers/openai-chat/reply.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { goldenRequest } from '../golden-conversation.ts';
import { partsOf } from '../said-parts.ts';

const at = (fields: Partial<ProviderAccess> = {}): ProviderAccess => ({
  name: 'acme',
  kind: 'openai-compatible',
  baseUrl: 'https://acme.example/v1',
  headers: {},
  models: [],
  profile: {},
  ...fields,
});

const conversation: Message[] = [
  { role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] },
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'What is in ' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'image', url: 'https://a.example/b.png' },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Let me see.' },
      {
        type: 'tool-call',
        callId: 'call_01hzy',
        requested: 'shell',
        canonical: 'builtin.bash',
        via: 'alias',
        arguments: { command: 'ls' },
        nativeId: 'call_native1',
      },
      { type: 'tool-call', callId: 'call_02hzy', requested: 'no such.tool!', canonical: null, via: null, arguments: null, raw: '{"a' },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId: 'call_01hzy',
        requested: 'shell',
        canonical: 'builtin.bash',
        isError: false,
        content: [
          { type: 'text', text: 'a.txt' },
          { type: 'image', data: 'x', mimeType: 'image/png' },
        ],
      },
      {
        type: 'tool-result',
        callId: 'call_02hzy',
        requested: 'no such.tool!',
        canonical: null,
        isError: true,
        code: 'unknown_tool',
        content: [{ type: 'text', text: 'No such tool.' }],
      },
    ],
  },
  { role: 'assistant', parts: [{ type: 'text', text: 'One file.' }] },
];

const request = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  access: at(),
  model: 'm',
  messages: conversation,
  tools: [],
  toolChoice: 'auto',
  settings: {},
  ...fields,
});
const sent = (fields: Partial<ChatRequest>) =>
  toRequestBody(request(fields)) as { messages: Record<string, unknown>[]; tools?: unknown[] } & Record<string, unknown>;

describe('the request', () => {
  it('is as expected for the golden conversation', () => {
    const { tools, ...rest } = toRequestBody(goldenRequest({ kind: 'openai' }, { model: 'gpt-4o', toolChoice: 'required' }));
    expect(rest).toEqual({
      model: 'gpt-4o',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'You are brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is the weather where this was taken?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'call_01first', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
            { id: 'call_02second', type: 'function', function: { name: 'list_files', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_01first', content: '18 °C, "fair" & <dry>\n[image: image/gif]' },
        { role: 'tool', tool_call_id: 'call_02second', content: 'Error: The disk is gone.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '[From the result of get_weather:]' },
            { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' } },
          ],
        },
        { role: 'assistant', content: '18 °C and fair.' },
        { role: 'user', content: 'And tomorrow?' },
      ],
      tool_choice: 'required',
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 500,
      stop: ['END'],
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
      { type: 'function', function: { name: 'list_files', parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('has every part of a whole conversation', () => {
    expect(
      sent({
        tools: [
          {
            name: 'shell',
            description: 'Runs a command.',
            inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
          },
        ],
        toolChoice: { tool: 'shell' },
        settings: {
          temperature: 0,
          topP: 0.9,
          maxOutputTokens: 100,
          stop: ['END'],
          seed: 7,
          frequencyPenalty: 0.5,
          presencePenalty: -0.5,
          reasoningEffort: 'low',
          responseFormat: { type: 'json_object' },
          parallelToolCalls: false,
        },
      }),
    ).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in ' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_native1', type: 'function', function: { name: 'shell', arguments: '{"command":"ls"}' } },
            { id: 'call_02hzy', type: 'function', function: { name: 'no_such_tool_', arguments: '{"rawInvalidInput":"{\\"a"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_native1', content: 'a.txt\n[image: image/png]' },
        { role: 'tool', tool_call_id: 'call_02hzy', content: 'Error: No such tool.' },
        { role: 'assistant', content: 'One file.' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'shell',
            description: 'Runs a command.',
            parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'shell' } },
      parallel_tool_calls: false,
      temperature: 0,
      top_p: 0.9,
      max_tokens: 100,
      stop: ['END'],
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
    });
  });

  it('offers and chooses no tools without tools', () => {
    const body = sent({ toolChoice: 'none' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });

  it('gives an object schema properties, and its type', () => {
    expect(sent({ tools: [{ name: 'ping', description: '', inputSchema: {} }] }).tools).toMatchObject([
      { function: { parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('skips what cannot be sent: an assistant message of reasoning alone', () => {
    expect(sent({ messages: [{ role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }] }] }).messages).toEqual([]);
  });
});

describe('profiles', () => {
  it('send OpenAI max_completion_tokens, and whole descriptions', () => {
    const body = sent({
      access: at({ kind: 'openai', baseUrl: 'https://api.openai.com/v1' }),
      settings: { maxOutputTokens: 5 },
      tools: [{ name: 't', description: 'x'.repeat(2000), inputSchema: {} }],
    });
    expect(body).toMatchObject({ max_completion_tokens: 5 });
    expect((body.tools as { function: { description: string } }[])[0]?.function.description).toHaveLength(2000);
  });

  it('give Mistral ids of nine letters or digits, equal in call and result, and no stream_options', () => {
    const body = sent({ access: at({ baseUrl: 'https://api.mistral.ai/v1' }) });
    const calls = body.messages[2]?.tool_calls as { id: string }[];
    expect(calls.every((call) => /^[A-Za-z0-9]{9}$/.test(call.id))).toBe(true);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    expect([body.messages[3]?.tool_call_id, body.messages[4]?.tool_call_id]).toEqual(calls.map((call) => call.id));
    expect(body).not.toHaveProperty('stream_options');
  });

  it('Kimi: its own ids are returned unchanged', () => {
    const messages = conversation.map(
      (message): Message =>
        message.role === 'assistant'
          ? {
              ...message,
              parts: message.parts.map((part) =>
                part.type === 'tool-call' && part.nativeId ? { ...part, nativeId: 'functions.shell:0' } : part,
              ),
            }
          : message,
    );
    expect(sent({ model: 'moonshotai/kimi-k2', messages }).messages[3]).toMatchObject({ tool_call_id: 'functions.shell:0' });
    expect(sent({ model: 'other', messages }).messages[3]).toMatchObject({ tool_call_id: 'call_01hzy' });
  });

  it('Workers AI: content is never null', () => {
    expect(sent({ model: '@cf/meta/llama-3.3' }).messages[2]).toMatchObject({ content: '' });
  });

  const bodyWith = (profile: ProviderAccess['profile'], fields: Partial<ChatRequest> = {}) => sent({ access: at({ profile }), ...fields });

  it('expresses a forced call as the server supports it', () => {
    const tools = [{ name: 't', description: '', inputSchema: {} }];
    expect(bodyWith({ requiredToolChoice: 'any' }, { tools, toolChoice: 'required' }).tool_choice).toBe('any');
    expect(bodyWith({}, { tools, toolChoice: 'none' }).tool_choice).toBe('none');
  });

  it('sends only supported settings, under the supported name', () => {
    const settings = { temperature: 1, topP: 1, topK: 5, seed: 7, stop: ['x'], frequencyPenalty: 1, presencePenalty: 1 };
    const names = (profile: ProviderAccess['profile']) =>
      Object.keys(bodyWith(profile, { settings }))
        .filter((name) => !['model', 'messages', 'stream', 'stream_options'].includes(name))
        .sort();
    expect(names({})).toEqual(['frequency_penalty', 'presence_penalty', 'seed', 'stop', 'temperature', 'top_p']);
    expect(names({ noSampling: true, topK: true })).toEqual(['frequency_penalty', 'presence_penalty', 'seed', 'stop']);
    expect(names({ noPenalties: true, noStop: true, topK: true, seedField: 'random_seed' })).toEqual([
      'random_seed',
      'temperature',
      'top_k',
      'top_p',
    ]);
    expect(bodyWith({ defaultMaxTokens: 9 })).toMatchObject({ max_tokens: 9 });
  });

  it('sends a supported effort, or the thinking switch', () => {
    const told = (profile: ProviderAccess['profile'], settings: ChatRequest['settings']) => {
      const { reasoning_effort: effort, thinking } = bodyWith(profile, { settings });
      return [effort, thinking];
    };
    expect(told({}, { reasoningEffort: 'odd' })).toEqual(['odd', undefined]);
    expect(told({}, { reasoningBudget: 0 })).toEqual(['none', undefined]);
    expect(told({}, { reasoningBudget: 3000 })).toEqual(['medium', undefined]);
    expect(told({ efforts: ['low', 'high'] }, { reasoningEffort: 'none' })).toEqual(['low', undefined]);
    expect(told({ efforts: ['low', 'high'] }, { reasoningEffort: 'medium' })).toEqual(['high', undefined]);
    expect(told({ efforts: ['low', 'high'] }, { reasoningEffort: 'max' })).toEqual(['high', undefined]);
    expect(told({ reasoning: 'none' }, { reasoningEffort: 'high' })).toEqual([undefined, undefined]);
    expect(told({ thinkingSwitch: true }, { reasoningEffort: 'none' })).toEqual([undefined, { type: 'disabled' }]);
    expect(told({ thinkingSwitch: true }, { reasoningEffort: 'high' })).toEqual(['high', { type: 'enabled' }]);
    expect(told({ thinkingSwitch: true, reasoning: 'none' }, { reasoningBudget: 100 })).toEqual([undefined, { type: 'enabled' }]);
    expect(told({ thinkingSwitch: true }, {})).toEqual([undefined, undefined]);
  });

  it('drops a response format next to tools if they exclude each other', () => {
    const settings = { responseFormat: { type: 'json_object' } };
    const tools = [{ name: 't', description: '', inputSchema: {} }];
    expect(bodyWith({ formatWithTools: false }, { settings, tools })).not.toHaveProperty('response_format');
    expect(bodyWith({ formatWithTools: false }, { settings })).toHaveProperty('response_format');
    expect(bodyWith({}, { settings, tools })).toHaveProperty('response_format');
  });

  it('names the tool of a result, and puts an assistant between results and the user, if required', () => {
    const messages: Message[] = [...conversation.slice(0, 4), { role: 'user', parts: [{ type: 'text', text: 'And?' }] }];
    const wanted = bodyWith({ toolResultName: true, assistantAfterToolResult: true }, { messages }).messages;
    expect(wanted[3]).toMatchObject({ role: 'tool', name: 'shell' });
    expect(wanted[4]).toMatchObject({ role: 'tool', name: 'no_such_tool_' });
    expect(wanted.slice(5)).toEqual([
      { role: 'assistant', content: 'I have the results.' },
      { role: 'user', content: 'And?' },
    ]);
    const plain = bodyWith({}, { messages }).messages;
    expect(plain[3]).not.toHaveProperty('name');
    expect(plain[5]).toEqual({ role: 'user', content: 'And?' });
  });

  it('puts the system text before the user message if the role is not supported', () => {
    const [first] = bodyWith({ systemInUser: true, images: false }).messages;
    expect(first).toEqual({ role: 'user', content: 'Be kind.\n\nWhat is in \n\n[image: image/png]\n\n[image: https://a.example/b.png]' });
    const [withImages] = bodyWith({ systemInUser: true }).messages;
    expect(withImages?.content).toMatchObject([{ type: 'text', text: 'Be kind.' }, { type: 'text' }, {}, {}]);
    const messages: Message[] = [
      { role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Welcome.' }] },
    ];
    expect(bodyWith({ systemInUser: true }, { messages }).messages).toEqual([
      { role: 'user', content: 'Be kind.' },
      { role: 'assistant', content: 'Welcome.' },
    ]);
  });

  it('puts images of results into the next user message, if the model has vision', () => {
    const next: Message = { role: 'user', parts: [{ type: 'text', text: 'And?' }] };
    const messages = [...conversation.slice(0, 4), next];
    expect(bodyWith({ imagesInResults: true }, { messages }).messages.slice(5)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: '[From the result of shell:]' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,x' } },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
    expect(bodyWith({ imagesInResults: true, images: false }, { messages }).messages.slice(5)).toEqual([{ role: 'user', content: 'And?' }]);
  });

  it('merges adjacent user messages, and drops messages without content', () => {
    const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
    const empty: Message = { role: 'system', parts: [{ type: 'text', text: '' }] };
    expect(bodyWith({}, { messages: [empty, user('a'), user(''), user('b')] }).messages).toEqual([{ role: 'user', content: 'a\n\nb' }]);
  });

  it('settings of the provider override every row', () => {
    expect(
      sent({
        access: at({ kind: 'openai', profile: { maxTokensField: 'max_tokens', streamUsage: false, contentNeverNull: true } }),
        settings: { maxOutputTokens: 5 },
      }),
    ).toMatchObject({ max_tokens: 5 });
  });
});

describe('data returned unchanged', () => {
  const deepseek = at({ name: 'deepseek', baseUrl: 'https://api.deepseek.com' });
  const said = (access: ProviderAccess, message: unknown): AssistantPart[] =>
    partsOf(chatCompletions.createReply(access).takeWhole({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
  const calls = [0, 1].map((index) => ({
    id: `n${index}`,
    type: 'function',
    function: { name: 'a', arguments: '{}' },
    ...(index === 1 && { extra_content: { google: { thought_signature: 'sig' } } }),
  }));
  const results: Message = {
    role: 'tool',
    parts: [0, 1].map((index) => ({
      type: 'tool-result',
      callId: `call_${index}`,
      requested: 'a',
      canonical: 'a',
      isError: false,
      content: [],
    })),
  };
  const user: Message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };
  /** `by`: the author of the message. */
  const back = (access: ProviderAccess, parts: AssistantPart[], by = `${access.name}/m`, after: Message[] = []) =>
    sent({ access, model: 'm', messages: [user, { role: 'assistant', model: by, parts }, results, ...after] }).messages[1] as Record<
      string,
      unknown
    >;

  it('includes the reasoning_content of turns with calls in all later requests to DeepSeek', () => {
    const parts = said(deepseek, { reasoning_content: 'Thinking.', tool_calls: calls });
    expect(back(deepseek, parts)).toMatchObject({ reasoning_content: 'Thinking.' });
    expect(back(deepseek, parts, 'deepseek/m', [user])).toMatchObject({ reasoning_content: 'Thinking.' });
    expect(back(at({ name: 'other' }), parts)).not.toHaveProperty('reasoning_content');
    const chat: Message[] = [
      user,
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Hi.' },
        ],
      },
      user,
    ];
    expect(sent({ access: deepseek, messages: chat }).messages[1]).toEqual({ role: 'assistant', content: 'Hi.' });
  });

  it('DeepSeek receives another model’s reasoning, and a blank if there is none', () => {
    const signed: AssistantPart = { type: 'native', provider: 'claude', data: { api: 'anthropic', signature: 'xyz' } };
    const call: AssistantPart = { type: 'tool-call', callId: 'call_0', requested: 'a', canonical: 'a', via: 'wire', arguments: {} };
    const foreign = back(deepseek, [{ type: 'reasoning', text: 'I thought.' }, signed, call], 'claude/opus');
    expect(foreign).toMatchObject({ reasoning_content: 'I thought.' });
    expect(JSON.stringify(foreign)).not.toContain('xyz');
    expect(back(deepseek, [call], 'claude/opus')).toMatchObject({ reasoning_content: ' ' });
  });

  const details = [
    { type: 'reasoning.text', index: 0, text: 'a' },
    { type: 'reasoning.text', index: 0, text: 'b', signature: 's' },
    { type: 'reasoning.encrypted', data: 'x' },
  ];
  const whole = [
    { type: 'reasoning.text', index: 0, text: 'ab', signature: 's' },
    { type: 'reasoning.encrypted', data: 'x' },
  ];

  it('includes reasoning details and thought signatures, for the same model only', () => {
    const parts = said(at(), { reasoning_details: details, tool_calls: calls });
    const message = back(at(), parts);
    expect(message.reasoning_details).toEqual(whole);
    expect(message.tool_calls).toEqual([{ id: 'n0', type: 'function', function: { name: 'a', arguments: '{}' } }, calls[1]]);
    expect(JSON.stringify(back(at({ name: 'other' }), parts))).not.toMatch(/sig|reasoning/);
    expect(JSON.stringify(back(at(), parts, 'acme/another'))).not.toMatch(/sig|reasoning/);
  });

  it('returns GitHub Copilot’s reasoning with its signature, for the same model only', () => {
    const parts = said(at(), { reasoning_text: 'Let me see.', reasoning_opaque: 'op', tool_calls: calls });
    expect(parts).toContainEqual(expect.objectContaining({ type: 'reasoning', text: 'Let me see.' }));
    expect(back(at(), parts)).toMatchObject({ reasoning_text: 'Let me see.', reasoning_opaque: 'op' });
    expect(JSON.stringify(back(at(), parts, 'acme/another'))).not.toMatch(/reasoning/);
  });

  it('includes a signature that arrives before or after the arguments of its call', () => {
    const piece = (delta: unknown) => ({ data: JSON.stringify({ choices: [{ index: 0, delta }] }), event: '' });
    const extra = { google: { thought_signature: 'sig' } };
    const call = (fields: object) => piece({ tool_calls: [{ index: 0, ...fields }] });
    const start = { id: 'n0', function: { name: 'a' } };
    for (const pieces of [
      [call({ ...start, extra_content: extra }), call({ function: { arguments: '{}' } })],
      [call(start), call({ function: { arguments: '{}' } }), call({ extra_content: extra })],
    ]) {
      const reply = chatCompletions.createReply(at());
      const events = [...pieces.flatMap((message) => reply.take(message)), ...reply.take({ data: '[DONE]', event: '' })];
      expect(back(at(), partsOf(events)).tool_calls).toMatchObject([{ id: 'n0', extra_content: extra }]);
    }
  });

  it('contains nothing that another API wrote', () => {
    const call: AssistantPart = { type: 'tool-call', callId: 'call_0', requested: 'a', canonical: 'a', via: 'wire', arguments: {} };
    const native = (data: unknown): AssistantPart => ({ type: 'native', provider: 'acme', data });
    for (const foreign of [{ api: 'anthropic', reasoningDetails: whole }, { reasoningDetails: whole }, 'text', null])
      expect(back(at(), [call, native(foreign)])).not.toHaveProperty('reasoning_details');
  });

  it('Gemini over this API gets the documented placeholder for another model’s call', () => {
    const call = (callId: string): AssistantPart => ({
      type: 'tool-call',
      callId,
      requested: 'a',
      canonical: 'a',
      via: 'wire',
      arguments: {},
    });
    const access = at({ profile: { callSignatures: true } });
    const signature = { google: { thought_signature: 'skip_thought_signature_validator' } };
    const { tool_calls: sentCalls } = back(access, [call('call_0'), call('call_1')], 'other/m') as { tool_calls: object[] };
    expect(sentCalls[0]).toMatchObject({ extra_content: signature });
    expect(sentCalls[1]).not.toHaveProperty('extra_content');
  });
});
