import { describe, expect, it } from 'vitest';
import { modelFacts, ProviderModel } from '../../../src/core/model/model-facts.ts';
import { tabledFacts } from '../../../src/core/model/model-table.ts';

const openai = 'https://api.openai.com/v1';

describe('the table of models', () => {
  it('finds a model, its dated versions and its name in any case, by the longest beginning', () => {
    const names = ['gpt-5', 'GPT-5', 'gpt-5-2025-08-07', 'gpt-5.1', 'gpt-5-chat-latest', 'gpt-4o-2024-05-13'];
    expect(names.map((name) => tabledFacts(openai, name).maxOutputTokens)).toEqual([128_000, 128_000, 128_000, 128_000, 128_000, 4_096]);
    expect(tabledFacts(openai, 'gpt-5-chat-latest').tools).toBe(false);
  });

  it('says nothing of other models, and nothing of the same names at other hosts', () => {
    expect(['gpt-5-turbo-of-mine', 'toString', '__proto__', ''].map((name) => tabledFacts(openai, name))).toEqual([{}, {}, {}, {}]);
    expect(tabledFacts('https://gateway.example.com/v1', 'gpt-5')).toEqual({});
    expect(tabledFacts('no url', 'gpt-5')).toEqual({});
  });

  it('gives the maximum input only if it is less than the context window', () => {
    expect(tabledFacts(openai, 'gpt-5')).toMatchObject({ contextTokens: 400_000, maxInputTokens: 272_000 });
    expect(tabledFacts('https://api.anthropic.com/v1', 'claude-sonnet-4-6')).toEqual({
      contextTokens: 1_000_000,
      maxOutputTokens: 64_000,
      inputs: ['text', 'image', 'pdf'],
      tools: true,
      reasoning: true,
    });
  });
});

describe('an entry of `models`', () => {
  it('is a name, as in older documents, or a name with facts', () => {
    expect(modelFacts(ProviderModel.parse('gpt-5'))).toEqual({});
    expect(modelFacts(ProviderModel.parse({ model: 'own', contextTokens: 10, inputs: ['text'] }))).toEqual({
      contextTokens: 10,
      inputs: ['text'],
    });
  });

  it.each([
    { model: 'own', contextTokens: 0 },
    { model: 'own', contextTokens: 1.5 },
    { model: 'own', contextLength: 10 },
    { model: '' },
    { contextTokens: 10 },
    { model: 'own', inputs: ['smell'] },
  ])('is refused as %j', (entry) => {
    expect(ProviderModel.safeParse(entry).success).toBe(false);
  });
});
