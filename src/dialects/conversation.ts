/**
 * A client's request as a conversation, independent of the dialect. The dialects add messages one by one; sessions and the translating
 * proxy use the result.
 */
import { readArguments } from '../core/json/json-repair.ts';
import type { AssistantPart, ClientResult, InputPart, Message, ToolCallPart } from '../core/turn/message.ts';
import { resultMessage } from '../core/turn/pair-calls.ts';
import { joinParagraphs } from '../core/text/paragraphs.ts';
import { readToolCallId } from '../core/reference.ts';
import { isRecord } from '../core/json/wire-value.ts';

/**
 * `system`: the text of all system and developer messages. `history`: all messages up to the last assistant message. New is what follows:
 * `results` of calls, by the client's call ids, and `input`, the user's content.
 */
export type ConversationBuilder = { system: string; history: Message[]; results: ClientResult[]; input: InputPart[] };

/**
 * Messages are added in order. `isNew`: after the last assistant message. `inSession`: results without their call are allowed, since the
 * session has it.
 */
export function createConversation({ inSession }: { inSession: boolean }) {
  const system: string[] = [];
  const history: Message[] = [];
  const results: ClientResult[] = [];
  const input: InputPart[] = [];
  const names = new Map<string, string>();
  /** The latest message with calls. */
  let calling: Message | null = null;
  return {
    addSystem(text: string): void {
      system.push(text);
    },
    addInput(parts: InputPart[], isNew: boolean): void {
      if (isNew) append(input, parts);
      else history.push({ role: 'user', parts });
    },
    /**
     * Merges adjacent assistant items if they are pieces of one message, or if the earlier one has calls without results: all results
     * follow the last call.
     */
    addAssistant(parts: AssistantPart[], isPiece = false): void {
      const before = history.at(-1);
      const isOpen = before?.role === 'assistant' && (isPiece || before === calling);
      const message = isOpen ? before : { role: 'assistant' as const, parts: [] as AssistantPart[] };
      if (!isOpen) history.push(message);
      append(message.parts, parts);
      for (const part of parts) {
        if (part.type !== 'tool-call') continue;
        names.set(part.callId, part.requested);
        calling = message;
      }
    },
    /** false: not added, because no call has this id. */
    addResult(result: ClientResult, isNew: boolean): boolean {
      const isAsked = names.has(result.callId) || (isNew && (inSession || readToolCallId(result.callId) !== null));
      if (!isAsked) return false;
      const before = history.at(-1);
      if (isNew) results.push(result);
      // Results of one step are one message, in the order they arrived.
      else if (before?.role === 'tool') append(before.parts, resultMessage([result], names).parts);
      else history.push(resultMessage([result], names));
      return true;
    },
    /** Whether there is neither new input nor a result. */
    saysNothingNew: () => input.length === 0 && results.length === 0,
    whole: (): ConversationBuilder => ({ system: joinParagraphs(...system), history, results, input }),
  };
}

/** Pushes items one by one, because a call has a limited number of arguments. */
function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}

/**
 * `given`: the arguments, or their text. Calls in a client's history are finished, so nothing is repaired: invalid arguments stay
 * unchanged.
 */
export function toCallPart(id: string, name: string, given: unknown): ToolCallPart {
  const part = { type: 'tool-call', callId: id, requested: name, canonical: null, via: null, nativeId: id } as const;
  if (isRecord(given)) return { ...part, arguments: given };
  if (typeof given !== 'string') return { ...part, arguments: null, raw: JSON.stringify(given) };
  const reading = readArguments(given, { ended: true, length: false });
  return reading.state === 'ok' ? { ...part, arguments: reading.arguments } : { ...part, arguments: null, raw: given };
}
