/**
 * Encodes a provider's reply for a client that speaks another dialect or needs canonical frames: batches of events in, bytes out, with few
 * writes for many events.
 */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { ReplyEncoder } from '../../dialects/reply-encoder.ts';
import type { Clock } from '../../ports/runtime.ts';
import { KB } from '../../core/limits/units.ts';

/** Data buffered for a slow reader of a rewritten stream before reading from the provider pauses. */
const maxRewriteBufferBytes = 256 * KB;

/** The batches after the first. `next` returns null after the last one and throws only when the caller aborts. */
export type BatchCursor = { next(): Promise<readonly ChatEvent[] | null>; close(): void };

export type Encoding = { first: readonly ChatEvent[]; cursor: BatchCursor; encoder: ReplyEncoder; clock: Clock };

/**
 * Reads ahead of the reader as far as the buffer allows. In workerd every write to a stream enters the isolate, which costs more than
 * everything else done with an event. So the first text is written at once, as is text at a model's usual pace; in a burst, whatever
 * arrives within two milliseconds is joined into one write. (Joining by the time since the last write fails under load: the slower it gets,
 * the less is joined. Reads cannot be joined: each gives one HTTP chunk, however long it has waited.)
 */
export function encodeReply({ first, cursor, encoder, clock }: Encoding): ReadableStream<Uint8Array> {
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
        // The cursor throws only when the caller aborts; then no reader is left.
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
    { highWaterMark: maxRewriteBufferBytes, size: (chunk) => chunk.byteLength },
  );
}

const coalesceMs = 2;
/** Text that arrives this long after the last write comes at a model's usual pace: nothing would be joined with it, so it needs no timer. */
const pacedGapMs = 4;
/** Written at once at this size, since a provider that never pauses would keep the timer from firing. */
const maxPendingLength = 16 * 1024;
