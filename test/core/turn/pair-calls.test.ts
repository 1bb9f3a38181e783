import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, ToolCallPart } from '../../../src/core/model/message.ts';
import { callNames, pairCalls, resultMessage } from '../../../src/core/turn/pair-calls.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const part = (callId: string): ToolCallPart => ({ type: 'tool-call', callId, requested: 'f', canonical: null, via: null, arguments: {} });
const call = (callId: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text: 'looking' }, part(callId)] });
const result = (...callIds: string[]): Message => {
  const calls: Message = { role: 'assistant', parts: callIds.map(part) };
  return resultMessage(
    callIds.map((callId) => ({ callId, content: [], isError: false })),
    callNames([calls]),
  );
};

describe('a history from elsewhere', () => {
  it('has one result directly after each call, in call order', () => {
    const calls: Message = { role: 'assistant', parts: [part('c1'), part('c2')] };
    expect(pairCalls([user('a'), calls, result('c2'), user('b'), result('c1')])).toEqual([user('a'), calls, result('c1', 'c2'), user('b')]);
  });

  it('gets missing results filled in and loses results without a call', () => {
    const paired = pairCalls([result('x'), call('c1'), user('b'), { role: 'assistant', parts: [] }, assistant('c')]);
    expect(paired.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user', 'assistant']);
    expect(paired[1]?.parts).toEqual([expect.objectContaining({ callId: 'c1', isError: true, code: 'aborted' })]);
  });

  it('may reuse an id in a later step', () => {
    const history = [call('c1'), result('c1'), call('c1'), result('c1'), call('c1')];
    expect(pairCalls(history).map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool']);
  });

  it('has distinct ids, also where one message or several repeat them, and keeps the order of their results', () => {
    const said = (callId: string, text: string) => ({ ...part(callId), arguments: { text } });
    const given = (...texts: string[]): Message =>
      resultMessage(
        texts.map((text) => ({ callId: 'c0', content: [{ type: 'text', text }], isError: false })),
        new Map([['c0', 'f']]),
      );
    const twice: Message = { role: 'assistant', parts: [said('c0', 'a'), said('c0', 'b')] };
    const paired = pairCalls([twice, given('A', 'B'), { role: 'assistant', parts: [said('c0', 'c')] }, given('C'), call('c0_1')]);
    const shown = paired.flatMap(({ parts }) =>
      parts.flatMap((one) =>
        one.type === 'tool-call' ? [[one.callId, one.arguments?.text]] : one.type === 'tool-result' ? [[one.callId, one.content[0]]] : [],
      ),
    );
    const text = (content: string) => ({ type: 'text', text: content });
    expect(shown.slice(0, 6)).toEqual([
      ...[
        ['c0', 'a'],
        ['c0_1', 'b'],
        ['c0', text('A')],
        ['c0_1', text('B')],
      ],
      ...[
        ['c0_2', 'c'],
        ['c0_2', text('C')],
      ],
    ]);
    expect(shown[6]?.[0]).toBe('c0_1_1');
    expect(pairCalls(paired)).toEqual(paired);
  });

  it('is valid whatever it was', () => {
    const message = fc.oneof(
      fc.constant(user('u')),
      fc.constant(assistant('a')),
      fc.constantFrom('1', '2', '3').map((id) => call(id)),
      fc.constantFrom('1', '2', '3').map((id) => result(id)),
    );
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const paired = pairCalls(messages);
        for (const [index, { role, parts }] of paired.entries()) {
          const idsOf = (list: readonly object[]) => list.flatMap((one) => ('callId' in one ? [one.callId] : []));
          if (role === 'assistant')
            expect(idsOf(paired[index + 1]?.role === 'tool' ? (paired[index + 1]?.parts ?? []) : [])).toEqual(idsOf(parts));
          if (role === 'tool') expect(paired[index - 1]?.role).toBe('assistant');
        }
      }),
    );
  });

  it('names each result after its call, if it is known', () => {
    const given = ['c1', 'c2'].map((callId) => ({ callId, content: [], isError: true }));
    expect(resultMessage(given, callNames([user('a'), call('c1')])).parts).toEqual([
      { type: 'tool-result', callId: 'c1', requested: 'f', canonical: null, isError: true, content: [] },
      { type: 'tool-result', callId: 'c2', requested: '', canonical: null, isError: true, content: [] },
    ]);
  });
});
