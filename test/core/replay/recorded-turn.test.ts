import { describe, expect, it } from 'vitest';
import { addFacts, noFacts } from '../../../src/core/replay/replay.ts';
import { recordedTurn } from '../../../src/core/replay/recorded-turn.ts';
import type { ModelPrice } from '../../../src/core/model/price.ts';
import type { SessionEvent, SessionEventBody } from '../../../src/core/turn/session-event.ts';

const turn = 'turn_1';
const step = (number: number) => ({ turn, step: number });
const call = (callId: string, number = 1) => ({ ...step(number), callId });
const price: ModelPrice = { input: 1, output: 10 };
const edition = { toolset: 'desk', version: 2, revision: 1, hash: 'ab' };

/** The events, 100 ms apart. */
const log = (...events: SessionEventBody[]): SessionEvent[] => events.map((event, index) => ({ ...event, id: index + 1, at: index * 100 }));
const start: SessionEventBody = {
  type: 'turn-start',
  turn,
  input: [{ type: 'text', text: 'Find it.' }],
  model: 'a/small',
  agent: 'helper',
  edition,
};
const asked = (callId: string, name: string, args: Record<string, unknown> | null): SessionEventBody[] => [
  { type: 'tool-input-start', ...call(callId), name, canonical: `desk.${name}`, via: 'wire' },
  { type: 'tool-input-end', ...call(callId), arguments: args, repaired: false },
];
const answered = (callId: string, name: string, text: string, more: object = {}): SessionEventBody => ({
  ...{ type: 'tool-result', ...call(callId), name, canonical: `desk.${name}`, via: 'wire', isError: false },
  ...{ content: [{ type: 'text', text }], ...more },
});
const usage = (number: number, inputTokens: number): SessionEventBody => ({
  ...{ type: 'usage', ...step(number), model: 'a/small' },
  usage: { inputTokens, outputTokens: 10, cachedInputTokens: 5 },
});
const ended: SessionEventBody = { type: 'turn-end', turn, status: 'completed', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } };

const whole = log(
  start,
  { type: 'step-start', ...step(1) },
  { type: 'text-delta', ...step(1), text: 'I look.' },
  ...asked('c1', 'find', { q: 'x' }),
  ...asked('c2', 'read', null),
  usage(1, 100),
  { type: 'step-end', ...step(1), reason: 'tool-calls', model: 'a/small' },
  answered('c2', 'read', 'no JSON', { isError: true, code: 'invalid_json' }),
  { type: 'inner-call', parent: 'c1', ...call('c1.1'), name: 'list', canonical: 'desk.list', via: 'wire', arguments: {} },
  { type: 'inner-result', parent: 'c1', ...call('c1.1'), canonical: 'desk.list', isError: false, content: [], durationMs: 5 },
  answered('c1', 'find', 'found', { structuredContent: { n: 1 }, cost: 0.5 }),
  { type: 'step-start', ...step(2) },
  { type: 'text-delta', ...step(2), text: 'Lost' },
  { type: 'step-restart', ...step(2), from: 12, model: 'a/small', code: 'upstream_error' },
  { type: 'text-delta', ...step(2), text: 'It is ' },
  { type: 'text-delta', ...step(2), text: 'there.' },
  usage(2, 200),
  { type: 'step-end', ...step(2), reason: 'stop', model: 'a/small' },
  ended,
);

describe('a recorded turn', () => {
  it('has its input, its answer and its calls with their results, in the order in which the model made them', () => {
    const found = recordedTurn(whole, () => price);
    expect(found).toMatchObject({
      ...{ turn, model: 'a/small', agent: 'helper', edition, input: [{ type: 'text', text: 'Find it.' }], laterInput: [] },
      ...{ text: 'It is there.', status: 'completed', code: null },
    });
    expect(found?.calls).toEqual([
      expect.objectContaining({
        ...{ callId: 'c1', canonical: 'desk.find', arguments: { q: 'x' }, isError: false, code: null, cost: 0.5 },
        ...{ content: [{ type: 'text', text: 'found' }], structuredContent: { n: 1 } },
      }),
      expect.objectContaining({ callId: 'c2', arguments: null, isError: true, code: 'invalid_json' }),
    ]);
  });

  it('has the sums of its calls of models, also of failed ones, and what its tools cost', () => {
    expect(recordedTurn(whole, () => price)?.facts).toEqual({
      ...{ calls: 2, steps: 3, inputTokens: 300, cachedInputTokens: 10, outputTokens: 20, approvals: 0 },
      // Of 300 tokens of input and 20 of output, and of one call of a tool.
      ...{ cost: 0.5 + (300 * 1 + 20 * 10) / 1e6, durationMs: 700 + 200 + 400 },
    });
    expect(recordedTurn(whole, () => null)?.facts.cost).toBeNull();
  });

  it('counts approvals once for each call, and not the question about the limit of cost', () => {
    const ask = (callId: string, kind: 'tool' | 'budget', round: number): SessionEventBody => ({
      ...{ type: 'approval-required', ...call(callId), name: 'find', canonical: 'desk.find', arguments: {}, entry: 'find', reason: '' },
      ...{ ask: kind as 'budget', target: null, effects: [], effectCount: 0, binding: [], round, expiresAt: '2026-01-01T00:00:00Z' },
    });
    const events = log(start, ask('c1', 'tool', 1), ask('c1', 'tool', 2), ask('c2', 'tool', 1), ask('b1', 'budget', 1), ended);
    expect(recordedTurn(events, () => price)?.facts).toMatchObject({ approvals: 2, cost: 0 });
  });

  it('says what was sent later, and that it has not ended', () => {
    const later: SessionEventBody = { type: 'turn-input', turn, input: [{ type: 'text', text: 'And that.' }] };
    expect(recordedTurn(log(start, later), () => price)).toMatchObject({
      ...{ laterInput: [[{ type: 'text', text: 'And that.' }]], status: null, text: '' },
    });
    expect(recordedTurn(log(later, ended), () => price)).toBeNull();
  });
});

describe('facts', () => {
  it('add up, and a cost that is not known stays so', () => {
    const one = { ...noFacts, calls: 1, cost: 0.5, approvals: 2 };
    expect(addFacts(one, one)).toEqual({ ...noFacts, calls: 2, cost: 1, approvals: 4 });
    expect(addFacts(one, { ...one, cost: null }).cost).toBeNull();
    expect(addFacts(one, noFacts)).toEqual(one);
  });
});
