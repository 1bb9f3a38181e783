import { describe, expect, it } from 'vitest';
import type { Usage } from '../../src/core/model/chat-event.ts';
import { anthropicMessages } from '../../src/dialects/anthropic/dialect.ts';
import { openAiChat } from '../../src/dialects/openai-chat/dialect.ts';
import { openAiResponses } from '../../src/dialects/openai-responses/dialect.ts';
import { toReplyDocument } from '../../src/dialects/reply-encoder.ts';
import { anthropic } from '../../src/providers/anthropic/reply.ts';
import { chatCompletions } from '../../src/providers/openai-chat/reply.ts';
import { openaiResponses } from '../../src/providers/openai-responses/reply.ts';
import { access } from './replies.ts';

describe('the usage of Chat Completions', () => {
  const plain = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
  it.each<[string, object, Partial<Usage>]>([
    [
      'xAI’s reasoning beside the output',
      { ...plain, completion_tokens: 2, total_tokens: 329, completion_tokens_details: { reasoning_tokens: 317 } },
      { outputTokens: 319, reasoningTokens: 317 },
    ],
    [
      'OpenAI’s reasoning within the output',
      { ...plain, completion_tokens_details: { reasoning_tokens: 15 } },
      { outputTokens: 20, reasoningTokens: 15 },
    ],
    [
      'reasoning in the total only, as of Google’s compatible API',
      { ...plain, total_tokens: 230 },
      { outputTokens: 220, reasoningTokens: 200 },
    ],
    [
      'more reasoning than output without a total',
      { prompt_tokens: 10, completion_tokens: 5, reasoning_tokens: 40 },
      { outputTokens: 45, reasoningTokens: 40 },
    ],
    ['a total that is too small', { ...plain, total_tokens: 12 }, { outputTokens: 20 }],
    ['DeepSeek’s cache', { ...plain, prompt_cache_hit_tokens: 4 }, { inputTokens: 10, cachedInputTokens: 4 }],
    ['Moonshot’s cache', { ...plain, cached_tokens: 4 }, { inputTokens: 10, cachedInputTokens: 4 }],
    [
      'writes to a cache at OpenRouter',
      { ...plain, prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 6 } },
      { cachedInputTokens: 0, cacheWriteInputTokens: 6 },
    ],
    [
      'writes to a cache at LiteLLM',
      { ...plain, cache_creation_input_tokens: 6, cache_read_input_tokens: 3 },
      { cachedInputTokens: 3, cacheWriteInputTokens: 6 },
    ],
    ['OpenRouter’s cost', { ...plain, cost: 0.25 }, { cost: 0.25 }],
    [
      'OpenRouter’s cost for a key of one’s own',
      { ...plain, cost: 0.25, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } },
      { cost: 0.75 },
    ],
    ['Perplexity’s cost', { ...plain, cost: { input_tokens_cost: 0.1, total_cost: 0.5 } }, { cost: 0.5 }],
    ['xAI’s cost', { ...plain, cost_in_usd_ticks: 37_000_000 }, { cost: 0.0037 }],
    ['a cost that is not an amount', { ...plain, cost: 'free' }, { outputTokens: 20 }],
  ])('has %s', (_, usage, expected) => {
    const read = chatCompletions.readUsage?.(usage);
    expect(read).toEqual({ inputTokens: 10, outputTokens: 20, ...expected });
  });

  const chunk = (more: object, choice: object = {}) => ({ choices: [{ index: 0, delta: {}, ...choice }], ...more });
  const streamed = (...chunks: object[]) => {
    const reply = chatCompletions.createReply(access);
    const text = chunk({}, { delta: { content: 'x' } });
    const all = [text, ...chunks, chunk({}, { finish_reason: 'stop' })];
    const events = all.flatMap((data) => reply.take({ event: 'message', data: JSON.stringify(data) }));
    return [...events, ...reply.take({ event: 'message', data: '[DONE]' })].find(({ type }) => type === 'usage');
  };
  const expected = { type: 'usage', usage: { inputTokens: 10, outputTokens: 20 } };
  it.each<[string, object[]]>([
    ['of the reply', [{ choices: [], usage: plain }]],
    ['of a choice, as of Moonshot', [chunk({}, { usage: plain })]],
    ['of a delta', [chunk({}, { delta: { usage: plain } })]],
    ['of Groq', [chunk({ x_groq: { usage: plain } })]],
    ['of every chunk, growing', [chunk({ usage: { ...plain, completion_tokens: 3, total_tokens: 13 } }), chunk({ usage: plain })]],
    ['before a chunk of zeros', [chunk({ usage: plain }), chunk({ usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } })]],
    ['split over two chunks', [chunk({ usage: { prompt_tokens: 10 } }), chunk({ usage: { completion_tokens: 20 } })]],
  ])('is read in the place %s', (_, chunks) => {
    expect(streamed(...chunks)).toEqual(expected);
  });

  it('is the timings of llama.cpp if there is none', () => {
    const timings = { cache_n: 4, prompt_n: 6, predicted_n: 20, predicted_ms: 12.5 };
    expect(streamed(chunk({ timings }))).toEqual({ type: 'usage', usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 4 } });
  });
});

describe('writes to a cache', () => {
  const wire = { input_tokens: 5, cache_creation_input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 7 };
  const split = { ...wire, cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 } };

  it('are read with the part that is kept for an hour', () => {
    const usage = { inputTokens: 125, outputTokens: 7, cachedInputTokens: 20, cacheWriteInputTokens: 100 };
    expect(anthropic.readUsage?.(wire)).toEqual(usage);
    expect(anthropic.readUsage?.(split)).toEqual({ ...usage, cacheWriteHourInputTokens: 40 });
    const { cache_creation_input_tokens: _, ...onlySplit } = split;
    expect(anthropic.readUsage?.(onlySplit)).toEqual({ ...usage, cacheWriteHourInputTokens: 40 });
    const details = { cached_tokens: 20, cache_write_tokens: 100 };
    expect(openaiResponses.readUsage?.({ input_tokens: 125, output_tokens: 7, input_tokens_details: details })).toEqual(usage);
  });

  it('are told to clients of every dialect', () => {
    const usage = anthropic.readUsage?.(split) ?? { inputTokens: 0, outputTokens: 0 };
    const events = [
      { type: 'text' as const, text: 'x' },
      { type: 'usage' as const, usage },
      { type: 'finish' as const, reason: 'stop' as const, raw: 'stop' },
    ];
    const told = [anthropicMessages, openAiChat, openAiResponses].map(
      (dialect) => toReplyDocument(dialect, events, { id: 'x', model: 'm', created: 1 }).usage,
    );
    expect(told[0]).toEqual(split);
    expect(told[1]).toMatchObject({ prompt_tokens: 125, prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 100 } });
    expect(told[2]).toMatchObject({ input_tokens: 125, input_tokens_details: { cached_tokens: 20, cache_write_tokens: 100 } });
  });
});
