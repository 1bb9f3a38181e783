/**
 * The step function alone, at full speed: a turn's log, a model and tools of a few random numbers each, and a process that dies between
 * any two rows. No promises and no engine: only what `core/turn/turn.ts` decides from a log.
 */
import type { SessionEventBody } from '../../src/core/turn/session-event.ts';
import type { TurnBudget } from '../../src/core/turn/turn-budget.ts';
import { applyEvent } from '../../src/core/turn/fold-turn.ts';
import { beginTurn, type StepCall, type TurnState } from '../../src/core/turn/turn-state.ts';
import { nextAction, type TurnAction } from '../../src/core/turn/turn.ts';
import { createRandom, type Random } from './random.ts';
import { noEffects } from '../fakes/no-effects.ts';

export type StepRun = { events: SessionEventBody[]; deaths: number; violation: string | null };

const turn = 'turn';
/** More than any turn can need: 17 steps of four calls, with a crash between any two. */
const maxActions = 2_000;

class Death extends Error {}

export function runSteps(seed: number): StepRun {
  const random = createRandom(seed);
  const budget: TurnBudget = { maxSteps: random.int(1, 5), maxCalls: random.int(1, 12), maxTokens: random.chance(0.2) ? 60 : null };
  const machine = new StepMachine(random, budget);
  try {
    machine.run();
    return { events: machine.log, deaths: machine.deaths, violation: findViolation(machine) };
  } catch (error) {
    return { events: machine.log, deaths: machine.deaths, violation: String(error) };
  }
}

type ToolClass = 'safe' | 'unsafe' | 'asks' | 'client';

/** From the name, so that a restarted process decides the same. */
function classOf(call: StepCall): ToolClass {
  return call.name.split('_', 1)[0] as ToolClass; // Made by `callModel` below.
}

class StepMachine {
  readonly log: SessionEventBody[] = [];
  deaths = 0;
  /** The effects of each call, which no crash undoes. */
  readonly effects = new Map<string, number>();
  readonly #random: Random;
  readonly #budget: TurnBudget;
  readonly #mortality: number;
  #state: TurnState = beginTurn(turn);
  #calls = 0;

  constructor(random: Random, budget: TurnBudget) {
    this.#random = random;
    this.#budget = budget;
    this.#mortality = random.pick([0, 0, 0.01, 0.03, 0.15]);
  }

  run(): void {
    for (let count = 0; count < maxActions; count += 1) {
      try {
        const action = nextAction(this.#state, this.#budget);
        if (action.do === 'nothing') return;
        this.#do(action);
      } catch (error) {
        if (!(error instanceof Death)) throw error;
        this.#restart();
      }
    }
    throw new Error(`the turn has not ended after ${maxActions} actions`);
  }

  #do(action: Exclude<TurnAction, { do: 'nothing' }>): void {
    switch (action.do) {
      case 'call-model':
        this.#append({ type: 'step-start', turn, step: action.step });
        this.#callModel(action.step, action.closing);
        return;
      case 'restart-step':
        this.#append({ type: 'step-restart', turn, step: action.step, from: 0 });
        this.#callModel(action.step, action.step > this.#budget.maxSteps);
        return;
      case 'run-calls':
        for (const { call, refusal } of action.calls) this.#runCall(call, refusal?.code ?? null);
        return;
      case 'ask-budget':
        throw new Error('the turns of this machine have no limit of cost');
      case 'wait':
        this.#hearFromOutside(action.calls);
        return;
      case 'end':
        for (const call of this.#state.calls.values()) if (!call.answered) this.#answer(call, 'aborted');
        this.#append({ type: 'turn-end', turn, status: action.status, reason: action.reason, usage: this.#state.usage });
        return;
      default:
        action satisfies never;
    }
  }

  #callModel(step: number, closing: boolean): void {
    const random = this.#random;
    if (random.chance(0.7)) this.#append({ type: 'text-delta', turn, step, text: 'x' });
    const count = random.chance(closing ? 0.1 : 0.7) ? random.int(1, 4) : 0;
    for (let index = 0; index < count; index += 1) {
      this.#calls += 1;
      const callId = `call_${this.#calls}`;
      const name = `${random.pick<ToolClass>(['safe', 'unsafe', 'asks', 'client'])}_${random.int(1, 2)}`;
      this.#append({ type: 'tool-input-start', turn, step, callId, name, canonical: name, via: 'wire' });
      if (random.chance(0.95)) this.#append({ type: 'tool-input-end', turn, step, callId, arguments: {}, repaired: false });
    }
    this.#append({ type: 'usage', turn, step, usage: { inputTokens: 20, outputTokens: 5 } });
    if (random.chance(0.02)) {
      const problem = { type: 't', title: 't', status: 502, detail: 'd', code: 'upstream_error' as const };
      this.#append({ type: 'error', turn, problem });
      return;
    }
    const reason = random.pick(['stop', 'stop', 'stop', 'stop', 'length', 'content-filter']);
    this.#append({ type: 'step-end', turn, step, reason: count > 0 && reason === 'stop' ? 'tool-calls' : reason, model: 'm' });
  }

  #runCall(call: StepCall, refusal: string | null): void {
    const kind = classOf(call);
    const { step } = this.#state;
    const at = { turn, step, callId: call.callId, name: call.name, canonical: call.name, arguments: {} };
    if (refusal !== null) this.#answer(call, refusal);
    else if (call.interrupted && kind !== 'safe') this.#answer(call, 'outcome_unknown');
    else if (kind === 'client') this.#append({ type: 'client-tool-required', ...at });
    else if (kind === 'asks' && call.verdict === null)
      this.#append({
        type: 'approval-required',
        ...at,
        ...noEffects,
        entry: call.name,
        reason: '',
        ask: 'always',
        target: null,
        expiresAt: '',
      });
    else {
      this.#append({ type: 'tool-start', turn, step, callId: call.callId, attempt: call.attempts + 1 });
      this.effects.set(call.callId, (this.effects.get(call.callId) ?? 0) + 1);
      this.#answer(call, null);
    }
  }

  /** A decision or result from outside, or none: in any order, repeated, or contradicting an earlier one. */
  #hearFromOutside(waiting: readonly StepCall[]): void {
    if (waiting.length === 0) throw new Error('it waits for nothing');
    const call = this.#random.pick(waiting);
    if (call.asked === 'client') {
      this.#answer(call, this.#random.chance(0.2) ? 'tool_error' : null);
      return;
    }
    const decision = this.#random.pick(['approve', 'approve', 'deny', 'expire'] as const);
    this.#append({ type: 'approval-decided', turn, step: this.#state.step, callId: call.callId, decision, by: 'k' });
    const second = this.#random.pick(['approve', 'deny'] as const);
    if (this.#random.chance(0.3)) {
      this.#append({ type: 'approval-decided', turn, step: this.#state.step, callId: call.callId, decision: second, by: 'late' });
    }
  }

  #answer({ callId, name }: StepCall, code: string | null): void {
    const result = { callId, name, canonical: name, via: 'wire' as const, isError: code !== null, content: [] };
    // The fold ignores the kind of error.
    this.#append({ type: 'tool-result', turn, step: this.#state.step, ...result, ...(code !== null && { code: code as 'denied' }) });
  }

  /** The process may die before a row is written, or right after it. */
  #append(event: SessionEventBody): void {
    if (this.#random.chance(this.#mortality)) throw new Death();
    this.log.push(event);
    applyEvent(this.#state, event);
    if (event.type !== 'turn-end' && this.#random.chance(this.#mortality)) throw new Death();
  }

  /** A new process knows only the log. A waiting turn has no run that could die. */
  #restart(): void {
    this.deaths += 1;
    const before = this.#state;
    this.#state = beginTurn(turn);
    for (const event of this.log) applyEvent(this.#state, event);
    if (JSON.stringify(plain(before)) !== JSON.stringify(plain(this.#state))) throw new Error('folding the log again gives another state');
    if (nextAction(this.#state, this.#budget).do === 'wait') return;
    const event: SessionEventBody = { type: 'turn-resume', turn, attempt: this.#state.recoveries + 1 };
    this.log.push(event);
    applyEvent(this.#state, event);
  }
}

function plain(state: TurnState): unknown {
  return { ...state, calls: [...state.calls], repeats: [...state.repeats], usageOf: [...state.usageOf] };
}

function findViolation({ log, effects }: StepMachine): string | null {
  const names = new Map<string, string>();
  const results = new Map<string, number>();
  const words = new Map<string, string>();
  const begun = new Set<string>();
  let taken: string[] = [];
  let steps = 0;
  for (const [index, event] of log.entries()) {
    if (event.type === 'turn-end' && index !== log.length - 1) return 'an event follows the end';
    if (event.type === 'step-start') {
      steps += 1;
      taken = [];
    }
    // The calls of a restarted step are dropped: none of them may have run.
    if (event.type === 'step-restart') {
      for (const callId of taken) {
        if (begun.has(callId)) return `${callId} ran before its step had ended`;
        names.delete(callId);
      }
      taken = [];
    }
    if (event.type === 'tool-input-start') {
      names.set(event.callId, event.name);
      taken.push(event.callId);
    }
    if (event.type === 'approval-decided' && !words.has(event.callId)) words.set(event.callId, event.decision);
    if (event.type === 'tool-start') {
      begun.add(event.callId);
      if (names.get(event.callId)?.startsWith('asks') === true && words.get(event.callId) !== 'approve')
        return `${event.callId} ran without approval`;
    }
    if (event.type === 'tool-result') results.set(event.callId, (results.get(event.callId) ?? 0) + 1);
  }
  if (log.at(-1)?.type !== 'turn-end') return 'the turn has no end';
  for (const [callId, name] of names) {
    if (results.get(callId) !== 1) return `${callId} has ${results.get(callId) ?? 0} results`;
    if ((effects.get(callId) ?? 0) > 1 && !name.startsWith('safe'))
      return `${callId} is ${name} and had its effect ${effects.get(callId)} times`;
    if (name.startsWith('client') && effects.has(callId)) return `${callId} is a client call and ran here`;
  }
  return steps > 6 ? `${steps} steps of at most 6` : null;
}
