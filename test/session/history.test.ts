import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/core/message.ts';
import { matchHistory } from '../../src/session/history.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const call: Message = {
  role: 'assistant',
  parts: [
    { type: 'text', text: 'looking' },
    { type: 'tool-call', callId: 'c', requested: 'shell', canonical: 'builtin.bash', via: 'alias', arguments: {} },
  ],
};
const result: Message = {
  role: 'tool',
  parts: [{ type: 'tool-result', callId: 'c', requested: 'shell', canonical: 'builtin.bash', isError: false, content: [] }],
};

describe('a resent history', () => {
  it('is none when only new input came', () => {
    expect(matchHistory([user('a'), assistant('b')], [])).toBe('none');
  });

  it('is imported into an empty session', () => {
    expect(matchHistory([], [user('a'), assistant('b')])).toBe('import');
  });

  it('is the same when role and visible text agree, though the client never saw the tool calls', () => {
    expect(matchHistory([user('a'), call, result, assistant('done')], [user('a'), assistant('looking\n\ndone')])).toBe('same');
  });

  it('forks when a text differs, when it is shorter and when it is longer', () => {
    const stored = [user('a'), assistant('b')];
    expect(matchHistory(stored, [user('a'), assistant('B')])).toBe('fork');
    expect(matchHistory(stored, [user('a')])).toBe('fork');
    expect(matchHistory(stored, [user('a'), assistant('b'), user('c'), assistant('d')])).toBe('fork');
  });
});
