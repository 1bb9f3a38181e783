/** A model behind any provider. One adapter a wire format; the conversation in and the events out are neutral. */
import type { ChatEvent } from '../core/chat-event.ts';
import type { Message } from '../core/message.ts';
import type { ModelSettings } from '../core/plan.ts';
import type { ProviderAccess } from '../core/provider.ts';
import type { JsonSchema } from '../core/tool.ts';

/** A tool as this step shows it to the model. */
export type OfferedTool = { name: string; description: string; inputSchema: JsonSchema };

export type ChatRequest = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  /** Tool names inside are wire names of this request's tools already. */
  messages: readonly Message[];
  tools: readonly OfferedTool[];
  toolChoice: 'auto' | 'none' | 'required' | { tool: string };
  settings: ModelSettings;
  /** Nobody reads along: the reply may come in one piece, which is much cheaper than a stream. */
  whole?: true;
  /** As the agent says; absent: as the provider's profile does. */
  protocol?: 'native' | 'text';
};

export interface ChatModel {
  /**
   * Streams one reply as batches: a batch holds what one network read gave. Never throws after the first batch; a failure
   * is an `error` event, which ends the reply like `finish` does. Before the first batch it may throw `Problem`
   * (`upstream_error` and `upstream_timeout` carry `extra.retryable: boolean` and `extra.retryAfterMs?: number`).
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<readonly ChatEvent[]>;
}
