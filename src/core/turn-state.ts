/** What the log says of one turn, as `fold-turn.ts` reads it and `turn.ts` decides on it, and what can be asked of that. */
import type { ApprovalVerdict, Approved } from './approval.ts';
import type { Usage } from './chat-event.ts';
import { canonicalJson } from './hash.ts';
import type { Via } from './message.ts';

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
  /** Somebody outside was asked last: a person for leave or for something that the tool wants to know, or the caller to run it. */
  asked: 'approval' | 'client' | 'input' | null;
  /** What a yes to the last question is bound to; absent: it was not asked about. */
  question?: Approved;
  /** The decision on the last question; a call that was denied does not run any more. */
  verdict: { decision: ApprovalVerdict; by: string } | null;
  /** Times that the tool asked for input, and whether the last question is answered. */
  rounds: number;
  given: boolean;
  answered: boolean;
  /** Calls beneath it that somebody outside was asked about, by id. */
  inner: Map<string, InnerQuestion>;
  /** Questions that were asked in one go with the last of these, and are yet to be folded. */
  innerToCome: number;
};

/** Asked about a call beneath a call of the step. `isOpen`: nobody has answered yet; the call of the step waits for that. */
export type InnerQuestion = {
  callId: string;
  name: string;
  canonical: string;
  asked: 'approval' | 'client' | 'input';
  arguments: Record<string, unknown>;
  round: number;
  isOpen: boolean;
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

/** Asked for, itself or a call beneath it, and no answer yet. */
export function isUndecided(call: StepCall): boolean {
  return asksItself(call) !== null || (call.innerToCome === 0 && openQuestions(call).length > 0);
}

function asksItself({ asked, given, verdict }: StepCall): StepCall['asked'] {
  return asked === 'input' ? (given ? null : asked) : verdict === null ? asked : null;
}

/** All that the turn waits for, in call order: about a call of the step, or about calls beneath it. */
export function waitedFor(state: TurnState): { callId: string; canonical: string; asked: InnerQuestion['asked'] }[] {
  return openCalls(state).flatMap((call) => {
    const asked = asksItself(call);
    const own = asked === null ? [] : [{ callId: call.callId, canonical: call.canonical ?? '', asked }];
    return [...own, ...openQuestions(call)];
  });
}

/** About calls beneath this one, in the order asked. */
export function openQuestions({ inner }: StepCall): InnerQuestion[] {
  return [...inner.values()].filter(({ isOpen }) => isOpen);
}

/** Two calls are the same when they mean the same tool with the same arguments, in any order and under whatever name. */
export function repeatKey(call: StepCall): string {
  return `${call.canonical ?? call.name} ${canonicalJson(call.arguments)}`;
}
