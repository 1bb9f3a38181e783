/** A turn that asks when it has used its limit of cost: when it asks, and what each decision does. */
import { describe, expect, it } from 'vitest';
import type { ApprovalVerdict } from '../../../src/core/policy/approval.ts';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { beginTurn, isWaiting, pendingQuestions } from '../../../src/core/turn/turn-state.ts';
import { applyEvent } from '../../../src/core/turn/fold-turn.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { askForBudget } from '../../../src/engine/turn/ask-budget.ts';
import { toBudget } from '../../../src/core/turn/turn-budget.ts';
import type { ShareShortage } from '../../../src/core/limits/fair-share.ts';
import { callEvents, finish, results, run } from '../one-turn.ts';

/** Each step costs 0.1. */
const step = (number: number): ChatEvent[] => [
  ...callEvents(0, 'cat', { path: String(number) }),
  { type: 'usage', usage: { inputTokens: 90, outputTokens: 10 } },
  finish('tool-calls'),
];
const script = (from: number, count: number) => Array.from({ length: count }, (_, index) => step(from + index));
const limited = (more: Partial<Plan['limits']> = {}): Partial<Plan> => ({
  limits: { maxCost: 0.25, onLimit: 'ask', ...more },
  prices: [{ model: 'a/b', price: { input: 1_000, output: 1_000 } }],
});
const ends = (events: readonly SessionEventBody[]) => events.flatMap((event) => (event.type === 'turn-end' ? [event.reason] : []));
const questions = (events: readonly SessionEventBody[]) => events.filter((event) => event.type === 'approval-required');

function decided(events: readonly SessionEventBody[], decision: ApprovalVerdict): SessionEventBody[] {
  const question = questions(events).at(-1);
  if (question === undefined) throw new Error('nothing was asked');
  const { turn, step: at, callId } = question;
  return [...events.slice(1), { type: 'approval-decided', turn, step: at, callId, decision, by: 'k' }];
}

describe('a turn with a limit of cost that asks', () => {
  it('asks before its next calls run, once, and waits', async () => {
    const { events, done } = await run(script(0, 5), () => textResult('x'), limited());
    expect(await done).toBe('waiting');
    expect(ends(events)).toEqual([]);
    expect(results(events)).toHaveLength(2);
    expect(questions(events)).toMatchObject([
      { ask: 'budget', callId: 'budget_turn_1_1', target: null, arguments: { used: 0.3, max: 0.25, more: 0.25 } },
    ]);
    const state = beginTurn('turn_1');
    for (const event of events) applyEvent(state, event);
    expect([isWaiting(state), pendingQuestions(state).map(({ callId }) => callId)]).toEqual([true, ['budget_turn_1_1']]);
    // A run that begins again, as after a crash, does not ask twice.
    const again = await run([], () => textResult('x'), limited(), events.slice(1));
    expect([await again.done, questions(again.events).length]).toEqual(['waiting', 1]);
  });

  it('uses the amount once more with an approval, and then asks again', async () => {
    const first = await run(script(0, 5), () => textResult('x'), limited());
    const second = await run(script(3, 5), () => textResult('x'), limited(), decided(first.events, 'approve'));
    expect(await second.done).toBe('waiting');
    expect(questions(second.events).at(-1)).toMatchObject({ callId: 'budget_turn_1_2', arguments: { used: 0.5, max: 0.5, more: 0.25 } });
  });

  it.each(['deny', 'expire'] as const)('ends with `max_cost` after %s, and its open calls do not run', async (decision) => {
    const first = await run(script(0, 5), () => textResult('x'), limited());
    const { events, requests } = await run([], () => textResult('x'), limited(), decided(first.events, decision));
    expect([ends(events), requests.length]).toEqual([['max_cost'], 0]);
    expect(results(events).map(({ code }) => code)).toEqual([undefined, undefined, 'limit_reached']);
  });

  it('does not ask for another limit, at its end, or without `ask`', async () => {
    const tokens = await run(script(0, 5), () => textResult('x'), limited({ maxTokens: 250 }));
    expect([ends(tokens.events), questions(tokens.events)]).toEqual([['max_tokens'], []]);
    const last: ChatEvent[] = [{ type: 'usage', usage: { inputTokens: 900, outputTokens: 10 } }, finish('stop')];
    const over = await run([last], () => textResult('x'), limited());
    expect([ends(over.events), questions(over.events)]).toEqual([['stop'], []]);
    const plain = await run(script(0, 5), () => textResult('x'), limited({ onLimit: 'end' }));
    expect([ends(plain.events), questions(plain.events)]).toEqual([['max_cost'], []]);
  });

  it('ends where nobody approves, or no more questions may wait', async () => {
    const where = limited();
    expect([true, false].map((canAsk) => toBudget({ limits: where.limits ?? {} }, canAsk).cost?.asks)).toEqual([true, false]);
    const { scope, events, clock } = await run([], () => textResult('x'), where);
    const before = events.length;
    const full = { ...scope, admitQuestions: async () => ({ limit: 'pendingQuestions' }) as unknown as ShareShortage };
    expect(await askForBudget({ clock }, full, { used: 1, max: 1, more: 1 })).toBe(false);
    expect(events.length).toBe(before);
  });
});
