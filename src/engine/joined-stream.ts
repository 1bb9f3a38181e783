/** Writes pieces that arrive one by one to a stream, with few writes for many pieces. The stream can be ended from outside. */
import type { Clock } from '../ports/runtime.ts';
import { createFrameCount, type FrameCount } from '../core/text/frame-count.ts';
import { limits } from '../core/limits/limits.ts';
import { KB } from '../core/limits/units.ts';

/** Data buffered for a slow reader before reading from the source pauses. */
const maxBufferedBytes = 256 * KB;

export type JoinedSource<Read, Piece extends { readonly length: number }> = {
  /** Written before the first read. */
  first?: Piece;
  /** Of an event stream: a message without meaning, written between two others when nothing was written for `limits.heartbeatMs`. */
  heartbeat?: string | undefined;
  /** If it throws, the stream fails after what was read before. */
  next(): Promise<Read>;
  /** Returns null after the last piece. Not a part of `next`, whose promise would cost one more for each piece. */
  piece(read: Read): Piece | null;
  /** Returns what is written for these pieces; may be empty. */
  join(pieces: readonly Piece[]): Uint8Array;
  /** Called after the last piece. Returns what is still to be written; may be empty. */
  end(): Uint8Array;
  /** Called when `next` has thrown. */
  fail?(error: unknown): void;
  /** Called when the reader disconnects, also during `next`. */
  cancel(reason: unknown): Promise<void> | void;
};

/** Ends a stream from outside, which costs less than a second stream that watches it. */
export type StreamEnd = {
  /** Aborts when the stream has ended. */
  over: AbortSignal;
  /** Writes what was read before, then what `last` returns, ends the stream and cancels its source. Does nothing if it has ended. */
  end(last: (frames: FrameCount) => Uint8Array, reason: unknown): void;
};

const ends = new WeakMap<ReadableStream<Uint8Array>, StreamEnd>();

/** Returns null for a stream that can only be ended by reading it: of those made here, `joinWrites` sets an end. */
export function endOf(stream: ReadableStream<Uint8Array>): StreamEnd | null {
  return ends.get(stream) ?? null;
}

function setEnd(stream: ReadableStream<Uint8Array>, end: StreamEnd): void {
  ends.set(stream, end);
}

/**
 * Reads ahead of the reader as far as the buffer allows. In workerd every write to a stream enters the isolate, which costs more than
 * everything else done with a piece. So the first piece is written at once, as are pieces at a model's usual pace; in a burst, whatever
 * arrives within two milliseconds is joined into one write. (Joining by the time since the last write alone fails under load: the slower it
 * gets, the less is joined.) A source that joins its own reads, as `JoinedReader` does, has little left to join: written piece by piece, a rewritten
 * stream takes 8 to 23 % more CPU (2026-11-28, `bench/run.ts`, 1 connection).
 */
export function joinWrites<Read, Piece extends { readonly length: number }>(
  source: JoinedSource<Read, Piece>,
  clock: Pick<Clock, 'now' | 'after'>,
): ReadableStream<Uint8Array> {
  let pending: Piece[] = [];
  let pendingLength = 0;
  let armed = false;
  let flushedAt = Number.NEGATIVE_INFINITY;
  const over = new AbortController();
  let open = true;
  const frames = createFrameCount();
  let resume: (() => void) | null = null;
  let wroteAt = clock.now();
  let disarm = (): void => undefined;

  const write = (controller: ReadableStreamDefaultController<Uint8Array>, bytes: Uint8Array): void => {
    if (bytes.byteLength === 0) return;
    frames.add(bytes);
    wroteAt = clock.now();
    controller.enqueue(bytes);
  };
  const beat = (controller: ReadableStreamDefaultController<Uint8Array>, text: string): void => {
    if (!open) return;
    const isDue = clock.now() - wroteAt >= limits.heartbeatMs;
    // A reader that has not taken what it has needs none.
    if (isDue && frames.isWhole() && controller.desiredSize === maxBufferedBytes) write(controller, new TextEncoder().encode(text));
    disarm = clock.after(Math.max(minBeatMs, wroteAt + limits.heartbeatMs - clock.now()), () => beat(controller, text));
  };
  const flush = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    armed = false;
    if (pendingLength === 0 || !open) return;
    const pieces = pending;
    pending = [];
    pendingLength = 0;
    flushedAt = clock.now();
    write(controller, source.join(pieces));
  };
  const take = (controller: ReadableStreamDefaultController<Uint8Array>, piece: Piece): void => {
    if (piece.length === 0) return;
    pending.push(piece);
    pendingLength += piece.length;
    const isPaced = !armed && clock.now() - flushedAt >= pacedGapMs;
    if (isPaced || pendingLength >= maxPendingLength) {
      flush(controller);
    } else if (!armed) {
      armed = true;
      clock.after(joinMs, () => flush(controller));
    }
  };
  /** Waits until less than this is buffered, or the reader has disconnected. */
  const belowSize = async (controller: ReadableStreamDefaultController<Uint8Array>, size: number): Promise<void> => {
    while (open && maxBufferedBytes - (controller.desiredSize ?? 0) >= size) {
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
    }
  };
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    if (source.first !== undefined) take(controller, source.first);
    for (let piece = source.piece(await source.next()); piece !== null && open; piece = source.piece(await source.next())) {
      take(controller, piece);
      if ((controller.desiredSize ?? 0) <= 0) await belowSize(controller, maxBufferedBytes);
    }
    if (!open) return;
    flush(controller);
    write(controller, source.end());
    close();
    controller.close();
  };
  const fail = async (controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): Promise<void> => {
    if (!open) return;
    source.fail?.(error);
    flush(controller);
    // An error would drop what the reader has not taken yet.
    await belowSize(controller, 1);
    if (open) controller.error(error);
    close();
  };
  const wake = (): void => {
    resume?.();
    resume = null;
  };
  const close = (): void => {
    open = false;
    disarm();
    over.abort();
    wake();
  };
  const end: StreamEnd['end'] = (last, reason) => {
    if (!open) return;
    flush(own);
    write(own, last(frames));
    close();
    own.close();
    // In the background: the source may take long to end, and nothing depends on how it does.
    Promise.resolve(source.cancel(reason)).catch(() => undefined);
  };
  let own: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        own = controller;
        if (source.heartbeat !== undefined) beat(controller, source.heartbeat);
        pump(controller).catch((error: unknown) => fail(controller, error));
      },
      pull: wake,
      cancel(reason) {
        close();
        return source.cancel(reason);
      },
    },
    { highWaterMark: maxBufferedBytes, size: (chunk) => chunk.byteLength },
  );
  setEnd(stream, { over: over.signal, end });
  return stream;
}

const joinMs = 2;
/** A piece that arrives this long after the last write is written without a timer: it comes at a model's usual pace, or was joined when it was read. */
const pacedGapMs = 1;
/** A heartbeat that was due in the middle of a message is tried again after this time. */
const minBeatMs = 1_000;
/** Written at once at this size, since a source that never pauses would keep the timer from firing. */
const maxPendingLength = 16 * 1024;
