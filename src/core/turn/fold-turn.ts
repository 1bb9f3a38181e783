/** Folds the events of a turn into its state (`turn-state.ts`). Deterministic: the same events give the same state. */
import { addUsage } from '../model/chat-event.ts';
import type { SessionEventBody } from './session-event.ts';
import { repeatKey, type InnerQuestion, type StepCall, type TurnState } from './turn-state.ts';

/** Folds one event into the state, in place: the log of a turn is long and read once. */
export function applyEvent(state: TurnState, event: SessionEventBody & { id?: number }): void {
  if (event.type === 'guard-decided') {
    if (event.stage === 'before') state.guarded.set(event.callId, event);
    return;
  }
  if ('parent' in event && event.parent !== undefined) {
    applyNested(state, event, event.parent);
    return;
  }
  switch (event.type) {
    case 'step-start':
      state.step = event.step;
      state.stepEvent = event.id ?? 0;
      state.phase = 'streaming';
      state.calls = new Map();
      state.guarded = new Map();
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
        isComplete: false,
        arguments: null,
        repaired: false,
        closersOnly: false,
        recovered: false,
        fault: null,
        attempts: 0,
        cost: null,
        interrupted: false,
        asked: null,
        verdict: null,
        rounds: 0,
        given: false,
        answered: false,
        inner: new Map(),
        innerPending: 0,
      });
      return;
    case 'tool-input-end':
      applyInputEnd(state, event);
      return;
    case 'tool-start':
      update(state, event.callId, { attempts: event.attempt, cost: event.cost ?? null, interrupted: false, innerPending: 0 });
      return;
    case 'approval-required':
      if (event.ask === 'budget') {
        state.budget = { callId: event.callId, verdict: null };
        return;
      }
      // A tool that stopped for approval has done nothing yet: it starts over.
      update(state, event.callId, {
        asked: 'approval',
        attempts: 0,
        cost: null,
        interrupted: false,
        question: { binding: event.binding ?? [], round: event.round ?? 1 },
        // An approval is valid only for the question that it answers.
        verdict: null,
      });
      return;
    case 'input-required':
      // The call is made again with the answer, as a new call.
      update(state, event.callId, { asked: 'input', rounds: event.round, given: false, attempts: 0, interrupted: false });
      return;
    case 'input-given':
      if (state.calls.get(event.callId)?.rounds === event.round) update(state, event.callId, { given: true });
      return;
    case 'client-tool-required':
      update(state, event.callId, { asked: 'client' });
      return;
    case 'approval-decided':
      if (state.budget?.callId === event.callId) {
        if (state.budget.verdict === null && event.decision === 'approve') state.extensions += 1;
        state.budget.verdict ??= event.decision;
        return;
      }
      // The first decision on a question is final.
      if (state.calls.get(event.callId)?.verdict === null)
        update(state, event.callId, { verdict: { decision: event.decision, by: event.by, reason: event.reason } });
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
      state.toolCost += event.cost ?? 0;
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
      state.cutSteps = event.reason === 'length' && state.calls.size > 0 ? state.cutSteps + 1 : 0;
      state.inOrder = event.inOrder === true;
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
    case 'dropped':
    case 'citations':
    case 'search':
    case 'image':
    case 'reasoning-delta':
    case 'tool-input-delta':
    case 'tool-progress':
    // Handled above.
    case 'inner-call':
    case 'inner-result':
    case 'native':
    // Of no turn.
    case 'replay-case':
    case 'replay-end':
      return;
    default:
      event satisfies never;
  }
}

type NestedEvent = Exclude<Extract<SessionEventBody, { parent?: string }>, { type: 'guard-decided' }>;

/**
 * Inner calls do not change the state of the turn, except for their questions: the outer call then stops as if it had not started,
 * and runs again once all questions are answered.
 */
function applyNested(state: TurnState, event: NestedEvent, parent: string): void {
  const call = state.calls.get(parent);
  if (call === undefined || call.answered) return;
  switch (event.type) {
    case 'approval-required':
      askNested(call, { ...event, asked: 'approval', round: 0 });
      return;
    case 'client-tool-required':
      askNested(call, { ...event, asked: 'client', round: 0 });
      return;
    case 'input-required':
      askNested(call, { ...event, asked: 'input' });
      return;
    case 'approval-decided':
      close(call, event.callId);
      return;
    case 'input-given':
      if (call.inner.get(event.callId)?.round === event.round) close(call, event.callId);
      return;
    case 'inner-result':
      state.recoveriesWithoutProgress = 0;
      state.toolCost += event.cost ?? 0;
      close(call, event.callId);
      return;
    case 'inner-call':
      return;
    default:
      event satisfies never;
  }
}

type Asked = Omit<InnerQuestion, 'isOpen'> & { more?: number };

function askNested(call: StepCall, { callId, name, canonical, asked, arguments: args, round, more = 0 }: Asked): void {
  call.inner.set(callId, { callId, name, canonical, asked, arguments: args, round, isOpen: true });
  call.innerPending = more;
  call.attempts = 0;
  call.cost = null;
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
  call.isComplete = true;
  call.arguments = event.arguments;
  call.repaired = event.repaired;
  call.closersOnly = event.closersOnly ?? false;
  call.recovered = event.recovered ?? false;
  call.fault = event.fault ?? null;
}
