/**
 * Reads the messages of `application/vnd.amazon.eventstream`: lengths, checksums, headers and a payload, in any chunking. Source: "Event
 * stream encoding" in the reference of Amazon Transcribe, and the specification of Smithy ("Amazon Event Stream").
 */
import { crc32 } from '../core/text/crc32.ts';
import { limits } from '../core/limits/limits.ts';
import { Problem } from '../core/problem.ts';
import { joinBytes } from '../core/text/bytes.ts';

/** `headers`: those with a text, such as `:event-type`. */
export type AwsMessage = { headers: Readonly<Record<string, string>>; payload: Uint8Array };

const preludeBytes = 12;
const checksumBytes = 4;
/** The sizes of header values by their type; -1: the size stands before the value. */
const valueBytes: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const textType = 7;

/** An invalid message, and one that is larger than the limit, throws `upstream_error`. */
export class AwsEventStream {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** The bytes that the next message needs. */
  #needed = preludeBytes;

  /** Yields the messages that `bytes` completes, also those before an invalid one. */
  *push(bytes: Uint8Array): Generator<AwsMessage> {
    this.#pieces.push(bytes);
    this.#bytes += bytes.byteLength;
    // Joined only when enough has arrived, so that small chunks take linear time.
    if (this.#bytes < this.#needed) return;
    let rest = joinBytes(this.#pieces);
    while (rest.byteLength >= this.#needed) {
      this.#needed = readPrelude(rest);
      if (rest.byteLength < this.#needed) break;
      yield readMessage(rest.subarray(0, this.#needed));
      rest = rest.subarray(this.#needed);
      this.#needed = preludeBytes;
    }
    this.#pieces = [rest];
    this.#bytes = rest.byteLength;
  }

  /** Throws if the stream ends within a message. */
  end(): AwsMessage[] {
    if (this.#bytes > 0) throw invalid('ended in the middle of a message');
    return [];
  }
}

/** Returns the length of the whole message. */
function readPrelude(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const total = view.getUint32(0);
  if (view.getUint32(8) !== crc32(bytes.subarray(0, 8))) throw invalid('has a wrong checksum');
  if (total > limits.maxSseMessageBytes) throw invalid(`has a message larger than ${limits.maxSseMessageBytes} bytes`);
  if (view.getUint32(4) > total - preludeBytes - checksumBytes) throw invalid('has a message with wrong lengths');
  return total;
}

function readMessage(bytes: Uint8Array): AwsMessage {
  const view = viewOf(bytes);
  const end = bytes.byteLength - checksumBytes;
  if (view.getUint32(end) !== crc32(bytes.subarray(0, end))) throw invalid('has a wrong checksum');
  const payloadAt = preludeBytes + view.getUint32(4);
  return { headers: readHeaders(bytes.subarray(preludeBytes, payloadAt)), payload: bytes.subarray(payloadAt, end) };
}

function readHeaders(bytes: Uint8Array): Record<string, string> {
  const view = viewOf(bytes);
  const decoder = new TextDecoder();
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  let at = 0;
  // Reads beyond the end throw a RangeError.
  try {
    while (at < bytes.byteLength) {
      const nameEnd = at + 1 + view.getUint8(at);
      const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
      const type = view.getUint8(nameEnd);
      const fixed = valueBytes[type];
      if (fixed === undefined) throw invalid('has a header of an unknown type');
      const from = nameEnd + (fixed < 0 ? 3 : 1);
      const to = from + (fixed < 0 ? view.getUint16(nameEnd + 1) : fixed);
      if (to > bytes.byteLength) throw invalid('has a header that is too long');
      if (type === textType) headers[name] = decoder.decode(bytes.subarray(from, to));
      at = to;
    }
  } catch (cause) {
    throw cause instanceof Problem ? cause : invalid('has headers that are cut off');
  }
  return headers;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function invalid(what: string): Problem {
  return new Problem('upstream_error', `The event stream ${what}.`, { retryable: true });
}
