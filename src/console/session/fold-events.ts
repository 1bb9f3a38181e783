/**
 * A conversation as its events describe it: turns with their steps, and steps with their texts and calls. `foldEvent` adds one event; an
 * event that was applied before changes nothing, so a stream may repeat what another one brought. Pure; the objects are updated in place.
 */
import type { SessionEvent } from '../../../client/src/index.ts';

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

export type Question = EventOf<'approval-required'> | EventOf<'input-required'> | EventOf<'client-tool-required'>;
export type CallState = 'writing' | 'running' | 'waiting' | 'done' | 'failed' | 'denied' | 'cancelled';
export type Segment = { kind: 'run' | 'wait'; from: number; to: number | null };

export type Call = {
  callId: string;
  name: string;
  canonical: string | null;
  via: string | null;
  /** As the model wrote them so far. */
  argumentText: string;
  arguments: Record<string, unknown> | null;
  state: CallState;
  /** What the call waits for. */
  question: Question | null;
  decision: EventOf<'approval-decided'> | null;
  result: EventOf<'tool-result'>['content'] | null;
  code: string | null;
  progress: { value: number; total: number | null; message: string } | null;
  inner: Call[];
  startAt: number;
  segments: Segment[];
};

export type Block = { kind: 'text' | 'reasoning'; text: string } | { kind: 'call'; call: Call };

export type Step = {
  number: number;
  model: string | null;
  blocks: Block[];
  startAt: number;
  endAt: number | null;
  restarts: number;
  /** Events of the step until it ends: a restart discards the later ones. */
  events: SessionEvent[];
};

export type TurnRecord = {
  id: string;
  input: string;
  model: string;
  steps: Step[];
  calls: Map<string, Call>;
  status: string;
  reason: string | null;
  tokens: { input: number; output: number } | null;
  problem: { title: string; detail: string; code: string } | null;
  notes: string[];
  startAt: number;
  endAt: number | null;
  /** Increases with every change, so that unchanged turns are not rendered again. */
  revision: number;
};

export type Conversation = {
  /** Messages that the session began with, if it continues another one. */
  history: { role: string; text: string }[];
  turns: TurnRecord[];
  /** Number of the last applied event. */
  last: number;
  /** The newest events, for display. */
  log: SessionEvent[];
};

/** Older events remain in the session; the page shows the newest. */
const maxShownEvents = 2_000;

export function emptyConversation(): Conversation {
  return { history: [], turns: [], last: 0, log: [] };
}

/** Whether nothing happens until a person acts: the newest turn has ended, or all that it still does is wait. */
export function isIdle({ turns }: Conversation): boolean {
  const turn = turns.at(-1);
  if (turn === undefined || turn.endAt !== null) return true;
  return waitingCalls(turn).length > 0 && ![...turn.calls.values()].some(({ state, inner }) => state === 'running' && inner.length === 0);
}

/** Calls of a turn that wait for a person or for the client, in order. */
export function waitingCalls(turn: TurnRecord): Call[] {
  return [...turn.calls.values()].filter(({ state }) => state === 'waiting');
}

/** `running`, `waiting`, or how the turn ended. */
export function turnStatus(turn: TurnRecord): string {
  return turn.endAt === null ? (waitingCalls(turn).length > 0 ? 'waiting' : 'running') : turn.status;
}

export function foldEvent(conversation: Conversation, event: SessionEvent): void {
  if (event.id <= conversation.last) return;
  conversation.last = event.id;
  conversation.log.push(event);
  if (conversation.log.length > maxShownEvents) conversation.log.splice(0, conversation.log.length - maxShownEvents);
  if (event.type === 'history') {
    conversation.history = event.messages.flatMap(toHistory);
    return;
  }
  if (event.type === 'turn-start') {
    conversation.turns.push(newTurn(event));
    return;
  }
  if (!('turn' in event)) return;
  const turn = conversation.turns.findLast(({ id }) => id === event.turn);
  if (turn === undefined) return;
  turn.revision += 1;
  if ('step' in event) applyToStep(turn, event);
  else applyToTurn(turn, event);
}

function newTurn({ turn, input, model, agent, at }: EventOf<'turn-start'>): TurnRecord {
  return {
    id: turn,
    input: partsText(input),
    model: agent === undefined ? model : `agent/${agent}`,
    ...{ steps: [], calls: new Map(), notes: [], status: 'running', reason: null, tokens: null, problem: null, startAt: at, endAt: null },
    revision: 1,
  };
}

type TurnEvent = Exclude<Extract<SessionEvent, { turn: string }>, { step: number }>;

function applyToTurn(turn: TurnRecord, event: TurnEvent): void {
  switch (event.type) {
    case 'turn-input':
      turn.input += `\n\n${partsText(event.input)}`;
      return;
    case 'turn-resume':
      turn.notes.push('The service restarted, and the turn continued.');
      return;
    case 'compaction':
      turn.notes.push('The model reads a summary of the earlier messages.');
      return;
    case 'proposal':
      turn.notes.push(`Proposed: ${event.label} (${event.text})`);
      return;
    case 'error': {
      const { title, detail, code } = event.problem;
      turn.problem = { title, detail, code };
      return;
    }
    case 'turn-end':
      Object.assign(turn, { status: event.status, reason: event.reason, endAt: event.at });
      turn.tokens = { input: event.usage.inputTokens, output: event.usage.outputTokens };
      for (const call of turn.calls.values()) if (isOpen(call)) endCall(call, 'cancelled', event.at);
      return;
    default:
      return;
  }
}

function isOpen({ state }: Call): boolean {
  return state === 'writing' || state === 'running' || state === 'waiting';
}

type StepEvent = Extract<SessionEvent, { step: number }>;

function applyToStep(turn: TurnRecord, event: StepEvent): void {
  let step = turn.steps.find(({ number }) => number === event.step);
  if (step === undefined) {
    step = { number: event.step, model: null, blocks: [], startAt: event.at, endAt: null, restarts: 0, events: [] };
    turn.steps.push(step);
  }
  if (event.type === 'step-restart') {
    restartStep(turn, step, event.from);
    return;
  }
  if (event.type === 'step-end') {
    Object.assign(step, { endAt: event.at, model: event.model, events: [] });
    return;
  }
  if (step.endAt === null) step.events.push(event);
  applyOutput(turn, step, event);
}

/** Discards what the step wrote from event `from` on; the events before it are applied again. */
function restartStep(turn: TurnRecord, step: Step, from: number): void {
  const kept = step.events.filter(({ id }) => id < from) as StepEvent[];
  for (const block of step.blocks) if (block.kind === 'call') turn.calls.delete(block.call.callId);
  Object.assign(step, { blocks: [], events: kept, restarts: step.restarts + 1 });
  for (const event of kept) applyOutput(turn, step, event);
}

function applyOutput(turn: TurnRecord, step: Step, event: StepEvent): void {
  const call = 'callId' in event ? callOf(turn, step, event) : null;
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta': {
      const kind = event.type === 'text-delta' ? 'text' : 'reasoning';
      const newest = step.blocks.at(-1);
      if (newest?.kind === kind) newest.text += event.text;
      else step.blocks.push({ kind, text: event.text });
      return;
    }
    default:
      if (call !== null) applyToCall(call, event);
  }
}

/** Finds the call of an event; one that is nested, or not known yet, is added. */
function callOf(turn: TurnRecord, step: Step, event: Extract<StepEvent, { callId: string }>): Call {
  const known = turn.calls.get(event.callId);
  if (known !== undefined) return known;
  const name = 'name' in event ? event.name : event.callId;
  const call: Call = {
    callId: event.callId,
    name,
    canonical: 'canonical' in event ? event.canonical : null,
    via: 'via' in event ? event.via : null,
    argumentText: '',
    ...{ arguments: null, question: null, decision: null, result: null, code: null, progress: null },
    state: 'writing',
    inner: [],
    startAt: event.at,
    segments: [],
  };
  turn.calls.set(event.callId, call);
  const outer = 'parent' in event && event.parent !== undefined ? turn.calls.get(event.parent) : undefined;
  if (outer === undefined) step.blocks.push({ kind: 'call', call });
  else outer.inner.push(call);
  return call;
}

function applyToCall(call: Call, event: StepEvent): void {
  switch (event.type) {
    case 'tool-input-delta':
      call.argumentText += event.delta;
      return;
    case 'tool-input-end':
      call.arguments = event.arguments;
      if (event.raw !== undefined) call.argumentText = event.raw;
      return;
    case 'inner-call':
      call.arguments = event.arguments;
      beginSegment(call, 'running', event.at);
      return;
    case 'tool-start':
      beginSegment(call, 'running', event.at);
      return;
    case 'approval-required':
    case 'input-required':
    case 'client-tool-required':
      call.canonical ??= event.canonical;
      call.arguments ??= event.arguments;
      call.question = event;
      beginSegment(call, 'waiting', event.at);
      return;
    case 'approval-decided': {
      const asked = call.question;
      call.decision = event;
      call.question = null;
      // About the turn: no call runs now.
      if (asked?.type === 'approval-required' && asked.ask === 'budget')
        endCall(call, event.decision === 'approve' ? 'done' : 'denied', event.at);
      else beginSegment(call, event.decision === 'approve' ? 'running' : 'denied', event.at);
      return;
    }
    case 'input-given':
      call.question = null;
      beginSegment(call, 'running', event.at);
      return;
    case 'tool-progress':
      call.progress = { value: event.progress, total: event.total ?? null, message: event.message ?? '' };
      return;
    case 'tool-result':
    case 'inner-result':
      call.result = event.content;
      call.code = event.code ?? null;
      endCall(call, event.isError ? (event.code === 'denied' ? 'denied' : 'failed') : 'done', event.at);
      return;
    default:
      return;
  }
}

function beginSegment(call: Call, state: CallState, at: number): void {
  closeSegment(call, at);
  call.state = state;
  if (state === 'running' || state === 'waiting') call.segments.push({ kind: state === 'waiting' ? 'wait' : 'run', from: at, to: null });
}

function endCall(call: Call, state: CallState, at: number): void {
  closeSegment(call, at);
  call.state = state;
  call.question = null;
  call.progress = null;
}

function closeSegment({ segments }: Call, at: number): void {
  const newest = segments.at(-1);
  if (newest !== undefined && newest.to === null) newest.to = at;
}

type Part = { type: string };

/** Text of parts; parts of another type by their name. */
export function partsText(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : `[${part.type}]`)).join('\n');
}

function toHistory({ role, parts }: EventOf<'history'>['messages'][number]): { role: string; text: string }[] {
  if (role === 'system') return [];
  const text = (parts as Part[]).map((part) => ('name' in part ? `[${part.type}: ${String(part.name)}]` : partsText([part]))).join('\n');
  return [{ role, text }];
}
