/**
 * `/v1/conversations` of OpenAI's API: sessions by another name (OpenAI API reference, "Conversations"). Responses continue one that they name; its
 * items are the messages of the session (`conversation-items.ts`). Items are not changed and not deleted: a session's log is only appended to.
 */
import * as z from 'zod';
import { type DroppedItem, droppedHeader, droppedHeaders } from '../../../core/model/dropped.ts';
import type { Message } from '../../../core/model/message.ts';
import { type Taint, unknownTaint, untainted } from '../../../core/policy/taint.ts';
import { idempotencyMismatch, invalidRequest, type Issue, Problem } from '../../../core/problem.ts';
import { readConversationId, toConversationId } from '../../../core/text/reference.ts';
import { openAiResponses } from '../../../dialects/openai-responses/dialect.ts';
import { InputItem, isOfAssistant } from '../../../dialects/openai-responses/input.ts';
import { SessionMetadata, type SessionPort, type SessionView } from '../../../ports/session.ts';
import { idempotencyHeader, idempotencyOf } from '../../idempotency.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { ConversationItem, ItemPage, ItemsQuery, readItem, readItemPage } from './conversation-items.ts';

/** As in OpenAI's API. */
const maxItems = 20;

const ConversationRequest = z
  .strictObject({
    items: z.array(InputItem).max(maxItems).nullish().meta({ description: 'What the conversation begins with.' }),
    metadata: SessionMetadata.nullish(),
  })
  .meta({ id: 'ConversationRequest', example: {} });

const ConversationChange = z
  .strictObject({ metadata: SessionMetadata.nullable().meta({ description: 'Replaces what is stored.' }) })
  .meta({ id: 'ConversationChange', example: { metadata: { topic: 'demo' } } });

const AddedItems = z
  .strictObject({ items: z.array(InputItem).min(1).max(maxItems) })
  .meta({ id: 'AddedItems', example: { items: [{ type: 'message', role: 'user', content: 'Hello' }] } });

const Conversation = z
  .object({ id: z.string(), object: z.literal('conversation'), created_at: z.int(), metadata: z.record(z.string(), z.string()) })
  .meta({ id: 'Conversation' });

const params = z.object({ id: z.string() });
const droppedItems = { [droppedHeader]: 'What of the items the conversation has not. Absent: nothing.' };
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
      answers: {
        200: {
          description: 'Created. Only its key and unbound keys with scope `admin` can access it.',
          schema: Conversation,
          headers: droppedItems,
        },
      },
      problems: ['conflict', 'idempotency_mismatch'],
    },
    async ({ c, services, principal, body, bytes, answer }) => {
      const { history, taint, dropped } = readItems(body.items ?? []);
      const { idempotencyKey: key, bodyHash = '' } = await idempotencyOf(c, bytes);
      const setup = { listed: true, ...(key !== undefined && { asked: bodyHash }) };
      const view = await services.sessions.create(principal, setup, ...(key === undefined ? [] : [`conversation ${key}`]));
      const session = services.sessions.get(view.id);
      if (key !== undefined && (await session.setup(principal)).asked !== bodyHash) throw idempotencyMismatch();
      if (history.length > 0) await session.importConversation(principal, { history, gathered: [], taint, title: null });
      const isNew = body.metadata != null && view.metadata === undefined;
      const created = isNew ? await session.setMetadata(principal, body.metadata ?? {}) : view;
      return answer(200, toConversation(created), droppedHeaders(dropped));
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
      method: 'post',
      path: '/v1/conversations/{id}',
      operationId: 'updateConversation',
      summary: 'Change the metadata of a conversation (OpenAI)',
      params,
      body: { schema: ConversationChange },
      answers: { 200: { description: 'The conversation.', schema: Conversation } },
      problems: ['not_found'],
    },
    async ({ services, principal, params: { id }, body, answer }) =>
      answer(200, toConversation(await sessionOf(services, id).setMetadata(principal, body.metadata ?? {}))),
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
      return answer(200, await readItemPage((given) => sessionOf(services, id).messages(principal, given), query));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/conversations/{id}/items',
      operationId: 'addConversationItems',
      summary: 'Add items to a conversation (OpenAI)',
      description:
        'Adds messages, and calls with their outputs, between responses: no model is asked. Returns them. `conflict`: a response of the conversation has not ended.',
      params,
      query: 'ignored',
      body: { schema: AddedItems },
      answers: { 200: { description: 'The added items.', schema: ItemPage, headers: droppedItems } },
      problems: ['not_found', 'conflict'],
    },
    async ({ services, principal, params: { id }, body, answer }) => {
      const session = sessionOf(services, id);
      const { history, taint, dropped } = readItems(body.items);
      if (history.length === 0) throw invalidRequest([{ path: 'items', message: 'must have an item that a conversation can have' }]);
      const { event } = await session.appendHistory(principal, { history, taint });
      const from = { event, index: 0 };
      const page = await readItemPage((given) => session.messages(principal, { ...given, from }), { order: 'asc', limit: 100 }, event);
      return answer(200, page, droppedHeaders(dropped));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/conversations/{id}/items/{item}',
      operationId: 'getConversationItem',
      summary: 'Read an item of a conversation (OpenAI)',
      params: params.extend({ item: z.string() }),
      query: 'ignored',
      answers: { 200: { description: 'The item.', schema: ConversationItem } },
      problems: ['not_found'],
    },
    async ({ services, principal, params: { id, item }, answer }) => {
      const session = sessionOf(services, id);
      const found = await readItem((given) => session.messages(principal, given), item);
      if (found === null) throw new Problem('not_found', 'The conversation has no such item.');
      return answer(200, found);
    },
  ),
];

function sessionOf({ sessions }: Pick<HttpServices, 'sessions'>, id: string): SessionPort {
  const session = readConversationId(id);
  if (session === null) throw new Problem('not_found', 'Conversation not found. POST /v1/conversations creates one.');
  return sessions.get(session);
}

function toConversation({
  id,
  createdAt,
  metadata = {},
}: Pick<SessionView, 'id' | 'createdAt' | 'metadata'>): z.infer<typeof Conversation> {
  return { id: toConversationId(id), object: 'conversation', created_at: Math.floor(Date.parse(createdAt) / 1000), metadata };
}

type ReadItems = { history: Message[]; taint: Taint; dropped: readonly DroppedItem[] };

/** Instructions are of a request, and a session has no others. Throws `invalid_request`. */
function readItems(items: readonly InputItem[]): ReadItems {
  if (items.length === 0) return { history: [], taint: untainted, dropped: [] };
  const issues: Issue[] = [];
  const calls = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    if (item.role === 'system' || item.role === 'developer')
      issues.push({ path: `items[${index}].role`, message: 'must be user or assistant: send instructions with each response' });
    if (isOfAssistant(item)) calls.add(item.call_id);
    else if (item.call_id !== undefined && !calls.has(item.call_id))
      issues.push({ path: `items[${index}].call_id`, message: 'must be that of a call before it in these items' });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  const { history, dropped } = readAsInput(items);
  const isOfUser = history.every(({ role }) => role === 'user');
  return { history, dropped, taint: isOfUser ? untainted : unknownTaint('the items that the client added to the conversation') };
}

/** Its problems have the paths of `items`. */
function readAsInput(items: readonly InputItem[]): Pick<ReadItems, 'history' | 'dropped'> {
  try {
    const request = openAiResponses.readRequest({ model: 'none/none', input: items });
    return { history: request.conversation({ whole: true }).history, dropped: request.dropped.items() };
  } catch (error) {
    if (!(error instanceof Problem) || !Array.isArray(error.extra.issues)) throw error;
    throw invalidRequest((error.extra.issues as Issue[]).map((issue) => ({ ...issue, path: issue.path.replace(/^input/, 'items') })));
  }
}
