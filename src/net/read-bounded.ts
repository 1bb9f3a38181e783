/** Reads untrusted bodies up to a size limit. Bytes are counted as they arrive, after decompression. */
import { joinBytes } from '../core/text/bytes.ts';
import { Problem } from '../core/problem.ts';

export type BoundedBody = { bytes: Uint8Array; truncated: boolean };

/**
 * Reads at most `maxBytes` of the body, and cancels the rest. A missing body is empty. Throws `Problem` if the body breaks off, cannot be
 * decompressed or times out; an abort is rethrown unchanged.
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
    // A no-op at the end of the body; before it, closes the connection.
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
    return new Problem('upstream_timeout', 'The response did not arrive completely before the timeout.', { retryable: true }, { cause });
  return new Problem(
    'upstream_error',
    'The response broke off before its end, or its content-encoding is wrong.',
    { retryable: true },
    { cause },
  );
}
