import { describe, expect, it } from 'vitest';
import type { Message, ToolCallPart } from '../../../../src/core/model/message.ts';
import { matchHistory, toComparableHistory, type ComparableHistory } from '../../../../src/objects/session/turn/compare-history.ts';

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

const told = (messages: readonly Message[], notes: readonly string[] = []): ComparableHistory =>
  toComparableHistory(messages, {
    isShown: ({ canonical }) => canonical === 'client.pick' || canonical === null,
    isNote: (text) => notes.includes(text),
  });
const match = (
  stored: readonly Message[],
  sent: readonly Message[],
  ...rest: [tails?: Pick<ComparableHistory, 'assistantTexts' | 'callIds'>[], notes?: string[]]
) => matchHistory(told(stored, rest[1]), sent.length === 0 ? null : told(sent, rest[1]), rest[0]).kind;

describe('a resent history', () => {
  it('is none without an assistant message', () => {
    expect(match([user('a'), assistant('b')], [])).toBe('none');
  });

  it('is imported into an empty session', () => {
    expect(match([], [user('a'), assistant('b')])).toBe('import');
  });

  it('is the same when texts agree, though the client never saw the tool calls', () => {
    expect(match([user('a'), call('c'), result('c'), assistant('done')], [user('a'), assistant('looking\n\ndone')])).toBe('same');
  });

  it('is the same however user messages and steps were split', () => {
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

  it('compares the calls that the client was sent, by id', () => {
    const stored = [user('a'), call('c1', 'client.pick'), result('c1'), assistant('b')];
    expect(match(stored, [user('a'), call('c1', null), result('c1'), assistant('b')])).toBe('same');
    expect(match(stored, [user('a'), call('c2', null), result('c2'), assistant('b')])).toBe('fork');
    expect(match(stored, [user('a'), assistant('looking'), assistant('b')])).toBe('fork');
  });

  it('may have notes about pending questions, and may lack what no client received', () => {
    const stored = [user('a'), assistant('b'), assistant('c'), call('c1', 'client.pick', '')];
    const tail = { assistantTexts: ['c'], callIds: new Set(['c1']) };
    expect(match(stored, [user('a'), assistant('b\n\nWaiting for x')], [tail], ['Waiting for x'])).toBe('same');
    expect(match(stored, [user('a'), assistant('b\n\nWaiting for x')], [tail])).toBe('fork');
    expect(match(stored, [user('a'), assistant('b')])).toBe('fork');
  });
});
