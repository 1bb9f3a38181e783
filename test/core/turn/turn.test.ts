import { describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { nextAction } from '../../../src/core/turn/turn.ts';
import type { TurnBudget } from '../../../src/core/turn/turn-budget.ts';
import { applyEvent } from '../../../src/core/turn/fold-turn.ts';
import { beginTurn, isWaiting, type TurnState } from '../../../src/core/turn/turn-state.ts';
import { maxCallsPerStep } from '../../../src/core/turn/turn-budget.ts';
import { maxRecoveries, maxRecoveriesWithoutProgress } from '../../../src/core/turn/turn.ts';
import { noEffects } from '../../fakes/no-effects.ts';

const turn = 'turn_1';
const budget: TurnBudget = { maxSteps: 16, maxCalls: 64, maxTokens: null };

function fold(events: SessionEventBody[]): TurnState {
  const state = beginTurn(turn);
  for (const event of events) applyEvent(state, event);
  return state;
}

function stepStart(step: number): SessionEventBody {
  return { type: 'step-start', turn, step };
}

function stepEnd(step: number, reason = 'tool-calls'): SessionEventBody {
  return { type: 'step-end', turn, step, reason, model: 'rehearsal/default' };
}

function call(callId: string, step: number, args: Record<string, unknown> = {}): SessionEventBody[] {
  return [
    { type: 'tool-input-start', turn, step, callId, name: 'shell', canonical: 'builtin.bash', via: 'alias' },
    { type: 'tool-input-end', turn, step, callId, arguments: args, repaired: false },
  ];
}

function result(callId: string, step: number): SessionEventBody {
  return { type: 'tool-result', turn, step, callId, name: 'shell', canonical: 'builtin.bash', via: 'alias', isError: false, content: [] };
}

/** A complete step with one call and its result. */
function workedStep(step: number, args: Record<string, unknown> = { step }): SessionEventBody[] {
  return [stepStart(step), ...call(`call_${step}`, step, args), stepEnd(step), result(`call_${step}`, step)];
}

describe('a turn', () => {
  it('begins with a model call', () => {
    expect(nextAction(beginTurn(turn), budget)).toEqual({ do: 'call-model', step: 1, closing: false });
  });

  it('ends with the model’s reason if a step has no calls', () => {
    expect(nextAction(fold([stepStart(1), stepEnd(1, 'stop')]), budget)).toEqual({ do: 'end', status: 'completed', reason: 'stop' });
  });

  it('runs the calls of a step once the step has ended, in call order', () => {
    const action = nextAction(fold([stepStart(1), ...call('a', 1), ...call('b', 1, { x: 1 }), stepEnd(1)]), budget);
    expect(action).toMatchObject({
      do: 'run-calls',
      step: 1,
      calls: [
        { call: { callId: 'a' }, refusal: null },
        { call: { callId: 'b' }, refusal: null },
      ],
    });
  });

  it('runs the calls of a step in order, each after the result of the one before, also if that has to wait', () => {
    const events: SessionEventBody[] = [
      stepStart(1),
      ...call('a', 1),
      ...call('b', 1, { x: 1 }),
      { type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'rehearsal/default', inOrder: true },
    ];
    expect(nextAction(fold(events), budget)).toEqual({
      ...{ do: 'run-calls', step: 1 },
      calls: [{ call: expect.objectContaining({ callId: 'a' }), refusal: null }],
    });
    const name = { name: 'shell', canonical: 'client.shell', arguments: {} };
    events.push({ type: 'client-tool-required', turn, step: 1, callId: 'a', ...name });
    expect(nextAction(fold(events), budget)).toEqual({ do: 'wait', calls: [expect.objectContaining({ callId: 'a' })] });
    expect(isWaiting(fold(events))).toBe(true);
    events.push(result('a', 1));
    expect(isWaiting(fold(events))).toBe(false);
    expect(nextAction(fold(events), budget)).toMatchObject({ do: 'run-calls', calls: [{ call: { callId: 'b' }, refusal: null }] });
    expect(nextAction(fold([...events, result('b', 1)]), budget)).toMatchObject({ do: 'call-model', step: 2 });
  });

  it('runs only the calls that have no result yet', () => {
    const action = nextAction(fold([stepStart(1), ...call('a', 1), ...call('b', 1, { x: 1 }), stepEnd(1), result('b', 1)]), budget);
    expect(action).toMatchObject({ do: 'run-calls', calls: [{ call: { callId: 'a' } }] });
  });

  it('calls the model again when every call has its result', () => {
    expect(nextAction(fold(workedStep(1)), budget)).toEqual({ do: 'call-model', step: 2, closing: false });
  });

  it('restarts a step that the log ends in', () => {
    expect(nextAction(fold([stepStart(1), ...call('a', 1)]), budget)).toEqual({ do: 'restart-step', step: 1 });
  });

  it('does nothing after its end', () => {
    const end: SessionEventBody = {
      type: 'turn-end',
      turn,
      status: 'completed',
      reason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0 },
    };
    expect(nextAction(fold([stepStart(1), stepEnd(1, 'stop'), end]), budget)).toEqual({ do: 'nothing' });
  });

  it('fails if the model returns no reply', () => {
    const problem = { type: 'urn:x', title: 't', status: 502, detail: 'd', code: 'upstream_error' as const };
    expect(nextAction(fold([stepStart(1), { type: 'error', turn, problem }]), budget)).toEqual({
      do: 'end',
      status: 'failed',
      reason: 'upstream_error',
    });
  });

  it('returns the same action for the same state', () => {
    const state = fold([stepStart(1), ...call('a', 1), stepEnd(1)]);
    expect(nextAction(state, budget)).toEqual(nextAction(state, budget));
  });
});

describe('the budgets of a turn', () => {
  it('allow one closing step after the last, and end with max_steps', () => {
    const small = { ...budget, maxSteps: 2 };
    const spent = [...workedStep(1), ...workedStep(2)];
    expect(nextAction(fold(spent), small)).toEqual({ do: 'call-model', step: 3, closing: true });
    expect(nextAction(fold([...spent, stepStart(3), stepEnd(3, 'stop')]), small)).toEqual({
      do: 'end',
      status: 'completed',
      reason: 'max_steps',
    });
  });

  it('refuse the calls of the closing step and end', () => {
    const small = { ...budget, maxSteps: 1 };
    const closing = [...workedStep(1), stepStart(2), ...call('z', 2), stepEnd(2)];
    expect(nextAction(fold(closing), small)).toMatchObject({ do: 'run-calls', calls: [{ refusal: { code: 'limit_reached' } }] });
    expect(nextAction(fold([...closing, result('z', 2)]), small)).toEqual({ do: 'end', status: 'completed', reason: 'max_steps' });
  });

  it('never run the calls of a step that was cut at the length limit', () => {
    const action = nextAction(fold([stepStart(1), ...call('a', 1), stepEnd(1, 'length')]), budget);
    expect(action).toMatchObject({ do: 'run-calls', calls: [{ refusal: { code: 'truncated' } }] });
  });

  it('end a turn whose calls are cut at the length limit in two steps in a row', () => {
    const cut = (step: number) => [stepStart(step), ...call(`c${step}`, step), stepEnd(step, 'length'), result(`c${step}`, step)];
    expect(nextAction(fold(cut(1)), budget)).toMatchObject({ do: 'call-model', step: 2 });
    expect(nextAction(fold([...cut(1), ...cut(2)]), budget)).toEqual({ do: 'end', status: 'completed', reason: 'length' });
    expect(nextAction(fold([...cut(1), ...workedStep(2), ...cut(3)]), budget)).toMatchObject({ do: 'call-model', step: 4 });
  });

  it('never run a call whose input did not end', () => {
    const open: SessionEventBody = {
      type: 'tool-input-start',
      turn,
      step: 1,
      callId: 'a',
      name: 'shell',
      canonical: 'builtin.bash',
      via: 'alias',
    };
    expect(nextAction(fold([stepStart(1), open, stepEnd(1)]), budget)).toMatchObject({ calls: [{ refusal: { code: 'truncated' } }] });
  });

  it('refuse an identical call after the third time, under any name', () => {
    const same = { command: 'date' };
    const thrice = [1, 2, 3].flatMap((step) => workedStep(step, same));
    expect(nextAction(fold([...thrice, stepStart(4), ...call('d', 4, same), stepEnd(4)]), budget)).toMatchObject({
      calls: [{ refusal: { code: 'limit_reached', message: expect.stringContaining('same call') } }],
    });
    expect(nextAction(fold([...thrice, stepStart(4), ...call('d', 4, { command: 'ls' }), stepEnd(4)]), budget)).toMatchObject({
      calls: [{ refusal: null }],
    });
  });

  it('refuse calls above the limits of the turn and of a step', () => {
    const many = Array.from({ length: maxCallsPerStep + 1 }, (_, index) => call(`c${index}`, 1, { index })).flat();
    const action = nextAction(fold([stepStart(1), ...many, stepEnd(1)]), { ...budget, maxCalls: 2 });
    if (action.do !== 'run-calls') throw new Error(action.do);
    expect(action.calls.map(({ refusal }) => refusal?.code ?? null).slice(0, 3)).toEqual([null, null, 'limit_reached']);
    expect(action.calls.at(-1)?.refusal?.message).toContain(`${maxCallsPerStep} calls`);
  });

  it('refuse calls and end with max_tokens once the tokens are spent', () => {
    const tokens = { ...budget, maxTokens: 10 };
    const usage: SessionEventBody = { type: 'usage', turn, step: 1, usage: { inputTokens: 8, outputTokens: 2 } };
    const spent = [stepStart(1), ...call('a', 1), usage, stepEnd(1)];
    expect(nextAction(fold(spent), tokens)).toMatchObject({ calls: [{ refusal: { code: 'limit_reached' } }] });
    expect(nextAction(fold([...spent, result('a', 1)]), tokens)).toEqual({ do: 'end', status: 'completed', reason: 'max_tokens' });
  });
});

function begun(callId: string, attempt = 1): SessionEventBody {
  return { type: 'tool-start', turn, step: 1, callId, attempt };
}

function question(callId: string): SessionEventBody {
  const at = { turn, step: 1, callId, name: 'shell', canonical: 'builtin.bash', entry: 'shell', arguments: {} };
  return {
    type: 'approval-required',
    ...at,
    ...noEffects,
    reason: 'r',
    ask: 'always',
    target: null,
    expiresAt: '2026-01-08T00:00:00.000Z',
  };
}

function decided(callId: string, decision: 'approve' | 'deny' | 'expire'): SessionEventBody {
  return { type: 'approval-decided', turn, step: 1, callId, decision, by: 'key_1' };
}

function deaths(count: number, first = 1): SessionEventBody[] {
  return Array.from({ length: count }, (_, index) => ({ type: 'turn-resume', turn, attempt: first + index }));
}

describe('a turn that waits', () => {
  it('reads from its log what an approval is bound to; questions of older releases bind nothing', () => {
    const about = { ...question('a'), binding: ['hash'] } as SessionEventBody;
    const { calls } = fold([stepStart(1), ...call('a', 1), ...call('b', 1, { x: 1 }), stepEnd(1), about, question('b')]);
    expect(['a', 'b'].map((id) => calls.get(id)?.question)).toEqual([
      { binding: ['hash'], round: 1 },
      { binding: [], round: 1 },
    ]);
  });

  it('waits again if a call asks again, whatever the earlier decision', () => {
    const again = { ...question('a'), round: 2, binding: ['other'] } as SessionEventBody;
    const events = [stepStart(1), ...call('a', 1), stepEnd(1), question('a'), decided('a', 'approve'), again];
    const state = fold(events);
    expect([isWaiting(state), state.calls.get('a')?.verdict]).toEqual([true, null]);
    expect(fold([...events, decided('a', 'approve')]).calls.get('a')).toMatchObject({
      verdict: { decision: 'approve' },
      question: { binding: ['other'], round: 2 },
    });
  });

  const asked = [stepStart(1), ...call('a', 1), ...call('b', 1, { x: 1 }), stepEnd(1), question('a'), question('b')];

  it('waits when every open call has an open question', () => {
    expect(nextAction(fold(asked), budget)).toMatchObject({ do: 'wait', calls: [{ callId: 'a' }, { callId: 'b' }] });
    expect(isWaiting(fold(asked))).toBe(true);
    expect(isWaiting(fold(asked.slice(0, -1)))).toBe(false);
    expect(isWaiting(fold([stepStart(1), ...call('a', 1)]))).toBe(false);
  });

  it('waits for input that a tool requests, then runs the call without new checks until it asks again', () => {
    const required = (round: number): SessionEventBody => ({
      ...{ type: 'input-required', turn, step: 1, callId: 'a', name: 'shell', canonical: 'crm.find', entry: 'find', arguments: {} },
      ...{ server: 'crm', requests: {}, round, expiresAt: '2026-01-08T00:00:00.000Z' },
    });
    const given = (round: number): SessionEventBody => {
      return { type: 'input-given', turn, step: 1, callId: 'a', round, actions: {}, by: 'key_1' };
    };
    const log = [stepStart(1), ...call('a', 1), stepEnd(1), question('a'), decided('a', 'approve'), begun('a'), required(1)];
    expect(nextAction(fold(log), budget)).toMatchObject({ do: 'wait', calls: [{ callId: 'a', rounds: 1, attempts: 0 }] });
    expect(isWaiting(fold([...log, given(2)]))).toBe(true);
    const action = nextAction(fold([...log, given(1)]), { ...budget, maxCalls: 0 });
    expect(action).toMatchObject({ do: 'run-calls', calls: [{ refusal: null, call: { verdict: { decision: 'approve' } } }] });
    expect(isWaiting(fold([...log, given(1), begun('a'), required(2)]))).toBe(true);
    const died = fold([...log, given(1), begun('a'), ...deaths(1)]);
    expect(died.calls.get('a')).toMatchObject({ interrupted: true, rounds: 1 });
  });

  it('runs an approved call while another one waits, then waits again', () => {
    const one = [...asked, decided('b', 'approve')];
    expect(nextAction(fold(one), budget)).toMatchObject({ do: 'run-calls', calls: [{ call: { callId: 'b' }, refusal: null }] });
    expect(isWaiting(fold([...one, begun('b'), result('b', 1)]))).toBe(true);
  });

  it.each(['deny', 'expire'] as const)('refuses only the call with the verdict %s', (decision) => {
    const action = nextAction(fold([...asked, decided('a', decision)]), budget);
    expect(action).toMatchObject({ do: 'run-calls', calls: [{ call: { callId: 'a' }, refusal: { code: 'denied' } }] });
  });

  it('keeps the first decision on a call', () => {
    const action = nextAction(fold([...asked, decided('a', 'deny'), decided('a', 'approve')]), budget);
    expect(action).toMatchObject({ do: 'run-calls', calls: [{ call: { callId: 'a' }, refusal: { code: 'denied' } }] });
  });

  it('continues with the next step when the client has run its tool', () => {
    const client: SessionEventBody = {
      type: 'client-tool-required',
      turn,
      step: 1,
      callId: 'a',
      name: 'shell',
      canonical: 'client.shell',
      arguments: {},
    };
    const waiting = [stepStart(1), ...call('a', 1), stepEnd(1), client];
    expect(nextAction(fold(waiting), budget)).toMatchObject({ do: 'wait' });
    expect(nextAction(fold([...waiting, result('a', 1)]), budget)).toMatchObject({ do: 'call-model', step: 2 });
  });

  it('does not check an approved call again', () => {
    const small = { ...budget, maxCalls: 2 };
    const late = [stepStart(1), ...call('a', 1), ...call('b', 1, { x: 1 }), ...call('c', 1, { x: 2 }), stepEnd(1)];
    const action = nextAction(fold([...late, question('a'), result('b', 1), result('c', 1), decided('a', 'approve')]), small);
    expect(action).toMatchObject({ calls: [{ call: { callId: 'a' }, refusal: null }] });
  });
});

describe('a turn that is resumed', () => {
  it('knows which calls were in progress, and how often they were started', () => {
    const log = [stepStart(1), ...call('a', 1), ...call('b', 1, { x: 1 }), stepEnd(1), begun('a'), ...deaths(1)];
    const { calls } = fold(log);
    expect(calls.get('a')).toMatchObject({ attempts: 1, interrupted: true });
    expect(calls.get('b')).toMatchObject({ attempts: 0, interrupted: false });
    expect(fold([...log, begun('a', 2)]).calls.get('a')).toMatchObject({ attempts: 2, interrupted: false });
  });

  it('treats a call that stopped for a question as not started', () => {
    const log = [stepStart(1), ...call('a', 1), stepEnd(1), begun('a'), question('a'), ...deaths(1), decided('a', 'approve')];
    expect(fold(log).calls.get('a')).toMatchObject({ attempts: 0, interrupted: false });
  });

  it('ends if it died too often without a finished step or call in between', () => {
    const most = maxRecoveriesWithoutProgress;
    expect(nextAction(fold([stepStart(1), ...deaths(most)]), budget)).toMatchObject({ do: 'restart-step' });
    expect(nextAction(fold([stepStart(1), ...deaths(most + 1)]), budget)).toEqual({
      do: 'end',
      status: 'failed',
      reason: 'recovery_limit',
    });
    expect(nextAction(fold([stepStart(1), ...deaths(most), stepEnd(1), ...deaths(most, most + 1)]), budget)).toMatchObject({
      do: 'end',
      status: 'completed',
    });
  });

  it('ends if it died too often in total, whatever its progress', () => {
    const log = Array.from({ length: maxRecoveries + 1 }, (_, index) => [...workedStep(index + 1), ...deaths(1, index + 1)]).flat();
    expect(nextAction(fold(log), { ...budget, maxSteps: 100 })).toMatchObject({ do: 'end', reason: 'recovery_limit' });
  });
});
