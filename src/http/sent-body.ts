/**
 * Large responses take memory until their client has received them, which it may do as slowly as it likes. These bodies are sent in pieces,
 * hold a place meanwhile, and end when the client takes too long.
 */
import { limits } from '../core/limits/limits.ts';
import { KB } from '../core/limits/units.ts';
import type { Place } from '../engine/fair-pool.ts';
import { systemClock } from '../platform/clock.ts';

/** Smaller bodies fit into the buffers of a connection. */
export const largeResponseBytes = 64 * KB;

/** Returns a body that releases `place` when it was sent, or when the client has disconnected or is too slow. The bytes may be shared. */
export function bodyHoldingPlace(bytes: Uint8Array, place: Place): ReadableStream<Uint8Array> {
  const { readable, writable } = fixedLength(bytes.byteLength);
  const writer = writable.getWriter();
  const end = (): void => {
    disarm();
    place.release();
  };
  const disarm = systemClock.after(limits.maxSendMs, () => {
    end();
    writer.abort(new Error('the client took too long to receive the response')).catch(ignored);
  });
  const send = async (): Promise<void> => {
    for (let at = 0; at < bytes.byteLength; at += pieceBytes) await writer.write(bytes.subarray(at, at + pieceBytes));
    await writer.close();
  };
  send().catch(ignored).finally(end);
  return readable;
}

/** Passes on a stream, and releases `place` at its end, or when the client disconnects. */
export function streamHoldingPlace(source: ReadableStream<Uint8Array>, place: Place): ReadableStream<Uint8Array> {
  const { readable, writable } =
    typeof IdentityTransformStream === 'undefined' ? new TransformStream<Uint8Array, Uint8Array>() : new IdentityTransformStream();
  source.pipeTo(writable).catch(ignored).finally(place.release);
  return readable;
}

const pieceBytes = 64 * KB;

/** The client learns from its stream how it ends. */
function ignored(): void {
  // Nothing else depends on it.
}

/** Keeps the `content-length` where the runtime can. */
function fixedLength(length: number): { readable: ReadableStream<Uint8Array>; writable: WritableStream<Uint8Array> } {
  return typeof FixedLengthStream === 'undefined' ? new TransformStream<Uint8Array, Uint8Array>() : new FixedLengthStream(length);
}
