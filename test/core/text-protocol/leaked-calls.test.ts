import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { LeakedCalls } from '../../../src/core/text-protocol/leaked-calls.ts';
import { TextToolCalls } from '../../../src/core/text-protocol/tool-calls.ts';

const call = '<tool_call>\n{"name": "get", "arguments": {"a": 1}}\n</tool_call>';
const text = (words: string): ChatEvent => ({ type: 'text', text: words });
const finish = (reason: 'stop' | 'length' = 'stop'): ChatEvent => ({ type: 'finish', reason, raw: reason });
const usage: ChatEvent = { type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } };
const thought: ChatEvent = { type: 'reasoning', text: 'Hm.' };

function take(events: readonly ChatEvent[], bare = true): ChatEvent[] {
  const leaks = new LeakedCalls({ isTool: (name) => name === 'get', bare }, TextToolCalls);
  return events.flatMap((event) => leaks.take([event]));
}

describe('a reply without native calls', () => {
  it('that is only a call in text is that call, marked, and calls are its reason to end', () => {
    expect(take([thought, text(call.slice(0, 20)), text(call.slice(20)), usage, finish()])).toEqual([
      thought,
      usage,
      { type: 'call-start', call: 0, name: 'get', nativeId: null },
      { type: 'call-delta', call: 0, text: '{"a":1}' },
      { type: 'call-end', call: 0, state: 'ok', arguments: { a: 1 }, raw: '{"a":1}', recovered: true },
      { type: 'finish', reason: 'tool-calls', raw: 'stop' },
    ]);
  });

  it('may consist of several calls, which run in order', () => {
    const events = take([text(`${call}\n${call}`), finish()]);
    expect(events.filter(({ type }) => type === 'call-end')).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ reason: 'tool-calls', inOrder: true });
  });

  const native: ChatEvent[] = [
    { type: 'call-start', call: 0, name: 'get', nativeId: 'n' },
    { type: 'call-end', call: 0, state: 'ok', arguments: {}, raw: '' },
  ];
  it.each<[string, ChatEvent[]]>([
    ['words before it', [text('So: '), text(call), finish()]],
    ['words behind it', [text(call), text(' is it.'), finish()]],
    ['a fence around it', [text(`\`\`\`json\n{"name": "get", "arguments": {}}\n\`\`\``), finish()]],
    ['a fence with a tag', [text(`\`\`\`\n${call}\n\`\`\``), finish()]],
    ['another tool', [text(call.replace('get', 'other')), finish()]],
    ['JSON that needs a repair', [text(`<tool_call>{'name': 'get', 'arguments': {}}</tool_call>`), finish()]],
    ['a result of its own', [text(`${call}\n<tool_response>7</tool_response>`), finish()]],
    ['reasoning in its text', [text(`<think>hm</think>${call}`), finish()]],
    ['a native call', [text(call), ...native, finish()]],
    ['a cut', [text(call), finish('length')]],
    ['nothing but space', [text(' \n'), finish()]],
    [
      'an error',
      [text(call), { type: 'error', problem: { type: 'x', title: 'x', status: 502, code: 'upstream_error' } as never, retryable: true }],
    ],
    ['a refusal', [{ type: 'text', text: call, refusal: true }, finish()]],
  ])('is unchanged with %s', (_what, events) => expect(take(events)).toEqual(events));

  it('may be JSON without marks, unless JSON was asked for', () => {
    const events = [text('{"name": "get", "arguments": {"a": 1}}'), finish()];
    expect(take(events).map(({ type }) => type)).toEqual(['call-start', 'call-delta', 'call-end', 'finish']);
    expect(take(events, false)).toEqual(events);
  });

  it('passes other text on at once, and from then on every batch as it is', () => {
    const leaks = new LeakedCalls({ isTool: () => true, bare: true }, TextToolCalls);
    expect(leaks.take([text('\n')])).toEqual([]);
    expect(leaks.take([text('Hi')])).toEqual([text('\n'), text('Hi')]);
    const batch = [text(call)];
    expect(leaks.take(batch)).toBe(batch);
  });
});

it('needs the parser only for text that may begin with a call', () => {
  const leaks = new LeakedCalls({ isTool: () => true, bare: true });
  expect(leaks.needsParser([thought, usage, text(' \n')])).toBe(false);
  expect(leaks.take([thought, text(' \n')])).toEqual([thought]);
  expect(leaks.needsParser([text(call)])).toBe(true);
  leaks.useParser(TextToolCalls);
  expect(leaks.take([text(call), finish()]).filter(({ type }) => type === 'call-end')).toHaveLength(1);
  const plain = new LeakedCalls({ isTool: () => true, bare: true });
  expect(plain.needsParser([text('Hello')])).toBe(false);
  expect(plain.take([text('Hello'), text('<b>')])).toEqual([text('Hello'), text('<b>')]);
  expect(plain.needsParser([text('<b>')])).toBe(false);
});
