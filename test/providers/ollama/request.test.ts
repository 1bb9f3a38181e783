import { describe, expect, it } from 'vitest';
import { createDropped } from '../../../src/core/model/dropped.ts';
import type { AssistantPart, Message } from '../../../src/core/model/message.ts';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { ProviderProfile } from '../../../src/core/model/provider-profile.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { goldenConversation, goldenRequest } from '../golden-conversation.ts';

const accessWith = (profile: ProviderProfile): ProviderAccess => ({
  name: 'home',
  kind: 'ollama',
  baseUrl: 'http://127.0.0.1:11434',
  headers: {},
  models: [],
  profile,
});

type Body = { messages: Record<string, unknown>[] } & Record<string, unknown>;

function sent(fields: Partial<ChatRequest> = {}, profile: ProviderProfile = {}): Body & { dropped: string[] } {
  const dropped = createDropped();
  const body = toRequestBody(goldenRequest(accessWith(profile), { model: 'qwen3:8b', dropped, ...fields })) as Body;
  return { ...body, dropped: dropped.items().map(({ name }) => name) };
}

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const settings = (given: ChatRequest['settings'], rest: Partial<ChatRequest> = {}, profile: ProviderProfile = {}) =>
  sent({ messages: [user('hi')], tools: [], settings: given, ...rest }, profile);

describe('the request to Ollama', () => {
  it('has every part of a whole conversation', () => {
    const { tools, dropped, ...rest } = sent();
    expect(rest).toEqual({
      model: 'qwen3:8b',
      stream: true,
      truncate: false,
      shift: false,
      options: { num_predict: 500, stop: ['END'], temperature: 0.5, top_p: 0.9 },
      messages: [
        { role: 'system', content: 'You are brief.' },
        { role: 'user', content: 'What is the weather where this was taken?', images: ['iVBORw0KGgo='] },
        {
          role: 'assistant',
          content: 'Let me look.',
          thinking: 'That is Paris. I look it up.',
          tool_calls: [
            { id: 'call_01first', type: 'function', function: { index: 0, name: 'get_weather', arguments: { city: 'Paris' } } },
            { id: 'call_02second', type: 'function', function: { index: 1, name: 'list_files', arguments: {} } },
          ],
        },
        {
          role: 'tool',
          tool_name: 'get_weather',
          tool_call_id: 'call_01first',
          content: '18 °C, "fair" & <dry>\n[image: image/gif]',
        },
        { role: 'tool', tool_name: 'list_files', tool_call_id: 'call_02second', content: 'Error: The disk is gone.' },
        { role: 'assistant', content: '18 °C and fair.' },
        { role: 'user', content: 'And tomorrow?' },
      ],
    });
    expect(tools).toMatchObject([
      { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
      { type: 'function', function: { name: 'list_files', parameters: { type: 'object', properties: {} } } },
    ]);
  });

  it('has settings in their fields, and names those that the API does not have', () => {
    const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } }, required: ['age'] };
    const body = settings(
      {
        topK: 7,
        seed: 42,
        frequencyPenalty: 0.1,
        presencePenalty: 0.2,
        responseFormat: { type: 'json_schema', json_schema: { name: 'age', schema } },
      },
      { whole: true },
      { contextTokens: 65_536, keepAlive: '30m' },
    );
    expect(body).toMatchObject({
      stream: false,
      keep_alive: '30m',
      format: schema,
      options: { num_ctx: 65_536, top_k: 7, seed: 42, frequency_penalty: 0.1, presence_penalty: 0.2 },
      dropped: [],
    });
    expect(settings({ responseFormat: { type: 'json_object' } }).format).toBe('json');
    const withTools = sent({ toolChoice: 'required', settings: { parallelToolCalls: false, responseFormat: { type: 'json_object' } } });
    expect(withTools).not.toHaveProperty('format');
    expect(withTools).not.toHaveProperty('tool_choice');
    expect(withTools.dropped.toSorted()).toEqual(['image/gif', 'parallelToolCalls', 'responseFormat', 'toolChoice']);
    expect(sent({ toolChoice: 'none', settings: { toolChoice: 'none' } })).not.toHaveProperty('tools');
    expect(sent({ settings: { toolChoice: 'auto' } }).dropped).toEqual(['image/gif']);
  });

  it.each([
    ['qwen3:8b', { reasoningEffort: 'none' }, false],
    ['qwen3:8b', { reasoningEffort: 'minimal' }, 'low'],
    ['qwen3:8b', { reasoningEffort: 'xhigh' }, 'max'],
    ['qwen3:8b', { reasoningBudget: 4096 }, 'medium'],
    ['gpt-oss:20b', { reasoningEffort: 'none' }, 'low'],
    ['gpt-oss:20b', { reasoningEffort: 'max' }, 'high'],
    ['qwen3:8b', {}, undefined],
  ])('%s thinks as %o asks', (model, given, think) => {
    const body = settings(given, { model });
    expect(body.think).toBe(think);
    const [[name, asked] = []] = Object.entries(given);
    // Without thinking is exactly what was asked for.
    expect(body.dropped).toEqual(name === undefined || think === false || think === asked ? [] : [`${name}=${think}`]);
  });

  it('does not ask a model to think that would refuse it, and says so', () => {
    for (const model of ['llama3.2:3b', 'gemma3:4b', 'mistral-small', 'acme/qwen2.5-coder:7b']) {
      const body = settings({ reasoningEffort: 'high' }, { model });
      expect(body).not.toHaveProperty('think');
      expect(body.dropped).toEqual(['reasoningEffort']);
    }
  });

  it('returns thoughts to the model that had them, and not to another', () => {
    const parts: AssistantPart[] = [
      { type: 'reasoning', text: 'First this.' },
      { type: 'text', text: 'Yes.' },
    ];
    const said = (model: string) => sent({ messages: [user('hi'), { role: 'assistant', model, parts }, user('and?')] }).messages[1];
    expect(said('home/qwen3:8b')).toEqual({ role: 'assistant', content: 'Yes.', thinking: 'First this.' });
    expect(said('home/gpt-oss:20b')).toEqual({ role: 'assistant', content: 'Yes.' });
  });

  it('sends images of results behind them to models that see those, and a note for an image by URL', () => {
    const results = sent({ messages: goldenConversation().slice(0, 4) }, { imagesInResults: true }).messages;
    expect(results.at(-1)).toEqual({
      role: 'user',
      content: '[From the result of get_weather:]',
      images: [expect.stringMatching(/^[A-Za-z0-9+/=]+$/)],
    });
    const byUrl = sent({
      messages: [
        {
          role: 'user',
          parts: [
            { type: 'image', url: 'https://example.com/a.png' },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
    expect(byUrl.messages).toEqual([{ role: 'user', content: '[image: https://example.com/a.png]\n\nWhat is it?' }]);
    expect(byUrl.dropped).toEqual(['image URL']);
  });

  it('describes tools with the keywords that the server keeps, and the others in words', () => {
    const inputSchema = {
      type: 'object',
      $defs: { place: { oneOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] } },
      properties: { from: { $ref: '#/$defs/place' }, days: { type: 'integer', minimum: 1 }, mode: { const: 'fast' } },
      additionalProperties: false,
    };
    const [tool] = sent({ tools: [{ name: 'plan', description: 'Plans.', inputSchema }] }).tools as { function: { parameters: object } }[];
    const text = JSON.stringify(tool?.function.parameters);
    expect(text).not.toMatch(/"(\$ref|\$defs|oneOf|minLength|minimum|const|additionalProperties)":/);
    expect(tool?.function.parameters).toMatchObject({
      properties: {
        from: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        days: { type: 'integer', description: expect.stringContaining('1') },
        mode: { enum: ['fast'] },
      },
    });
  });
});
