import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../client/src/index.ts';
import { foldEvent, emptyConversation, isIdle, turnStatus, waitingCalls } from '../../src/console/session/fold-events.ts';

type Loose = { type: string; [field: string]: unknown };

/** Numbers the events from 1 and gives each 10 ms more. */
function fold(events: readonly Loose[], conversation = emptyConversation()) {
  for (const [index, event] of events.entries())
    foldEvent(conversation, {
      ...{ id: index + 1, at: index * 10, turn: 't', ...(!/^turn|history/.test(event.type) && { step: 1 }) },
      ...event,
    } as unknown as SessionEvent);
  return conversation;
}

const start: Loose = { type: 'turn-start', input: [{ type: 'text', text: 'hi' }, { type: 'image' }], model: 'm' };
const call = { callId: 'c', name: 'shell', canonical: 'builtin.bash', via: 'alias' };
const calling: Loose[] = [
  start,
  { type: 'step-start' },
  { type: 'tool-input-start', ...call },
  { type: 'tool-input-delta', callId: 'c', delta: '{"command":' },
  { type: 'tool-input-end', callId: 'c', arguments: { command: 'ls' }, repaired: false },
  { type: 'step-end', model: 'm', reason: 'tool_calls' },
  { type: 'tool-start', callId: 'c', attempt: 1 },
];
const asking: Loose = { type: 'approval-required', ...call, arguments: {}, entry: 'shell', reason: 'deletes a file', ask: 'delete-file' };
const usage = { inputTokens: 3, outputTokens: 2 };
const ending: Loose = { type: 'turn-end', status: 'completed', reason: 'stop', usage };

describe('the fold of events', () => {
  it('joins deltas, keeps text and calls in order, and applies an event once', () => {
    const events = [
      start,
      { type: 'step-start' },
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'He' },
      { type: 'text-delta', text: 'llo' },
      { type: 'tool-input-start', ...call },
      { type: 'text-delta', text: 'after' },
    ];
    const conversation = fold(events);
    fold(events, conversation);
    const [turn] = conversation.turns;
    expect(turn?.input).toBe('hi\n[image]');
    expect(turn?.steps[0]?.blocks).toMatchObject([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'Hello' },
      { kind: 'call', call: { name: 'shell', state: 'writing' } },
      { kind: 'text', text: 'after' },
    ]);
    expect(conversation.log).toHaveLength(events.length);
  });

  it('follows a call from its arguments over an approval to its result', () => {
    const conversation = fold([...calling, asking]);
    const [turn] = conversation.turns;
    expect(isIdle(conversation)).toBe(true);
    expect(turn && turnStatus(turn)).toBe('waiting');
    expect(turn && waitingCalls(turn)[0]).toMatchObject({ arguments: { command: 'ls' }, question: { reason: 'deletes a file' } });
    fold(
      [
        ...[...calling, asking].map((event) => ({ ...event })),
        { type: 'approval-decided', callId: 'c', decision: 'approve', by: 'key' },
        { type: 'tool-result', ...call, isError: false, content: [{ type: 'text', text: 'ok' }] },
        ending,
      ],
      conversation,
    );
    const done = turn?.calls.get('c');
    expect(done).toMatchObject({ state: 'done', question: null, result: [{ text: 'ok' }] });
    expect(done?.segments.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['run', 60, 70],
      ['wait', 70, 80],
      ['run', 80, 90],
    ]);
    expect(turn).toMatchObject({ status: 'completed', tokens: { input: 3, output: 2 } });
  });

  it('shows nested calls within their call, and a denied call as denied', () => {
    const inner = { callId: 'c:1', name: 'cat', canonical: 'builtin.read_file', via: 'alias', parent: 'c' };
    const conversation = fold([
      ...calling,
      { type: 'inner-call', ...inner, arguments: { path: 'a' } },
      { type: 'inner-result', ...inner, isError: true, code: 'denied', content: [], durationMs: 4 },
    ]);
    const blocks = conversation.turns[0]?.steps[0]?.blocks ?? [];
    expect(blocks).toHaveLength(1);
    expect(conversation.turns[0]?.calls.get('c')?.inner).toMatchObject([{ name: 'cat', state: 'denied', arguments: { path: 'a' } }]);
  });

  it('discards what a restarted step wrote, and keeps what was before', () => {
    const conversation = fold([
      start,
      { type: 'step-start' },
      { type: 'text-delta', text: 'kept ' },
      { type: 'text-delta', text: 'lost' },
      { type: 'tool-input-start', ...call },
      { type: 'step-restart', from: 4 },
      { type: 'text-delta', text: 'again' },
    ]);
    expect(conversation.turns[0]?.steps[0]?.blocks).toEqual([{ kind: 'text', text: 'kept again' }]);
    expect(conversation.turns[0]?.calls.size).toBe(0);
  });

  it('ends open calls with their turn, and shows the history of a continued session', () => {
    const messages = [
      { role: 'system', parts: [{ type: 'text', text: 'rules' }] },
      { role: 'user', parts: [{ type: 'text', text: 'before' }] },
    ];
    const conversation = fold([{ type: 'history', messages }, ...calling, { ...ending, status: 'cancelled', reason: 'cancelled' }]);
    expect(conversation.history).toEqual([{ role: 'user', text: 'before' }]);
    expect(conversation.turns[0]?.calls.get('c')?.state).toBe('cancelled');
    expect(isIdle(conversation)).toBe(true);
  });

  it('takes names of the prototype as names', () => {
    const conversation = fold([
      start,
      { type: 'step-start' },
      { type: 'tool-input-start', ...call, callId: '__proto__', name: 'constructor' },
    ]);
    expect(conversation.turns[0]?.calls.get('__proto__')?.name).toBe('constructor');
  });
});
