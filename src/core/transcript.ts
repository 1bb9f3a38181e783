/**
 * The conversation as a view of the log: neutral messages for the next model call, and the same for people. A fold that
 * is fed one event at a time, so a session keeps it beside its log instead of reading the log again for every step.
 */
import type { AssistantPart, InputPart, Message, ToolCallPart, ToolResultPart } from './message.ts';
import type { SessionEventBody } from './session-event.ts';

type Step = { parts: AssistantPart[]; calls: Map<string, ToolCallPart>; results: Map<string, ToolResultPart>; ended: boolean };

export type TurnMessages = { turn: string; messages: Message[] };

export type Transcript = {
  /** Fed in log order, every event once. */
  apply(event: SessionEventBody): void;
  /** All messages so far, the turn at hand included: only whole steps, so every call in it has its result or is yet to run. */
  messages(): Message[];
  /** The same, by turn; imported history has the turn `''`. */
  turns(): TurnMessages[];
};

export function createTranscript(): Transcript {
  const done: TurnMessages[] = [];
  let current: TurnMessages | null = null;
  let step: Step | null = null;

  /** Said while calls of the step at hand waited: it follows their results. */
  let said: InputPart[][] = [];

  const closeStep = (): void => {
    if (current !== null && step !== null) current.messages.push(...stepMessages(step));
    step = null;
    for (const parts of said) current?.messages.push({ role: 'user', parts });
    said = [];
  };

  return {
    apply(event) {
      switch (event.type) {
        case 'history':
          done.push({ turn: '', messages: event.messages });
          return;
        case 'turn-start':
          current = { turn: event.turn, messages: [{ role: 'user', parts: event.input }] };
          return;
        case 'step-start':
          closeStep();
          step = emptyStep();
          return;
        case 'step-restart':
          step = emptyStep();
          return;
        case 'turn-input':
          said.push(event.input);
          return;
        case 'turn-end':
          closeStep();
          if (current !== null) done.push(current);
          current = null;
          return;
        default:
          if (step !== null) applyToStep(step, event);
      }
    },
    messages() {
      return this.turns().flatMap((turn) => turn.messages);
    },
    turns() {
      if (current === null) return [...done];
      return [...done, { turn: current.turn, messages: step === null ? current.messages : [...current.messages, ...stepMessages(step)] }];
    },
  };
}

function emptyStep(): Step {
  return { parts: [], calls: new Map(), results: new Map(), ended: false };
}

function applyToStep(step: Step, event: SessionEventBody): void {
  switch (event.type) {
    case 'text-delta':
      appendText(step, 'text', event.text);
      return;
    case 'reasoning-delta':
      appendText(step, 'reasoning', event.text);
      return;
    case 'native':
      step.parts.push({ type: 'native', provider: event.provider, data: event.data });
      return;
    case 'tool-input-start': {
      const part: ToolCallPart = {
        type: 'tool-call',
        callId: event.callId,
        requested: event.name,
        canonical: event.canonical,
        via: event.via,
        arguments: null,
        ...(event.nativeId !== undefined && { nativeId: event.nativeId }),
      };
      step.calls.set(event.callId, part);
      step.parts.push(part);
      return;
    }
    case 'tool-input-end': {
      const part = step.calls.get(event.callId);
      if (part === undefined) return;
      part.arguments = event.arguments;
      if (event.raw !== undefined) part.raw = event.raw;
      if (event.repaired) part.repaired = true;
      return;
    }
    case 'tool-result':
      step.results.set(event.callId, {
        type: 'tool-result',
        callId: event.callId,
        requested: event.name,
        canonical: event.canonical,
        isError: event.isError,
        ...(event.code !== undefined && { code: event.code }),
        content: event.content,
      });
      return;
    case 'step-end':
      step.ended = true;
      return;
    default:
      // Usage, errors and ends say nothing to the conversation.
      return;
  }
}

/** Deltas of one run of text become one part. */
function appendText(step: Step, type: 'text' | 'reasoning', text: string): void {
  const last = step.parts.at(-1);
  if (last !== undefined && last.type === type) last.text += text;
  else step.parts.push({ type, text });
}

/**
 * A step as messages. Calls without a result are left out (the step was cut before they ran): providers refuse a history
 * in which a call has no answer. Results follow in call order, whatever order they came in.
 */
function stepMessages(step: Step): Message[] {
  const answered = step.parts.filter((part) => part.type !== 'tool-call' || step.results.has(part.callId));
  if (!answered.some((part) => part.type !== 'native')) return [];
  const results = [...step.calls.keys()].flatMap((callId) => {
    const result = step.results.get(callId);
    return result === undefined ? [] : [result];
  });
  const assistant: Message = { role: 'assistant', parts: answered };
  return results.length === 0 ? [assistant] : [assistant, { role: 'tool', parts: results }];
}

/** The visible text of a message, for comparing histories. */
export function messageText(message: Message): string {
  return (message.parts as readonly { type: string; text?: string }[])
    .map((part) => (part.type === 'text' ? (part.text ?? '') : ''))
    .join('');
}
