/**
 * What a conversation needs again and clients of OpenAI's APIs do not resend: signatures and reasoning of a message with calls (Chat
 * Completions, without a session), and items that the client only refers to (`item_reference` of Responses). Stored for an hour, for the key
 * that got the reply; of an answer that a session stores, only its id. `storage/reply-store.ts` stores it.
 */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import { canonicalJson } from '../../core/hash.ts';
import { isRecord, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import type { AssistantPart, Message, ToolCallPart } from '../../core/model/message.ts';
import {
  isSessionId,
  readApprovalId,
  readCompletionId,
  type Reference,
  toCompletionId,
  uniqueOfAnswer,
} from '../../core/text/reference.ts';
import { limits } from '../../core/limits/limits.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { createAnswerMessage, type AnswerPart } from '../../dialects/answer-message.ts';
import { toCallPart } from '../../dialects/conversation.ts';
import type { AnswerIdentity, Dialect } from '../../dialects/dialect.ts';
import { toReplyDocument, uniqueOfCalls } from '../../dialects/reply-encoder.ts';

/**
 * The replies of one key. `put` stores in the background, and nothing if the text is too long. `nextId` returns an id for an answer that is
 * stored now: answers with such ids are stored together. `answer` returns the document of an answer that
 * a session stores; null: the session or the answer does not exist, belongs to another key, or has not ended.
 */
export type KeptReplies = {
  nextId(): string;
  put(id: string, text: string): void;
  get(id: string): Promise<string | null>;
  answer(completion: Reference): Promise<string | null>;
};

/** Messages of one tool loop whose data is read back, the newest ones. */
const maxKeptMessages = 32;
/** Answers that the references of one request may name, and how many are read at once. */
const maxReferredAnswers = 256;
const readAtOnce = 16;

type Assistant = Extract<Message, { role: 'assistant' }>;

/**
 * Returns a function that takes and returns the batches of a reply, and stores what the complete reply must get back, if anything. `kept`
 * undefined: nothing is stored.
 */
export function createReplyKeeper(kept: KeptReplies | undefined, dialect: Dialect, identity: AnswerIdentity) {
  const events: ChatEvent[] = [];
  return (batch: readonly ChatEvent[]): readonly ChatEvent[] => {
    if (kept === undefined) return batch;
    for (const event of batch) events.push(event);
    if (batch.at(-1)?.type === 'finish') keepReply(kept, dialect, events, identity, () => toReplyDocument(dialect, events, identity));
    return batch;
  };
}

/** Returns the document of a whole reply, and stores what must be got back of it. Throws the `Problem` that ended it, if any. */
export function toKeptDocument(
  kept: KeptReplies | undefined,
  dialect: Dialect,
  events: readonly ChatEvent[],
  identity: AnswerIdentity,
): Record<string, unknown> {
  const document = toReplyDocument(dialect, events, identity);
  if (kept !== undefined && events.at(-1)?.type === 'finish') keepReply(kept, dialect, events, identity, () => document);
  return document;
}

function keepReply(
  kept: KeptReplies,
  dialect: Dialect,
  events: readonly ChatEvent[],
  identity: AnswerIdentity,
  document: () => Record<string, unknown>,
): void {
  if (dialect.name === 'openai-responses') {
    const items = listOf(document().output);
    keepItems(kept, identity.isOwnWire ? items : items.map(withoutImage));
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
    case 'citations':
    case 'search':
    case 'image':
    case 'approval':
      return [];
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

/** Stores items under the ids of their answers; items with an id of the provider under that. */
export function keepItems(kept: KeptReplies, items: unknown): void {
  const answers = Map.groupBy(listOf(items), (item) => answerOf(stringOf(recordOf(item).id)));
  for (const [answer, own] of answers) if (answer !== '') kept.put(answer, JSON.stringify(own));
}

/** Images are megabytes, and nothing reads them again. */
function withoutImage(item: unknown): unknown {
  return recordOf(item).type === 'image_generation_call' ? { ...recordOf(item), result: null } : item;
}

/** Lets later requests refer to the items of an answer that its session stores. */
export function keepAnswer(kept: KeptReplies, dialect: Dialect, completion: string): void {
  if (dialect.name === 'openai-responses') kept.put(uniqueOfAnswer(dialect.name, completion), JSON.stringify({ completion }));
}

/**
 * `session`: the session that the request names, which knows its own answers for longer than an hour. `unknown`: references to unknown items
 * are left to the provider, or refused.
 */
export type ReferringRequest = { session?: string | null | undefined; unknown: 'refuse' | 'leave' };

/**
 * Returns a Responses request with the stored items in place of references, and the same object without any. Throws `invalid_request` for
 * items that are not stored.
 */
export async function withReferredItems<Body extends Readonly<Record<string, unknown>>>(
  kept: KeptReplies,
  body: Body,
  { session = null, unknown }: ReferringRequest,
): Promise<Body> {
  const input = listOf(body.input);
  const names = [...new Set(input.flatMap((item) => (isReference(item) ? [answerOf(item.id)] : [])))];
  if (names.length === 0) return body;
  const answers = names.length > maxReferredAnswers ? null : await readAnswers(kept, names, session);
  const items = input.map((item, index) => {
    if (!isReference(item)) return item;
    const found = answers?.get(item.id) ?? approvalOf(item.id);
    if (found !== undefined) return found;
    if (unknown === 'leave') return item;
    const why =
      answers === null
        ? `is one of references to more than ${maxReferredAnswers} answers`
        : 'is not stored: items can be referred to for an hour after their answer has ended, and in the session that x-moniker-session names for as long as it exists';
    const todo = 'Send the item itself (clients do so with store: false), or refer to the answer by previous_response_id';
    throw invalidRequest([{ path: `input[${index}].id`, message: `${why}. ${todo}` }]);
  });
  return { ...body, input: items };
}

function isReference(item: unknown): item is { type: 'item_reference'; id: string } {
  return isRecord(item) && item.type === 'item_reference' && typeof item.id === 'string';
}

/** The id of an approval says what it asks. */
function approvalOf(id: string): unknown {
  return readApprovalId(id) === null ? undefined : { type: 'mcp_approval_request', id };
}

/** Our item ids are `<prefix>_<unique>_<number>`; any other id stands for itself. */
function answerOf(id: string): string {
  return /^[a-z]+_(.+)_\d+$/.exec(id)?.[1] ?? id;
}

/** Returns the items of the answers by their ids: as many as a request may be long. */
async function readAnswers(kept: KeptReplies, names: readonly string[], session: string | null): Promise<Map<string, unknown>> {
  const items = new Map<string, unknown>();
  let characters = 0;
  for (let at = 0; at < names.length; at += readAtOnce) {
    const texts = await Promise.all(names.slice(at, at + readAtOnce).map((name) => readAnswer(kept, name, session)));
    for (const text of texts) {
      characters += text?.length ?? 0;
      if (characters > limits.maxLargeBodyBytes) throw new Problem('body_too_large', tooLong);
      const answer = text === null ? null : tryParse(text);
      for (const item of isRecord(answer) ? listOf(answer.output) : listOf(answer)) items.set(stringOf(recordOf(item).id), item);
    }
  }
  return items;
}

const tooLong = `The items that the request refers to are longer than ${limits.maxLargeBodyBytes} characters. Refer to the answer by previous_response_id, or send fewer items.`;

/** Returns items, or a document with an `output`, as text. */
async function readAnswer(kept: KeptReplies, name: string, session: string | null): Promise<string | null> {
  const here = session !== null && isSessionId(session) ? toCompletionId('openai-responses', name, session) : null;
  const own = here === null ? null : readCompletionId('openai-responses', here);
  const found = own === null ? null : await kept.answer(own);
  if (found !== null) return found;
  const text = await kept.get(name);
  const { completion } = recordOf(text === null ? null : tryParse(text));
  const elsewhere = typeof completion === 'string' ? readCompletionId('openai-responses', completion) : null;
  return elsewhere === null ? text : await kept.answer(elsewhere);
}
