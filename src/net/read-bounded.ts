/** Reads untrusted bodies up to a size limit. Bytes are counted as they arrive, after decompression. */
import { joinBytes } from '../core/text/bytes.ts';
import { Problem } from '../core/problem.ts';

export type BoundedBody = { bytes: Uint8Array; truncated: boolean };

/**
 * Reads at most `maxBytes` of the body, and cancels the rest. A missing body is empty. Throws `Problem` if the body breaks off, cannot be
 * decompressed or times out; an abort is rethrown unchanged.
 */
export async function readBounded(response: Response, maxBytes: number): Promise<BoundedBody> {
  if (declaredBytes(response.headers) <= maxBytes) {
    try {
      // At once: in workerd each read costs as much, and even looking at `body` makes a stream.
      return { bytes: new Uint8Array(await response.arrayBuffer()), truncated: false };
    } catch (cause) {
      throw toFault(cause);
    }
  }
  if (response.body === null) return { bytes: new Uint8Array(), truncated: false };
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let truncated = false;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const piece = read.value.subarray(0, maxBytes - size);
      pieces.push(piece);
      size += piece.byteLength;
      truncated = piece.byteLength < read.value.byteLength;
      if (truncated) break;
    }
    // A no-op at the end of the body; before it, closes the connection.
    await reader.cancel();
  } catch (cause) {
    throw toFault(cause);
  }
  return { bytes: joinBytes(pieces), truncated };
}

/**
 * Returns how many bytes the body of a response has, which the runtime reads at most; NaN if that is not known. A compressed body becomes
 * longer, and in workerd a chunked one may be longer than its `content-length` says (tried with workerd 2026-11; Node refuses both together).
 */
export function declaredBytes(headers: Headers): number {
  const length = headers.get('content-length');
  return length === null || headers.has('transfer-encoding') || headers.has('content-encoding') ? Number.NaN : Number(length);
}

function toFault(cause: unknown): unknown {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'AbortError') return cause;
  if (name === 'TimeoutError')
    return new Problem('upstream_timeout', 'The response did not arrive completely before the timeout.', { retryable: true }, { cause });
  return new Problem(
    'upstream_error',
    'The response broke off before its end, or its content-encoding is wrong.',
    { retryable: true, sent: true },
    { cause },
  );
}
