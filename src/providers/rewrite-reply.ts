/**
 * A proxied reply read and written anew, in the form that clients can rely on: for providers whose profile asks for it.
 * What needs no rewriting never comes here (`proxy.ts`).
 */
import type { ChatEvent } from '../core/chat-event.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/provider.ts';
import { type ChunkEncoder, createChunkEncoder, toCompletion } from '../dialects/openai-chat.ts';
import type { Clock } from '../ports/runtime.ts';
import { OpenAiReply } from './openai.ts';
import { type OpenReply, readReply, ReplyCursor } from './transport.ts';

export type Rewriting = {
  access: ProviderAccess;
  model: string;
  /** The caller's request. */
  body: Readonly<Record<string, unknown>>;
  clock: Clock;
  /** Of the answer. */
  headers: Headers;
  signal: AbortSignal | undefined;
};

export async function rewriteWhole(open: OpenReply, { access, model, headers, signal }: Rewriting): Promise<Response> {
  const reply = new OpenAiReply(access, model);
  const events: ChatEvent[] = [];
  for await (const batch of readReply(open, access, reply, signal)) events.push(...batch);
  return Response.json(toCompletion(events, identityOf(reply, model)), { headers });
}

function identityOf(reply: OpenAiReply, model: string): { id: string; model: string; created: number } {
  return { id: reply.id ?? 'chatcmpl-proxied', model, created: reply.created ?? 0 };
}

/** Waits for the first batch, so that a reply which is an error from the start is an error status. */
export async function rewriteStream(open: OpenReply, { access, model, body, clock, headers, signal }: Rewriting): Promise<Response> {
  const reply = new OpenAiReply(access, model);
  const cursor = new ReplyCursor(open, access, reply, signal);
  const first = (await cursor.next()) ?? [];
  if (first[0]?.type === 'error') {
    cursor.close();
    throw Problem.fromBody(first[0].problem);
  }
  const options = body.stream_options;
  const includeUsage = typeof options === 'object' && options !== null && (options as Record<string, unknown>).include_usage === true;
  const encoder = createChunkEncoder({ ...identityOf(reply, model), includeUsage });
  headers.set('content-type', 'text/event-stream; charset=utf-8');
  return new Response(encodedStream({ first, cursor, encoder, clock }), { headers });
}

type Encoding = { first: readonly ChatEvent[]; cursor: ReplyCursor; encoder: ChunkEncoder; clock: Clock };

/**
 * Reads ahead of the reader as far as the buffer allows. In workerd every write to a stream is an entry into the isolate,
 * which costs more than all that is done with an event: so the first text goes out at once, and so does what comes at a
 * model's own pace; in a burst, what two milliseconds bring goes out in one write. (To join by the time since the last write is no good under load: the slower it gets, the less
 * is joined. Reads cannot be joined: one gives one HTTP chunk, however long it has waited.)
 */
function encodedStream({ first, cursor, encoder, clock }: Encoding): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  let pending = '';
  let armed = false;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let open = true;
  let resume: (() => void) | null = null;

  const flush = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    armed = false;
    if (pending === '' || !open) return;
    controller.enqueue(utf8.encode(pending));
    pending = '';
    flushedAt = clock.now();
  };
  const write = (controller: ReadableStreamDefaultController<Uint8Array>, events: readonly ChatEvent[]): void => {
    for (const event of events) pending += encoder.encode(event);
    if (pending === '') return;
    const isPaced = !armed && clock.now() - flushedAt >= pacedGapMs;
    if (isPaced || pending.length >= maxPendingLength) {
      flush(controller);
    } else if (!armed) {
      armed = true;
      clock.after(coalesceMs, () => flush(controller));
    }
  };
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (let batch: readonly ChatEvent[] | null = first; batch !== null && open; batch = await cursor.next()) {
      write(controller, batch);
      if (open && (controller.desiredSize ?? 0) <= 0) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
    }
    cursor.close();
    flush(controller);
    if (open) controller.close();
    open = false;
  };
  const wake = (): void => {
    resume?.();
    resume = null;
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // The cursor throws only for the caller's own abort; then there is no reader left to tell anything.
        pump(controller).catch((error) => {
          if (open) controller.error(error);
          open = false;
        });
      },
      pull: wake,
      cancel() {
        open = false;
        cursor.close();
        wake();
      },
    },
    { highWaterMark: limits.maxRewriteBufferBytes, size: (chunk) => chunk.byteLength },
  );
}

const coalesceMs = 2;
/** Text that comes this long after the last write is a model's own pace: nothing will join it, so no timer is set for it. */
const pacedGapMs = 4;
/** A provider that never pauses would keep the timer from its turn: so much goes out anyway. */
const maxPendingLength = 16 * 1024;
