import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, ToolCallPart } from '../../src/core/message.ts';
import { pairCalls } from '../../src/core/pair-calls.ts';
import { matchHistory, paragraphs, toTold, type Told } from '../../src/session/history.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const part = (callId: string, canonical: string | null = 'builtin.bash'): ToolCallPart => {
  return { type: 'tool-call', callId, requested: 'f', canonical, via: null, arguments: {} };
};
const call = (callId: string, canonical?: string | null, text = 'looking'): Message => ({
  role: 'assistant',
  parts: [...(text === '' ? [] : [{ type: 'text' as const, text }]), part(callId, canonical)],
});
const result = (...callIds: string[]): Message => ({
  role: 'tool',
  parts: callIds.map((callId) => ({ type: 'tool-result', callId, requested: 'f', canonical: null, isError: false, content: [] })),
});

const told = (messages: readonly Message[], notes: readonly string[] = []): Told =>
  toTold(messages, {
    isShown: ({ canonical }) => canonical === 'client.pick' || canonical === null,
    isNote: (text) => notes.includes(text),
  });
const match = (stored: readonly Message[], sent: readonly Message[], ...rest: [tails?: Pick<Told, 'said' | 'calls'>[], notes?: string[]]) =>
  matchHistory(told(stored, rest[1]), sent.length === 0 ? null : told(sent, rest[1]), rest[0]).is;

describe('a resent history', () => {
  it('is none when only new input came', () => {
    expect(match([user('a'), assistant('b')], [])).toBe('none');
  });

  it('is imported into an empty session', () => {
    expect(match([], [user('a'), assistant('b')])).toBe('import');
  });

  it('is the same when texts agree, though the client never saw the tool calls', () => {
    expect(match([user('a'), call('c'), result('c'), assistant('done')], [user('a'), assistant('looking\n\ndone')])).toBe('same');
  });

  it('is the same however user messages and steps were cut', () => {
    const stored: Message[] = [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      assistant('c\n'),
      assistant('d'),
    ];
    expect(match(stored, [user('a'), user('b'), assistant('c\n\n\nd')])).toBe('same');
    expect(match(stored, [user('a'), user('b'), assistant('c'), assistant('d ')])).toBe('same');
  });

  it('forks when a text differs, when it is shorter and when it is longer', () => {
    const stored = [user('a'), assistant('b')];
    expect(match(stored, [user('a'), assistant('B')])).toBe('fork');
    expect(match(stored, [user('a')])).toBe('fork');
    expect(match(stored, [user('a'), assistant('b'), user('c'), assistant('d')])).toBe('fork');
  });

  it('forks when an image differs', () => {
    const image = (data: string): Message => ({ role: 'user', parts: [{ type: 'image', mediaType: 'image/png', data }] });
    expect(match([image('AAAA'), assistant('b')], [image('AAAA'), assistant('b')])).toBe('same');
    expect(match([image('AAAA'), assistant('b')], [image('AAAB'), assistant('b')])).toBe('fork');
  });

  it('has the calls that the client was given, by id', () => {
    const stored = [user('a'), call('c1', 'client.pick'), result('c1'), assistant('b')];
    expect(match(stored, [user('a'), call('c1', null), result('c1'), assistant('b')])).toBe('same');
    expect(match(stored, [user('a'), call('c2', null), result('c2'), assistant('b')])).toBe('fork');
    expect(match(stored, [user('a'), assistant('looking'), assistant('b')])).toBe('fork');
  });

  it('may hold our own sentences on what waits, and may lack what nobody was shown', () => {
    const stored = [user('a'), assistant('b'), assistant('c'), call('c1', 'client.pick', '')];
    const tail = { said: ['c'], calls: new Set(['c1']) };
    expect(match(stored, [user('a'), assistant('b\n\nWaiting for x')], [tail], ['Waiting for x'])).toBe('same');
    expect(match(stored, [user('a'), assistant('b\n\nWaiting for x')], [tail])).toBe('fork');
    expect(match(stored, [user('a'), assistant('b')])).toBe('fork');
  });

  it('that was cut at blank lines in any way has the same paragraphs', () => {
    const paragraph = fc.stringMatching(/^[a-z ]*[a-z]$/);
    fc.assert(
      fc.property(fc.array(fc.array(paragraph, { minLength: 1 })), (steps) => {
        const whole = steps.map((step) => step.join('\n\n')).join('\n\n');
        expect(paragraphs(whole)).toEqual(steps.flatMap((step) => paragraphs(step.join('\n\n'))));
      }),
    );
  });
});

describe('a history from elsewhere', () => {
  it('has one result right behind each call, in call order', () => {
    const calls: Message = { role: 'assistant', parts: [part('c1'), part('c2')] };
    expect(pairCalls([user('a'), calls, result('c2'), user('b'), result('c1')])).toEqual([user('a'), calls, result('c1', 'c2'), user('b')]);
  });

  it('is told what was never answered, and loses what answers nothing', () => {
    const paired = pairCalls([result('x'), call('c1'), user('b'), { role: 'assistant', parts: [] }, assistant('c')]);
    expect(paired.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user', 'assistant']);
    expect(paired[1]?.parts).toEqual([expect.objectContaining({ callId: 'c1', isError: true, code: 'aborted' })]);
  });

  it('may use an id again in a later step', () => {
    const history = [call('c1'), result('c1'), call('c1'), result('c1'), call('c1')];
    expect(pairCalls(history).map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool']);
  });

  it('is legal whatever it was', () => {
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
});
