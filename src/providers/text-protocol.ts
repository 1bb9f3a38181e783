/**
 * Adds tools to models without native tool support (contract §6): the prompt describes the tools, calls are parsed from the model's text, and
 * results are sent as one user message. Wraps any `ChatModel`; requests that do not need it pass unchanged.
 * `core/text-protocol/tool-prompt.ts` writes the prompt, `core/text-protocol/tool-calls.ts` parses calls.
 */
import type { ChatEvent, FinishReason } from '../core/model/chat-event.ts';
import type { Message } from '../core/turn/message.ts';
import { mentionsTools, renderMessages, renderPrompt } from '../core/text-protocol/tool-prompt.ts';
import { TextToolCalls } from '../core/text-protocol/tool-calls.ts';
import type { ChatModel, ChatRequest } from '../ports/chat-model.ts';
import { profileFor } from './profiles.ts';
import { failureEvents, overflowProblem } from './provider-error.ts';

export function withTextProtocol(model: ChatModel): ChatModel {
  return {
    stream(request, signal) {
      const protocol = request.protocol ?? profileFor(request.access, request.model).protocol;
      const needsIt = request.tools.length > 0 || mentionsTools(request.messages);
      return protocol === 'text' && needsIt ? streamAsText(model, request, signal) : model.stream(request, signal);
    },
  };
}

async function* streamAsText(model: ChatModel, request: ChatRequest, signal: AbortSignal): AsyncGenerator<readonly ChatEvent[]> {
  const reply = new TextReply(request);
  for await (const batch of model.stream(toTextRequest(request), signal)) {
    const events = batch.flatMap((event) => reply.take(event));
    if (events.length > 0) yield events;
  }
}

/** Returns the request with its tools described in the conversation. */
export function toTextRequest(request: ChatRequest): ChatRequest {
  const { tools, toolChoice, messages, settings } = request;
  const { parallelToolCalls: parallel = true, ...others } = settings;
  const prompt = renderPrompt({ tools, toolChoice, parallel });
  return { ...request, messages: addToSystem(renderMessages(messages), prompt), tools: [], toolChoice: 'auto', settings: others };
}

/** Appends to the system text at the beginning of the conversation. */
function addToSystem(messages: readonly Message[], text: string): Message[] {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const end = firstOther < 0 ? messages.length : firstOther;
  const last = messages[end - 1];
  const system: Message = { role: 'system', parts: [...(last?.role === 'system' ? last.parts : []), { type: 'text', text }] };
  return [...messages.slice(0, Math.max(0, end - 1)), system, ...messages.slice(end)];
}

/** Converts events of the model's reply: calls replace their text. */
class TextReply {
  readonly #request: ChatRequest;
  readonly #calls: TextToolCalls;
  /** Calls are numbered in the order in which they start, parsed and native ones together. */
  readonly #numbers = new Map<string, number>();
  #hasNativeCalls = false;

  constructor(request: ChatRequest) {
    this.#request = request;
    const names = new Set(request.tools.map(({ name }) => name));
    this.#calls = new TextToolCalls({ isTool: (name) => names.has(name) });
  }

  take(event: ChatEvent): ChatEvent[] {
    switch (event.type) {
      case 'text':
        // A refusal is a separate field on the wire and contains no calls.
        return event.refusal ? [event] : this.#numbered('text', this.#calls.push(event.text));
      case 'call-start':
      case 'call-delta':
      case 'call-end':
        this.#hasNativeCalls = true;
        return this.#numbered('native', [event]);
      case 'finish':
        return this.#finish(event);
      case 'error':
        return [...this.#end({ ended: false, length: false }), event];
      case 'reasoning':
      case 'native':
      case 'citations':
      case 'image':
      case 'usage':
        return [event];
      default:
        return event satisfies never;
    }
  }

  #finish({ reason, raw }: Extract<ChatEvent, { type: 'finish' }>): ChatEvent[] {
    const events = this.#end({ ended: true, length: reason === 'length' || reason === 'content-filter' });
    if (this.#calls.overflowed) {
      return [...events, ...failureEvents(overflowProblem(this.#request.access), null)];
    }
    // A model without tool support writes calls as a script: later ones may depend on earlier ones.
    return [...events, { type: 'finish', reason: this.#reason(reason), raw, ...(this.#numbers.size > 1 && { inOrder: true }) }];
  }

  #end(how: { ended: boolean; length: boolean }): ChatEvent[] {
    return this.#numbered('text', this.#calls.finish({ ...how, hasOtherCalls: this.#hasNativeCalls }));
  }

  /** As in every reply: calls are the reason, unless the reply was cut. */
  #reason(reason: FinishReason): FinishReason {
    return this.#numbers.size > 0 && (reason === 'stop' || reason === 'unknown') ? 'tool-calls' : reason;
  }

  #numbered(source: 'text' | 'native', events: readonly ChatEvent[]): ChatEvent[] {
    return events.map((event) => ('call' in event ? { ...event, call: this.#numberOf(`${source} ${event.call}`) } : event));
  }

  #numberOf(call: string): number {
    const number = this.#numbers.get(call) ?? this.#numbers.size;
    this.#numbers.set(call, number);
    return number;
  }
}
