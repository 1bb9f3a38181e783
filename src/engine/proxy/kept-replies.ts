/**
 * What a translated reply without a session must get back, and clients of OpenAI's APIs do not resend: signatures and reasoning of a message
 * with calls (Chat Completions), and items that the client only refers to (`item_reference` of Responses). Stored for an hour, for the key that
 * got the reply. `storage/reply-store.ts` stores it.
 */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import { canonicalJson } from '../../core/hash.ts';
import { isRecord, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import type { AssistantPart, Message, ToolCallPart } from '../../core/turn/message.ts';
import { uniqueOfAnswer } from '../../core/reference.ts';
import { invalidRequest } from '../../core/problem.ts';
import { createAnswerMessage, type AnswerPart } from '../../dialects/answer-message.ts';
import { toCallPart } from '../../dialects/conversation.ts';
import type { AnswerIdentity, Dialect } from '../../dialects/dialect.ts';
import { toReplyDocument, uniqueOfCalls } from '../../dialects/reply-encoder.ts';

/** The replies of one key. `put` stores in the background, and nothing if the text is too long. */
export type KeptReplies = { put(id: string, text: string): void; get(id: string): Promise<string | null> };

/** Messages of one tool loop whose data is read back, the newest ones. */
const maxKeptMessages = 32;
/** Answers that the references of one request may name. */
const maxReferredAnswers = 32;

type Assistant = Extract<Message, { role: 'assistant' }>;

/** Stores what a complete reply must get back, if anything. */
export function keepReply(kept: KeptReplies, dialect: Dialect, events: readonly ChatEvent[], identity: AnswerIdentity): void {
  if (events.at(-1)?.type !== 'finish') return;
  if (dialect.name === 'openai-responses') {
    const { output } = toReplyDocument(dialect, events, identity);
    kept.put(uniqueOfAnswer(dialect.name, identity.id), JSON.stringify(output));
  } else if (dialect.name === 'openai-chat' && events.some(({ type }) => type === 'native' || type === 'reasoning')) {
    const message = createAnswerMessage({ restarts: 'silently', unique: uniqueOfCalls(dialect, identity) });
    for (const event of events) message.take(event);
    const parts = message.parts().flatMap(toAssistantPart);
    const [first] = callsIn(parts);
    if (first !== undefined) kept.put(first.callId, JSON.stringify(parts));
  }
}

function toAssistantPart(part: AnswerPart): AssistantPart[] {
  switch (part.type) {
    case 'call':
      return part.call.custom ? [] : [toCallPart(part.call.id, part.call.name, part.call.text)];
    case 'native':
      return [part.part];
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text }];
    default:
      return part satisfies never;
  }
}

/** Returns the history with the stored parts of the messages after the last user message, where the client resent the same calls. */
export async function withKeptParts(kept: KeptReplies, history: readonly Message[]): Promise<Message[]> {
  const from = history.findLastIndex(({ role }) => role === 'user') + 1;
  const calling = history
    .slice(from)
    .filter((message): message is Assistant => message.role === 'assistant' && callsIn(message.parts).length > 0);
  const read = await Promise.all(
    calling.slice(-maxKeptMessages).map(async (message) => {
      const text = await kept.get(callsIn(message.parts)[0]?.callId ?? '');
      return [message, text === null ? null : samePartsOf(text, message)] as const;
    }),
  );
  const found = new Map<Message, AssistantPart[] | null>(read);
  return history.map((message) => {
    const parts = found.get(message);
    return message.role === 'assistant' && parts ? { ...message, parts } : message;
  });
}

/** null: the client changed the message. */
function samePartsOf(text: string, message: Assistant): AssistantPart[] | null {
  // Written by `keepReply`.
  const parts = (tryParse(text) ?? []) as AssistantPart[];
  const said = textIn(message.parts);
  const isSame = shownCalls(parts) === shownCalls(message.parts) && (said === '' || said === textIn(parts));
  return isSame ? parts : null;
}

function callsIn(parts: readonly AssistantPart[]): ToolCallPart[] {
  return parts.filter((part) => part.type === 'tool-call');
}

function shownCalls(parts: readonly AssistantPart[]): string {
  return canonicalJson(callsIn(parts).map(({ callId, requested, arguments: args }) => ({ callId, requested, args })));
}

function textIn(parts: readonly AssistantPart[]): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim();
}

/** Returns a Responses request with the stored items in place of references. Throws `invalid_request` for items that are not stored. */
export async function withReferredItems(
  kept: KeptReplies,
  body: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const input = listOf(body.input);
  const uniques = new Set(input.flatMap((item) => (isReference(item) ? [answerOf(item.id)] : [])));
  if (uniques.size === 0) return body;
  const tooMany = uniques.size > maxReferredAnswers;
  const answers = new Map(
    tooMany ? [] : await Promise.all([...uniques].map(async (unique) => [unique, await readItems(kept, unique)] as const)),
  );
  const items = input.map((item, index) => {
    if (!isReference(item)) return item;
    const found = answers.get(answerOf(item.id))?.find((one) => recordOf(one).id === item.id);
    if (found !== undefined) return found;
    const why = tooMany ? `is one of references to more than ${maxReferredAnswers} answers` : 'is not stored (items are kept for an hour)';
    throw invalidRequest([{ path: `input[${index}].id`, message: `${why}: send the item itself, as some clients do with store: false` }]);
  });
  return { ...body, input: items };
}

function isReference(item: unknown): item is { type: 'item_reference'; id: string } {
  return isRecord(item) && item.type === 'item_reference' && typeof item.id === 'string';
}

/** Item ids are `<prefix>_<unique>_<number>`. */
function answerOf(id: string): string {
  return stringOf(/^[a-z]+_(.+)_\d+$/.exec(id)?.[1]);
}

async function readItems(kept: KeptReplies, unique: string): Promise<readonly unknown[]> {
  const text = unique === '' ? null : await kept.get(unique);
  return text === null ? [] : listOf(tryParse(text));
}
