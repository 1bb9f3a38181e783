/**
 * `/v1/conversations` of OpenAI's API: sessions by another name (OpenAI API reference, "Conversations"). Responses continue one that they name; its
 * items are the messages of the session. `metadata` and changes of items are refused: a session's log is only appended to.
 */
import * as z from 'zod';
import { isCount } from '../../../core/json/wire-value.ts';
import type { Message } from '../../../core/model/message.ts';
import { unknownTaint, untainted } from '../../../core/policy/taint.ts';
import { idempotencyMismatch, invalidRequest, Problem } from '../../../core/problem.ts';
import { readConversationId, toConversationId } from '../../../core/text/reference.ts';
import { InputItem, toResponsesConversation } from '../../../dialects/openai-responses/input.ts';
import { toResponsesContent } from '../../../engine/chat/compact-input.ts';
import type { MessagePlace, SessionPort, SessionView, TranscriptMessage } from '../../../ports/session.ts';
import { idempotencyHeader, idempotencyOf } from '../../idempotency.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';

/** As in OpenAI's API. */
const maxFirstItems = 20;

const ConversationRequest = z
  .strictObject({
    items: z.array(InputItem).max(maxFirstItems).nullish().meta({ description: 'What the conversation begins with.' }),
    metadata: z.record(z.string(), z.string()).nullish().meta({ description: 'Must be absent or empty: it is not stored.' }),
  })
  .meta({ id: 'ConversationRequest', example: {} });

const Conversation = z
  .object({ id: z.string(), object: z.literal('conversation'), created_at: z.int(), metadata: z.record(z.string(), z.string()) })
  .meta({ id: 'Conversation' });

const ItemsQuery = z.object({
  after: z.string().max(100).optional().meta({ description: 'The id of the last item of the page before.' }),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
});

const ConversationItem = z.looseObject({ id: z.string(), type: z.string() }).meta({ id: 'ConversationItem' });
type ConversationItem = z.infer<typeof ConversationItem>;

const ItemPage = z
  .object({
    object: z.literal('list'),
    data: z.array(ConversationItem),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'ConversationItems' });

const params = z.object({ id: z.string() });
const common = { tag: 'OpenAI', scopes: ['chat'] } as const;

export const conversationRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/conversations',
      operationId: 'createConversation',
      summary: 'Create a conversation (OpenAI)',
      description: 'A session by the name that clients of Responses have for it. Name it in `conversation` of `POST /v1/responses`.',
      headers: { 'idempotency-key': idempotencyHeader },
      body: { schema: ConversationRequest, isOptional: true },
      answers: { 200: { description: 'Created. Only its key and unbound keys with scope `admin` can access it.', schema: Conversation } },
      problems: ['conflict', 'idempotency_mismatch'],
    },
    async ({ c, services, principal, body, bytes, answer }) => {
      if (Object.keys(body.metadata ?? {}).length > 0)
        throw invalidRequest([{ path: 'metadata', message: 'is not stored with conversations: remove it' }]);
      const history = body.items?.length ? readItems(body.items) : [];
      const { idempotencyKey: key, bodyHash = '' } = await idempotencyOf(c, bytes);
      const setup = { listed: true, ...(key !== undefined && { asked: bodyHash }) };
      const view = await services.sessions.create(principal, setup, ...(key === undefined ? [] : [`conversation ${key}`]));
      const session = services.sessions.get(view.id);
      if (key !== undefined && (await session.setup(principal)).asked !== bodyHash) throw idempotencyMismatch();
      const isOfUser = history.every(({ role }) => role === 'user');
      const taint = isOfUser ? untainted : unknownTaint('the items with which the client began the conversation');
      if (history.length > 0) await session.importConversation(principal, { history, gathered: [], taint, title: null });
      return answer(200, toConversation(view));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/conversations/{id}',
      operationId: 'getConversation',
      summary: 'Read a conversation (OpenAI)',
      params,
      answers: { 200: { description: 'The conversation.', schema: Conversation } },
      problems: ['not_found'],
    },
    async ({ services, principal, params: { id }, answer }) => answer(200, toConversation(await sessionOf(services, id).view(principal))),
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/conversations/{id}',
      operationId: 'deleteConversation',
      summary: 'Delete a conversation with all its data (OpenAI)',
      params,
      answers: {
        200: {
          description: 'Gone.',
          schema: z.object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) }),
        },
      },
      problems: ['not_found'],
    },
    async ({ services, principal, params: { id }, answer }) => {
      await sessionOf(services, id).remove(principal);
      return answer(200, { id, object: 'conversation.deleted', deleted: true });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/conversations/{id}/items',
      operationId: 'listConversationItems',
      summary: 'Read the items of a conversation (OpenAI)',
      description: 'Messages, reasoning, calls of all tools and their outputs. Newest first, or oldest first with `order=asc`.',
      params,
      query: ItemsQuery.loose(),
      answers: { 200: { description: 'A page of items.', schema: ItemPage } },
      problems: ['not_found'],
    },
    async ({ services, principal, params: { id }, query, answer }) => {
      const { data, more } = await readPage((given) => sessionOf(services, id).messages(principal, given), query);
      const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
      return answer(200, { object: 'list', data, ...ends, has_more: more });
    },
  ),
];

function sessionOf({ sessions }: Pick<HttpServices, 'sessions'>, id: string): SessionPort {
  const session = readConversationId(id);
  if (session === null) throw new Problem('not_found', 'Conversation not found. POST /v1/conversations creates one.');
  return sessions.get(session);
}

function toConversation({ id, createdAt }: Pick<SessionView, 'id' | 'createdAt'>): z.infer<typeof Conversation> {
  return { id: toConversationId(id), object: 'conversation', created_at: Math.floor(Date.parse(createdAt) / 1000), metadata: {} };
}

/** Instructions are of a request, and a session has no others. */
function readItems(items: readonly InputItem[]): Message[] {
  const system = items.findIndex(({ role }) => role === 'system' || role === 'developer');
  if (system >= 0)
    throw invalidRequest([{ path: `items[${system}].role`, message: 'must be user or assistant: send instructions with each response' }]);
  return toResponsesConversation({ input: items }, { whole: true }).history;
}

/** The place of an item: its message, and its number among the items of that. */
type ItemPlace = MessagePlace & { part: number };

async function readPage(
  messages: (query: Parameters<SessionPort['messages']>[1]) => ReturnType<SessionPort['messages']>,
  query: z.infer<typeof ItemsQuery>,
) {
  const { after, limit, order } = query;
  const from = after === undefined ? null : placeIn(after);
  // A message has one item at least, or none if it is empty; one more tells whether there are more.
  const page = await messages({ order, limit: limit + 2, ...(from !== null && { from: { event: from.event, index: from.index } }) });
  const items = page.items.flatMap((message, index) => {
    const place = page.places[index];
    if (place === undefined) return [];
    const own = toItems(message, place);
    const isFirst = from !== null && place.event === from.event && place.index === from.index;
    const ordered = order === 'asc' ? own : own.toReversed();
    if (!isFirst) return ordered;
    return ordered.filter((item) => (order === 'asc' ? placeIn(item.id).part > from.part : placeIn(item.id).part < from.part));
  });
  return { data: items.slice(0, limit), more: items.length > limit || page.nextCursor !== null };
}

function placeIn(id: string): ItemPlace {
  const [event = -1, index = -1, part = -1] = id.split('_').slice(1).map(Number);
  if (isCount(event) && isCount(index) && isCount(part)) return { event, index, part };
  throw invalidRequest([{ path: 'after', message: 'must be the id of an item of this conversation' }]);
}

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
