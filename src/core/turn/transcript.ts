/**
 * The conversation as a view of the log: neutral messages for the next model call, and for people. A fold that takes one event at a
 * time, so that a session keeps it next to its log instead of reading the log again for every step. `compaction.ts` decides when
 * older turns are summarized.
 */
import { charactersPerToken } from '../limits/units.ts';
import type { AssistantPart, InputPart, Message, ToolCallPart, ToolResultPart } from '../model/message.ts';
import type { SessionEventBody } from './session-event.ts';
import { createMediaWindow } from '../toolset/result-bound.ts';
import { modelContent } from '../tools/model-result.ts';
import { contentText } from '../tools/tool.ts';

type Step = {
  parts: AssistantPart[];
  calls: Map<string, ToolCallPart>;
  results: Map<string, ToolResultPart>;
  ended: boolean;
  model?: string;
};

/**
 * Imported history has the turn `''`. `characters`: the approximate size as sent to a model; 4 characters count as one token.
 * `clientCalls`: ids of the calls that the client was sent, including nested calls, which are in no message.
 */
export type TurnMessages = { turn: string; messages: Message[]; characters: number; clientCalls: string[] };

export type Transcript = {
  /** Takes every event once, in log order. */
  apply(event: SessionEventBody): void;
  /**
   * Returns the messages for a model, including the current turn: only complete steps, so every call has its result or is yet to run.
   * Summarized turns are one text at the beginning of the first message; adjacent `user` messages are merged.
   */
  messages(): Message[];
  /** Returns the same by turn, without the summary: the turns that were not summarized. */
  turns(): TurnMessages[];
  /** Returns the summary of the turns before those; null: none. */
  summary(): string | null;
  /** Returns an estimate over all of `messages()`. Updated incrementally, so the cost is that of the current step. */
  tokens(): number;
};

/**
 * `everything`: the conversation as people had it; compactions are for models only. `unanswered`: includes the calls of a complete
 * step that have no result yet, because a person is asked or a tool is still running; never for models. `store`: of the media window.
 */
export function createTranscript({ everything = false, unanswered = false, store = () => false }: TranscriptOptions = {}): Transcript {
  let done: TurnMessages[] = [];
  let current: TurnMessages | null = null;
  let step: Step | null = null;
  let summary: string | null = null;
  let doneCharacters = 0;
  const holdMedia = everything ? null : createMediaWindow(store);

  /** Input sent while calls of the current step waited: it follows their results. */
  let said: InputPart[][] = [];

  const shown = everything ? (part: ToolResultPart) => part : toModelPart;

  const add = (turn: TurnMessages, messages: readonly Message[]): void => {
    for (const message of messages) {
      turn.messages.push(message);
      turn.characters += messageCharacters(message);
    }
  };
  const finish = (turn: TurnMessages): void => {
    done.push(turn);
    doneCharacters += turn.characters;
  };
  /** The current step, and the input sent in the meantime. */
  const addOpen = (turn: TurnMessages): void => {
    if (step !== null) add(turn, stepMessages(step, unanswered));
    for (const parts of said) add(turn, [{ role: 'user', parts }]);
  };
  const closeStep = (): void => {
    if (current !== null) addOpen(current);
    step = null;
    said = [];
  };
  /** The current turn with its open step, which closes when the next one begins. */
  const atHand = (): TurnMessages[] => {
    if (current === null) return [];
    const open: TurnMessages = { ...current, messages: [...current.messages] };
    addOpen(open);
    return [open];
  };

  return {
    apply(event) {
      switch (event.type) {
        case 'history': {
          // Between turns, it is summarized with the turn before it.
          const imported = done.pop() ?? emptyTurn('');
          doneCharacters -= imported.characters;
          add(
            imported,
            event.messages.map((message) => (message.role === 'tool' ? { ...message, parts: message.parts.map(shown) } : message)),
          );
          finish(imported);
          return;
        }
        case 'turn-start':
          current = emptyTurn(event.turn);
          // Empty if a client's history ended with the results of its calls: the model continues from those.
          if (event.input.length > 0) add(current, [{ role: 'user', parts: event.input }]);
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
        case 'client-tool-required':
          current?.clientCalls.push(event.callId);
          return;
        case 'compaction': {
          if (everything) return;
          summary = event.summary;
          // Not found if the fold began after it: then there is nothing to drop.
          done = done.slice(done.findLastIndex(({ turn }) => turn === event.through) + 1);
          doneCharacters = done.reduce((sum, { characters }) => sum + characters, 0);
          return;
        }
        case 'turn-end':
          closeStep();
          if (current !== null) finish(current);
          current = null;
          return;
        default:
          if (step === null) return;
          applyToStep(step, event, shown);
          if (event.type === 'tool-result') holdMedia?.(step.results.get(event.callId));
      }
    },
    messages() {
      return joinMessages(
        summary,
        this.turns().flatMap((turn) => turn.messages),
      );
    },
    turns() {
      return [...done, ...atHand()];
    },
    summary: () => summary,
    tokens() {
      const characters = (summary?.length ?? 0) + doneCharacters + atHand().reduce((sum, turn) => sum + turn.characters, 0);
      return Math.ceil(characters / charactersPerToken);
    },
  };
}

type TranscriptOptions = { everything?: boolean; unanswered?: boolean; store?: Parameters<typeof createMediaWindow>[0] };

/** Images are billed by their dimensions, not their bytes: about this many tokens for a typical one. */
const imageCharacters = 1_500 * charactersPerToken;

/** A page of a document has some tens of kilobytes and about 2,000 tokens. */
function fileCharacters(base64: number): number {
  return Math.ceil(base64 / 5);
}

/** Returns the approximate size of a message as sent to a model. */
export function messageCharacters({ parts }: Message): number {
  let characters = 0;
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        characters += part.text.length;
        break;
      case 'image':
        characters += imageCharacters;
        break;
      case 'file':
        characters += fileCharacters(part.data?.length ?? 0);
        break;
      case 'tool-call':
        characters += part.requested.length + (JSON.stringify(part.arguments)?.length ?? 0);
        break;
      case 'tool-result':
        characters += contentText(part.content).length;
        for (const block of part.content) {
          if (block.type === 'image') characters += imageCharacters;
          else if (block.type === 'audio') characters += fileCharacters(block.data.length);
          else if (block.type === 'resource') characters += fileCharacters(block.resource.blob?.length ?? 0);
        }
        break;
      case 'native':
        characters += JSON.stringify(part.data)?.length ?? 0;
        break;
      default:
        part satisfies never;
    }
  }
  return characters;
}

/** An unanswered turn leaves its input next to the input of the next turn, and many chat templates require alternating roles. */
export function joinMessages(summary: string | null, messages: readonly Message[]): Message[] {
  const joined: Message[] = summary === null ? [] : [{ role: 'user', parts: [{ type: 'text', text: `${summaryHeading}\n${summary}` }] }];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'user' && last?.role === 'user')
      joined[joined.length - 1] = { role: 'user', parts: [...last.parts, ...message.parts] };
    else joined.push(message);
  }
  return joined;
}

const summaryHeading = '[Summary of the earlier conversation, which became too long:]';

function emptyTurn(turn: string): TurnMessages {
  return { turn, messages: [], characters: 0, clientCalls: [] };
}

function emptyStep(): Step {
  return { parts: [], calls: new Map(), results: new Map(), ended: false };
}

function applyToStep(step: Step, event: SessionEventBody, shown: (part: ToolResultPart) => ToolResultPart): void {
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
      if (event.recovered) part.recovered = true;
      return;
    }
    case 'tool-result':
      step.results.set(event.callId, shown(toResultPart(event)));
      return;
    case 'step-end':
      step.ended = true;
      step.model = event.model;
      return;
    default:
      // Usage, errors and ends do not affect the conversation.
      return;
  }
}

/** Data of a result without content is all that it has. */
function toResultPart(event: Extract<SessionEventBody, { type: 'tool-result' }>): ToolResultPart {
  const { callId, name, canonical, isError, code, content, structuredContent } = event;
  return {
    ...{ type: 'tool-result', callId, requested: name, canonical, isError, content },
    ...(code !== undefined && { code }),
    ...(structuredContent !== undefined && content.every(({ type }) => type !== 'text') && { structuredContent }),
  };
}

/** What the client's own tools returned passes unchanged: it is the client's part of the conversation. */
function toModelPart({ structuredContent, ...part }: ToolResultPart): ToolResultPart {
  if (part.canonical === null || part.canonical.startsWith('client.')) return part;
  return { ...part, content: modelContent({ ...part, structuredContent }) };
}

/** Consecutive deltas of one text become one part. */
function appendText(step: Step, type: 'text' | 'reasoning', text: string): void {
  const last = step.parts.at(-1);
  if (last !== undefined && last.type === type) last.text += text;
  else step.parts.push({ type, text });
}

/**
 * Returns a step as messages. Calls without a result are left out (the step was cut off before they ran, or they wait), since
 * providers reject a history in which a call has no result. Results are in call order, whatever order they arrived in.
 */
function stepMessages(step: Step, unanswered: boolean): Message[] {
  const all = unanswered && step.ended;
  const answered = step.parts.filter((part) => part.type !== 'tool-call' || all || step.results.has(part.callId));
  if (!answered.some((part) => part.type !== 'native')) return [];
  const results = [...step.calls.keys()].flatMap((callId) => {
    const result = step.results.get(callId);
    return result === undefined ? [] : [result];
  });
  const assistant: Message = { role: 'assistant', parts: answered, ...(step.model !== undefined && { model: step.model }) };
  return results.length === 0 ? [assistant] : [assistant, { role: 'tool', parts: results }];
}
