/**
 * Translates a chat without server tools and session for a provider whose wire differs from the client's: reads the request into neutral
 * terms and writes the reply in the client's dialect. If both speak the same wire, the bytes are passed through (`providers/proxy.ts`).
 */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import { droppedHeaders } from '../../core/model/dropped.ts';
import type { Message } from '../../core/model/message.ts';
import { recoveredHeaders } from '../../core/model/recovered-calls.ts';
import { pairCalls } from '../../core/turn/pair-calls.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { ResolvedModel } from '../../core/model/route.ts';
import type { AttemptLimits } from '../../core/model/timeouts.ts';
import { toAnswerId } from '../../core/text/reference.ts';
import type { AnswerIdentity, Dialect, DialectRequest } from '../../dialects/dialect.ts';
import { createReplyEncoder } from '../../dialects/reply-encoder.ts';
import type { ConversationBuilder } from '../../dialects/conversation.ts';
import type { ChatModel, ChatRequest } from '../../ports/chat-model.ts';
import type { Clock, Ids } from '../../ports/runtime.ts';
import { noMeter, type CallMeter } from './call-meter.ts';
import { createReplyKeeper, toKeptDocument, withKeptParts, withReferredItems, type KeptReplies } from './kept-replies.ts';
import { encodeReply } from './reply-stream.ts';
import { withSentNames } from './sent-names.ts';

/**
 * A chat without server tools and session, to be forwarded or translated. `agent`: an agent without tools, which overrides the body; `isOwn`:
 * it sets more than instructions.
 */
export type ProxiedChat = {
  ref: string;
  dialect: Dialect;
  /** The client's request, parsed. Not modified. */
  body: Readonly<Record<string, unknown>> & { model: string };
  /** The same as text. If only the model changes, it is replaced in this text. */
  text?: string | undefined;
  /** Headers of the client's request to forward. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The header that asks for the cache. */
  cache?: string | undefined;
  /** Aborts when the client disconnects. */
  signal(): AbortSignal;
  agent?: AgentOverrides & { isOwn: boolean };
  /** Of the response, and the name of the agent: for the request log. */
  requestId?: string | undefined;
  agentName?: string | undefined;
  /** Of the agent or route. */
  timeouts?: AttemptLimits | undefined;
  /** As in `ChatRequest`. */
  target?: string | undefined;
  /** Whose limits it counts for. Absent: those of the key and the workspace. */
  limited?: Plan['limited'];
};

/** `fallbacks`: models to ask if this one fails before its first output. */
export type AskedChat = Omit<ProxiedChat, 'ref'> & { ref: ResolvedModel; fallbacks?: readonly ResolvedModel[] };

export type TranslatedChat = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  dialect: Dialect;
  body: Readonly<Record<string, unknown>>;
  /** The ref as the request named it. */
  ref: string;
  /** The overrides of an agent, which replace the request's own settings. */
  agent?: AgentOverrides;
  timeouts?: AttemptLimits | undefined;
  target?: string | undefined;
  /** Absent: nothing is stored between requests. */
  kept?: KeptReplies;
  meter?: CallMeter;
  /** Absent: nothing is limited. */
  reserve?: ChatRequest['reserve'] | undefined;
  sentBy?: NonNullable<ChatRequest['sentBy']>;
};

/** What an agent sets for a chat without a turn. `instructions` already include the caller's system text, `settings` the request's. */
export type AgentOverrides = Pick<Plan, 'instructions' | 'settings' | 'protocol'>;

/** What a session could do runs there. */
const noBackground = 'is not possible for what only a provider with Responses can run';

export type TranslateDeps = { model: ChatModel; clock: Clock; ids: Ids };

/**
 * Throws `invalid_request` for what a provider without a session cannot be sent, and any `Problem` before the first byte. `signal`: aborts when
 * the client disconnects. Requested only for a stream: the runtime drops other requests with all that they wait for.
 */
export async function translateChat(deps: TranslateDeps, chat: TranslatedChat, signal: () => AbortSignal): Promise<Response> {
  const { dialect, ref, kept, meter = noMeter } = chat;
  const body =
    kept !== undefined && dialect.name === 'openai-responses' ? await withReferredItems(kept, chat.body, { unknown: 'refuse' }) : chat.body;
  const request = dialect.readRequest(body);
  const conversation = request.conversation({ whole: true, provider: chat.access.name });
  if (kept !== undefined && dialect.name === 'openai-chat') conversation.history = await withKeptParts(kept, conversation.history);
  meter.dropped(request.dropped);
  const { request: asked, shown } = withSentNames(toChatRequest(chat, request, conversation));
  if (body.background === true) throw invalidRequest([{ path: 'background', message: noBackground }]);
  const storing = body.store === false ? undefined : kept;
  const identity = (unique = deps.ids.next('cmpl')): AnswerIdentity => ({
    id: toAnswerId(dialect.name, unique),
    model: ref,
    created: Math.floor(deps.clock.now() / 1000),
    includeUsage: request.includeUsage,
    echo: request.echo,
    now: () => deps.clock.now(),
  });
  const batches = shown(deps.model.stream(asked, request.streamed ? signal() : new AbortController().signal))[Symbol.asyncIterator]();
  if (!request.streamed) {
    const events = await readAll(batches, meter);
    const unique = dialect.name === 'openai-responses' ? storing?.nextId() : undefined;
    const headers = { ...droppedHeaders(request.dropped.items()), ...recoveredHeaders(events) };
    return Response.json(toKeptDocument(storing, dialect, events, identity(unique)), { headers });
  }
  const streamed = identity();
  const keep = createReplyKeeper(storing, dialect, streamed);
  const { value: first = [] } = await batches.next();
  meter.take(first);
  keep(first);
  const cursor = {
    next: async () => {
      const { done, value } = await batches.next();
      if (done) return null;
      meter.take(value);
      return keep(value);
    },
    close: () => {
      // Has no effect after the end of the reply.
      meter.cut();
      batches.return?.().catch(() => {
        // The stream was cut off, as intended.
      });
    },
  };
  const encoder = createReplyEncoder(dialect, streamed);
  return new Response(encodeReply({ first, cursor, encoder, heartbeat: dialect.heartbeat, clock: deps.clock }), {
    headers: {
      ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store, no-transform' },
      ...droppedHeaders(request.dropped.items()),
    },
  });
}

async function readAll(batches: AsyncIterator<readonly ChatEvent[]>, meter: CallMeter): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for (let read = await batches.next(); !read.done; read = await batches.next()) {
    meter.take(read.value);
    events.push(...read.value);
  }
  return events;
}

function toChatRequest(
  { access, model, agent, reserve, sentBy, timeouts, target }: TranslatedChat,
  request: DialectRequest,
  conversation: ConversationBuilder,
): ChatRequest {
  if (request.choices > 1) throw invalidRequest([{ path: 'n', message: 'must be 1 or absent: this provider returns one answer' }]);
  if (request.previous !== null) {
    throw new Problem(
      'not_found',
      'This provider does not store responses. Send the previous messages, or name a session in x-moniker-session.',
      {
        param: 'previous_response_id',
      },
    );
  }
  const tools = request.clientTools({ whole: true }) ?? [];
  const { toolChoice = 'auto', ...settings } = agent?.settings ?? request.settings();
  return {
    access,
    model,
    messages: toMessages(conversation, agent),
    tools,
    toolChoice,
    settings,
    forClient: true,
    dropped: request.dropped,
    ...(!request.streamed && { whole: true as const }),
    ...(agent?.protocol !== undefined && { protocol: agent.protocol }),
    ...(timeouts !== undefined && { timeouts }),
    ...(target !== undefined && { target }),
    ...(reserve !== undefined && { reserve }),
    ...(sentBy !== undefined && { sentBy }),
  };
}

/** An agent's instructions contain all system text of the request. */
function toMessages({ history }: ConversationBuilder, agent: AgentOverrides | undefined): Message[] {
  if (agent === undefined) return pairCalls(history);
  const instructions: Message = { role: 'system', parts: [{ type: 'text', text: agent.instructions }] };
  return [...(agent.instructions === '' ? [] : [instructions]), ...pairCalls(history.filter(({ role }) => role !== 'system'))];
}
