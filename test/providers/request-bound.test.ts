/** The output that a request reserves, by the wire of its provider: the member that the provider reads, or else what its model can write. */
import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import type { ModelSettings } from '../../src/core/model/model-settings.ts';
import { toRequestBody } from '../../src/providers/chat-model.ts';
import { requestBound } from '../../src/providers/request-bound.ts';
import { goldenRequest } from './golden-conversation.ts';

const at = (kind: ProviderAccess['kind'], baseUrl = 'https://models.example/v1', profile = {}): ProviderAccess => ({
  ...{ name: 'p', kind, baseUrl, headers: {}, models: [], profile },
});
const output = (access: ProviderAccess, body: object, model = 'm') =>
  requestBound({ access, model }, body as Record<string, unknown>).outputTokens;
const unknown = 131_072;
const compatible = at('openai-compatible');

describe('the output that a body reserves', () => {
  it.each([
    ['openai', { max_completion_tokens: 7 }, 7],
    ['openai', { max_tokens: 7 }, 7],
    ['openai', { max_tokens: 7, max_completion_tokens: 900 }, 900],
    ['openai', { max_completion_tokens: 7, n: 4 }, 28],
    ['openai', { max_output_tokens: 7 }, unknown],
    ['openai-compatible', { max_tokens: 7 }, 7],
    // A server that only knows the older field ignores the newer one.
    ['openai-compatible', { max_completion_tokens: 7 }, unknown],
    ['openai-compatible', { max_tokens: 7, n: '3' }, 21],
    ['openai-responses', { max_output_tokens: 7 }, 7],
    ['openai-responses', { max_tokens: 7 }, unknown],
    ['anthropic', { max_tokens: 7 }, 7],
    ['anthropic', { max_output_tokens: 7 }, unknown],
    ['cohere', { max_tokens: 7 }, 7],
    ['ollama', { options: { num_predict: 7 } }, 7],
    ['ollama', { max_tokens: 7 }, unknown],
    ['gemini', { generationConfig: { maxOutputTokens: 7 } }, 7],
    ['gemini', { max_tokens: 7 }, 65_536],
    ['rehearsal', {}, 4_096],
  ] as const)('for a provider of kind %s with %j is %i tokens', (kind, body, tokens) => {
    expect(output(at(kind), body)).toBe(tokens);
  });

  it.each([0, -1, 1.5, '5', true, [5], {}, null, Number.MAX_VALUE])(
    'is that of no limit for max_tokens %j, which servers read in several ways',
    (limit) => {
      expect(output(compatible, { max_tokens: limit })).toBe(unknown);
    },
  );

  it.each([
    ['gpt-4o-mini', 16_384],
    ['gpt-4.1', 32_768],
    ['gpt-3.5-turbo', 4_096],
    ['o3-mini', 100_000],
    ['gpt-5', unknown],
  ])('without a limit is what %s writes at most', (model, tokens) => {
    expect(output(at('openai'), {}, model)).toBe(tokens);
  });

  it('has the tokens that images have for its model', () => {
    const body = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://here/x.png' } }] }] };
    const input = (model: string, profile = {}) => requestBound({ access: at('openai', undefined, profile), model }, body).inputTokens;
    expect(input('gpt-4o-mini') - input('gpt-4o')).toBe(48_169 - 10_000);
    expect(input('m', { imageTokens: 3_000 }) - input('gpt-4o')).toBe(3_000 - 10_000);
  });

  it('without a limit is that of the profile of the provider', () => {
    expect(output(at('openai-compatible', undefined, { maxOutputTokens: 2_000 }), {})).toBe(2_000);
    expect(output(at('openai-compatible', undefined, { maxTokensField: 'max_completion_tokens' }), { max_completion_tokens: 7 })).toBe(7);
  });
});

describe('a request of a turn', () => {
  const kinds = ['openai', 'openai-compatible', 'openai-responses', 'anthropic', 'cohere', 'gemini', 'ollama', 'rehearsal'] as const;
  const settings: ModelSettings[] = [
    {},
    { maxOutputTokens: 3_000 },
    { maxOutputTokens: 500, reasoningBudget: 8_000 },
    { reasoningEffort: 'high' },
  ];

  it.each(kinds)('to a provider of kind %s reserves at least what its settings allow', (kind) => {
    for (const given of settings) {
      const request = goldenRequest({ kind }, { settings: given, model: kind === 'anthropic' ? 'claude-sonnet-4-5' : 'm' });
      const body = toRequestBody(request);
      const bound = requestBound(request, body);
      expect(bound.outputTokens, JSON.stringify(given)).toBeGreaterThanOrEqual(given.maxOutputTokens ?? 4_096);
      const { budget_tokens: thinking = 0 } = (body.thinking ?? {}) as { budget_tokens?: number };
      expect(bound.outputTokens, JSON.stringify(given)).toBeGreaterThan(thinking);
      // An image counts flat.
      const text = JSON.stringify({ ...body, model: '' }).length;
      expect(bound.inputTokens).toBeGreaterThan(text * 0.9);
    }
  });
});
