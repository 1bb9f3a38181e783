/**
 * The reply of a provider of the client's own wire, which may have calls: read as it passes, and changed only where clients could not read it
 * (`relay.ts`), or where it names the model of an agent.
 */
import { isRecord, type Json, recordOf } from '../../core/json/wire-value.ts';
import { type ChatEvent, isRecovered } from '../../core/model/chat-event.ts';
import { recoveredHeaders } from '../../core/model/recovered-calls.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { LeakedCalls } from '../../core/text-protocol/leaked-calls.ts';
import { timeoutsOf } from '../../core/model/timeouts.ts';
import { toAnswerId } from '../../core/text/reference.ts';
import type { AnswerIdentity, Dialect } from '../../dialects/dialect.ts';
import { createReplyEncoder, toReplyDocument } from '../../dialects/reply-encoder.ts';
import { joinWrites } from '../../engine/joined-stream.ts';
import type { CallMeter } from '../../engine/proxy/call-meter.ts';
import { keepItems, type KeptReplies } from '../../engine/proxy/kept-replies.ts';
import type { Clock, Ids } from '../../ports/runtime.ts';
import type { ReplyReader } from '../adapter.ts';
import { ExchangeTimeout } from '../exchange-timeout.ts';
import { adapters } from '../registry.ts';
import { Relay } from './relay.ts';
import { beginReply, type OpenReply, type ReadReply, readUnstreamed } from '../transport.ts';

export type Relayed = {
  access: ProviderAccess;
  dialect: Dialect;
  model: string;
  /** Replaces the model in the reply. */
  agentRef: string | undefined;
  kept: KeptReplies | undefined;
  /** Recovers calls in the text of the reply; null: the request offers no tools. */
  leaks: LeakedCalls | null;
  /** The client requested usage at the end of the stream. */
  includeUsage: boolean;
  clock: Clock;
  ids: Ids;
  /** The headers of the response. */
  headers: Readonly<Record<string, string>>;
  meter: CallMeter;
};

export async function relayWhole({ events: read, text, document, reply }: ReadReply, relayed: Relayed): Promise<Response> {
  const { access, dialect, kept, leaks, headers, meter } = relayed;
  meter.take(read);
  const events = leaks?.take(read) ?? read;
  const init = { headers: { ...headers, 'content-type': 'application/json', ...recoveredHeaders(events) } };
  const watched = await adapters[access.kind].watched?.();
  const own = recordOf(document);
  const isRegular =
    !events.some(isRecovered) && events.at(-1)?.type === 'finish' && document !== null && watched?.isRegular(own, events) === true;
  const shown = isRegular ? own : mended(toReplyDocument(dialect, events, identityOf(reply, relayed)));
  function mended(encoded: Record<string, unknown>): Record<string, unknown> {
    return document === null || watched === undefined ? encoded : watched.mend(own, encoded);
  }
  if (kept !== undefined) keepItems(kept, shown.output);
  const { agentRef } = relayed;
  const named = agentRef === undefined ? undefined : withModel(shown, agentRef);
  return isRegular && named === undefined ? new Response(text, init) : Response.json(named ?? shown, init);
}

function identityOf(reply: ReplyReader, { ids, dialect, model, agentRef, includeUsage, clock }: UnsentRelay): AnswerIdentity {
  return {
    id: reply.id ?? toAnswerId(dialect.name, ids.next('cmpl')),
    model: agentRef ?? model,
    created: reply.created ?? 0,
    includeUsage,
    isOwnWire: true,
    now: () => clock.now(),
  };
}

type UnsentRelay = Omit<Relayed, 'headers'>;

/** Throws like `beginReply`. */
export async function beginRelay(open: OpenReply, relayed: UnsentRelay, signal: AbortSignal | undefined) {
  const { access, dialect, leaks } = relayed;
  const adapter = adapters[access.kind];
  const reply = adapter.createReply(access);
  const wire = await adapter.watched?.();
  if (wire === undefined) throw new Error(`replies of kind ${access.kind} are not relayed`);
  const encoder = () => createReplyEncoder(dialect, identityOf(reply, relayed));
  const relay = new Relay({ access, reply, wire, encoder, leaks, patch: patchOf(relayed) });
  return { ...(await beginReply(open, { access, reply, take: relay }, signal)), relay };
}

/**
 * Reads a reply in another form than its client has asked for: its provider always or never streams, or calls its reply something else. Returns
 * what writes it in the client's form.
 */
export async function beginOther(response: Response, isStream: boolean, relayed: UnsentRelay) {
  const { access, clock } = relayed;
  if (!isStream) {
    const whole = await readUnstreamed(response, access);
    return async (headers: Relayed['headers']) => await relayWhole(whole, { ...relayed, headers });
  }
  const { betweenBytesMs } = timeoutsOf(access.timeouts, undefined);
  const idle = new ExchangeTimeout(clock);
  idle.extend(betweenBytesMs, 'did not respond in time');
  const begun = await beginRelay({ response, idle, betweenBytesMs }, relayed, undefined);
  return async (headers: Relayed['headers']) => relayStream(begun, { ...relayed, headers });
}

export function relayStream({ first, cursor, relay }: Awaited<ReturnType<typeof beginRelay>>, relayed: Relayed): Response {
  const { dialect, clock, headers, kept, meter } = relayed;
  const noted = (batch: readonly ChatEvent[]): readonly ChatEvent[] => {
    meter.take(batch);
    if (kept !== undefined && batch.at(-1)?.type === 'finish') keepItems(kept, relay.items());
    return batch;
  };
  const read = async (): Promise<readonly ChatEvent[] | null> => {
    const batch = await cursor.next();
    return batch === null ? null : noted(batch);
  };
  const utf8 = new TextEncoder();
  const body = joinWrites(
    {
      first: relay.output(noted(first)),
      heartbeat: dialect.heartbeat,
      next: read,
      piece: (batch) => (batch === null ? null : relay.output(batch)),
      join: (texts) => utf8.encode(texts.join('')),
      end() {
        cursor.close();
        return new Uint8Array(0);
      },
      cancel() {
        // Has no effect after the end of the reply.
        meter.cut();
        cursor.close();
      },
    },
    clock,
  );
  return new Response(body, { headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' } });
}

/** Returns what is changed in every message; undefined: nothing. */
function patchOf({ agentRef, dialect, includeUsage }: UnsentRelay) {
  const dropsUsage = dialect.name === 'openai-chat' && !includeUsage;
  if (agentRef === undefined && !dropsUsage) return undefined;
  return (body: Record<string, unknown>): Record<string, unknown> | null | undefined => {
    // The service itself requested it.
    if (dropsUsage && body.usage != null && Array.isArray(body.choices) && body.choices.length === 0) return null;
    return agentRef === undefined ? undefined : withModel(body, agentRef);
  };
}

/** Returns a message with another model in each of its places; undefined: it has none. */
function withModel(body: Json, model: string): Json | undefined {
  const place = ['message', 'response'].find((name) => isRecord(body[name]));
  if (place !== undefined) {
    const inner = withModel(recordOf(body[place]), model);
    return inner === undefined ? undefined : { ...body, [place]: inner };
  }
  // A response repeats the instructions, which are the agent's.
  return 'model' in body ? { ...body, model, ...('instructions' in body && { instructions: null }) } : undefined;
}
