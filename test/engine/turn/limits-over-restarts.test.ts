/** Budgets are folds over the log, so a turn that dies at any point and resumes has the same budget as one that does not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { nextAction } from '../../../src/core/turn/turn.ts';
import { applyEvent } from '../../../src/core/turn/fold-turn.ts';
import { beginTurn, type TurnState } from '../../../src/core/turn/turn-state.ts';
import { toBudget } from '../../../src/core/turn/turn-budget.ts';
import { callEvents, finish, results, run } from '../one-turn.ts';
import { maxRecoveriesWithoutProgress } from '../../../src/core/turn/turn.ts';

const tokens = { inputTokens: 90, outputTokens: 10 };

/** A model that calls without end: its command is the number of the step, or always the same. */
const calling = (step: number, same: boolean): ChatEvent[] => [
  ...callEvents(0, 'cat', { path: same ? 'same' : `${step}.0` }),
  ...callEvents(1, 'cat', { path: same ? 'same' : `${step}.1` }),
  { type: 'usage', usage: tokens },
  finish('tool-calls'),
];
const script = (same: boolean) => Array.from({ length: 40 }, (_, step) => calling(step, same));
const stepsIn = (events: readonly SessionEventBody[]) => events.filter(({ type }) => type === 'step-end').length;
const usagesIn = (events: readonly SessionEventBody[]) => events.filter(({ type }) => type === 'usage').length;
const endOf = (events: readonly SessionEventBody[]) => events.flatMap((event) => (event.type === 'turn-end' ? [event.reason] : []));

const price = { model: 'a/b', price: { input: 1_000, output: 1_000 } };
const cases: [string, Partial<Plan>, boolean, string][] = [
  ['steps', { limits: { maxSteps: 3 } }, false, 'max_steps'],
  ['calls', { limits: { maxSteps: 6, maxCalls: 5 } }, false, 'max_steps'],
  ['identical calls', { limits: { maxSteps: 4 } }, true, 'max_steps'],
  ['tokens', { limits: { maxTokens: 250 } }, false, 'max_tokens'],
  ['cost', { limits: { maxCost: 0.25 }, prices: [price] }, false, 'max_cost'],
];

describe.each(cases)('the limit of %s', (_what, plan, same, reason) => {
  it('holds for a turn that dies at any event and resumes', async () => {
    const executed = { count: 0 };
    const execute = () => {
      executed.count += 1;
      return textResult('x');
    };
    const whole = await run(script(same), execute, plan);
    expect(endOf(whole.events)).toEqual([reason]);
    const told = results(whole.events).length;
    const ran = results(whole.events).filter(({ isError }) => !isError).length;
    for (let at = 1; at < whole.events.length - 1; at += 1) {
      const kept = whole.events.slice(1, at);
      const before: SessionEventBody[] = [...kept, { type: 'turn-resume', turn: 'turn_1', attempt: 1 }];
      const resumed = await run(script(same).slice(stepsIn(kept)), execute, plan, before);
      expect(endOf(resumed.events)).toEqual([reason]);
      expect(results(resumed.events).length).toBeLessThanOrEqual(told);
      expect(results(resumed.events).filter(({ isError }) => !isError).length).toBeLessThanOrEqual(ran);
      // A reply that was paid for and lost counts, so less may remain.
      if (usagesIn(resumed.events) > stepsIn(resumed.events)) expect(stepsIn(resumed.events)).toBeLessThanOrEqual(stepsIn(whole.events));
      else expect(stepsIn(resumed.events)).toBe(stepsIn(whole.events));
    }
  });
});

describe('the state of a turn', () => {
  it('is the same folded at once and folded in two parts', async () => {
    const { events } = await run(script(true), () => textResult('x'), { limits: { maxSteps: 4 } });
    const budget = toBudget({ limits: { maxSteps: 4 } });
    const fold = (state: TurnState, part: readonly SessionEventBody[]): TurnState => {
      for (const event of part) applyEvent(state, event);
      return state;
    };
    fc.assert(
      fc.property(fc.nat({ max: events.length }), fc.nat({ max: events.length }), (a, b) => {
        const [first, second] = a < b ? [a, b] : [b, a];
        const continued = fold(fold(beginTurn('turn_1'), events.slice(0, first)), events.slice(first, second));
        const refolded = fold(beginTurn('turn_1'), JSON.parse(JSON.stringify(events.slice(0, second))) as SessionEventBody[]);
        expect(continued).toEqual(refolded);
        expect(nextAction(continued, budget)).toEqual(nextAction(refolded, budget));
      }),
    );
  });

  it('ends a turn that dies at the same point repeatedly', async () => {
    const died: SessionEventBody[] = [
      { type: 'step-start', turn: 'turn_1', step: 1 },
      ...Array.from(
        { length: maxRecoveriesWithoutProgress + 1 },
        (_, index): SessionEventBody => ({ type: 'turn-resume', turn: 'turn_1', attempt: index + 1 }),
      ),
    ];
    const { events, requests } = await run(script(false), () => textResult('x'), {}, died);
    expect([endOf(events), requests.length]).toEqual([['recovery_limit'], 0]);
  });
});
