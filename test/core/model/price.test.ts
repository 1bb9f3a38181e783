import { describe, expect, it } from 'vitest';
import { costOf, priceOf } from '../../../src/core/model/price.ts';

const price = (input: number) => ({ input, output: 0 });
const kind = 'openai' as const;

describe('a price', () => {
  it.each([
    ['gpt-5', 'gpt-5', true],
    ['gpt-5', 'gpt-5-mini', false],
    ['gpt-*', 'gpt-5-mini', true],
    ['*', 'anything/at/all', true],
    ['*mini', 'gpt-5-mini', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['a*bb*b', 'abb', false],
    ['gpt.5', 'gptx5', false],
    // Providers find a model in any case.
    ['gpt-5', 'GPT-5', true],
    ['GPT-*', 'gpt-5-mini', true],
    ['gpt-5', 'gpt-5 ', false],
    // Gateways that take several models in one name.
    ['gpt-5*', 'gpt-5,claude-opus-4-1', false],
    ['*', 'gpt-5 claude', false],
    ['gpt-5,o3', 'gpt-5,o3', true],
  ])('for "%s" applies to %s: %s', (pattern, model, fits) => {
    expect(priceOf({ kind, prices: { [pattern]: price(1) }, baseUrl: 'http://here' }, model) !== null).toBe(fits);
  });

  it('is that of the most specific pattern', () => {
    const prices = { '*': price(1), 'gpt-*': price(2), 'gpt-5': price(3), 'gpt-5-*': price(4) };
    expect(['o3', 'gpt-4', 'gpt-5', 'gpt-5-mini'].map((model) => priceOf({ kind, prices, baseUrl: 'http://here' }, model)?.input)).toEqual([
      1, 2, 3, 4,
    ]);
  });

  it('is that of the name in the same case, if there are several', () => {
    const prices = { 'gpt-5': price(1), 'GPT-5': price(2), 'gpt-*': price(3) };
    expect(['gpt-5', 'GPT-5', 'Gpt-5'].map((model) => priceOf({ kind, prices, baseUrl: 'http://here' }, model)?.input)).toEqual([1, 2, 1]);
  });

  it('is that of the model that Gemini is asked for, which is the last part of its name', () => {
    const gemini = { kind: 'gemini' as const, prices: { 'gemini-flash*': price(1), 'gemini-pro': price(9) }, baseUrl: 'http://here' };
    const names = ['gemini-pro', 'models/gemini-pro', 'gemini-flash/gemini-pro', 'gemini-flash/x/../gemini-pro', 'models/GEMINI-PRO'];
    expect(names.map((model) => priceOf(gemini, model)?.input)).toEqual([9, 9, 9, 9, 9]);
    expect(priceOf(gemini, 'gemini-flash/tunedModels/gemini-pro')).toBeNull();
  });

  it('is per million tokens', () => {
    expect(costOf({ input: 2, output: 10 }, { inputTokens: 500_000, outputTokens: 100_000 })).toBe(2);
  });

  it('differs for input that the provider reads from its cache or writes to it, if the price says so', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 400_000, cacheWriteInputTokens: 100_000 };
    expect(costOf({ input: 10, output: 0 }, usage)).toBe(10);
    expect(costOf({ input: 10, output: 0, cachedInput: 1, cacheWrite: 12.5 }, usage)).toBeCloseTo(5 + 0.4 + 1.25, 9);
  });

  it('differs for input that the provider keeps in its cache for an hour', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheWriteInputTokens: 1_000_000, cacheWriteHourInputTokens: 400_000 };
    expect(costOf({ input: 3, output: 0, cacheWrite: 4 }, usage)).toBeCloseTo(4, 9);
    expect(costOf({ input: 3, output: 0, cacheWrite: 4, cacheWriteHour: 6 }, usage)).toBeCloseTo(2.4 + 2.4, 9);
  });

  it('of the list, or none, gives way to the cost that the provider reports; one of the administrator stays', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cost: 0.5 };
    expect(costOf(null, usage)).toBe(0.5);
    expect(costOf({ ...price(7), isListed: true }, usage)).toBe(0.5);
    expect(costOf(price(7), usage)).toBe(7);
    expect(costOf(null, { inputTokens: 1, outputTokens: 1 })).toBeNull();
  });

  it.each([
    ['https://api.openai.com/v1', 'gpt-5-mini-2025-08-07', 0.25],
    ['https://api.openai.com/v1', 'gpt-5', 1.25],
    ['https://api.openai.com/v1', 'GPT-5', 1.25],
    ['https://api.openai.com/v1', 'omni-moderation-latest', 0],
    ['https://api.openai.com/v1', 'gpt-5-secret-model', undefined],
    ['https://api.anthropic.com/v1', 'claude-sonnet-4-5-20250929', 3],
    ['https://generativelanguage.googleapis.com/v1beta', 'models/gemini-2.5-pro', 1.25],
    ['https://elsewhere.example/v1', 'gpt-5', undefined],
    ['nonsense', 'gpt-5', undefined],
    ['https://constructor/v1', 'gpt-5', undefined],
  ])('of %s for %s is the list price, or unknown', (baseUrl, model, input) => {
    expect(priceOf({ kind: baseUrl.includes('googleapis') ? 'gemini' : kind, baseUrl }, model)?.input).toBe(input);
  });

  it('of a provider replaces the list price', () => {
    expect(priceOf({ kind, baseUrl: 'https://api.openai.com/v1', prices: { 'gpt-5': price(7) } }, 'gpt-5')).toEqual(price(7));
  });
});
