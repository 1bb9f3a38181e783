/**
 * The turn as a pure step function (DESIGN §5): `applyEvent` folds the log into a state, `nextAction` says the one thing
 * to do next. The shell (`engine/run-turn.ts`) does it and appends what happened. Nothing here reads a clock, so a turn
 * can be continued from its log by any later run.
 */
import type { ApprovalVerdict } from './approval.ts';
import { addUsage, type Usage } from './chat-event.ts';
import { canonicalJson } from './hash.ts';
import { limits } from './limits.ts';
import { costOf, type Price } from './price.ts';
import type { Via } from './message.ts';
import type { SessionEventBody, TurnEndReason, TurnStatus } from './session-event.ts';
import type { ToolResultCode } from './tool.ts';

/** A call of the step at hand, as far as the log knows it. */
export type StepCall = {
  callId: string;
  /** The name the model used. */
  name: string;
  canonical: string | null;
  via: Via | null;
  /** False until its `tool-input-end`. */
  whole: boolean;
  arguments: Record<string, unknown> | null;
  repaired: boolean;
  closersOnly: boolean;
  fault: 'truncated' | 'invalid_json' | null;
  /** Times it was begun to run; 0 before the first. */
  attempts: number;
  /** The process died while it ran: whether it had its effect is not known. */
  interrupted: boolean;
  /** Somebody outside was asked: a person for leave, or the caller to run it. */
  asked: 'approval' | 'client' | null;
  /** The host that a person was asked about; absent: the question was about something else. */
  askedHost?: string;
  /** The person's word; a call that was denied runs no more. */
  verdict: { decision: ApprovalVerdict; by: string } | null;
  answered: boolean;
};

export type TurnState = {
  turn: string;
  /** Steps begun; the step at hand. 0 before the first. */
  step: number;
  /** Number of its `step-start`: what a restart takes back comes after it. 0 where events were folded without numbers. */
  stepEvent: number;
  phase: 'idle' | 'streaming' | 'stepped' | 'ended';
  /** Calls of the step at hand, in call order. */
  calls: Map<string, StepCall>;
  /** The step's finish reason, once it ended. */
  stepReason: string | null;
  /** Calls answered so far. */
  callsSoFar: number;
  /** Canonical name and arguments → how often this turn has an answer to it. */
  repeats: Map<string, number>;
  /** Times the turn's process died, in all and since the last finished step or call. */
  recoveries: number;
  recoveriesWithoutProgress: number;
  usage: Usage;
  /** The same by model ref. */
  usageOf: Map<string, Usage>;
  failed: boolean;
};

export type TurnBudget = {
  maxSteps: number;
  maxCalls: number;
  maxTokens: number | null;
  cost?: { max: number; prices: ReadonlyMap<string, Price> };
};

/** Why a call is answered without running: the code and the sentence that the model reads. */
export type Refusal = { code: ToolResultCode; message: string };
export type CallToRun = { call: StepCall; refusal: Refusal | null };

export type TurnAction =
  /** `closing`: the last word: tools stay in the request (prefix caches), choosing one is forbidden. */
  | { do: 'call-model'; step: number; closing: boolean }
  | { do: 'run-calls'; step: number; calls: CallToRun[] }
  /** Nothing can be done before somebody outside has answered these. */
  | { do: 'wait'; calls: StepCall[] }
  /** The log ends inside a step: its run died. */
  | { do: 'restart-step'; step: number }
  | { do: 'end'; status: TurnStatus; reason: TurnEndReason }
  | { do: 'nothing' };

export function beginTurn(turn: string): TurnState {
  return {
    turn,
    step: 0,
    stepEvent: 0,
    phase: 'idle',
    calls: new Map(),
    stepReason: null,
    callsSoFar: 0,
    repeats: new Map(),
    recoveries: 0,
    recoveriesWithoutProgress: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    usageOf: new Map(),
    failed: false,
  };
}

/** Folds one event of this turn into the state, in place: a turn's log is long and read once. */
export function applyEvent(state: TurnState, event: SessionEventBody & { id?: number }): void {
  switch (event.type) {
    case 'step-start':
      state.step = event.step;
      state.stepEvent = event.id ?? 0;
      state.phase = 'streaming';
      state.calls = new Map();
      state.stepReason = null;
      return;
    case 'step-restart':
      state.calls = new Map();
      return;
    case 'tool-input-start':
      state.calls.set(event.callId, {
        callId: event.callId,
        name: event.name,
        canonical: event.canonical,
        via: event.via,
        whole: false,
        arguments: null,
        repaired: false,
        closersOnly: false,
        fault: null,
        attempts: 0,
        interrupted: false,
        asked: null,
        verdict: null,
        answered: false,
      });
      return;
    case 'tool-input-end':
      applyInputEnd(state, event);
      return;
    case 'tool-start':
      update(state, event.callId, { attempts: event.attempt, interrupted: false });
      return;
    case 'approval-required':
      // A tool that had to ask on its way has done nothing yet: it begins anew.
      update(state, event.callId, {
        asked: 'approval',
        attempts: 0,
        interrupted: false,
        ...(event.ask === 'network' && event.target !== null && { askedHost: event.target }),
      });
      return;
    case 'client-tool-required':
      update(state, event.callId, { asked: 'client' });
      return;
    case 'approval-decided':
      // The first word stands.
      if (state.calls.get(event.callId)?.verdict === null)
        update(state, event.callId, { verdict: { decision: event.decision, by: event.by } });
      return;
    case 'turn-resume':
      state.recoveries += 1;
      state.recoveriesWithoutProgress += 1;
      for (const call of state.calls.values()) call.interrupted ||= call.attempts > 0 && !call.answered;
      return;
    case 'tool-result': {
      const call = state.calls.get(event.callId);
      if (call === undefined || call.answered) return;
      call.answered = true;
      state.recoveriesWithoutProgress = 0;
      state.callsSoFar += 1;
      state.repeats.set(repeatKey(call), (state.repeats.get(repeatKey(call)) ?? 0) + 1);
      return;
    }
    case 'usage':
      state.usage = addUsage(state.usage, event.usage);
      if (event.model !== undefined)
        state.usageOf.set(event.model, addUsage(state.usageOf.get(event.model) ?? { inputTokens: 0, outputTokens: 0 }, event.usage));
      return;
    case 'step-end':
      state.phase = 'stepped';
      state.stepReason = event.reason;
      state.recoveriesWithoutProgress = 0;
      return;
    case 'error':
      state.failed = true;
      return;
    case 'turn-end':
      state.phase = 'ended';
      return;
    case 'history':
    case 'compaction':
    case 'turn-input':
    case 'turn-start':
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
    case 'native':
      return;
    default:
      event satisfies never;
  }
}

function update(state: TurnState, callId: string, change: Partial<StepCall>): void {
  const call = state.calls.get(callId);
  if (call !== undefined && !call.answered) Object.assign(call, change);
}

function applyInputEnd(state: TurnState, event: Extract<SessionEventBody, { type: 'tool-input-end' }>): void {
  const call = state.calls.get(event.callId);
  if (call === undefined) return;
  call.whole = true;
  call.arguments = event.arguments;
  call.repaired = event.repaired;
  call.closersOnly = event.closersOnly ?? false;
  call.fault = event.fault ?? null;
}

/** True while nothing can be done before somebody outside has answered: every open call was asked for and none decided. */
export function isWaiting(state: TurnState): boolean {
  if (state.phase !== 'stepped' || state.failed) return false;
  const open = openCalls(state);
  return open.length > 0 && open.every(isUndecided);
}

/** Calls of the step at hand without a result, in call order. */
export function openCalls(state: TurnState): StepCall[] {
  return [...state.calls.values()].filter((call) => !call.answered);
}

/** Asked for, and no answer yet. */
export function isUndecided(call: StepCall): boolean {
  return call.asked !== null && call.verdict === null;
}

/** The one thing to do next. The same state gives the same action. */
export function nextAction(state: TurnState, budget: TurnBudget): TurnAction {
  if (state.phase !== 'ended' && isBeyondRecovery(state)) return { do: 'end', status: 'failed', reason: 'recovery_limit' };
  switch (state.phase) {
    case 'ended':
      return { do: 'nothing' };
    case 'idle':
      return { do: 'call-model', step: 1, closing: false };
    case 'streaming':
      if (state.failed) return { do: 'end', status: 'failed', reason: 'upstream_error' };
      return { do: 'restart-step', step: state.step };
    case 'stepped':
      return afterStep(state, budget);
    default:
      return state.phase satisfies never;
  }
}

function afterStep(state: TurnState, budget: TurnBudget): TurnAction {
  if (state.failed) return { do: 'end', status: 'failed', reason: 'upstream_error' };
  const closing = state.step > budget.maxSteps;
  const open = openCalls(state);
  const runnable = open.filter((call) => !isUndecided(call));
  if (runnable.length > 0) return { do: 'run-calls', step: state.step, calls: judgeCalls(state, budget, runnable, closing) };
  if (open.length > 0) return { do: 'wait', calls: open };
  if (state.calls.size === 0) return { do: 'end', status: 'completed', reason: closing ? 'max_steps' : endReason(state.stepReason) };
  if (closing) return { do: 'end', status: 'completed', reason: 'max_steps' };
  const spent = spentLimit(state, budget);
  if (spent !== null) return { do: 'end', status: 'completed', reason: spent.reason };
  return { do: 'call-model', step: state.step + 1, closing: state.step + 1 > budget.maxSteps };
}

/** Dying without getting further, again and again, or dying without end: somebody has to look at it. */
function isBeyondRecovery(state: TurnState): boolean {
  return state.recoveriesWithoutProgress > limits.maxRecoveriesWithoutProgress || state.recoveries > limits.maxRecoveries;
}

/** Weighs the open calls against the turn's budgets, each as if those before it had been answered. */
function judgeCalls(state: TurnState, budget: TurnBudget, open: StepCall[], closing: boolean): CallToRun[] {
  const positions = new Map([...state.calls.keys()].map((callId, index) => [callId, index]));
  const repeatsHere = new Map<string, number>();
  return open.map((call, index) => {
    const key = repeatKey(call);
    const here = (repeatsHere.get(key) ?? 0) + 1;
    repeatsHere.set(key, here);
    const at = {
      closing,
      count: state.callsSoFar + index + 1,
      repeats: (state.repeats.get(key) ?? 0) + here,
      position: positions.get(call.callId) ?? 0,
    };
    return { call, refusal: refuse(state, budget, call, at) };
  });
}

/** Two calls are the same when they mean the same tool with the same arguments, in any order and under whatever name. */
function repeatKey(call: StepCall): string {
  return `${call.canonical ?? call.name} ${canonicalJson(call.arguments)}`;
}

function refuse(
  state: TurnState,
  budget: TurnBudget,
  call: StepCall,
  at: { closing: boolean; count: number; repeats: number; position: number },
): Refusal | null {
  // It was weighed before it was asked for, and the word on it is the last one.
  if (call.verdict !== null) return refusalOf(call.verdict.decision);
  if (call.attempts > 0) return null;
  if (at.closing)
    return {
      code: 'limit_reached',
      message: `Not run: the turn's limit of ${budget.maxSteps} steps is reached. Answer with what you have.`,
    };
  if (state.stepReason === 'length' || !call.whole) {
    return {
      code: 'truncated',
      message: 'Not run: your reply was cut off at the length limit, so this call may not be whole. Send it again, shorter.',
    };
  }
  if (state.stepReason === 'content-filter') return { code: 'aborted', message: 'Not run: the reply was stopped by the content filter.' };
  const spent = spentLimit(state, budget);
  if (spent !== null) return { code: 'limit_reached', message: `Not run: the turn's limit of ${spent.limit} is reached.` };
  if (at.position >= limits.maxCallsPerStep) {
    return { code: 'limit_reached', message: `Not run: a step may hold ${limits.maxCallsPerStep} calls. Send the rest in the next step.` };
  }
  if (at.count > budget.maxCalls) {
    return {
      code: 'limit_reached',
      message: `Not run: the turn's limit of ${budget.maxCalls} calls is reached. Answer with what you have.`,
    };
  }
  if (at.repeats > limits.maxIdenticalCalls) {
    return {
      code: 'limit_reached',
      message: `Not run: the same call with the same arguments was already made ${limits.maxIdenticalCalls} times in this turn. Use the earlier results or change the arguments.`,
    };
  }
  return null;
}

function refusalOf(decision: ApprovalVerdict): Refusal | null {
  switch (decision) {
    case 'approve':
      return null;
    case 'deny':
      return {
        code: 'denied',
        message: 'Not run: the person who was asked said no. Do not try it again in another way; ask what to do instead.',
      };
    case 'expire':
      return {
        code: 'denied',
        message: 'Not run: nobody approved it in time. Say what you would have done, and ask again if it still matters.',
      };
    default:
      return decision satisfies never;
  }
}

/** The budget that is used up; null while there is something left of each. */
function spentLimit({ usage, usageOf }: TurnState, { maxTokens, cost }: TurnBudget): { reason: TurnEndReason; limit: string } | null {
  if (maxTokens !== null && usage.inputTokens + usage.outputTokens >= maxTokens)
    return { reason: 'max_tokens', limit: `${maxTokens} tokens` };
  if (cost === undefined) return null;
  let sum = 0;
  for (const [model, used] of usageOf) {
    const price = cost.prices.get(model);
    if (price !== undefined) sum += costOf(price, used);
  }
  return sum >= cost.max ? { reason: 'max_cost', limit: `cost (${cost.max})` } : null;
}

function endReason(stepReason: string | null): TurnEndReason {
  if (stepReason === 'length') return 'length';
  if (stepReason === 'content-filter') return 'content_filter';
  return 'stop';
}
