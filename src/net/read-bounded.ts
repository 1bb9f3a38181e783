/** Reading foreign bodies without trusting their size. Bytes are counted as they arrive, after decompression. */
import { joinBytes } from '../core/bytes.ts';
import { Problem } from '../core/problem.ts';

export type BoundedBody = { bytes: Uint8Array; truncated: boolean };

/**
 * At most `maxBytes` of the body; the rest is cancelled, not read. An absent body is empty. Throws `Problem` when the body
 * breaks off, cannot be decompressed or takes longer than its request may; an abort is thrown on as it is.
 */
export async function readBounded(response: Response, maxBytes: number): Promise<BoundedBody> {
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
    // A no-op at the end of the body; before it, it closes the connection.
    await reader.cancel();
  } catch (cause) {
    throw toFault(cause);
  }
  return { bytes: joinBytes(pieces), truncated };
}

function toFault(cause: unknown): unknown {
  const name = cause instanceof Error ? cause.name : '';
  if (name === 'AbortError') return cause;
  if (name === 'TimeoutError')
    return new Problem('upstream_timeout', 'The answer did not arrive whole in time.', { retryable: true }, { cause });
  return new Problem(
    'upstream_error',
    'The answer broke off before its end, or is not encoded as it says.',
    { retryable: true },
    { cause },
  );
}
