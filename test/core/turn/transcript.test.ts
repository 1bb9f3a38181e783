import { describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createTranscript } from '../../../src/core/turn/transcript.ts';

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

  it('leaves out calls without a result', () => {
    const transcript = transcriptOf([
      ...begin,
      started('a'),
      { type: 'turn-end', turn, status: 'failed', reason: 'internal', usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
    expect(transcript.messages()).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }]);
  });

  it('drops the text of an attempt before its step was restarted', () => {
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
      { type: 'history', messages: [{ role: 'assistant', parts: [{ type: 'text', text: 'before' }] }] },
      ...begin,
    ]);
    expect(transcript.messages().map((message) => message.parts)).toEqual([
      [{ type: 'text', text: 'before' }],
      [{ type: 'text', text: 'hi' }],
    ]);
    expect(transcript.turns().map((of) => of.turn)).toEqual(['', turn]);
  });

  it('has results as a model reads them; people see them as they are', () => {
    const text = 'a\u200bb\u001b[1m';
    const client: SessionEventBody = { ...answered('c', text), canonical: 'client.look' } as SessionEventBody;
    const empty = { ...answered('e', ''), content: [], structuredContent: { rows: 2 } } as SessionEventBody;
    const events = [...begin, started('a'), answered('a', text), started('c'), client, started('e'), empty];
    const people = createTranscript({ everything: true });
    for (const event of events) people.apply(event);
    const partsOf = (messages: ReturnType<typeof people.messages>) => messages.flatMap(({ role, parts }) => (role === 'tool' ? parts : []));
    const note = '[Removed before you read this result, since a person cannot see them: 1 escape sequence, 1 zero-width character.]';
    const shown = [
      { callId: 'a', content: [{ text: 'ab' }, { text: note }] },
      { callId: 'c', content: [{ text }] },
      { callId: 'e', content: [{ text: '{"rows":2}' }] },
    ];
    expect(partsOf(transcriptOf(events).messages())).toMatchObject(shown);
    expect(partsOf(people.messages())).toMatchObject([
      { content: [{ text }] },
      { content: [{ text }] },
      { content: [], structuredContent: { rows: 2 } },
    ]);
    // A fork of a session begins with what people see.
    const fork = transcriptOf([{ type: 'history', messages: people.messages(), gathered: [] } as SessionEventBody]);
    expect(partsOf(fork.messages())).toMatchObject(shown);
  });

  it('merges unanswered user messages so that roles alternate; people see them separately', () => {
    const transcript = transcriptOf([
      ...begin,
      end(turn),
      { type: 'turn-start', turn: 'turn_2', input: [{ type: 'text', text: 'again' }], model: 'rehearsal/default' },
    ]);
    expect(transcript.messages()).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'again' },
        ],
      },
    ]);
    expect(transcript.turns().map(({ messages }) => messages.length)).toEqual([1, 1]);
  });
});

const end = (of: string): SessionEventBody => ({
  type: 'turn-end',
  turn: of,
  status: 'completed',
  reason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0 },
});
const compaction: SessionEventBody = { type: 'compaction', turn: 'turn_2', through: turn, summary: 'They said hi.' };
const talked: SessionEventBody[] = [
  ...begin,
  { type: 'text-delta', turn, step: 1, text: 'hello' },
  end(turn),
  { type: 'turn-start', turn: 'turn_2', input: [{ type: 'text', text: 'on' }], model: 'rehearsal/default' },
];

describe('a compacted transcript', () => {
  it('begins with the summary instead of the summarized turns', () => {
    const transcript = transcriptOf([...talked, compaction]);
    expect(transcript.messages()).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: expect.stringContaining('They said hi.') },
          { type: 'text', text: 'on' },
        ],
      },
    ]);
    expect(transcript.turns().map((of) => of.turn)).toEqual(['turn_2']);
  });

  it('is complete for people', () => {
    const transcript = createTranscript({ everything: true });
    for (const event of [...talked, compaction]) transcript.apply(event);
    expect(transcript.turns().map((of) => of.turn)).toEqual([turn, 'turn_2']);
    expect(transcript.summary()).toBeNull();
  });

  it('is the same if its fold begins after the last summarized turn', () => {
    const whole = transcriptOf([...talked, compaction]);
    const late = transcriptOf([...talked.slice(talked.findIndex(({ type }) => type === 'turn-end') + 1), compaction]);
    expect(late.messages()).toEqual(whole.messages());
    expect(late.tokens()).toBe(whole.tokens());
  });

  it('counts its tokens incrementally, including the current step', () => {
    const long = 'x'.repeat(4_000);
    const before = transcriptOf(talked).tokens();
    const transcript = transcriptOf([
      ...talked,
      { type: 'step-start', turn: 'turn_2', step: 1 },
      { ...started('a'), turn: 'turn_2' },
      { ...answered('a', long), turn: 'turn_2' },
    ] as SessionEventBody[]);
    expect(transcript.tokens() - before).toBeGreaterThanOrEqual(1_000);
    transcript.apply({ type: 'step-start', turn: 'turn_2', step: 2 });
    expect(transcript.tokens() - before).toBeLessThan(1_020);
    transcript.apply(compaction);
    expect(transcript.tokens()).toBeLessThan(1_020);
  });

  it('counts an image as it is billed, not by its bytes', () => {
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'A'.repeat(400_000) };
    const transcript = transcriptOf([{ type: 'turn-start', turn, input: [image], model: 'rehearsal/default' }]);
    expect(transcript.tokens()).toBeLessThan(10_000);
  });
});
