import { describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { nextAction } from '../../../src/core/turn/turn.ts';
import { applyEvent } from '../../../src/core/turn/fold-turn.ts';
import { beginTurn, isWaiting, pendingQuestions, type TurnState } from '../../../src/core/turn/turn-state.ts';
import { noEffects } from '../../fakes/no-effects.ts';

const at = { turn: 't', step: 1 };
const budget = { maxSteps: 5, maxCalls: 50, maxTokens: null };
const begun: SessionEventBody[] = [
  { type: 'step-start', ...at },
  { type: 'tool-input-start', ...at, callId: 'a', name: 'code', canonical: 'made.code', via: 'wire' },
  { type: 'tool-input-end', ...at, callId: 'a', arguments: {}, repaired: false },
  { type: 'step-end', ...at, reason: 'tool-calls', model: 'm' },
  { type: 'tool-start', ...at, callId: 'a', attempt: 1 },
];
const beneath = (callId: string) => ({ ...at, callId, parent: 'a', name: 'x', canonical: 'local.x' });
const asks = (callId: string): SessionEventBody => ({
  ...{ type: 'approval-required', ...beneath(callId), ...noEffects, arguments: {}, entry: 'x', reason: 'r', ask: 'always', target: null },
  expiresAt: '2030-01-01T00:00:00.000Z',
});
const wants = (callId: string, round: number): SessionEventBody => ({
  ...{ type: 'input-required', ...beneath(callId), arguments: {}, entry: 'x', server: 's', requests: {}, round },
  expiresAt: '2030-01-01T00:00:00.000Z',
});
const decided = (callId: string): SessionEventBody => ({
  ...{ type: 'approval-decided', ...at, callId, parent: 'a', decision: 'deny', by: 'k' },
});
const given = (callId: string, round: number): SessionEventBody => ({
  ...{ type: 'input-given', ...at, callId, parent: 'a', round, actions: {}, by: 'k' },
});
const client = (callId: string): SessionEventBody => ({ type: 'client-tool-required', ...beneath(callId), arguments: {} });
const result = (callId: string): SessionEventBody => ({
  ...{ type: 'inner-result', ...at, callId, parent: 'a', canonical: 'local.x', isError: false, content: [], durationMs: 1 },
});

function fold(...events: SessionEventBody[]): TurnState {
  const state = beginTurn('t');
  for (const event of [...begun, ...events]) applyEvent(state, event);
  return state;
}

const does = (state: TurnState): string => nextAction(state, budget).do;

describe('questions about inner calls of a step’s call', () => {
  it('make it wait until the last one is answered; then it runs again from the start', () => {
    const open = [asks('a.1'), client('a.2'), wants('a.3.1', 1)];
    expect(pendingQuestions(fold(...open)).map(({ callId, asked }) => [callId, asked])).toEqual([
      ['a.1', 'approval'],
      ['a.2', 'client'],
      ['a.3.1', 'input'],
    ]);
    expect([isWaiting(fold(...open)), does(fold(...open))]).toEqual([true, 'wait']);
    const two = fold(...open, decided('a.1'), result('a.2'));
    expect([isWaiting(two), does(two)]).toEqual([true, 'wait']);
    const all = fold(...open, decided('a.1'), result('a.2'), given('a.3.1', 1));
    expect([isWaiting(all), does(all)]).toEqual([false, 'run-calls']);
    expect(all.calls.get('a')).toMatchObject({ attempts: 0, interrupted: false, verdict: null });
  });

  it('make it wait only when the last question of a batch has been added', () => {
    const first = { ...asks('a.1'), more: 1 } as SessionEventBody;
    expect(isWaiting(fold(first))).toBe(false);
    expect(isWaiting(fold(first, asks('a.2')))).toBe(true);
    // The process died between the two, and the second is not asked again.
    const again: SessionEventBody = { type: 'tool-start', ...at, callId: 'a', attempt: 1 };
    expect([does(fold(first)), does(fold(first, again))]).toEqual(['run-calls', 'wait']);
  });

  it('do not decide the call itself: a denial affects only its inner call', () => {
    const action = nextAction(fold(asks('a.1'), decided('a.1')), budget);
    expect(action).toMatchObject({ do: 'run-calls', calls: [{ refusal: null }] });
  });

  it('stop it cleanly: a process that dies while it waits interrupts nothing', () => {
    const state = fold(asks('a.1'), { type: 'turn-resume', turn: 't', attempt: 1 }, decided('a.1'));
    expect(state.calls.get('a')?.interrupted).toBe(false);
  });

  it('are open again in the next round, whatever the previous decision', () => {
    const state = fold(
      wants('a.1', 1),
      given('a.1', 1),
      { type: 'tool-start', ...at, callId: 'a', attempt: 1 },
      wants('a.1', 2),
      given('a.1', 1),
    );
    expect(does(state)).toBe('wait');
    applyEvent(state, given('a.1', 2));
    expect(does(state)).toBe('run-calls');
  });

  it('end with its result', () => {
    const state = fold(asks('a.1'), {
      ...{ type: 'tool-result', ...at, callId: 'a', name: 'code', canonical: 'made.code', via: 'wire' },
      ...{ isError: true, content: [] },
    });
    expect([isWaiting(state), pendingQuestions(state)]).toEqual([false, []]);
  });

  it('belong to calls of the current step; others are ignored', () => {
    const state = fold({ ...asks('b.1'), parent: 'b' } as SessionEventBody);
    expect(isWaiting(state)).toBe(false);
  });
});

describe('a call that died with inner calls', () => {
  it('makes progress with each inner call that ended', () => {
    const died: SessionEventBody = { type: 'turn-resume', turn: 't', attempt: 1 };
    expect(fold(died, died).recoveriesWithoutProgress).toBe(2);
    expect(fold(died, result('a.1'), died).recoveriesWithoutProgress).toBe(1);
  });
});
