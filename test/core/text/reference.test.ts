import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCompletionId, readToolCallId, toCompletionId, toToolCallId } from '../../../src/core/text/reference.ts';

const session = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
/** Ids of calls, including inner calls. */
const own = fc.stringMatching(/^[a-z0-9_]{1,40}(\.\d{1,3}){0,4}$/);

describe('an id for a chat client', () => {
  it('contains any session id', () => {
    fc.assert(
      fc.property(session, own, (id, callId) => {
        expect(readToolCallId(toToolCallId(callId, id))).toEqual({ own: callId, session: id });
        expect(toToolCallId(callId, id)).toMatch(/^[A-Za-z0-9_-]+$/);
        const completion = toCompletionId('openai-chat', callId.replaceAll('.', ''), id);
        expect(readCompletionId('openai-chat', completion)).toEqual({ own: completion, session: id });
        expect(completion).toMatch(/^chatcmpl-[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it.each([
    '',
    'call_1',
    `call_${'A'.repeat(42)}`,
    `_${'A'.repeat(43)}`,
    `call_${'A'.repeat(42)}B`,
    `call_${'+'.repeat(43)}`,
    `call-${'A'.repeat(43)}`,
  ])('is not %j', (id) => {
    expect(readToolCallId(id)).toBeNull();
    expect(readCompletionId('openai-chat', id)).toBeNull();
  });

  it('has one spelling: a modified id gives no session or another one', () => {
    fc.assert(
      fc.property(session, fc.nat(42), fc.constantFrom(...'ABCxyz019-_'), (id, at, character) => {
        const text = toToolCallId('call_1', id);
        const place = text.length - 43 + at;
        const changed = text.slice(0, place) + character + text.slice(place + 1);
        if (changed !== text) expect(readToolCallId(changed)?.session).not.toBe(id);
      }),
    );
  });

  it('requires a session id', () => {
    expect(() => toToolCallId('call_1', 'nobody')).toThrow(TypeError);
  });
});
