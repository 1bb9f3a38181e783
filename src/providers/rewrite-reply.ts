/**
 * A proxied reply read and written anew in the dialect that it came in, in the form that clients can rely on: for providers whose
 * profile asks for it. What needs no rewriting never comes here (`proxy.ts`); another dialect is `engine/translate-chat.ts`.
 */
import type { ChatEvent } from '../core/chat-event.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/provider.ts';
import { toAnswerId } from '../core/reference.ts';
import type { AnswerIdentity, Dialect } from '../dialects/dialect.ts';
import { createReplyEncoder, toReplyDocument } from '../dialects/reply-encoder.ts';
import { encodeReply } from '../engine/reply-stream.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Adapter, ReplyReader } from './adapter.ts';
import { type OpenReply, readReply, ReplyCursor } from './transport.ts';

export type Rewriting = {
  access: ProviderAccess;
  adapter: Adapter;
  dialect: Dialect;
  model: string;
  /** In place of the model, in the answer. */
  agentRef: string | undefined;
  /** The caller's request asks for usage at the end of a stream. */
  includeUsage: boolean;
  clock: Clock;
  /** Of the answer. */
  headers: Headers;
  signal: AbortSignal | undefined;
};

export async function rewriteWhole(open: OpenReply, rewriting: Rewriting): Promise<Response> {
  const { access, adapter, dialect, model, headers, signal } = rewriting;
  const reply = adapter.createReply({ access, model });
  const events: ChatEvent[] = [];
  for await (const batch of readReply(open, access, reply, signal)) for (const event of batch) events.push(event);
  return Response.json(toReplyDocument(dialect, events, identityOf(reply, rewriting)), { headers });
}

function identityOf(reply: ReplyReader, { dialect, model, agentRef, includeUsage }: Rewriting): AnswerIdentity {
  return {
    id: reply.id ?? toAnswerId(dialect.name, 'proxied'),
    model: agentRef ?? model,
    created: reply.created ?? 0,
    includeUsage,
    isOwnWire: true,
  };
}

/** Waits for the first batch, so that a reply which is an error from the start is an error status. */
export async function rewriteStream(open: OpenReply, rewriting: Rewriting): Promise<Response> {
  const { access, adapter, dialect, model, clock, headers, signal } = rewriting;
  const reply = adapter.createReply({ access, model });
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
