import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { createAnswerEncoder } from '../../src/dialects/answer.ts';
import { loadDialect } from '../../src/dialects/dialects.ts';
import { createReplyEncoder } from '../../src/dialects/reply-encoder.ts';
import { countWork } from './counted-work.ts';
import { endCall, feedCall, logOf, native, say, sessionId, startCall, stepStart, textDelta, think, thoughtDelta, turn } from './events.ts';

const identity = { id: 'answer_1', model: 'a/b', created: 1_760_000_000 };
const piece = 'some words of it ';
const times = <Item>(count: number, make: (index: number) => Item[]): Item[] => Array.from({ length: count }, (_, at) => make(at)).flat();
/** Replies that grow in one dimension each, by `size`. */
const replies: Record<string, (size: number) => ChatEvent[]> = {
  'one long text': (size) => times(size, () => [say(piece)]),
  'one long thought': (size) => times(size, () => [think(piece)]),
  'one call with long arguments': (size) => [startCall(0, 'tool'), ...times(size, () => [feedCall(0, piece)]), endCall(0, '{}')],
  '64 calls that take turns': (size) => [
    ...times(64, (call) => [startCall(call, 'tool')]),
    ...times(size, (at) => [feedCall(at % 64, piece)]),
    ...times(64, (call) => [endCall(call, '{}')]),
  ],
  'many calls': (size) => times(size, (call) => [startCall(call, 'tool'), feedCall(call, piece), endCall(call, '{}')]),
  'text and thoughts by turns': (size) => times(size, () => [say(piece), think(piece)]),
  'text with marks of its provider in it': (size) => times(size, () => [say(piece), native('p', { api: 'a' })]),
};

const streamed = (dialect: Dialect, events: readonly ChatEvent[]): number => {
  const encoder = createReplyEncoder(dialect, identity);
  return countWork(() => {
    for (const event of events) encoder.encode(event);
  });
};

/** A second step, after the output of the first. */
function inSession(size: number): SessionEvent[] {
  const words = times(size, () => [thoughtDelta(2, piece), textDelta(2, piece)]);
  return logOf(stepStart(1), textDelta(1, 'First.'), stepStart(2), ...words);
}

describe.each(['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const)('%s', async (name) => {
  const dialect = await loadDialect(name);

  it.each(Object.entries(replies))('does twice the work for twice of %s', (_what, reply) => {
    const [once, twice] = [streamed(dialect, reply(512)), streamed(dialect, reply(1024))];
    expect(once).toBeGreaterThan(512);
    expect(twice).toBeLessThan(once * 2.2);
  });

  it('does twice the work for twice the text of a later step', () => {
    const work = (size: number): number => {
      const encoder = createAnswerEncoder({ turn, after: 0, earlier: null }, identity, sessionId, dialect);
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
