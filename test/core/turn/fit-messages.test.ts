import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitMessages } from '../../../src/core/turn/fit-messages.ts';
import type { Message, ToolResultPart } from '../../../src/core/model/message.ts';
import { contentText, type ContentBlock } from '../../../src/core/tools/tool.ts';
import { createTranscript, messageCharacters, type Transcript } from '../../../src/core/turn/transcript.ts';
import { shortenedResultCharacters } from '../../../src/core/turn/fit-messages.ts';

type Call = { content: ContentBlock[]; canonical?: string; arguments?: Record<string, unknown> };
const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const long = (mark: string, length: number): Call => ({ content: [text(`${mark} ${'x'.repeat(length - mark.length - 1)}`)] });

/** One turn of steps with calls, before the next model call. Call ids are `<step>.<place>`. */
function turnOf(steps: readonly (readonly Call[])[], input = 'go', transcript = createTranscript()): Transcript {
  const turn = 't';
  transcript.apply({ type: 'turn-start', turn, input: [{ type: 'text', text: input }], model: 'a/b' });
  for (const [index, calls] of steps.entries()) {
    const at = { turn, step: index + 1 };
    transcript.apply({ type: 'step-start', ...at });
    for (const [place, call] of calls.entries()) {
      const named = { ...at, callId: `${index}.${place}`, name: 'read', canonical: call.canonical ?? 'builtin.read', via: null };
      transcript.apply({ type: 'tool-input-start', ...named });
      transcript.apply({ type: 'tool-input-end', ...at, callId: named.callId, arguments: call.arguments ?? {}, repaired: false });
    }
    transcript.apply({ type: 'step-end', ...at, reason: 'tool-calls', model: 'a/b' });
    for (const [place, { content, canonical = 'builtin.read' }] of calls.entries())
      transcript.apply({
        type: 'tool-result',
        ...at,
        callId: `${index}.${place}`,
        name: 'read',
        canonical,
        via: null,
        isError: false,
        content,
      });
  }
  return transcript;
}

const resultsOf = (messages: readonly Message[]): ToolResultPart[] =>
  messages.flatMap((message) => (message.role === 'tool' ? message.parts : []));
const shownOf = (messages: readonly Message[]) => resultsOf(messages).map(({ content }) => contentText(content));
const charactersOf = (messages: readonly Message[]) => messages.reduce((sum, message) => sum + messageCharacters(message), 0);

describe('a turn over its budget', () => {
  const steps = [[long('a', 8_000)], [long('b', 8_000)], [long('c', 8_000)], [long('d', 8_000)]];

  it('shortens the oldest results and says how to read the rest', () => {
    const { messages, toKeep } = fitMessages(turnOf(steps), 't', 7_000, true);
    const [a, b, c, d] = shownOf(messages);
    expect(a?.slice(1_000)).toBe(
      '\n[Shortened, because the conversation is long: 7000 of 8000 characters are not shown. To read the rest: fetch_result {"callId":"0.0","offset":1000}]',
    );
    expect([b?.length, c?.length, d?.length].map((length) => length === 8_000)).toEqual([false, true, true]);
    expect(toKeep.map(({ callId, content }) => [callId, contentText(content).length])).toEqual([
      ['0.0', 8_000],
      ['1.0', 8_000],
    ]);
  });

  it('leaves a turn that fits unchanged', () => {
    const transcript = turnOf(steps);
    expect(fitMessages(transcript, 't', transcript.tokens(), true)).toEqual({ messages: transcript.messages(), toKeep: [] });
  });

  it('says to call the tool again if results are not stored', () => {
    const { messages, toKeep } = fitMessages(turnOf(steps), 't', 7_000, false);
    expect(shownOf(messages)[0]).toContain('To read it, call the tool again.]');
    expect(toKeep).toEqual([]);
  });

  it('cuts unread results only if necessary: the largest first, as little as possible', () => {
    const { messages } = fitMessages(turnOf([[long('old', 5_000)], [long('small', 3_000), long('large', 30_000)]]), 't', 5_000, true);
    const [old, small, large] = shownOf(messages);
    expect(old?.length).toBeLessThan(1_400);
    expect(small?.length).toBe(3_000);
    expect(charactersOf(messages)).toBeLessThanOrEqual(20_000);
    expect(large?.length).toBeGreaterThan(15_000);
    expect(large).toContain('fetch_result {"callId":"1.1","offset":');
  });

  it('never changes text or earlier turns', () => {
    const before = createTranscript();
    before.apply({ type: 'history', messages: [{ role: 'user', parts: [{ type: 'text', text: 'h'.repeat(30_000) }] }] });
    const { messages } = fitMessages(turnOf(steps, 'i'.repeat(30_000), before), 't', 1_000, true);
    expect(messages[0]?.parts.map((part) => ('text' in part ? part.text.length : 0))).toEqual([30_000, 30_000]);
    expect(shownOf(messages).every((shown) => shown.length < 1_400)).toBe(true);
  });

  it('replaces images of old results with a note', () => {
    const image: Call = { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }, text('a chart')] };
    const shownWith = (keeps: boolean) => fitMessages(turnOf([[image], [long('b', 8_000)], [long('c', 8_000)]]), 't', 3_000, keeps);
    const { messages, toKeep } = shownWith(true);
    expect(resultsOf(messages)[0]?.content).toEqual([
      text('[image: image/png, not shown again. To see it, call fetch_result {"callId":"0.0","offset":0}]'),
      text('a chart'),
    ]);
    expect(toKeep[0]).toEqual({ callId: '0.0', content: image.content });
    expect(resultsOf(shownWith(false).messages)[0]?.content).toEqual([
      text('[image: image/png, not shown again. To see it, call the tool again.]'),
      text('a chart'),
    ]);
  });

  it('keeps an image that the model has not seen yet, however small the budget', () => {
    const image: Call = { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] };
    const { messages } = fitMessages(turnOf([[image, long('b', 8_000)]], 'i'.repeat(8_000)), 't', 1_000, true);
    expect(resultsOf(messages)[0]?.content).toEqual(image.content);
  });

  it('refers from a fetched piece to its result, which is not stored twice', () => {
    const piece: Call = { ...long('p', 8_000), canonical: 'builtin.fetch_result', arguments: { callId: 'far', offset: 5_000 } };
    const { messages, toKeep } = fitMessages(turnOf([[piece], [long('b', 8_000)]]), 't', 3_000, true);
    expect(shownOf(messages)[0]).toContain('To read the rest: fetch_result {"callId":"far","offset":6000}]');
    expect(toKeep.map(({ callId }) => callId)).not.toContain('0.0');
  });

  it('counts the offset in the whole result, also after an omitted block', () => {
    const noted: Call = {
      content: [text('first'), text('[Left out: image of 70000 bytes, over the result limit.]'), text('y'.repeat(4_000))],
    };
    const { messages } = fitMessages(turnOf([[noted], [long('b', 8_000)]]), 't', 2_500, true);
    expect(shownOf(messages)[0]).toMatch(/^first\n\[Shortened.*"offset":5}\]$/);
  });

  it('sends the same prefix for many steps, so that a provider can cache it', () => {
    const many = Array.from({ length: 12 }, (_, index) => [long(`r${index}`, 6_000)]);
    const asked = many.map((_, index) => shownOf(fitMessages(turnOf(many.slice(0, index + 1)), 't', 12_000, true).messages));
    const kept = asked.filter((shown, index) => asked[index - 1]?.every((before, place) => before === shown[place]) === true);
    expect(kept.length).toBeGreaterThanOrEqual(7);
    // A shortened result is never shown in full again.
    for (const [index, shown] of asked.entries())
      for (const [place, before] of (asked[index - 1] ?? []).entries()) expect(shown[place]?.length).toBeLessThanOrEqual(before.length);
  });
});

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.tuple(fc.constantFrom('x', 'é', '😀', '\n'), fc.integer({ min: 100, max: 6_000 })).map(([unit, count]) => unit.repeat(count)),
);
const anyBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  { weight: 4, arbitrary: anyText.map(text) },
  { weight: 1, arbitrary: fc.constant<ContentBlock>({ type: 'image', data: 'AAAA', mimeType: 'image/png' }) },
);
const anyTurn = fc.array(
  fc.array(
    fc.array(anyBlock, { maxLength: 3 }).map((content): Call => ({ content })),
    { maxLength: 4 },
  ),
  { maxLength: 8 },
);

describe('any turn', () => {
  it('fits or has nothing left to shorten; calls keep their results, and hidden parts can be read', () => {
    fc.assert(
      fc.property(anyTurn, anyText, fc.integer({ min: 100, max: 15_000 }), (steps, input, maxTokens) => {
        const transcript = turnOf(steps, input);
        const { messages, toKeep } = fitMessages(transcript, 't', maxTokens, true);
        const whole = resultsOf(transcript.messages());
        const shown = resultsOf(messages);
        if (charactersOf(messages) > maxTokens * 4)
          // A note in place of a block that is not text may be a little longer than its name.
          for (const { content } of shown)
            expect(contentText(content).length).toBeLessThanOrEqual(shortenedResultCharacters + 400 + 140 * content.length);
        // Everything except the content of results is unchanged.
        const bare = (all: readonly Message[]) =>
          all.map((message) => (message.role === 'tool' ? message.parts.map((part) => ({ ...part, content: [] })) : message));
        expect(bare(messages)).toEqual(bare(transcript.messages()));
        const kept = new Map(toKeep.map(({ callId, content }) => [callId, contentText(content)]));
        for (const [index, part] of shown.entries()) {
          const before = contentText(whole[index]?.content ?? []);
          const after = contentText(part.content);
          const at = /fetch_result \{"callId":"([\d.]+)","offset":(\d+)\}\]$/.exec(after);
          if (at === null) continue;
          expect(kept.get(at[1] ?? '')).toBe(before);
          // Joined at the offset in the note, the parts are the whole text; and no character is split.
          const head = after.slice(0, Number(at[2]));
          expect(head + before.slice(head.length)).toBe(before);
          expect(head.isWellFormed()).toBe(true);
          // The note of an image may be longer than its name.
          if (!after.includes('not shown again')) expect(after.length).toBeLessThan(before.length);
        }
        // The same log gives the same messages.
        expect(fitMessages(turnOf(steps, input), 't', maxTokens, true).messages).toEqual(messages);
      }),
    );
  });
});
