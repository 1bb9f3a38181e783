/**
 * A client's request as a conversation, whatever dialect it was written in: put together by the dialects from what the request's messages
 * say one by one, taken by sessions and by the translating proxy.
 */
import { readArguments } from '../core/json-repair.ts';
import type { AssistantPart, ClientResult, InputPart, Message, ToolCallPart } from '../core/message.ts';
import { resultMessage } from '../core/pair-calls.ts';
import { joinParagraphs } from '../core/paragraphs.ts';
import { readToolCallId } from '../core/reference.ts';
import { isRecord } from '../core/wire-value.ts';

/**
 * `system`: the text of all system and developer messages. `history`: up to the last assistant message. What comes after it is
 * new: `results` of calls, by the ids that the client has them under, and `input`, what the user said.
 */
export type Conversation = { system: string; history: Message[]; results: ClientResult[]; input: InputPart[] };

/**
 * What the messages say is added in their order; `isNew`: it comes after the assistant's last word. `inSession`: results may come without
 * the call that they answer, since the session has it.
 */
export function createConversation({ inSession }: { inSession: boolean }) {
  const system: string[] = [];
  const history: Message[] = [];
  const results: ClientResult[] = [];
  const input: InputPart[] = [];
  const names = new Map<string, string>();
  /** The newest message with calls. */
  let calling: Message | null = null;
  return {
    addSystem(text: string): void {
      system.push(text);
    },
    addInput(parts: InputPart[], isNew: boolean): void {
      if (isNew) append(input, parts);
      else history.push({ role: 'user', parts });
    },
    /** Neighbours are one message where they are pieces of one, or its calls wait: the results of all come behind the last. */
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
    /** False: it was not added, since nobody asked for it. */
    addResult(result: ClientResult, isNew: boolean): boolean {
      const isAsked = names.has(result.callId) || (isNew && (inSession || readToolCallId(result.callId) !== null));
      if (!isAsked) return false;
      const before = history.at(-1);
      if (isNew) results.push(result);
      // Results of one step are one message, in the order they came.
      else if (before?.role === 'tool') append(before.parts, resultMessage([result], names).parts);
      else history.push(resultMessage([result], names));
      return true;
    },
    /** Nothing in it is for anybody to answer. */
    saysNothingNew: () => input.length === 0 && results.length === 0,
    whole: (): Conversation => ({ system: joinParagraphs(...system), history, results, input }),
  };
}

/** One by one: there may be more than a call takes arguments. */
function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}

/** `given`: arguments, or their text. A client's history holds finished calls, so nothing is repaired: what is no object is kept as it came. */
export function toCallPart(id: string, name: string, given: unknown): ToolCallPart {
  const part = { type: 'tool-call', callId: id, requested: name, canonical: null, via: null, nativeId: id } as const;
  if (isRecord(given)) return { ...part, arguments: given };
  if (typeof given !== 'string') return { ...part, arguments: null, raw: JSON.stringify(given) };
  const reading = readArguments(given, { ended: true, length: false });
  return reading.state === 'ok' ? { ...part, arguments: reading.arguments } : { ...part, arguments: null, raw: given };
}
