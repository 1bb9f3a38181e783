import { describe, expect, it } from 'vitest';
import type { ApiDialectName } from '../../src/core/text/reference.ts';
import { loadDialect } from '../../src/dialects/dialects.ts';
import { countWork } from './counted-work.ts';

const steps = (count: number, make: (id: string) => unknown[]): unknown[] =>
  Array.from({ length: count }, (_, index) => make(`id_${index}`)).flat();
const callsFirst = (count: number, call: (id: string) => unknown, result: (id: string) => unknown): unknown[] => [
  ...steps(count, (id) => [call(id)]),
  ...steps(count, (id) => [result(id)]),
];

const text = 'some words of it';
const chat = {
  call: (id: string) => ({
    role: 'assistant',
    content: text,
    tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
  }),
  result: (id: string) => ({ role: 'tool', tool_call_id: id, content: text }),
};
const responses = {
  call: (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' }),
  result: (id: string) => ({ type: 'function_call_output', call_id: id, output: text }),
};
const messages = {
  call: (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] }),
  result: (id: string) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] }),
};

const gemini = {
  call: (id: string) => ({ role: 'model', parts: [{ functionCall: { id, name: 'f', args: {} } }] }),
  result: (id: string) => ({ role: 'user', parts: [{ functionResponse: { id, name: 'f', response: { output: text } } }] }),
};

describe.each<[ApiDialectName, string, { call(id: string): unknown; result(id: string): unknown }, unknown]>([
  ['openai-chat', 'messages', chat, { role: 'user', content: text }],
  ['openai-responses', 'input', responses, { role: 'user', content: text }],
  ['anthropic-messages', 'messages', messages, { role: 'user', content: text }],
  ['gemini', 'contents', gemini, { role: 'user', parts: [{ text }] }],
])('a request of %s', async (name, field, { call, result }, user) => {
  const { readRequest, sessionOfCalls } = await loadDialect(name);
  const workOf = (conversation: unknown[]): number => {
    const body = { model: 'a/b', max_tokens: 1, [field]: [...conversation, user] };
    return countWork(() => {
      sessionOfCalls(body);
      readRequest(body).conversation({ inSession: false });
    });
  };

  it.each([
    ['calls with their results', (size: number) => steps(size, (id) => [call(id), result(id)])],
    ['calls, and all results after them', (size: number) => callsFirst(size, call, result)],
    ['user messages', (size: number) => steps(size, () => [user])],
  ])('does twice the work for twice as many %s', (_what, conversation) => {
    const [once, twice] = [workOf(conversation(256)), workOf(conversation(512))];
    expect(once).toBeGreaterThan(256);
    expect(twice).toBeLessThan(once * 2.2);
  });
});
