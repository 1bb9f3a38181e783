import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/chat-event.ts';
import type { DialectName } from '../../src/core/reference.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/session-event.ts';
import { createAnswerEncoder } from '../../src/dialects/answer.ts';
import { dialectOf } from '../../src/dialects/dialects.ts';
import { createReplyEncoder } from '../../src/dialects/reply-encoder.ts';
import { countWork } from './counted-work.ts';

const identity = { id: 'answer_1', model: 'a/b', created: 1_760_000_000 };
const piece = 'some words of it ';
const times = <Item>(count: number, make: (index: number) => Item[]): Item[] => Array.from({ length: count }, (_, at) => make(at)).flat();
const start = (call: number): ChatEvent => ({ type: 'call-start', call, name: `tool_${call}`, nativeId: null });
const feed = (call: number): ChatEvent => ({ type: 'call-delta', call, text: piece });
const end = (call: number): ChatEvent => ({ type: 'call-end', call, state: 'ok', arguments: {}, raw: piece });

/** Replies that grow in one way each; `size` is how far. */
const replies: Record<string, (size: number) => ChatEvent[]> = {
  'one long text': (size) => times(size, () => [{ type: 'text', text: piece }]),
  'one long thought': (size) => times(size, () => [{ type: 'reasoning', text: piece }]),
  'one call with long arguments': (size) => [start(0), ...times(size, () => [feed(0)]), end(0)],
  '64 calls that take turns': (size) => [
    ...times(64, (call) => [start(call)]),
    ...times(size, (at) => [feed(at % 64)]),
    ...times(64, (call) => [end(call)]),
  ],
  'many calls': (size) => times(size, (call) => [start(call), feed(call), end(call)]),
  'text and thoughts by turns': (size) =>
    times(size, () => [
      { type: 'text', text: piece },
      { type: 'reasoning', text: piece },
    ]),
  'text with marks of its provider in it': (size) =>
    times(size, () => [
      { type: 'text', text: piece },
      { type: 'native', provider: 'p', data: { api: 'a' } },
    ]),
};

const streamed = (name: DialectName, events: readonly ChatEvent[]): number => {
  const encoder = createReplyEncoder(dialectOf(name), identity);
  return countWork(() => {
    for (const event of events) encoder.encode(event);
  });
};

/** A second step: what the first said stands before it. */
function inSession(size: number): SessionEvent[] {
  const at = { turn: 't', step: 2 };
  const bodies: SessionEventBody[] = [
    { type: 'text-delta', turn: 't', step: 1, text: 'First.' },
    { type: 'step-end', turn: 't', step: 1, reason: 'stop', model: 'a/b' },
    { type: 'step-start', ...at },
    ...times(size, (): SessionEventBody[] => [
      { type: 'reasoning-delta', ...at, text: piece },
      { type: 'text-delta', ...at, text: piece },
    ]),
  ];
  return bodies.map((body, index) => ({ ...body, id: index + 2, at: 1_760_000_000_000 }) as SessionEvent); // As the log adds them.
}

describe.each(['openai-chat', 'openai-responses', 'anthropic-messages'] as const)('%s', (name) => {
  it.each(Object.entries(replies))('does twice the work for twice of %s', (_what, reply) => {
    const [once, twice] = [streamed(name, reply(512)), streamed(name, reply(1024))];
    expect(once).toBeGreaterThan(512);
    expect(twice).toBeLessThan(once * 2.2);
  });

  it('does twice the work for twice of a later step’s words', () => {
    const work = (size: number): number => {
      const encoder = createAnswerEncoder({ turn: 't', after: 1, earlier: null }, identity, 'ab'.repeat(32), dialectOf(name));
      const events = inSession(size);
      return countWork(() => {
        for (const event of events) encoder.encode(event);
      });
    };
    const [once, twice] = [work(512), work(1024)];
    expect(once).toBeGreaterThan(512);
    expect(twice).toBeLessThan(once * 2.2);
  });
});
