/**
 * Translates a chat without server tools and session for a provider whose wire differs from the client's: reads the request into neutral
 * terms and writes the reply in the client's dialect. If both speak the same wire, the bytes are passed through (`providers/proxy.ts`).
 */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { Message } from '../../core/turn/message.ts';
import { callNames, pairCalls, resultMessage } from '../../core/turn/pair-calls.ts';
import type { Plan } from '../../core/turn/plan.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { toAnswerId } from '../../core/reference.ts';
import type { AnswerIdentity, Dialect, DialectRequest } from '../../dialects/dialect.ts';
import { createReplyEncoder } from '../../dialects/reply-encoder.ts';
import type { ConversationBuilder } from '../../dialects/conversation.ts';
import type { ChatModel, ChatRequest } from '../../ports/chat-model.ts';
import type { Clock, Ids } from '../../ports/runtime.ts';
import { noMeter, type CallMeter } from './call-meter.ts';
import { createReplyKeeper, toKeptDocument, withKeptParts, withReferredItems, type KeptReplies } from './kept-replies.ts';
import { encodeReply } from './reply-stream.ts';

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
  /** Absent: nothing is stored between requests. */
  kept?: KeptReplies;
  meter?: CallMeter;
  /** Absent: nothing is limited. */
  reserve?: ChatRequest['reserve'] | undefined;
};

/** What an agent sets for a chat without a turn. `instructions` already include the caller's system text, `settings` the request's. */
export type AgentOverrides = Pick<Plan, 'instructions' | 'settings' | 'protocol'>;

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
  const conversation = request.conversation({ inSession: false });
  if (kept !== undefined && dialect.name === 'openai-chat' && conversation.input.length === 0)
    conversation.history = await withKeptParts(kept, conversation.history);
  const asked = toChatRequest(chat, request, conversation);
  const storing = body.store === false ? undefined : kept;
  const identity = (unique = deps.ids.next('cmpl')): AnswerIdentity => ({
    id: toAnswerId(dialect.name, unique),
    model: ref,
    created: Math.floor(deps.clock.now() / 1000),
    includeUsage: request.includeUsage,
    echo: request.echo,
  });
  const batches = deps.model.stream(asked, request.streamed ? signal() : new AbortController().signal)[Symbol.asyncIterator]();
  if (!request.streamed) {
    const events = await withCallerErrors(readAll(batches, meter));
    const unique = dialect.name === 'openai-responses' ? storing?.nextId() : undefined;
    return Response.json(toKeptDocument(storing, dialect, events, identity(unique)));
  }
  const streamed = identity();
  const keep = createReplyKeeper(storing, dialect, streamed);
  const { value: first = [] } = await withCallerErrors(batches.next());
  meter.take(first);
  keep(first);
  const cursor = {
    next: async () => {
      const { done, value } = await batches.next();
      if (done) return null;
      meter.take(value);
      return keep(callerEvents(value));
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
  return new Response(encodeReply({ first, cursor, encoder, clock: deps.clock }), {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store, no-transform' },
  });
}

/**
 * Turns a provider's rejection of the request into `invalid_request`, as when the request is passed through: a conversation that is too long,
 * for example, is not an error of the service, and no client should retry it.
 */
async function withCallerErrors<Reply>(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply;
  } catch (error) {
    throw error instanceof Problem ? callerProblem(error) : error;
  }
}

/** The same for an error inside a reply. Returns the same batch without one. */
export function callerEvents(batch: readonly ChatEvent[]): readonly ChatEvent[] {
  if (batch.at(-1)?.type !== 'error') return batch;
  return batch.map((event) =>
    event.type === 'error' ? { ...event, problem: callerProblem(Problem.fromBody(event.problem)).toBody() } : event,
  );
}

/** Returns `invalid_request` for a provider's rejection of the caller's request, any other problem unchanged. */
function callerProblem(problem: Problem): Problem {
  const isRefusal = problem.code === 'upstream_error' && refusals.has(problem.extra.upstreamStatus);
  return isRefusal ? new Problem('invalid_request', problem.detail, problem.extra, { cause: problem.cause }) : problem;
}

const refusals: ReadonlySet<unknown> = new Set([400, 413, 422]);

async function readAll(batches: AsyncIterator<readonly ChatEvent[]>, meter: CallMeter): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  for (let read = await batches.next(); !read.done; read = await batches.next()) {
    meter.take(read.value);
    for (const event of callerEvents(read.value)) events.push(event);
  }
  return events;
}

function toChatRequest(
  { access, model, agent, reserve }: TranslatedChat,
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
  const tools = request.clientTools() ?? [];
  const { toolChoice = 'auto', ...settings } = agent?.settings ?? request.settings();
  return {
    access,
    model,
    messages: toMessages(conversation, agent),
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    toolChoice,
    settings,
    ...(!request.streamed && { whole: true as const }),
    ...(agent?.protocol !== undefined && { protocol: agent.protocol }),
    ...(reserve !== undefined && { reserve }),
  };
}

function toMessages({ system: own, history, results, input }: ConversationBuilder, agent: AgentOverrides | undefined): Message[] {
  const system = agent?.instructions ?? own;
  return [
    ...(system === '' ? [] : [{ role: 'system' as const, parts: [{ type: 'text' as const, text: system }] }]),
    ...pairCalls([...history, resultMessage(results, callNames(history))]),
    ...(input.length > 0 ? [{ role: 'user' as const, parts: input }] : []),
  ];
}
