/**
 * What a wire's file gives to the rest: a neutral request as the API's body, and its reply as events. `registry.ts` lists them,
 * `transport.ts` drives them and knows no wire itself.
 */
import type { ChatEvent } from '../core/chat-event.ts';
import type { DialectName } from '../core/reference.ts';
import type { SseMessage } from '../net/sse.ts';
import type { ChatRequest } from '../ports/chat-model.ts';

export type Adapter = {
  /** The client dialect that is this wire: a request in it may be passed on as it came. */
  dialect?: DialectName;
  /** Behind the base URL. */
  path(request: Pick<ChatRequest, 'model' | 'whole'>): string;
  /** Beside the provider's own, which go before them. Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** The body, for a streamed reply or a whole one. Throws `Problem` for what this API cannot be told at all. */
  toBody(request: ChatRequest): unknown;
  createReply(request: Pick<ChatRequest, 'access' | 'model'>): ReplyReader;
};

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
  /** The provider's own name and time (seconds) of the reply, once it told them. */
  readonly id?: string | null;
  readonly created?: number | null;
}
