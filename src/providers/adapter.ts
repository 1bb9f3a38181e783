/**
 * An adapter of a provider API: everything that depends on its wire format. `registry.ts` lists the adapters; the other files use them
 * without knowing any wire format. The defaults of a kind (base URL, key header) are in `core/names/provider-kind.ts`.
 */
import type { ChatEvent, Usage } from '../core/model/chat-event.ts';
import type { CloudAccess } from '../core/model/cloud-access.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import type { DialectName } from '../core/text/reference.ts';
import type { Json } from '../core/json/wire-value.ts';
import type { Framing } from '../net/framing.ts';
import type { SseMessage } from '../net/sse.ts';
import type { ChatRequest } from '../ports/chat-model.ts';
import type { WatchedWire } from './relay/wire-watch.ts';

export type Adapter = {
  /** The client dialect with the same wire format: a request in it may be forwarded unchanged. */
  dialect?: DialectName;
  /** Loads what clients of that dialect can read of this API's replies. With `dialect`. */
  watched?(): Promise<WatchedWire>;
  /** How the messages of a stream are framed; default: server-sent events. */
  framing?: Framing;
  /** The path after the base URL. */
  path(request: Pick<ChatRequest, 'model' | 'whole'>): string;
  /** Headers besides the provider's own, which take precedence. Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** The path that counts the tokens of a request in `dialect`, if the API can. */
  countTokensPath?(model: string): string;
  /** What is known about the provider's models and servers. A row overrides the rows before it. */
  profileRows: readonly ProfileRow[];
  /** Returns the body for a streamed or unstreamed reply. Throws `Problem` for requests that this API cannot express. */
  toBody(request: ChatRequest, profile: Profile): Json;
  createReply(access: ProviderAccess): ReplyReader;
  /** Returns the URL that lists the models. */
  modelsUrl(baseUrl: string): string;
  /** Returns the members of a body by which this API limits the output; those that are not set are undefined. */
  outputLimits(body: Json, profile: Profile): readonly unknown[];
  /** Reads the usage object of a reply that is forwarded unread; null: it has no counts. With `dialect`. */
  readUsage?(usage: unknown): Usage | null;
};

/** All matching rows apply. */
export type ProfileRow = {
  kind?: ProviderAccess['kind'] | readonly ProviderAccess['kind'][];
  /** The cloud that has the model. */
  cloud?: CloudAccess['kind'];
  /** The base URL's host name, or a domain that it belongs to. */
  host?: string | readonly string[];
  /** The port of the base URL: the default port of a local server. */
  port?: string;
  /** The model half of the ref. */
  model?: RegExp;
  /** What was observed, and the source: an API reference, a thread, or a recorded reply of the corpus. */
  because: string;
  profile: Partial<Profile>;
};

/** Stateful; one per reply. After an event that ends the reply (`finish`, `error`) every method returns []. Never throws. */
export interface ReplyReader {
  /** Reads one message of a streamed reply. `body`: its data, if it was parsed. */
  take(message: SseMessage, body?: Json): ChatEvent[];
  /** Reads the parsed body of an unstreamed reply. Ends the reply. */
  takeWhole(body: unknown): ChatEvent[];
  /** The stream has ended. Ends the reply, with an error if the wire had not marked its end. */
  end(): ChatEvent[];
  /** `tail`: the reply is complete except for usage and the end marker, which some servers never send. */
  readonly state: 'open' | 'tail' | 'over';
  /** The last message that was taken, parsed; null: it was not a JSON object. */
  readonly message: Json | null;
  /** The provider's id and creation time (seconds) of the reply, once received. */
  readonly id?: string | null;
  readonly created?: number | null;
}
