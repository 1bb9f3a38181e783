/**
 * Reads a stream in few, large pieces. In workerd a read enters the isolate and gives one HTTP chunk, however long that has waited; for many
 * small events this costs several times what the runtime needs to pass the stream on. So the runtime pumps one branch of a `tee` of a burst by
 * itself, and what it has pumped meanwhile is read from the other branch at once. Read one by one, a burst of 200 events takes 4.4 times the CPU
 * of a Worker that passes it on; read in pieces of some kilobytes, 1.2 times (2026-11-29, 10 connections).
 */
import { KB } from '../core/limits/units.ts';
import type { Clock } from '../ports/runtime.ts';

/** Events of a burst follow each other within this time, also while other streams are read; those of a model at its pace are slower. */
const burstGapMs = 8;
/** Setting up the pump costs as much as several reads. */
const readsBeforePump = 4;
/**
 * How long the pump collects the events of a burst before a read: longer after small pieces, as fast models and many streams at once have them.
 * At most as long as a display shows one picture.
 */
const joinMs = { first: 2, most: 16 };
const smallBytes = 4 * KB;
const pieceBytes = 16 * KB;
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
  /** The number of incomplete pieces that followed each other fast. */
  let fast = 0;
  let waitMs = joinMs.first;
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    async read() {
      if (isJoinable && pumped === null && fast >= readsBeforePump) {
        plain.releaseLock();
        pumped = createPumpedReader(body);
      }
      if (pumped !== null && fast > 0) {
        await clock.sleep(waitMs);
        askedAt = clock.now();
      }
      const { done, value } = await (pumped ?? plain).read();
      if (done || value === undefined) return { done };
      const now = clock.now();
      fast = now - askedAt < burstGapMs && value.byteLength < pieceBytes ? fast + 1 : 0;
      askedAt = now;
      if (fast === 0) waitMs = joinMs.first;
      else if (pumped !== null && value.byteLength < smallBytes) waitMs = Math.min(joinMs.most, waitMs * 2);
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
