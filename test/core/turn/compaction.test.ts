import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundSummary, fallbackSummary, planCompaction, summaryInput } from '../../../src/core/turn/compaction.ts';
import type { Message } from '../../../src/core/model/message.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createTranscript, type Transcript } from '../../../src/core/turn/transcript.ts';
import { utf8Length } from '../../../src/core/text/utf8.ts';

const usage = { inputTokens: 0, outputTokens: 0 };

/** Turns of the given lengths in characters; the last one is the current turn. */
function talk(lengths: readonly number[]): Transcript {
  const transcript = createTranscript();
  for (const [index, length] of lengths.entries()) {
    const turn = `t${index}`;
    transcript.apply({ type: 'turn-start', turn, input: [{ type: 'text', text: 'x'.repeat(length) }], model: 'a/b' });
    if (index < lengths.length - 1) transcript.apply({ type: 'turn-end', turn, status: 'completed', reason: 'stop', usage });
  }
  return transcript;
}

const through = (lengths: readonly number[], maxTokens: number) =>
  planCompaction(talk(lengths), `t${lengths.length - 1}`, maxTokens)?.through ?? null;

describe('compaction', () => {
  it('leaves a conversation that fits unchanged', () => {
    expect(through([1_000, 1_000, 2_000], 1_000)).toBeNull();
  });

  it('keeps the newest turns that fit a quarter of the budget', () => {
    expect(through([10_000, 10_000, 2_000, 2_000, 100], 5_000)).toBe('t1');
    expect(through([10_000, 10_000, 2_000, 4_000, 100], 5_000)).toBe('t2');
    expect(through([10_000, 10_000, 2_000, 6_000, 100], 5_000)).toBe('t3');
  });

  it('keeps fewer turns if the current turn is large, and never changes that one', () => {
    expect(through([10_000, 1_000, 18_000], 5_000)).toBe('t1');
    expect(through([30_000], 5_000)).toBeNull();
  });

  it('has nothing older to summarize afterwards', () => {
    const transcript = talk([30_000, 100, 30_000]);
    const plan = planCompaction(transcript, 't2', 5_000);
    transcript.apply({ type: 'compaction', turn: 't2', through: plan?.through ?? '', summary: 's' });
    expect(planCompaction(transcript, 't2', 5_000)).toBeNull();
  });

  it('sends a bounded text that starts with the earlier summary and cuts long messages', () => {
    const plan = { through: 't1', previous: 'EARLIER', turns: talk([500_000, 300_000, 1]).turns(), maxTokens: 2_000 };
    const message = summaryInput(plan);
    const text = message.parts.map((part) => ('text' in part ? part.text : '')).join('');
    expect(utf8Length(text)).toBeLessThan(7_000);
    expect(text.indexOf('EARLIER')).toBeLessThan(text.indexOf('User: xxx'));
  });

  it('bounds the summary, and treats an empty one as missing', () => {
    const plan = { through: 't1', previous: null, turns: [], maxTokens: 1_000 };
    expect(boundSummary(plan, ' \n')).toBeNull();
    expect(boundSummary(plan, 'é'.repeat(10_000))?.length).toBe(500);
  });

  it('without a summary keeps the earlier one and states what is missing, within the same limit', () => {
    const plan = { through: 't1', previous: 'p'.repeat(5_000), turns: talk([1, 1]).turns(), maxTokens: 1_000 };
    const text = fallbackSummary(plan);
    expect(text).toMatch(/^p+\n\n\[2 turns are left out here/);
    expect(utf8Length(text)).toBeLessThan(1_010);
    expect(fallbackSummary({ ...plan, previous: null, turns: plan.turns.slice(1) })).toMatch(/^\[One turn is left out/);
  });
});

type AnyStep = { text: string; calls: ('answered' | 'cut')[]; restarted: boolean; said: boolean };
type AnyTurn = { steps: AnyStep[]; ended: 'completed' | 'failed'; compact: number | null };

/** A turn as any run of the service may leave it in the log: calls with or without results, a restarted step, text in between. */
const anyStep: fc.Arbitrary<AnyStep> = fc.record({
  text: fc.string({ maxLength: 5 }),
  calls: fc.array(fc.constantFrom('answered', 'cut'), { maxLength: 3 }),
  restarted: fc.boolean(),
  said: fc.boolean(),
});
const anyTurn: fc.Arbitrary<AnyTurn> = fc.record({
  steps: fc.array(anyStep, { maxLength: 3 }),
  ended: fc.constantFrom('completed', 'failed'),
  /** Before its last step: the last summarized turn, counted from the newest. */
  compact: fc.option(fc.nat({ max: 6 }), { nil: null }),
});

function* eventsOf(turns: readonly AnyTurn[]): Generator<SessionEventBody> {
  for (const [number, { steps, ended, compact }] of turns.entries()) {
    const turn = `t${number}`;
    yield { type: 'turn-start', turn, input: [{ type: 'text', text: turn }], model: 'a/b' };
    for (const [index, { text, calls, restarted, said }] of steps.entries()) {
      const at = { turn, step: index + 1 };
      const through = number - 1 - (compact ?? number);
      if (index === steps.length - 1 && through >= 0)
        yield { type: 'compaction', turn, through: `t${through}`, summary: `through ${through}` };
      yield { type: 'step-start', ...at };
      if (restarted) {
        yield { type: 'text-delta', ...at, text: 'taken back' };
        yield { type: 'tool-input-start', ...at, callId: `${turn}.${index}.lost`, name: 'x', canonical: null, via: null };
        yield { type: 'step-restart', ...at, from: 1 };
      }
      if (text !== '') yield { type: 'text-delta', ...at, text };
      for (const [place, fate] of calls.entries()) {
        const call = { ...at, callId: `${turn}.${index}.${place}`, name: 'x', canonical: null };
        yield { type: 'tool-input-start', ...call, via: null };
        yield { type: 'tool-input-end', ...at, callId: call.callId, arguments: {}, repaired: false };
        if (fate === 'answered') yield { type: 'tool-result', ...call, via: null, isError: false, content: [] };
      }
      yield { type: 'step-end', ...at, reason: 'stop', model: 'a/b' };
      if (said) yield { type: 'turn-input', turn, input: [{ type: 'text', text: 'said' }] };
    }
    yield { type: 'turn-end', turn, status: ended, reason: 'stop', usage };
  }
}

/** The rules of providers for a list of messages. */
function faultOf(messages: readonly Message[]): string | null {
  let asked: string[] = [];
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]?.role;
    if (message.role === 'user' && before === 'user') return 'two of user';
    if (message.role === 'assistant' && message.parts.length === 0) return 'an empty message';
    if (message.role === 'tool') {
      const answers = message.parts.map(({ callId }) => callId);
      if (answers.join() !== asked.join()) return `results ${answers} of calls ${asked}`;
      asked = [];
    } else if (asked.length > 0) return `no results of ${asked}`;
    if (message.role === 'assistant') asked = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []));
  }
  return asked.length > 0 ? `no results of ${asked}` : null;
}

describe('any log with compactions', () => {
  it('gives messages that a provider accepts, at every point', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { minLength: 1, maxLength: 6 }), (turns) => {
        const transcript = createTranscript();
        for (const event of eventsOf(turns)) {
          transcript.apply(event);
          expect(faultOf(transcript.messages())).toBeNull();
        }
      }),
    );
  });

  it('gives the same from the end of the last summarized turn as from the beginning', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { minLength: 1, maxLength: 6 }), (turns) => {
        const events = [...eventsOf(turns)];
        const last = events.findLast((event) => event.type === 'compaction');
        const after = events.findIndex((event) => event.type === 'turn-end' && event.turn === last?.through) + 1;
        const [whole, late] = [createTranscript(), createTranscript()];
        for (const event of events) whole.apply(event);
        for (const event of events.slice(after)) late.apply(event);
        expect(late.messages()).toEqual(whole.messages());
        expect(late.tokens()).toBe(whole.tokens());
      }),
    );
  });
});
