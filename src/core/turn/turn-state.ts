/** The state of one turn: `fold-turn.ts` builds it from the log, `turn.ts` decides on it, and queries over it. */
import type { ApprovalVerdict, GivenApproval } from '../policy/approval.ts';
import type { GuardDecision } from '../policy/guard.ts';
import type { Usage } from '../model/chat-event.ts';
import { canonicalJson } from '../hash.ts';
import type { Via } from '../model/message.ts';

/** A call of the current step, as far as the log contains it. */
export type StepCall = {
  callId: string;
  /** The name that the model used. */
  name: string;
  canonical: string | null;
  via: Via | null;
  /** False until its `tool-input-end`. */
  isComplete: boolean;
  arguments: Record<string, unknown> | null;
  repaired: boolean;
  closersOnly: boolean;
  recovered: boolean;
  fault: 'truncated' | 'invalid_json' | null;
  /** The number of times it was started; 0 before the first. */
  attempts: number;
  /** What the call that was started costs if its result does not say more; null: nothing. */
  cost: number | null;
  /** The process died while it ran: whether it had its effect is unknown. */
  interrupted: boolean;
  /** The last open question: approval by a person, input that the tool requested, or a result from the client. */
  asked: 'approval' | 'client' | 'input' | null;
  /** What an approval of the last question is bound to; absent: there was no question. */
  question?: GivenApproval;
  /** The decision on the last question; a denied call does not run again. */
  verdict: { decision: ApprovalVerdict; by: string; reason?: string | undefined } | null;
  /** The number of times the tool requested input, and whether the last request has an answer. */
  rounds: number;
  given: boolean;
  answered: boolean;
  /** Inner calls with a question, by id. */
  inner: Map<string, InnerQuestion>;
  /** Questions of the same batch as the last of these that are yet to be folded. */
  innerPending: number;
};

/** A question about an inner call. `isOpen`: there is no answer yet, and the outer call waits for it. */
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
  /** The number of steps started, which is the number of the current step. 0 before the first. */
  step: number;
  /** The event id of its `step-start`: a restart discards the events after it. 0 if events were folded without ids. */
  stepEvent: number;
  phase: 'idle' | 'streaming' | 'stepped' | 'ended';
  /** Calls of the current step, in call order. */
  calls: Map<string, StepCall>;
  /** Decisions of the guard on calls of the current step and their inner calls, by call id. */
  guarded: Map<string, GuardDecision>;
  /** The finish reason of the step, once it ended. */
  stepReason: string | null;
  /** Whether the calls of the step run one after the other: each waits for the results of all calls before it. */
  inOrder: boolean;
  /** The number of steps with calls that were cut at the length limit, since the last other step. */
  cutSteps: number;
  /** The number of calls with a result so far. */
  callsSoFar: number;
  /** Canonical name and arguments → how often this turn has a result for them. */
  repeats: Map<string, number>;
  /** The number of times the process of the turn died, in total and since the last finished step or call. */
  recoveries: number;
  recoveriesWithoutProgress: number;
  usage: Usage;
  /** Usage by model reference. */
  usageOf: Map<string, Usage>;
  /** The last question whether the turn may use its limit of cost once more, and how often that was approved. */
  budget: { callId: string; verdict: ApprovalVerdict | null } | null;
  extensions: number;
  /** What calls of tools cost so far, in USD. */
  toolCost: number;
  failed: boolean;
};

export function beginTurn(turn: string): TurnState {
  return {
    turn,
    step: 0,
    stepEvent: 0,
    phase: 'idle',
    calls: new Map(),
    guarded: new Map(),
    stepReason: null,
    inOrder: false,
    cutSteps: 0,
    callsSoFar: 0,
    repeats: new Map(),
    recoveries: 0,
    recoveriesWithoutProgress: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    usageOf: new Map(),
    budget: null,
    extensions: 0,
    toolCost: 0,
    failed: false,
  };
}

/** True while the turn asks whether it may continue, or every call that may run next waits for an outside answer and none has one. */
export function isWaiting(state: TurnState): boolean {
  if (state.phase !== 'stepped' || state.failed) return false;
  if (asksForBudget(state)) return true;
  const next = nextCalls(state);
  return next.length > 0 && next.every(isUndecided);
}

/** Whether the question about the limit of cost is open. */
export function asksForBudget({ budget }: TurnState): boolean {
  return budget !== null && budget.verdict === null;
}

/** Calls of the current step that may run or be asked about now: all without a result, or the first of them. */
export function nextCalls(state: TurnState): StepCall[] {
  const open = unansweredCalls(state);
  return state.inOrder ? open.slice(0, 1) : open;
}

/** Calls of the current step without a result, in call order. */
export function unansweredCalls(state: TurnState): StepCall[] {
  return [...state.calls.values()].filter((call) => !call.answered);
}

/** Whether the call, or an inner call of it, has an open question. */
export function isUndecided(call: StepCall): boolean {
  return asksItself(call) !== null || (call.innerPending === 0 && openInnerQuestions(call).length > 0);
}

function asksItself({ asked, given, verdict }: StepCall): StepCall['asked'] {
  return asked === 'input' ? (given ? null : asked) : verdict === null ? asked : null;
}

/** Everything that the turn waits for, in call order: questions about the turn, a call of the step or about its inner calls. */
export function pendingQuestions(state: TurnState): { callId: string; canonical: string; asked: InnerQuestion['asked'] }[] {
  const { budget } = state;
  const ofTurn = budget?.verdict === null ? [{ callId: budget.callId, canonical: '', asked: 'approval' as const }] : [];
  const ofCalls = unansweredCalls(state).flatMap((call) => {
    const asked = asksItself(call);
    const own = asked === null ? [] : [{ callId: call.callId, canonical: call.canonical ?? '', asked }];
    return [...own, ...openInnerQuestions(call)];
  });
  return [...ofTurn, ...ofCalls];
}

/** Open questions about inner calls of this call, in the order asked. */
export function openInnerQuestions({ inner }: StepCall): InnerQuestion[] {
  return [...inner.values()].filter(({ isOpen }) => isOpen);
}

/** Two calls are the same if they call the same tool with the same arguments, in any order and by any name. */
export function repeatKey(call: StepCall): string {
  return `${call.canonical ?? call.name} ${canonicalJson(call.arguments)}`;
}
