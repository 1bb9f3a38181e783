/**
 * Parses a proxied reply and rewrites it in the same dialect, in a form that clients can rely on: for providers whose profile requires it.
 * `proxy.ts` forwards other replies unchanged; `engine/proxy/translate-chat.ts` translates to other dialects.
 */
import type { ChatEvent } from '../core/model/chat-event.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { toAnswerId } from '../core/reference.ts';
import type { AnswerIdentity, Dialect } from '../dialects/dialect.ts';
import { createReplyEncoder, toReplyDocument } from '../dialects/reply-encoder.ts';
import { encodeReply } from '../engine/proxy/reply-stream.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Adapter, ReplyReader } from './adapter.ts';
import { type OpenReply, ReplyCursor } from './transport.ts';

export type ReplyRewriting = {
  access: ProviderAccess;
  adapter: Adapter;
  dialect: Dialect;
  model: string;
  /** Replaces the model in the reply. */
  agentRef: string | undefined;
  /** The client requested usage at the end of the stream. */
  includeUsage: boolean;
  clock: Clock;
  /** The headers of the response. */
  headers: Headers;
  signal: AbortSignal | undefined;
};

export async function rewriteUnstreamed(open: OpenReply, rewriting: ReplyRewriting): Promise<Response> {
  const { access, adapter, dialect, headers, signal } = rewriting;
  const reply = adapter.createReply(access);
  const events: ChatEvent[] = [];
  const cursor = new ReplyCursor(open, access, reply, signal);
  try {
    for (let batch = await cursor.next(); batch !== null; batch = await cursor.next()) for (const event of batch) events.push(event);
  } finally {
    cursor.close();
  }
  return Response.json(toReplyDocument(dialect, events, identityOf(reply, rewriting)), { headers });
}

function identityOf(reply: ReplyReader, { dialect, model, agentRef, includeUsage }: ReplyRewriting): AnswerIdentity {
  return {
    id: reply.id ?? toAnswerId(dialect.name, 'proxied'),
    model: agentRef ?? model,
    created: reply.created ?? 0,
    includeUsage,
    isOwnWire: true,
  };
}

/** Waits for the first batch, so that an immediate error becomes an error status. */
export async function rewriteStream(open: OpenReply, rewriting: ReplyRewriting): Promise<Response> {
  const { access, adapter, dialect, clock, headers, signal } = rewriting;
  const reply = adapter.createReply(access);
  const cursor = new ReplyCursor(open, access, reply, signal);
  const first = (await cursor.next()) ?? [];
  if (first[0]?.type === 'error') {
    cursor.close();
    throw Problem.fromBody(first[0].problem);
  }
  const encoder = createReplyEncoder(dialect, identityOf(reply, rewriting));
  headers.set('content-type', 'text/event-stream; charset=utf-8');
  return new Response(encodeReply({ first, cursor, encoder, clock }), { headers });
}
