/**
 * Reads a stream in few, large pieces. In workerd a read enters the isolate and gives one HTTP chunk, however long that has waited; for many
 * small events this costs several times what the runtime needs to pass the stream on (measured: `docs/benchmarks.md`). So the runtime pumps one
 * branch of a `tee` of a fast stream by itself, and what it has pumped meanwhile is read from the other branch at once.
 */
import { KB } from '../core/limits/units.ts';
import type { Clock } from '../ports/runtime.ts';

/** Events of a fast stream follow each other within this time; a model's usual pace is slower. */
const fastGapMs = 8;
/** Those of a burst have all been sent before. */
const burstGapMs = 2;
/** A larger piece costs little for each byte. */
const smallBytes = 1 * KB;
/** Setting up the pump costs as much as several reads, and joining delays the end of a short reply by a millisecond or two. */
const readsBeforePump = 24;
/** How long the pump collects events before a read; of a fast stream, for as long as a screen shows one picture. */
const burstJoinMs = 1;
const fastJoinMs = 16;
/** The part of the last gap in the mean of all. */
const gapWeight = 0.2;
const pieceBytes = 4 * KB;
const pumpBytes = 64 * KB;
/** How far the pump may be ahead of the reads; that much and `pumpBytes` more are buffered. */
const maxAheadBytes = 256 * KB;

export type JoinedReader = {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
};

/** Joins the pieces of a burst in streams of the runtime, such as the body of a response. Streams made in JavaScript are read piece by piece. */
export function createJoinedReader(body: ReadableStream<Uint8Array>, clock: Pick<Clock, 'now' | 'sleep'>): JoinedReader {
  const isJoinable = isNative(body);
  const plain = body.getReader();
  let pumped: JoinedReader | null = null;
  /** The number of small pieces that followed each other fast, and what they had. */
  let fast = 0;
  let fastBytes = 0;
  /** The mean time between two events. */
  let gapMs = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let lastBytes = 0;
  const joinMs = (): number => {
    if (gapMs < burstGapMs) return lastBytes < smallBytes ? burstJoinMs : 0;
    return gapMs < fastGapMs && lastBytes < pieceBytes ? fastJoinMs : 0;
  };
  const take = (bytes: number): void => {
    const now = clock.now();
    const gap = now - lastAt;
    lastAt = now;
    lastBytes = bytes;
    if (pumped === null) {
      const isFast = gap < fastGapMs && bytes < smallBytes;
      fast = isFast ? fast + 1 : 0;
      fastBytes = isFast ? fastBytes + bytes : 0;
    }
    const events = pumped === null ? 1 : Math.max(1, (bytes * fast) / fastBytes);
    gapMs = fast === 0 ? 0 : gapMs + gapWeight * (gap / events - gapMs);
  };
  return {
    async read() {
      if (isJoinable && pumped === null && fast >= readsBeforePump) {
        plain.releaseLock();
        pumped = createPumpedReader(body);
      }
      const waitMs = pumped === null ? 0 : joinMs();
      if (waitMs > 0) await clock.sleep(waitMs);
      const { done, value } = await (pumped ?? plain).read();
      if (done || value === undefined) return { done };
      take(value.byteLength);
      return { done, value };
    },
    cancel: (reason) => (pumped ?? plain).cancel(reason),
  };
}

/** Reads one branch of a `tee`, of which the runtime pumps the other. */
function createPumpedReader(body: ReadableStream<Uint8Array>): JoinedReader {
  const [driven, copy] = body.tee();
  const pump = createPump(driven);
  const reader = copy.getReader({ mode: 'byob' });
  let received = 0;
  return {
    async read() {
      pump.advance(received + maxAheadBytes);
      const { done, value } = await reader.read(new Uint8Array(pieceBytes));
      received += value?.byteLength ?? 0;
      return { done, value };
    },
    async cancel(reason) {
      pump.stop();
      await reader.cancel(reason);
    },
  };
}

/** Drops what it pumps. The reader of the other branch learns how the stream ends. */
function createPump(body: ReadableStream<Uint8Array>): { advance(upTo: number): void; stop(): void } {
  const { readable, writable } = new IdentityTransformStream();
  body.pipeTo(writable).catch(() => undefined);
  const reader = readable.getReader({ mode: 'byob' });
  let buffer = new ArrayBuffer(pumpBytes);
  let total = 0;
  let limit = 0;
  let isPumping = false;
  const run = async (): Promise<void> => {
    isPumping = true;
    while (total < limit) {
      const { value } = await reader.readAtLeast(pumpBytes, new Uint8Array(buffer));
      // Fewer bytes, or none: the end of the stream.
      if (value === undefined || value.byteLength < pumpBytes) return;
      total += value.byteLength;
      buffer = value.buffer as ArrayBuffer;
    }
    isPumping = false;
  };
  return {
    advance(upTo) {
      limit = upTo;
      if (!isPumping) void run().catch(() => undefined);
    },
    stop: () => void reader.cancel().catch(() => undefined),
  };
}

/** Only streams of the runtime, and byte streams, have readers with buffers. Other runtimes have no `IdentityTransformStream`, and reads are cheap there. */
function isNative(body: ReadableStream<Uint8Array>): boolean {
  if (typeof IdentityTransformStream === 'undefined') return false;
  try {
    body.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}
