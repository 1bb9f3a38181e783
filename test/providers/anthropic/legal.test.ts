import { expect, it } from 'vitest';
import type { AssistantPart, Message, ToolResultPart } from '../../../src/core/model/message.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import { toRequestBody } from '../../../src/providers/chat-model.ts';
import { fakeAnthropic, signatureOf } from '../../fakes/upstreams/anthropic.ts';
import { goldenRequest, goldenTools } from '../golden-conversation.ts';

type Random = { of<T>(values: readonly T[]): T; chance(): boolean };

function seeded(seed: number): Random {
  let state = seed * 7919 + 1;
  const next = (most: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * most);
  };
  return { of: <T>(values: readonly T[]) => values[next(values.length)] as T, chance: () => next(2) === 0 };
}

const texts = ['Hi.', '', ' \n', 'Once upon '];

/** Anything that a log, a client's history and other models may contain, in any order. */
function conversation(random: Random): Message[] {
  const messages: Message[] = [];
  const calls: string[] = [];
  for (let count = 0; count < 12; count++) {
    const role = random.of(['system', 'user', 'assistant', 'assistant', 'tool', 'tool'] as const);
    if (role === 'system') messages.push({ role, parts: [{ type: 'text', text: random.of(texts) }] });
    else if (role === 'user') messages.push({ role, parts: [{ type: 'text', text: random.of(texts) }] });
    else if (role === 'tool') messages.push({ role, parts: calls.splice(0, random.of([1, 2, 3])).map((callId) => result(callId, random)) });
    else messages.push(assistant(random, calls));
  }
  return messages;
}

function assistant(random: Random, calls: string[]): Message {
  const model = random.of(['golden/claude-haiku-4-5', 'golden/claude-haiku-4-5', 'openai/gpt-5', undefined]);
  const parts: AssistantPart[] = [];
  for (let count = 0; count < random.of([0, 1, 2, 4]); count++) {
    const kind = random.of(['text', 'thinking', 'tool-call'] as const);
    if (kind === 'text') parts.push({ type: kind, text: random.of(texts) });
    if (kind === 'thinking') {
      const data = { api: 'anthropic', type: 'thinking', signature: signatureOf('Hm.') };
      parts.push({ type: 'reasoning', text: 'Hm.' }, { type: 'native', provider: random.of(['golden', 'openai']), data });
    }
    if (kind !== 'tool-call') continue;
    const callId = `call_${calls.length}_${random.of(['a', 'b:', 'é'])}${Math.abs(parts.length)}_${counter++}`;
    calls.push(callId);
    parts.push({
      type: kind,
      callId,
      requested: random.of(['ls', 'no such.tool!', '']),
      canonical: null,
      via: null,
      arguments: random.of([{ a: 1 }, null]),
      raw: '{',
    });
  }
  return { role: 'assistant', parts, ...(model !== undefined && { model }) };
}
let counter = 0;

function result(callId: string, random: Random): ToolResultPart {
  const content = random.of<ToolResultPart['content']>([
    [],
    [{ type: 'text', text: ' ' }],
    [
      { type: 'text', text: 'ok' },
      { type: 'image', data: 'R0lGODlhAQABAAAAACw=', mimeType: random.of(['image/gif', 'image/tiff']) },
    ],
  ]);
  return { type: 'tool-result', callId, requested: 'ls', canonical: null, isError: random.chance(), content };
}

it('any conversation becomes a request that the API accepts', async () => {
  const fake = fakeAnthropic(() => ({ text: 'Fine.' }));
  for (let seed = 1; seed <= 600; seed++) {
    const random = seeded(seed);
    const fields: Partial<ChatRequest> = {
      model: 'claude-haiku-4-5',
      messages: conversation(random),
      tools: random.of([goldenTools, []]),
      toolChoice: random.of(['auto', 'none', 'required', { tool: 'list_files' }] as const),
      settings: random.of([{}, { reasoningBudget: 2000, temperature: 0.3, topK: 4 }, { temperature: 2, topP: 0.3, stop: [' '] }]),
    };
    const body = toRequestBody(goldenRequest({ kind: 'anthropic' }, fields));
    const headers = { 'anthropic-version': '2023-06-01' };
    await fake.handle(new Request('https://a.example/v1/messages', { method: 'POST', headers, body: JSON.stringify(body) }));
    expect(fake.refused, JSON.stringify(body.messages)).toEqual([]);
  }
  expect(fake.understood).toHaveLength(600);
});
