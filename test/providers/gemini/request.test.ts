import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { describe, expect, it } from 'vitest';
import type { AssistantPart, Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { gemini } from '../../../src/providers/gemini/reply.ts';
import { goldenConversation, goldenRequest } from '../golden-conversation.ts';

const access: ProviderAccess = {
  name: 'google',
  kind: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  headers: {},
  models: [],
  profile: {},
};
const vertex = {
  ...access,
  baseUrl: 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/google',
};
const older = 'gemini-2.5-flash';
const newer = 'gemini-3-flash-preview';
const standIn = 'skip_thought_signature_validator';

type Part = Record<string, unknown>;
type Body = { contents: { role: string; parts: Part[] }[] } & Record<string, unknown>;
const sent = (fields: Partial<ChatRequest> = {}): Body => toRequestBody(goldenRequest(access, { model: older, ...fields })) as Body;
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const call = (callId: string, fields: object = {}): Extract<AssistantPart, { type: 'tool-call' }> => ({
  type: 'tool-call',
  callId,
  requested: 'a',
  canonical: null,
  via: null,
  arguments: {},
  ...fields,
});
const result = (...callIds: string[]): Message => ({
  role: 'tool',
  parts: callIds.map((callId) => ({
    type: 'tool-result',
    callId,
    requested: 'a',
    canonical: null,
    isError: false,
    content: [{ type: 'text', text: callId }],
  })),
});
const contents = (messages: Message[], fields: Partial<ChatRequest> = {}) =>
  sent({ messages, tools: [], settings: {}, ...fields }).contents;
const config = (settings: ChatRequest['settings'], fields: Partial<ChatRequest> = {}) =>
  sent({ messages: [user('hi')], tools: [], settings, ...fields }).generationConfig;

const question = {
  role: 'user',
  parts: [{ text: 'What is the weather where this was taken?' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
};
const goldenTail = [
  { role: 'model', parts: [{ text: '18 °C and fair.' }] },
  { role: 'user', parts: [{ text: 'And tomorrow?' }] },
];

describe('the request to Gemini', () => {
  it('has every part of a whole conversation', () => {
    const { tools, ...rest } = sent({ toolChoice: { tool: 'get_weather' } });
    expect(rest).toEqual({
      systemInstruction: { parts: [{ text: 'You are brief.' }] },
      contents: [
        question,
        {
          role: 'model',
          parts: [
            { text: 'Let me look.' },
            { functionCall: { name: 'get_weather', args: { city: 'Paris' } } },
            { functionCall: { name: 'list_files', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'get_weather', response: { output: '18 °C, "fair" & <dry>\n[image: image/gif]' } } },
            { functionResponse: { name: 'list_files', response: { error: 'The disk is gone.' } } },
          ],
        },
        ...goldenTail,
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] } },
      generationConfig: { temperature: 0.5, topP: 0.9, maxOutputTokens: 500, stopSequences: ['END'] },
    });
    expect(tools).toMatchObject([
      {
        functionDeclarations: [
          {
            name: 'get_weather',
            description: 'The weather of a city.',
            parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
          { name: 'list_files', parametersJsonSchema: { type: 'object' } },
        ],
      },
    ]);
  });

  it('returns the signatures of a conversation with the same Gemini 3 model', () => {
    const mark = (data: object): AssistantPart[] => [{ type: 'native', provider: 'google', data: { api: 'gemini', ...data } }];
    const messages = goldenConversation({
      model: `google/${newer}`,
      reasoning: mark({ of: 'thought', length: 12, thoughtSignature: 'T' }),
      text: mark({ of: 'text', length: 12, thoughtSignature: 'X' }),
      firstCall: mark({ of: 'call', thoughtSignature: 'C' }),
      end: mark({ part: { text: '', thoughtSignature: 'E' } }),
    });
    expect(contents(messages, { model: newer })).toEqual([
      question,
      {
        role: 'model',
        parts: [
          { text: 'That is Paris. I', thought: true },
          { text: ' look it up.', thought: true, thoughtSignature: 'T' },
          { text: 'Let me look.', thoughtSignature: 'X' },
          { functionCall: { id: 'call_01first', name: 'get_weather', args: { city: 'Paris' } }, thoughtSignature: 'C' },
          { functionCall: { id: 'call_02second', name: 'list_files', args: {} } },
          { text: '', thoughtSignature: 'E' },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'call_01first',
              name: 'get_weather',
              response: { output: '18 °C, "fair" & <dry>\n[image: image/gif]' },
            },
          },
          { functionResponse: { id: 'call_02second', name: 'list_files', response: { error: 'The disk is gone.' } } },
        ],
      },
      ...goldenTail,
    ]);
  });

  it('goes to the model under each of its names', () => {
    const paths = ['gemini-x', 'models/gemini-x', 'google/gemini-x', 'projects/p/locations/l/publishers/google/models/gemini-x'];
    for (const model of paths) expect(gemini.path({ model: model })).toBe('/models/gemini-x:streamGenerateContent?alt=sse');
    expect(gemini.path({ model: 'tunedModels/mine' })).toBe('/tunedModels/mine:streamGenerateContent?alt=sse');
    expect(gemini.path({ model: 'projects/p/locations/l/endpoints/12' })).toBe('/endpoints/12:streamGenerateContent?alt=sse');
    expect(gemini.path({ model: 'gemini-x@001' })).toContain('/gemini-x@001:');
    expect(gemini.path({ model: 'x?key=1#' })).toBe('/models/x%3Fkey%3D1%23:streamGenerateContent?alt=sse');
    expect(gemini.path({ model: 'x\ud800' })).toBe('/models/x%EF%BF%BD:streamGenerateContent?alt=sse');
  });
});

describe('the conversation for Gemini', () => {
  it('alternates roles, begins with the user, and skips empty messages', () => {
    expect(
      contents([
        { role: 'assistant', parts: [{ type: 'text', text: 'Hello!' }] },
        { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }] },
        user('a'),
        user('b'),
        user(''),
        { role: 'assistant', parts: [call('c1')] },
        result('c1'),
        user('c'),
      ]),
    ).toEqual([
      { role: 'user', parts: [{ text: '[The conversation begins.]' }] },
      { role: 'model', parts: [{ text: 'Hello!' }] },
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ functionCall: { name: 'a', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'a', response: { output: 'c1' } } }, { text: 'c' }] },
    ]);
    expect(contents([{ role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] }])).toHaveLength(1);
  });

  it('gives every call one result, in call order and in one turn', () => {
    const [, , results] = contents([
      user('hi'),
      { role: 'assistant', parts: [call('c1'), call('c2', { requested: 'b' }), call('c3')] },
      result('c3', 'gone'),
      result('c1'),
    ]);
    expect(results).toMatchObject({
      role: 'user',
      parts: [
        { functionResponse: { name: 'a', response: { output: 'c1' } } },
        { functionResponse: { name: 'b', response: { error: expect.any(String) } } },
        { functionResponse: { name: 'a', response: { output: 'c3' } } },
      ],
    });
    expect(results?.parts).toHaveLength(3);
  });

  it('sanitizes names and arguments of other models', () => {
    const parts = [call('c1', { requested: '7 no such.tool!', arguments: null, raw: '{"a' }), call('c2', { requested: 'x'.repeat(90) })];
    const [, said, results] = contents([user('hi'), { role: 'assistant', model: 'other/m', parts }, result('c1', 'c2')]);
    expect(said?.parts).toEqual([
      { functionCall: { name: '_7_no_such.tool_', args: { rawInvalidInput: '{"a' } } },
      { functionCall: { name: 'x'.repeat(64), args: {} } },
    ]);
    expect(results?.parts).toMatchObject([
      { functionResponse: { name: '_7_no_such.tool_' } },
      { functionResponse: { name: 'x'.repeat(64) } },
    ]);
  });

  it('has ids if they are supported: Gemini 3 at Google AI, its own if it gave them', () => {
    const messages: Message[] = [
      user('hi'),
      { role: 'assistant', model: `google/${newer}`, parts: [call('call_1', { nativeId: 'abc123' })] },
      result('call_1'),
      { role: 'assistant', model: 'other/m', parts: [call('call_2', { nativeId: 'toolu_9' })] },
      result('call_2'),
    ];
    const ids = (fields: Partial<ChatRequest>) =>
      contents(messages, fields).flatMap(({ parts }) =>
        parts.flatMap((part) => {
          const named = (part.functionCall ?? part.functionResponse) as { id?: string } | undefined;
          return named === undefined ? [] : [named.id];
        }),
      );
    expect(ids({ model: newer })).toEqual(['abc123', 'abc123', 'call_2', 'call_2']);
    expect(ids({ model: older })).toEqual([undefined, undefined, undefined, undefined]);
    expect(ids({ model: newer, access: vertex })).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('signs calls of other models with the placeholder: the first call of each step, and no other part', () => {
    const own: AssistantPart = { type: 'native', provider: 'google', data: { api: 'gemini', of: 'call', thoughtSignature: 'S' } };
    const step = (model: string, ...parts: AssistantPart[]): Message[] => [
      { role: 'assistant', model, parts: [{ type: 'text', text: 'So.' }, call(`${model}1`), ...parts, call(`${model}2`)] },
      result(`${model}1`, `${model}2`),
    ];
    const signatures = (model: string) =>
      contents([user('hi'), ...step('other/m', own), ...step(`google/${newer}`, own), ...step(`google/${older}`, own)], { model })
        .filter(({ role }) => role === 'model')
        .map(({ parts }) => parts.map((part) => part.thoughtSignature));
    expect(signatures(newer)).toEqual([
      [undefined, standIn, undefined],
      [undefined, 'S', undefined],
      [undefined, standIn, undefined],
    ]);
    expect(signatures(older)).toEqual([
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
      [undefined, 'S', undefined],
    ]);
  });

  it('drops a signature without its part, and thoughts of an unknown model', () => {
    const mark = (data: object): AssistantPart => ({ type: 'native', provider: 'google', data });
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'Hm.' },
      mark({ api: 'gemini', of: 'thought', length: 3, thoughtSignature: 'T' }),
      { type: 'text', text: 'So.' },
      mark({ api: 'gemini', of: 'call', thoughtSignature: 'C' }),
      mark({ api: 'anthropic', of: 'text', thoughtSignature: 'A', part: { text: 'no' } }),
      mark(null as unknown as object),
    ];
    expect(contents([user('hi'), { role: 'assistant', parts }])[1]).toEqual({ role: 'model', parts: [{ text: 'So.' }] });
    expect(contents([user('hi'), { role: 'assistant', model: `google/${older}`, parts }])[1]).toEqual({
      role: 'model',
      parts: [{ text: 'Hm.', thought: true, thoughtSignature: 'T' }, { text: 'So.' }],
    });
  });

  it('sends supported images and describes the others', () => {
    const parts: Extract<Message, { role: 'user' }>['parts'] = [
      { type: 'image', url: 'data:image/jpeg;base64,AAAA' },
      { type: 'image', url: 'https://a.example/b.webp?x=1' },
      { type: 'image', url: 'https://a.example/b' },
      { type: 'image', data: 'BBBB' },
      { type: 'image', mediaType: 'image/gif', data: 'CCCC' },
    ];
    expect(contents([{ role: 'user', parts }])[0]?.parts).toEqual([
      { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://a.example/b.webp?x=1' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/b' } },
      { inlineData: { mimeType: 'image/png', data: 'BBBB' } },
      { text: '[image: image/gif]' },
    ]);
    const blind = { ...access, profile: { images: false } };
    expect(contents([{ role: 'user', parts }], { access: blind })[0]?.parts.every((part) => String(part.text).startsWith('[image: '))).toBe(
      true,
    );
  });

  it('sends images of results to Gemini 3 in the response, and to others behind all responses', () => {
    const shot: Message = {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'c1',
          requested: 'a',
          canonical: null,
          isError: false,
          content: [
            { type: 'text', text: 'Here:' },
            { type: 'image', mimeType: 'image/png', data: 'AAAA' },
          ],
        },
      ],
    };
    const parts = (model: string) =>
      contents([user('hi'), { role: 'assistant', parts: [call('c1')] }, shot], { model, access: vertex })[2]?.parts;
    expect(parts(newer)?.[0]?.functionResponse).toEqual({
      name: 'a',
      response: { output: 'Here:' },
      parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    });
    expect(parts(older)).toEqual([
      { functionResponse: { name: 'a', response: { output: 'Here:\n[image: image/png]' } } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ]);
  });

  it('puts system text before the user message if there is no field for it', () => {
    const body = sent({ model: 'gemma-3-27b-it', messages: [{ role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] }, user('hi')] });
    expect(body).not.toHaveProperty('systemInstruction');
    expect(body.contents).toEqual([{ role: 'user', parts: [{ text: 'Be kind.' }, { text: 'hi' }] }]);
  });
});

describe('tools and settings for Gemini', () => {
  it('include a tool choice only when there are tools', () => {
    const mode = (toolChoice: ChatRequest['toolChoice'], fields: Partial<ChatRequest> = {}) => sent({ toolChoice, ...fields }).toolConfig;
    expect(mode('auto')).toBeUndefined();
    expect(mode('required')).toEqual({ functionCallingConfig: { mode: 'ANY' } });
    expect(mode('none')).toEqual({ functionCallingConfig: { mode: 'NONE' } });
    expect(mode('none', { tools: [] })).toBeUndefined();
    expect(sent({ tools: [] })).not.toHaveProperty('tools');
  });

  it('omit an empty object in the older schema format', () => {
    const [{ functionDeclarations }] = sent({ access: { ...access, profile: { schemas: 'gemini-openapi' } } }).tools as [
      { functionDeclarations: Part[] },
    ];
    expect(functionDeclarations[0]).toMatchObject({ name: 'get_weather', parameters: { properties: { city: {} } } });
    expect(functionDeclarations[0]).not.toHaveProperty('parametersJsonSchema');
    expect(functionDeclarations[1]).toEqual({ name: 'list_files', description: 'What files there are.' });
  });

  it('sampling, stops and seeds within their bounds', () => {
    expect(config({ topK: 3, frequencyPenalty: 0.1, presencePenalty: 0.2, seed: 2 ** 32 + 7, stop: [...'abcdefg'] })).toEqual({
      topK: 3,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      seed: 7,
      stopSequences: [...'abcde'],
    });
    expect(config({ temperature: 1, topP: 1, topK: 1 }, { access: { ...access, profile: { noSampling: true } } })).toBeUndefined();
  });

  it('have a thinking budget up to Gemini 2.5, a level from Gemini 3 on, and nothing before', () => {
    const thinking = (model: string, settings: ChatRequest['settings']) =>
      (config(settings, { model }) as { thinkingConfig?: unknown } | undefined)?.thinkingConfig;
    expect(thinking(older, { reasoningEffort: 'low' })).toEqual({ thinkingBudget: 1024, includeThoughts: true });
    expect(thinking(older, { reasoningEffort: 'low', reasoningBudget: 77 })).toEqual({ thinkingBudget: 77, includeThoughts: true });
    expect(thinking(older, { reasoningEffort: 'none' })).toEqual({ thinkingBudget: 0, includeThoughts: false });
    expect(thinking('gemini-2.5-pro', { reasoningBudget: 0 })).toEqual({ thinkingBudget: 128, includeThoughts: false });
    expect(thinking(older, { reasoningEffort: 'surprise' })).toEqual({ thinkingBudget: -1, includeThoughts: true });
    expect(thinking(newer, { reasoningEffort: 'minimal' })).toEqual({ thinkingLevel: 'MINIMAL', includeThoughts: true });
    expect(thinking(newer, { reasoningEffort: 'max', reasoningBudget: 9 })).toEqual({ thinkingLevel: 'HIGH', includeThoughts: true });
    expect(thinking(newer, { reasoningBudget: 0 })).toEqual({ thinkingLevel: 'MINIMAL', includeThoughts: false });
    expect(thinking(newer, { reasoningBudget: 9 })).toEqual({ thinkingBudget: 9, includeThoughts: true });
    expect(thinking('gemini-3.1-pro-preview', { reasoningEffort: 'minimal' })).toMatchObject({ thinkingLevel: 'LOW' });
    expect(thinking('gemini-3.1-pro-preview', { reasoningEffort: 'medium' })).toMatchObject({ thinkingLevel: 'MEDIUM' });
    expect(thinking('gemini-3-pro-preview', { reasoningEffort: 'medium' })).toMatchObject({ thinkingLevel: 'HIGH' });
    expect(thinking('gemini-flash-latest', { reasoningEffort: 'none' })).toMatchObject({ thinkingLevel: 'MINIMAL' });
    expect(thinking('gemini-2.0-flash', { reasoningEffort: 'high' })).toBeUndefined();
    expect(thinking(newer, {})).toBeUndefined();
  });

  it('ask for JSON output, next to tools only from Gemini 3 on', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const responseFormat = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
    const asked = { responseMimeType: 'application/json', responseJsonSchema: schema };
    expect(config({ responseFormat })).toEqual(asked);
    expect(config({ responseFormat: { type: 'json_object' } })).toEqual({ responseMimeType: 'application/json' });
    expect(config({ responseFormat: { type: 'text' } })).toBeUndefined();
    expect(sent({ settings: { responseFormat } })).not.toHaveProperty('generationConfig');
    expect(sent({ settings: { responseFormat }, model: newer }).generationConfig).toEqual(asked);
  });
});
