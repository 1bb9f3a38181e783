/** Reading foreign bodies without trusting their size. Bytes are counted as they arrive, after decompression. */
import { joinBytes } from '../core/bytes.ts';

export type BoundedBody = { bytes: Uint8Array; truncated: boolean };

/** At most `maxBytes` of the body; the rest is cancelled, not read. An absent body is empty. */
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
  } finally {
    // A no-op at the end of the body; before it, it closes the connection.
    await reader.cancel();
  }
  return { bytes: joinBytes(pieces), truncated };
}
