import { describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../src/core/session-event.ts';
import { createTranscript } from '../../src/core/transcript.ts';

const turn = 'turn_1';

function transcriptOf(events: SessionEventBody[]) {
  const transcript = createTranscript();
  for (const event of events) transcript.apply(event);
  return transcript;
}

const begin: SessionEventBody[] = [
  { type: 'turn-start', turn, input: [{ type: 'text', text: 'hi' }], model: 'rehearsal/default' },
  { type: 'step-start', turn, step: 1 },
];
const started = (callId: string): SessionEventBody => ({
  type: 'tool-input-start',
  turn,
  step: 1,
  callId,
  name: 'shell',
  canonical: 'builtin.bash',
  via: 'alias',
});
const answered = (callId: string, text: string): SessionEventBody => ({
  type: 'tool-result',
  turn,
  step: 1,
  callId,
  name: 'shell',
  canonical: 'builtin.bash',
  via: 'alias',
  isError: false,
  content: [{ type: 'text', text }],
});

describe('the transcript', () => {
  it('joins deltas into parts and keeps results in call order', () => {
    const transcript = transcriptOf([
      ...begin,
      { type: 'text-delta', turn, step: 1, text: 'let ' },
      { type: 'text-delta', turn, step: 1, text: 'me' },
      started('a'),
      started('b'),
      answered('b', 'B'),
      answered('a', 'A'),
    ]);
    expect(transcript.messages()).toMatchObject([
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'let me' }, { callId: 'a' }, { callId: 'b' }] },
      { role: 'tool', parts: [{ callId: 'a' }, { callId: 'b' }] },
    ]);
  });

  it('leaves out calls that have no result, so that every call in it is answered', () => {
    const transcript = transcriptOf([
      ...begin,
      started('a'),
      { type: 'turn-end', turn, status: 'failed', reason: 'internal', usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
    expect(transcript.messages()).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }]);
  });

  it('drops what an attempt said before its step was restarted', () => {
    const transcript = transcriptOf([
      ...begin,
      { type: 'text-delta', turn, step: 1, text: 'wrong' },
      { type: 'step-restart', turn, step: 1, from: 3 },
      { type: 'text-delta', turn, step: 1, text: 'right' },
    ]);
    expect(transcript.messages().at(-1)).toEqual({ role: 'assistant', parts: [{ type: 'text', text: 'right' }] });
  });

  it('begins with an imported history', () => {
    const transcript = transcriptOf([
      { type: 'history', messages: [{ role: 'user', parts: [{ type: 'text', text: 'before' }] }] },
      ...begin,
    ]);
    expect(transcript.messages().map((message) => message.parts)).toEqual([
      [{ type: 'text', text: 'before' }],
      [{ type: 'text', text: 'hi' }],
    ]);
  });

  it('puts what was said while a turn waited after the results that it waited for', () => {
    const said: SessionEventBody = { type: 'turn-input', turn, input: [{ type: 'text', text: 'never mind' }] };
    const log = [...begin, started('a'), said, answered('a', 'A')];
    const next: SessionEventBody[] = [
      { type: 'step-start', turn, step: 2 },
      { type: 'text-delta', turn, step: 2, text: 'fine' },
    ];
    const end: SessionEventBody = {
      type: 'turn-end',
      turn,
      status: 'cancelled',
      reason: 'cancelled',
      usage: { inputTokens: 0, outputTokens: 0 },
    };
    expect(
      transcriptOf([...log, ...next])
        .messages()
        .map(({ role }) => role),
    ).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
    // Nobody answered it, and still it was said.
    expect(
      transcriptOf([...log, end])
        .messages()
        .at(-1),
    ).toEqual({ role: 'user', parts: [{ type: 'text', text: 'never mind' }] });
  });
});
