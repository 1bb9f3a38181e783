/**
 * What the log says of one turn: `applyEvent` folds its events, one after the other, into a state that `turn.ts` decides
 * on. The same events give the same state, whoever folds them and however often.
 */
import { askedHost, type ApprovalVerdict, type Ask } from './approval.ts';
import { addUsage, type Usage } from './chat-event.ts';
import { canonicalJson } from './hash.ts';
import type { Via } from './message.ts';
import type { SessionEventBody } from './session-event.ts';

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
  /** The host that a person was asked about; absent: the question was about something else. */
  askedHost?: string;
  /** The person's word; a call that was denied runs no more. */
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

/** Folds one event of this turn into the state, in place: a turn's log is long and read once. */
export function applyEvent(state: TurnState, event: SessionEventBody & { id?: number }): void {
  if ('parent' in event && event.parent !== undefined) {
    applyBeneath(state, event, event.parent);
    return;
  }
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
        rounds: 0,
        given: false,
        answered: false,
        inner: new Map(),
        innerToCome: 0,
      });
      return;
    case 'tool-input-end':
      applyInputEnd(state, event);
      return;
    case 'tool-start':
      update(state, event.callId, { attempts: event.attempt, interrupted: false, innerToCome: 0 });
      return;
    case 'approval-required':
      // A tool that had to ask on its way has done nothing yet: it begins anew.
      update(state, event.callId, {
        asked: 'approval',
        attempts: 0,
        interrupted: false,
        ...hostOf({ kind: event.ask, target: event.target }),
      });
      return;
    case 'input-required':
      // It is made anew with the answer, as a call of its own.
      update(state, event.callId, { asked: 'input', rounds: event.round, given: false, attempts: 0, interrupted: false });
      return;
    case 'input-given':
      if (state.calls.get(event.callId)?.rounds === event.round) update(state, event.callId, { given: true });
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
      const key = repeatKey(call);
      state.repeats.set(key, (state.repeats.get(key) ?? 0) + 1);
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
    case 'proposal':
    case 'turn-start':
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
    case 'tool-progress':
    // Told above.
    case 'inner-call':
    case 'inner-result':
    case 'native':
      return;
    default:
      event satisfies never;
  }
}

type EventBeneath = Extract<SessionEventBody, { parent?: string }>;

/**
 * What happens beneath a call of the step is its own business, but for the questions: with one the call stops as if it had not been begun,
 * and it is run again once all are answered.
 */
function applyBeneath(state: TurnState, event: EventBeneath, parent: string): void {
  const call = state.calls.get(parent);
  if (call === undefined || call.answered) return;
  switch (event.type) {
    case 'approval-required':
      askBeneath(call, { ...event, asked: 'approval', round: 0 });
      return;
    case 'client-tool-required':
      askBeneath(call, { ...event, asked: 'client', round: 0 });
      return;
    case 'input-required':
      askBeneath(call, { ...event, asked: 'input' });
      return;
    case 'approval-decided':
      close(call, event.callId);
      return;
    case 'input-given':
      if (call.inner.get(event.callId)?.round === event.round) close(call, event.callId);
      return;
    case 'inner-result':
      state.recoveriesWithoutProgress = 0;
      close(call, event.callId);
      return;
    case 'inner-call':
      return;
    default:
      event satisfies never;
  }
}

type Asked = Omit<InnerQuestion, 'isOpen'> & { more?: number };

function askBeneath(call: StepCall, { callId, name, canonical, asked, arguments: args, round, more = 0 }: Asked): void {
  call.inner.set(callId, { callId, name, canonical, asked, arguments: args, round, isOpen: true });
  call.innerToCome = more;
  call.attempts = 0;
  call.interrupted = false;
}

function close({ inner }: StepCall, callId: string): void {
  const question = inner.get(callId);
  if (question !== undefined) question.isOpen = false;
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

function hostOf(ask: Pick<Ask, 'kind' | 'target'>): { askedHost?: string } {
  const host = askedHost(ask);
  return host === null ? {} : { askedHost: host };
}
