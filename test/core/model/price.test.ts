import { describe, expect, it } from 'vitest';
import { costOf, priceOf } from '../../../src/core/model/price.ts';

const price = (input: number) => ({ input, output: 0 });

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
  ])('for "%s" applies to %s: %s', (pattern, model, fits) => {
    expect(priceOf({ [pattern]: price(1) }, model) !== null).toBe(fits);
  });

  it('is that of the most specific pattern', () => {
    const prices = { '*': price(1), 'gpt-*': price(2), 'gpt-5': price(3), 'gpt-5-*': price(4) };
    expect(['o3', 'gpt-4', 'gpt-5', 'gpt-5-mini'].map((model) => priceOf(prices, model)?.input)).toEqual([1, 2, 3, 4]);
  });

  it('is per million tokens', () => {
    expect(costOf({ input: 2, output: 10 }, { inputTokens: 500_000, outputTokens: 100_000 })).toBe(2);
  });
});
