/** A request in its provider's own wire loses only what its model is known to refuse. */
import { describe, expect, it } from 'vitest';
import { createDropped } from '../../src/core/model/dropped.ts';
import type { ApiDialectName } from '../../src/core/text/reference.ts';
import { adaptPassed } from '../../src/providers/supported-settings.ts';
import { profileFor } from '../../src/providers/profiles.ts';

const adapt = (
  model: string,
  body: Record<string, unknown>,
  dialect: ApiDialectName = 'openai-chat',
  kind: 'openai' | 'anthropic' = 'openai',
) => {
  const dropped = createDropped();
  const profile = profileFor({ kind, baseUrl: 'https://x.example/v1', profile: {} }, model);
  return { body: adaptPassed(body, dialect, profile, dropped), dropped: dropped.items().map(({ name }) => name) };
};

describe('a passed request', () => {
  it('for a reasoning model has max_completion_tokens, and no sampling settings, which are named', () => {
    const body = { model: 'x', max_tokens: 50, temperature: 0.2, stop: ['END'], seed: 1 };
    expect(adapt('gpt-5', body)).toEqual({ body: { model: 'x', seed: 1, max_completion_tokens: 50 }, dropped: ['temperature', 'stop'] });
  });

  it('keeps the limit that has the right name, default values, and sampling settings without reasoning', () => {
    expect(adapt('gpt-5', { max_tokens: 50, max_completion_tokens: 60 }).body).toEqual({ max_completion_tokens: 60 });
    const plain = { temperature: 1, top_p: 1, presence_penalty: 0 };
    expect(adapt('gpt-5', plain)).toEqual({ body: plain, dropped: [] });
    const calm = { temperature: 0.2, reasoning_effort: 'none' };
    expect(adapt('gpt-5.2', calm).body).toBe(calm);
  });

  it('is the same object for models that accept everything', () => {
    const body = { max_tokens: 50, temperature: 0.2 };
    expect(adapt('gpt-4o', body).body).toBe(body);
    expect(adapt('claude-sonnet-4-5', body, 'anthropic-messages', 'anthropic').body).toBe(body);
  });

  it('loses the fields of other providers in messages if the server rejects them, by its host, and names them', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const said = { role: 'assistant', content: 'x' };
    const messages = [
      { role: 'user', content: 'hi', reasoning: 'kept' },
      { ...said, reasoning_content: 'Hm.', thinking_blocks: [], tool_calls: [{ ...call, extra_content: { google: {} } }] },
      said,
    ];
    const at = (baseUrl: string) => {
      const dropped = createDropped();
      const profile = profileFor({ kind: 'openai-compatible', baseUrl, profile: {} }, 'm');
      const body = { model: 'm', messages };
      return { same: adaptPassed(body, 'openai-chat', profile, dropped) === body, dropped: dropped.items().map(({ name }) => name) };
    };
    const groq = profileFor({ kind: 'openai-compatible', baseUrl: 'https://api.groq.com/openai/v1', profile: {} }, 'm');
    expect(adaptPassed({ model: 'm', messages }, 'openai-chat', groq, undefined)).toEqual({
      model: 'm',
      messages: [messages[0], { ...said, tool_calls: [call] }, said],
    });
    const all = ['messages[].reasoning_content', 'messages[].thinking_blocks', 'messages[].tool_calls[].extra_content'];
    expect(at('https://api.mistral.ai/v1')).toEqual({ same: false, dropped: all });
    expect(at('https://api.fireworks.ai/inference/v1')).toEqual({ same: false, dropped: ['messages[].thinking_blocks'] });
    expect(at('https://openrouter.ai/api/v1')).toEqual({ same: true, dropped: [] });
    const plain = { model: 'm', messages: [said] };
    expect(adaptPassed(plain, 'openai-chat', groq, undefined)).toBe(plain);
  });

  it('for Claude keeps max_tokens', () => {
    const { body, dropped } = adapt('claude-opus-5', { max_tokens: 50, top_k: 5 }, 'anthropic-messages', 'anthropic');
    expect([body, dropped]).toEqual([{ max_tokens: 50 }, ['top_k']]);
  });
});
