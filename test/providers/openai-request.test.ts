import { describe, expect, it } from 'vitest';
import type { AssistantPart, Message } from '../../src/core/message.ts';
import type { ProviderAccess } from '../../src/core/provider.ts';
import type { ChatRequest } from '../../src/ports/chat-model.ts';
import { OpenAiReply, toRequestBody } from '../../src/providers/openai.ts';

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
  it('of a whole conversation', () => {
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
            { id: 'call_02hzy', type: 'function', function: { name: 'no_such_tool_', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_native1', content: 'a.txt\n[image: image/png]' },
        { role: 'tool', tool_call_id: 'call_02hzy', content: 'No such tool.' },
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

  it('offers no tools, and chooses none, where there are none', () => {
    const body = sent({ toolChoice: 'none' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });

  it('gives an object schema properties, and says its type', () => {
    expect(sent({ tools: [{ name: 'ping', description: '', inputSchema: {} }] }).tools).toMatchObject([
      { function: { parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('leaves out what cannot be sent: an assistant message of reasoning alone', () => {
    expect(sent({ messages: [{ role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }] }] }).messages).toEqual([]);
  });
});

describe('profiles', () => {
  it('OpenAI: max_completion_tokens, descriptions of at most 1024 characters', () => {
    const body = sent({
      access: at({ kind: 'openai', baseUrl: 'https://api.openai.com/v1' }),
      settings: { maxOutputTokens: 5 },
      tools: [{ name: 't', description: 'x'.repeat(2000), inputSchema: {} }],
    });
    expect(body).toMatchObject({ max_completion_tokens: 5 });
    expect((body.tools as { function: { description: string } }[])[0]?.function.description).toHaveLength(1024);
  });

  it('Mistral: ids of nine letters or digits, the same in call and result; no stream_options', () => {
    const body = sent({ access: at({ baseUrl: 'https://api.mistral.ai/v1' }) });
    const calls = body.messages[2]?.tool_calls as { id: string }[];
    expect(calls.every((call) => /^[A-Za-z0-9]{9}$/.test(call.id))).toBe(true);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    expect([body.messages[3]?.tool_call_id, body.messages[4]?.tool_call_id]).toEqual(calls.map((call) => call.id));
    expect(body).not.toHaveProperty('stream_options');
  });

  it('Kimi: its own ids go back as they came', () => {
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

  it('settings of the provider override every row', () => {
    expect(
      sent({
        access: at({ kind: 'openai', profile: { maxTokensField: 'max_tokens', streamUsage: false, contentNeverNull: true } }),
        settings: { maxOutputTokens: 5 },
      }),
    ).toMatchObject({ max_tokens: 5 });
  });
});

describe('what goes back as it came', () => {
  const reply = (access: ProviderAccess, model: string, message: unknown): AssistantPart[] => {
    const events = new OpenAiReply(access, model).takeWhole({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    return events.flatMap((event): AssistantPart[] => {
      if (event.type === 'call-end')
        return [{ type: 'tool-call', callId: `c${event.call}`, requested: 'a', canonical: null, via: null, arguments: event.arguments }];
      return event.type === 'native' ? [event] : [];
    });
  };
  const calls = [0, 1].map((index) => ({
    id: `n${index}`,
    type: 'function',
    function: { name: 'a', arguments: '{}' },
    ...(index === 1 && { extra_content: { google: { thought_signature: 'sig' } } }),
  }));
  const back = (access: ProviderAccess, model: string, parts: AssistantPart[], after: Message[] = []) =>
    sent({ access, model, messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }, { role: 'assistant', parts }, ...after] })
      .messages[1] as Record<string, unknown>;

  it('reasoning_content inside a tool loop of DeepSeek, and only there', () => {
    const deepseek = at({ name: 'deepseek', baseUrl: 'https://api.deepseek.com' });
    const parts = reply(deepseek, 'deepseek-chat', { reasoning_content: 'Thinking.', tool_calls: calls });
    expect(back(deepseek, 'deepseek-chat', parts)).toMatchObject({ reasoning_content: 'Thinking.' });
    expect(back(deepseek, 'deepseek-chat', parts, [{ role: 'user', parts: [{ type: 'text', text: 'next' }] }])).not.toHaveProperty(
      'reasoning_content',
    );
    expect(back(at({ name: 'other' }), 'm', parts)).not.toHaveProperty('reasoning_content');
  });

  it('reasoning details and thought signatures, to the same provider only', () => {
    const details = [
      { type: 'reasoning.text', index: 0, text: 'a' },
      { type: 'reasoning.text', index: 0, text: 'b', signature: 's' },
      { type: 'reasoning.encrypted', data: 'x' },
    ];
    const parts = reply(at(), 'm', { reasoning_details: details, tool_calls: calls });
    const message = back(at(), 'm', parts);
    expect(message.reasoning_details).toEqual([
      { type: 'reasoning.text', index: 0, text: 'ab', signature: 's' },
      { type: 'reasoning.encrypted', data: 'x' },
    ]);
    expect(message.tool_calls).toMatchObject([{ id: 'c0' }, { id: 'c1', extra_content: { google: { thought_signature: 'sig' } } }]);
    expect(JSON.stringify(back(at({ name: 'other' }), 'm', parts))).not.toMatch(/sig|reasoning/);
  });
});
