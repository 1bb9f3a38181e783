/** A model of any provider. There is one adapter per wire format; the conversation and the events are neutral. */
import type { ChatEvent } from '../core/model/chat-event.ts';
import type { Dropped } from '../core/model/dropped.ts';
import type { Marked, Message } from '../core/model/message.ts';
import type { ModelSettings } from '../core/model/model-settings.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { AttemptLimits } from '../core/model/timeouts.ts';
import type { TokenBound } from '../core/model/token-bound.ts';
import type { JsonSchema } from '../core/tools/tool.ts';

/** A tool as the model is shown it in this step. */
/** `strict`: the provider is to enforce the schema. */
export type OfferedTool = { name: string; description: string; inputSchema: JsonSchema; strict?: boolean } & Marked;

export type ChatRequest = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  /** Tool names inside are already the wire names of this request's tools. */
  messages: readonly Message[];
  tools: readonly OfferedTool[];
  toolChoice: 'auto' | 'none' | 'required' | { tool: string };
  settings: ModelSettings;
  /** The reply is not streamed to anyone: it may arrive as one document, which is much cheaper than a stream. */
  whole?: true;
  /** The agent's or route's; those that are absent are the provider's. */
  timeouts?: AttemptLimits;
  /** Of a route: which of its models this is, why it is asked, and which failed before, for the span. */
  target?: string;
  /** The tools are a client's, which expects valid JSON: a call in text that cannot be read, or is not one of theirs, stays text. */
  forClient?: true;
  /** The agent's setting; absent: that of the provider's profile. */
  protocol?: 'native' | 'text';
  /** Takes what is not sent of the request, in the client's terms. Filled before the first batch. Absent: nobody reads it. */
  dropped?: Dropped;
  /** Receives the kind whose API got the request, before the first batch, if it is not that of `access`. */
  sentBy?(kind: ProviderAccess['kind']): void;
  /** Reserves the most that the request can use. The model awaits it before it sends anything; if it throws, nothing is sent. Absent: no limits. */
  reserve?(bound: TokenBound): Promise<void>;
};

export interface ChatModel {
  /**
   * Streams one reply as batches: one batch per network read. Never throws after the first batch; a failure is an `error` event, which ends
   * the reply like `finish` does. Before the first batch it may throw `Problem` (`upstream_error` and `upstream_timeout` have
   * `extra.retryable: boolean` and `extra.retryAfterMs?: number`).
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<readonly ChatEvent[]>;
}
