/**
 * A client's request as a conversation, independent of the dialect. The dialects add messages one by one; sessions and the translating
 * proxy use the result. Also the content that they write alike, and the session that the call ids of a request belong to.
 */
import { readArguments } from '../core/json/json-repair.ts';
import { ImagePart, type AssistantPart, type ClientResult, type InputPart, type Message, type ToolCallPart } from '../core/turn/message.ts';
import { resultMessage } from '../core/turn/pair-calls.ts';
import { joinParagraphs } from '../core/text/paragraphs.ts';
import { readToolCallId } from '../core/reference.ts';
import { isRecord, listOf } from '../core/json/wire-value.ts';
import { invalidRequest } from '../core/problem.ts';
import type { ContentBlock } from '../core/tools/tool.ts';

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

/** Reports a fault at a path relative to the current one. */
export type InputFault = (at: string, message: string) => void;

/** `url` may be a data URL. Returns nothing for an invalid image, after reporting it to `fault`. */
export function readImage(given: { url: string } | { mediaType: unknown; data: unknown }, fault: (message: string) => void): InputPart[] {
  const image = ImagePart.safeParse({ type: 'image', ...('url' in given ? inlineOf(given.url) : given) });
  if (image.success) return [image.data];
  fault(image.error.issues[0]?.message ?? 'is not an image');
  return [];
}

function inlineOf(url: string): object {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { url } : { mediaType, data };
}

/** Tool results cannot contain images by URL; those become links. */
export function toContentBlock(part: InputPart): ContentBlock {
  if (part.type === 'text') return part;
  const { data, mediaType = 'image/png', url = '' } = part;
  return data === undefined ? { type: 'resource_link', uri: url, name: 'image' } : { type: 'image', data, mimeType: mediaType };
}

/** The unvalidated id of a call: in a result, or in an assistant message, which may have none. */
export type CallMention = { by: 'result' | 'assistant'; id: unknown; path: string };

/**
 * Returns the session of a chat request that names none: of the results at the end, or of the latest call; null: no call is ours.
 * `messages`: unvalidated, because the session decides where the request is routed. `mentionsIn`: the mentions in them, the latest first.
 * Throws `invalid_request` for results of two sessions.
 */
export function sessionOfMentions(messages: unknown, mentionsIn: (messages: readonly unknown[]) => Iterable<CallMention>): string | null {
  let found: string | null = null;
  for (const { by, id, path } of mentionsIn(listOf(messages))) {
    const session = typeof id === 'string' ? (readToolCallId(id)?.session ?? null) : null;
    if (by === 'result' && found !== null && session !== null && session !== found)
      throw invalidRequest([{ path, message: 'belongs to another session than the other results: send results of one session only' }]);
    // Results before the last assistant message belong to the past.
    if (by === 'assistant' && (found ?? session) !== null) return found ?? session;
    found ??= session;
  }
  return found;
}
