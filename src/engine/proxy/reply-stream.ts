/** Encodes a provider's reply for a client that speaks another dialect or needs canonical frames: batches of events in, bytes out. */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import { recoveredComment } from '../../core/model/recovered-calls.ts';
import type { ReplyEncoder } from '../../dialects/reply-encoder.ts';
import type { Clock } from '../../ports/runtime.ts';
import { joinWrites } from '../joined-stream.ts';

/** The batches after the first. `next` returns null after the last one and throws only when the caller aborts. */
export type BatchCursor = { next(): Promise<readonly ChatEvent[] | null>; close(): void };

export type Encoding = { first: readonly ChatEvent[]; cursor: BatchCursor; encoder: ReplyEncoder; heartbeat: string; clock: Clock };

export function encodeReply({ first, cursor, encoder, heartbeat, clock }: Encoding): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const encode = (batch: readonly ChatEvent[]): string => {
    let text = recoveredComment(batch);
    for (const event of batch) text += encoder.encode(event);
    return text;
  };
  const end = (): Uint8Array => {
    cursor.close();
    return new Uint8Array(0);
  };
  return joinWrites(
    {
      first: encode(first),
      heartbeat,
      next: () => cursor.next(),
      piece: (batch) => (batch === null ? null : encode(batch)),
      join: (texts) => utf8.encode(texts.join('')),
      end,
      cancel: () => cursor.close(),
    },
    clock,
  );
}
