/** Output formats and strict tools in the form that each provider can be held to. */
import { describe, expect, it } from 'vitest';
import { createDropped } from '../../src/core/model/dropped.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import type { ChatRequest } from '../../src/ports/chat-model.ts';
import { toRequestBody } from '../../src/providers/chat-model.ts';

const hosts = { gemini: 'https://generativelanguage.googleapis.com/v1beta' } as Readonly<Record<string, string>>;

function bodyFor(kind: ProviderAccess['kind'], model: string, request: Partial<ChatRequest>) {
  const access = { name: 'a', kind, baseUrl: hosts[kind] ?? 'https://a.example/v1', headers: {}, models: [], profile: {} };
  const dropped = createDropped();
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }];
  const body = toRequestBody({ access, model, messages, tools: [], toolChoice: 'auto', settings: {}, dropped, ...request });
  return { body, dropped: dropped.items().map(({ name }) => name) };
}

const schema = {
  type: 'object',
  properties: { a: { type: 'integer', minimum: 1 }, b: { $ref: '#/$defs/n' } },
  required: ['a'],
  $defs: { n: { type: 'object', properties: { x: { type: 'string', minLength: 3 } } } },
};
const responseFormat = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
const tool = {
  name: 'weather',
  description: '',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const closed = { ...tool.inputSchema, additionalProperties: false };

describe('an output format', () => {
  it('has closed objects and no bounds for Claude, which are described in words', () => {
    const { body, dropped } = bodyFor('anthropic', 'claude-sonnet-4-5', { settings: { responseFormat } });
    expect(dropped).toEqual([]);
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            a: { type: 'integer', description: expect.stringContaining('minimum: 1') },
            b: {
              type: 'object',
              properties: { x: { type: 'string', description: expect.stringContaining('minLength: 3') } },
              additionalProperties: false,
            },
          },
          required: ['a'],
          additionalProperties: false,
        },
      },
    });
  });

  it.each([
    ['a Claude model without structured outputs', 'anthropic', 'claude-3-5-haiku-latest', responseFormat],
    ['Claude without a schema', 'anthropic', 'claude-sonnet-4-5', { type: 'json_object' }],
  ] as const)('is asked for in the prompt and named for %s', (_title, kind, model, format) => {
    const { body, dropped } = bodyFor(kind, model, { settings: { responseFormat: format } });
    expect(dropped).toEqual(['responseFormat']);
    expect(body.output_config).toBeUndefined();
    expect(JSON.stringify(body.system)).toContain('JSON object');
  });

  it('is asked for where tools exclude it', () => {
    const { body, dropped } = bodyFor('gemini', 'gemini-2.5-flash', { settings: { responseFormat }, tools: [tool] });
    expect(dropped).toEqual(['responseFormat']);
    expect(JSON.stringify(body.systemInstruction)).toContain('JSON Schema');
    expect(body.generationConfig).toBeUndefined();
  });

  it('is enforced by OpenAI only if all fields are required, and otherwise sent to be followed', () => {
    const loose = bodyFor('openai', 'gpt-5', { settings: { responseFormat } });
    expect(loose.body.response_format).toEqual({ type: 'json_schema', json_schema: { name: 'answer', schema, strict: false } });
    expect(loose.dropped).toEqual(['responseFormat.strict']);
    const complete = { type: 'json_schema', json_schema: { name: 'answer', schema: closed, strict: true } };
    const strict = bodyFor('openai-responses', 'gpt-5', { settings: { responseFormat: complete } });
    expect([strict.body.text, strict.dropped]).toEqual([
      { format: { type: 'json_schema', name: 'answer', schema: closed, strict: true } },
      [],
    ]);
  });
});

describe('a strict tool', () => {
  const strict = { ...tool, inputSchema: closed, strict: true };

  it('is strict for OpenAI and Claude', () => {
    expect(bodyFor('openai', 'gpt-5', { tools: [strict] })).toMatchObject({
      body: { tools: [{ function: { strict: true } }] },
      dropped: [],
    });
    expect(bodyFor('openai-responses', 'gpt-5', { tools: [strict] })).toMatchObject({ body: { tools: [{ strict: true }] }, dropped: [] });
    const open = { ...strict, inputSchema: tool.inputSchema };
    const claude = bodyFor('anthropic', 'claude-sonnet-4-5', { tools: [open] });
    expect(claude).toMatchObject({ body: { tools: [{ strict: true, input_schema: closed }] }, dropped: [] });
  });

  it.each([
    ['gemini', 'gemini-3-flash', strict],
    ['anthropic', 'claude-3-7-sonnet-latest', strict],
    ['openai', 'gpt-5', { ...strict, inputSchema: tool.inputSchema }],
  ] as const)('is named where %s cannot enforce it', (kind, model, given) => {
    const { body, dropped } = bodyFor(kind, model, { tools: [given] });
    expect(dropped).toEqual(['tools.weather.strict']);
    expect(JSON.stringify(body)).not.toContain('strict');
  });
});

it('stop sequences beyond what a model accepts are named', () => {
  const stop = ['1', '2', '3', '4', '5', '6'];
  const { body, dropped } = bodyFor('cohere', 'command-a-03-2025', { settings: { stop } });
  expect([body.stop_sequences, dropped]).toEqual([stop.slice(0, 5), ['stop[5]']]);
  expect(bodyFor('openai', 'gpt-4o', { settings: { stop } }).dropped).toEqual(['stop[4]', 'stop[5]']);
});
