/**
 * The items of a session in OpenAI's form, for conversations and for the input of a response: messages, reasoning, calls and their outputs. An id
 * says where its item is in the log. Wire: OpenAI API reference, "Conversations: list items" and "Responses: list input items".
 */
import * as z from 'zod';
import { isCount } from '../../../core/json/wire-value.ts';
import type { Message } from '../../../core/model/message.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { toResponsesContent } from '../../../engine/chat/compact-input.ts';
import type { MessagePlace, SessionPort, TranscriptMessage } from '../../../ports/session.ts';

export const ItemsQuery = z.object({
  after: z.string().max(100).optional().meta({ description: 'The id of the last item of the page before.' }),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
});

export const ConversationItem = z.looseObject({ id: z.string(), type: z.string() }).meta({ id: 'ConversationItem' });
type ConversationItem = z.infer<typeof ConversationItem>;

export const ItemPage = z
  .object({
    object: z.literal('list'),
    data: z.array(ConversationItem),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'ConversationItems' });

/** The place of an item: its message, and its number among the items of that. */
type ItemPlace = MessagePlace & { part: number };

type ReadMessages = (query: Parameters<SessionPort['messages']>[1]) => ReturnType<SessionPort['messages']>;

/** `through`: the last event that is read; absent: all. Throws `invalid_request`. */
export async function readItemPage(
  messages: ReadMessages,
  query: z.infer<typeof ItemsQuery>,
  through?: number,
): Promise<z.infer<typeof ItemPage>> {
  const { after, limit, order } = query;
  const from = after === undefined ? null : placeOf(after);
  // A message has one item at least, or none if it is empty; one more tells whether there are more.
  const page = await messages({
    order,
    limit: limit + 2,
    ...(through !== undefined && { through }),
    ...(from !== null && { from: { event: from.event, index: from.index } }),
  });
  const items = page.items.flatMap((message, index) => {
    const place = page.places[index];
    if (place === undefined) return [];
    const own = toItems(message, place);
    const isFirst = from !== null && place.event === from.event && place.index === from.index;
    const ordered = order === 'asc' ? own : own.toReversed();
    if (!isFirst) return ordered;
    return ordered.filter((item) => (order === 'asc' ? partOf(item) > from.part : partOf(item) < from.part));
  });
  const data = items.slice(0, limit);
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return { object: 'list', data, ...ends, has_more: items.length > limit || page.nextCursor !== null };
}

/** Returns null for an item that is not in the session. */
export async function readItem(messages: ReadMessages, id: string): Promise<ConversationItem | null> {
  const from = placeIn(id);
  if (from === null) return null;
  const { items, places } = await messages({ order: 'asc', limit: 1, from: { event: from.event, index: from.index } });
  const [message, place] = [items[0], places[0]];
  if (message === undefined || place?.event !== from.event || place.index !== from.index) return null;
  return toItems(message, place).find((item) => item.id === id) ?? null;
}

function placeOf(after: string): ItemPlace {
  const place = placeIn(after);
  if (place !== null) return place;
  throw invalidRequest([{ path: 'after', message: 'must be the id of an item of this list' }]);
}

function placeIn(id: string): ItemPlace | null {
  const [event = -1, index = -1, part = -1] = id.split('_').slice(1).map(Number);
  return isCount(event) && event > 0 && isCount(index) && isCount(part) ? { event, index, part } : null;
}

const partOf = ({ id }: ConversationItem): number => placeIn(id)?.part ?? -1;

/** `parts` are those of `core/model/message.ts`. */
function toItems({ role, parts }: TranscriptMessage, { event, index }: MessagePlace): ConversationItem[] {
  const items: (Record<string, unknown> & { type: string })[] = [];
  const message = { role, parts } as unknown as Message;
  if (message.role === 'user') items.push({ type: 'message', role, content: message.parts.map(toResponsesContent) });
  else if (message.role === 'tool')
    for (const { callId, content, structuredContent } of message.parts) {
      const texts = content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block)));
      const output = texts.length === 0 && structuredContent !== undefined ? JSON.stringify(structuredContent) : texts.join('\n');
      items.push({ type: 'function_call_output', call_id: callId, output });
    }
  else if (message.role === 'assistant')
    for (const part of message.parts) {
      if (part.type === 'text')
        items.push({ type: 'message', role, content: [{ type: 'output_text', text: part.text, annotations: [], logprobs: [] }] });
      if (part.type === 'reasoning') items.push({ type: 'reasoning', summary: [{ type: 'summary_text', text: part.text }] });
      if (part.type !== 'tool-call') continue;
      const given = part.raw ?? JSON.stringify(part.arguments ?? {});
      items.push({ type: 'function_call', call_id: part.callId, name: part.requested, arguments: given });
    }
  const prefixes: Record<string, string> = { message: 'msg', reasoning: 'rs', function_call: 'fc', function_call_output: 'fco' };
  return items.map((item, part) => ({ id: `${prefixes[item.type]}_${event}_${index}_${part}`, status: 'completed', ...item }));
}
