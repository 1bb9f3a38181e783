/**
 * How the body of a streamed reply is cut into messages. Each framing has one reader: bytes in, messages out, in any chunking (also within
 * a character), in linear time, and with a limit for the size of a message. Another framing is another row.
 */
import { JsonStreamReader } from './json-stream.ts';
import { type SseMessage, SseParser } from './sse.ts';

/** A message larger than the limit throws `upstream_error`. */
export interface MessageReader {
  /** Returns the messages that `bytes` completes. */
  push(bytes: Uint8Array): SseMessage[];
  /** Ends the stream. */
  end(): SseMessage[];
}

/** `accept`: the media type to request it. */
type FramingRow = { accept: string; create(maxMessageBytes?: number): MessageReader };

export const framings = {
  /** Server-sent events. */
  sse: { accept: 'text/event-stream', create: (most?: number) => new SseParser(most) },
  /** JSON values, one per line (NDJSON, JSON Lines), otherwise one after another, or as the elements of one list. */
  json: { accept: 'application/x-ndjson', create: (most?: number) => new JsonStreamReader(most) },
} as const satisfies Record<string, FramingRow>;

export type Framing = keyof typeof framings;
