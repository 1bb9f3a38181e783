/** What a provider's adapter gives the transport: how one wire's reply becomes events. `transport.ts` drives it. */
import type { ChatEvent } from '../core/chat-event.ts';
import type { SseMessage } from '../net/sse.ts';

/** Stateful, one a reply. After an event that ends the reply (`finish`, `error`) every method answers []. Never throws. */
export interface ReplyReader {
  /** One message of a streamed reply. */
  take(message: SseMessage): ChatEvent[];
  /** A plain reply: the parsed body, at once. Ends the reply. */
  takeWhole(body: unknown): ChatEvent[];
  /** The bytes have ended. Ends the reply, as an error where the wire had not said that it was over. */
  end(): ChatEvent[];
  /** `tail`: the reply is complete but for usage and the end mark, which some servers never send. */
  readonly state: 'open' | 'tail' | 'over';
}
