/**
 * An adapter of a provider API: converts a neutral request to the API's body, and its reply to events. `registry.ts` lists the adapters;
 * `transport.ts` uses them without knowing any wire format.
 */
import type { ChatEvent } from '../core/model/chat-event.ts';
import type { DialectName } from '../core/reference.ts';
import type { SseMessage } from '../net/sse.ts';
import type { ChatRequest } from '../ports/chat-model.ts';

export type Adapter = {
  /** The client dialect with the same wire format: a request in it may be forwarded unchanged. */
  dialect?: DialectName;
  /** The path after the base URL. */
  path(request: Pick<ChatRequest, 'model' | 'whole'>): string;
  /** Headers besides the provider's own, which take precedence. Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Returns the body for a streamed or unstreamed reply. Throws `Problem` for requests that this API cannot express. */
  toBody(request: ChatRequest): unknown;
  createReply(request: Pick<ChatRequest, 'access' | 'model'>): ReplyReader;
};

/** Stateful; one per reply. After an event that ends the reply (`finish`, `error`) every method returns []. Never throws. */
export interface ReplyReader {
  /** Reads one message of a streamed reply. */
  take(message: SseMessage): ChatEvent[];
  /** Reads the parsed body of an unstreamed reply. Ends the reply. */
  takeWhole(body: unknown): ChatEvent[];
  /** The stream has ended. Ends the reply, with an error if the wire had not marked its end. */
  end(): ChatEvent[];
  /** `tail`: the reply is complete except for usage and the end marker, which some servers never send. */
  readonly state: 'open' | 'tail' | 'over';
  /** The provider's id and creation time (seconds) of the reply, once received. */
  readonly id?: string | null;
  readonly created?: number | null;
}
