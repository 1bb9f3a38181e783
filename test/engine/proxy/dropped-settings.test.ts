/** A translated chat names in its response what its provider was not sent, streamed and whole. */
import { describe, expect, it } from 'vitest';
import { loadDialect } from '../../../src/dialects/dialects.ts';
import type { ApiDialectName } from '../../../src/core/text/reference.ts';
import { translateChat } from '../../../src/engine/proxy/translate-chat.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { createChatModel } from '../../../src/providers/chat-model.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';
import { anthropic, cohere, gemini, openai, type Participant, responses } from '../switching-speakers.ts';

async function droppedBy({ access, model, create }: Participant, dialect: ApiDialectName, given: object): Promise<string | null> {
  const upstream = create(() => ({ text: 'Hello' }));
  const http: OutboundHttp = async (request) => await upstream.handle(request);
  const clock = fakeClock();
  const deps = { model: createChatModel({ http, rehearsal: http, clock }), clock, ids: countedIds() };
  const body = { model: 'a/b', ...given };
  const answer = await translateChat(
    deps,
    { access, model, dialect: await loadDialect(dialect), body, ref: 'a/b' },
    () => new AbortController().signal,
  );
  await answer.text();
  return answer.headers.get('x-moniker-dropped');
}

const messages = [{ role: 'user', content: 'Hello' }];
/** Claude that thinks by an effort, and one of OpenAI that thinks. */
const adaptive = { ...anthropic, model: 'claude-opus-4-6' };
const thinking = { ...responses, model: 'gpt-5' };
const tool = (name: string, description = '') => ({ type: 'function', function: { name, description, parameters: { type: 'object' } } });

describe.each([true, false])('the header x-moniker-dropped (stream: %s)', (stream) => {
  it('is absent if everything was sent', async () => {
    expect(await droppedBy(anthropic, 'openai-chat', { messages, temperature: 0.5, stop: 'END', stream })).toBeNull();
  });

  it("names settings that a model does not accept, in the client's terms", async () => {
    const reasoning = { ...openai, model: 'gpt-5' };
    const given = { messages, max_tokens: 100, temperature: 0.5, stop_sequences: ['END'], stream };
    expect(await droppedBy(reasoning, 'anthropic-messages', given)).toBe('temperature, stop_sequences');
    expect(await droppedBy({ ...responses, model: 'gpt-5' }, 'openai-chat', { messages, temperature: 0.5, stream })).toBe('temperature');
  });

  it('names a tool that cannot be sent', async () => {
    const tools = [tool('good'), { ...tool('bad'), function: { name: 'bad', parameters: { type: 'string' } } }];
    expect(await droppedBy(anthropic, 'openai-chat', { messages, tools, stream })).toBe('tools.bad');
  });

  it('names a choice that cannot be forced and a format that tools exclude', async () => {
    const given = { messages, tools: [tool('good')], response_format: { type: 'json_object' }, stream };
    expect(await droppedBy(cohere, 'openai-chat', given)).toBe('response_format');
    const chosen = { messages, tools: [tool('good')], tool_choice: 'required', stream };
    expect(await droppedBy({ ...anthropic, model: 'claude-opus-5-5' }, 'openai-chat', chosen)).toBe('tool_choice');
  });
});

describe('a value that is changed to fit', () => {
  it.each<[string, Participant, ApiDialectName, object, string | null]>([
    ['a temperature over 1 for Claude', anthropic, 'openai-chat', { temperature: 1.5 }, 'temperature=1'],
    ['a temperature that fits', anthropic, 'openai-chat', { temperature: 1 }, null],
    ['an effort that the model does not have', adaptive, 'openai-chat', { reasoning_effort: 'xhigh' }, 'reasoning_effort=max'],
    ['an effort that it has', adaptive, 'openai-chat', { reasoning_effort: 'max' }, null],
    ['the effort of Responses', adaptive, 'openai-responses', { input: 'Hello', reasoning: { effort: 'minimal' } }, 'reasoning.effort=low'],
    [
      'a budget for a model with efforts',
      thinking,
      'anthropic-messages',
      { max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 4000 } },
      'thinking.budget_tokens=medium',
    ],
    ['too few tokens for Responses', thinking, 'anthropic-messages', { max_tokens: 5 }, 'max_tokens=16'],
    [
      'an output limit that the budget of thinking exceeds',
      anthropic,
      'openai-chat',
      { max_completion_tokens: 500, reasoning_effort: 'low' },
      'max_completion_tokens=2548',
    ],
    ['two different output limits', anthropic, 'openai-chat', { max_tokens: 5, max_completion_tokens: 50 }, 'max_tokens'],
    ['a seed over 31 bits for Gemini', gemini, 'openai-chat', { seed: 4_294_967_297 }, 'seed=1'],
    [
      'an effort above all budgets of Gemini',
      { ...gemini, model: 'gemini-2.5-flash' },
      'openai-chat',
      { reasoning_effort: 'max' },
      'reasoning_effort=high',
    ],
    [
      'what Cohere limits',
      cohere,
      'openai-chat',
      { top_p: 1, top_k: 900, frequency_penalty: -1, presence_penalty: 2 },
      'top_p=0.99, top_k=500, frequency_penalty=0, presence_penalty=1',
    ],
    ['a sixth stop sequence for Cohere', cohere, 'openai-chat', { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'stop[5]'],
  ])('is named with what is sent: %s', async (_case, participant, dialect, given, named) => {
    const conversation = dialect === 'openai-responses' ? {} : { messages };
    expect(await droppedBy(participant, dialect, { ...conversation, ...given })).toBe(named);
  });
});
