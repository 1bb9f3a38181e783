/** Rewrites a provider's reply in its own dialect, in a form that clients can rely on. */
import type { ChatEvent } from '../core/model/chat-event.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { Problem } from '../core/problem.ts';
import { toAnswerId } from '../core/reference.ts';
import type { AnswerIdentity, Dialect } from '../dialects/dialect.ts';
import { createReplyEncoder } from '../dialects/reply-encoder.ts';
import type { CallMeter } from '../engine/proxy/call-meter.ts';
import { createReplyKeeper, type KeptReplies, toKeptDocument } from '../engine/proxy/kept-replies.ts';
import { encodeReply } from '../engine/proxy/reply-stream.ts';
import { callerEvents } from '../engine/proxy/translate-chat.ts';
import type { Clock, Ids } from '../ports/runtime.ts';
import type { Adapter, ReplyReader } from './adapter.ts';
import { ExchangeTimeout } from './exchange-timeout.ts';
import { type OpenReply, readWholeReply, ReplyCursor } from './transport.ts';

export type ReplyRewriting = {
  access: ProviderAccess;
  adapter: Adapter;
  dialect: Dialect;
  model: string;
  /** Replaces the model in the reply. */
  agentRef: string | undefined;
  kept: KeptReplies | undefined;
  /** The client requested usage at the end of the stream. */
  includeUsage: boolean;
  clock: Clock;
  ids: Ids;
  /** The headers of the response. */
  headers: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  meter: CallMeter;
};

export async function rewriteUnstreamed(response: Response, rewriting: ReplyRewriting): Promise<Response> {
  const { access, adapter, dialect, clock, kept, headers, meter } = rewriting;
  const reply = adapter.createReply(access);
  const read =
    (await readWholeReply(access, response, reply)) ??
    (await readToEnd(new ReplyCursor({ response, idle: new ExchangeTimeout(clock) }, access, reply)));
  meter.take(read);
  const events = callerEvents(read);
  const identity = identityOf(reply, rewriting);
  return Response.json(toKeptDocument(kept, dialect, events, identity), { headers });
}

/** Of a provider that streams although it was not asked to. */
async function readToEnd(cursor: ReplyCursor): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  try {
    for (let batch = await cursor.next(); batch !== null; batch = await cursor.next()) events.push(...batch);
    return events;
  } finally {
    cursor.close();
  }
}

function identityOf(reply: ReplyReader, { ids, dialect, model, agentRef, includeUsage }: ReplyRewriting): AnswerIdentity {
  return {
    id: reply.id ?? toAnswerId(dialect.name, ids.next('cmpl')),
    model: agentRef ?? model,
    created: reply.created ?? 0,
    includeUsage,
    isOwnWire: true,
  };
}

/** Waits for the first batch, so that an immediate error becomes an error status. */
export async function rewriteStream(open: OpenReply, rewriting: ReplyRewriting): Promise<Response> {
  const { access, adapter, dialect, clock, headers, kept, signal, meter } = rewriting;
  const reply = adapter.createReply(access);
  const replied = new ReplyCursor(open, access, reply, signal);
  const read = async (): Promise<ChatEvent[] | null> => {
    const batch = await replied.next();
    if (batch !== null) meter.take(batch);
    return batch;
  };
  const first = callerEvents((await read()) ?? []);
  if (first[0]?.type === 'error') {
    replied.close();
    throw Problem.fromBody(first[0].problem);
  }
  const identity = identityOf(reply, rewriting);
  const keep = createReplyKeeper(kept, dialect, identity);
  keep(first);
  const next = async () => {
    const batch = await read();
    return batch === null ? null : keep(callerEvents(batch));
  };
  const close = (): void => {
    // Has no effect after the end of the reply.
    meter.cut();
    replied.close();
  };
  const cursor = { next, close };
  const encoder = createReplyEncoder(dialect, identity);
  return new Response(encodeReply({ first, cursor, encoder, clock }), {
    headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' },
  });
}
