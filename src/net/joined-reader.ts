/**
 * Reads a stream in few, large pieces. In workerd a read enters the isolate and gives one HTTP chunk, however long that has waited; for a stream of
 * small events this costs several times what the runtime needs to pass the stream on (measured: `docs/benchmarks.md`). So the runtime pumps one branch
 * of a `tee` by itself, and what it has pumped meanwhile is read from the other branch at once.
 */
import { KB } from '../core/limits/units.ts';
import type { Clock } from '../ports/runtime.ts';

/** A piece that arrives this long after the one before comes at a model's usual pace, and the next one is not waited for. */
const pacedGapMs = 4;
/** In a burst, small pieces that arrive within this time are joined. */
const joinMs = 1;
/** Reading a piece of this size costs little for each byte: the next one is not waited for. */
const smallBytes = 1 * KB;
const pieceBytes = 4 * KB;
const pumpBytes = 64 * KB;
/** How far the runtime may pump ahead of the reader; that much and `pumpBytes` more are buffered. */
const maxAheadBytes = 256 * KB;

export type JoinedReader = {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
};

/** Joins the pieces of a burst in streams of the runtime, such as the body of a response. Streams made in JavaScript are read piece by piece. */
export function createJoinedReader(body: ReadableStream<Uint8Array>, clock: Pick<Clock, 'now' | 'sleep'>): JoinedReader {
  if (!isNative(body)) {
    const reader = body.getReader();
    return { read: () => reader.read(), cancel: (reason) => reader.cancel(reason) };
  }
  const [pumped, copy] = body.tee();
  const pump = createPump(pumped);
  const reader = copy.getReader({ mode: 'byob' });
  let received = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let isBurst = false;
  return {
    async read() {
      pump.advance(received + maxAheadBytes);
      if (isBurst) await clock.sleep(joinMs);
      const { done, value } = await reader.read(new Uint8Array(pieceBytes));
      if (done) return { done };
      const now = clock.now();
      isBurst = now - lastAt < pacedGapMs && value.byteLength < smallBytes;
      lastAt = now;
      received += value.byteLength;
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
