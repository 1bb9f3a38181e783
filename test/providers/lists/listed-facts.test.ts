import { describe, expect, it } from 'vitest';
import { readListedFacts } from '../../../src/providers/lists/listed-facts.ts';

const supported = { supported: true };
const capabilities = { image_input: supported, pdf_input: { supported: false }, thinking: { ...supported, types: {} } };

describe('readListedFacts', () => {
  it.each([
    [
      'Anthropic',
      { max_input_tokens: 1_000_000, max_tokens: 64_000, capabilities },
      { maxInputTokens: 1_000_000, maxOutputTokens: 64_000, inputs: ['text', 'image'], reasoning: true },
    ],
    ['Gemini', { inputTokenLimit: 10, outputTokenLimit: 5, thinking: true }, { maxInputTokens: 10, maxOutputTokens: 5, reasoning: true }],
    ['Mistral', { max_context_length: 9, capabilities: { function_calling: true } }, { contextTokens: 9, tools: true }],
    ['Groq', { context_window: 8, max_completion_tokens: 4 }, { contextTokens: 8, maxOutputTokens: 4 }],
    ['Cohere', { context_length: 7, endpoints: ['chat'] }, { contextTokens: 7 }],
    ['vLLM', { max_model_len: 6 }, { contextTokens: 6 }],
    ['OpenAI', { id: 'gpt-5', object: 'model' }, {}],
  ])('reads the members of %s', (_, row, facts) => {
    expect(readListedFacts(row).facts).toEqual(facts);
  });

  it('keeps the capabilities that Anthropic reports, and none of another shape or size', () => {
    expect(readListedFacts({ capabilities }).capabilities).toEqual(capabilities);
    expect(readListedFacts({ capabilities: { function_calling: true } }).capabilities).toBeUndefined();
    expect(readListedFacts({ capabilities: { ...capabilities, more: 'x'.repeat(10_000) } }).capabilities).toBeUndefined();
  });

  it.each([
    ['text instead of numbers', { context_length: '8192', max_tokens: '1' }],
    ['numbers that are no counts', { context_length: -1, context_window: 0, max_tokens: 1.5, max_model_len: 1e12 }],
    ['members that are no objects', { architecture: 'text', capabilities: ['x'], top_provider: 7, supported_parameters: 'tools' }],
    ['modalities that do not exist', { architecture: { input_modalities: ['smell', 7], output_modalities: [] } }],
  ])('leaves out %s', (_, row) => {
    expect(readListedFacts(row)).toEqual({ facts: {} });
  });
});
