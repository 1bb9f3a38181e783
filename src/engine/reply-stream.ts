/**
 * A provider's reply on its way to a client that speaks another dialect, or needs canonical frames: batches of events in, encoded
 * bytes out, a few writes for many events.
 */
import type { ChatEvent } from '../core/chat-event.ts';
import { limits } from '../core/limits.ts';
import type { ReplyEncoder } from '../dialects/reply-encoder.ts';
import type { Clock } from '../ports/runtime.ts';

/** Batches after the first. `next` answers null after the last one and throws only for the caller's own abort. */
export type BatchCursor = { next(): Promise<readonly ChatEvent[] | null>; close(): void };

export type Encoding = { first: readonly ChatEvent[]; cursor: BatchCursor; encoder: ReplyEncoder; clock: Clock };

/**
 * Reads ahead of the reader as far as the buffer allows. In workerd every write to a stream is an entry into the isolate,
 * which costs more than all that is done with an event: so the first text goes out at once, and so does what comes at a
 * model's own pace; in a burst, what two milliseconds bring goes out in one write. (To join by the time since the last write is
 * no good under load: the slower it gets, the less is joined. Reads cannot be joined: one gives one HTTP chunk, however long it
 * has waited.)
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
