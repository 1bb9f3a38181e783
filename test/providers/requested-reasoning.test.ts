/** The requested reasoning, and the effort that a model supports. */
import { describe, expect, it } from 'vitest';
import { effortLevel, requestedReasoning } from '../../src/providers/supported-settings.ts';

describe('requested reasoning', () => {
  it.each([
    [{}, null],
    [{ reasoningBudget: 0 }, 'off'],
    [{ reasoningEffort: 'none' }, 'off'],
    [{ reasoningBudget: 0, reasoningEffort: 'high' }, 'off'],
    [{ reasoningBudget: 500, reasoningEffort: 'none' }, { budget: 500 }],
    [
      { reasoningBudget: 500, reasoningEffort: 'high' },
      { budget: 500, effort: 'high' },
    ],
  ])('of %j is %j', (settings, wish) => {
    expect(requestedReasoning(settings)).toEqual(wish);
  });

  it.each([
    ['off', null, 'none'],
    ['off', ['minimal', 'low'], 'minimal'],
    [{ effort: 'minimal' }, ['low', 'medium', 'high'], 'low'],
    [{ effort: 'medium' }, ['low', 'high', 'max'], 'high'],
    [{ effort: 'max' }, ['low', 'medium', 'high'], 'high'],
    [{ effort: 'low' }, ['none', 'default'], 'default'],
    [{ effort: 'deepest' }, ['low', 'high'], 'deepest'],
    [{ budget: 1000 }, null, 'low'],
    [{ budget: 8192 }, null, 'medium'],
    [{ budget: 100_000 }, null, 'high'],
    [{ budget: 100_000, effort: 'low' }, null, 'low'],
  ] as const)('of %j with the efforts %j becomes %j', (wish, efforts, word) => {
    expect(effortLevel(wish, efforts, { settings: {} })).toBe(word);
  });
});
