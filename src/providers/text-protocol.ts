/**
 * Adds tools to models without native tool support (contract §6): the prompt describes the tools, calls are parsed from the model's text, and
 * results are sent as one user message. Recovers calls in the text of models with native calls, and reads reasoning in it (`think-tags.ts`). Wraps any `ChatModel`.
 * `core/text-protocol/tool-prompt.ts` writes the prompt, `core/text-protocol/tool-calls.ts` parses calls.
 */
import type { ChatEvent, FinishReason } from '../core/model/chat-event.ts';
import { once } from '../core/memoize.ts';
import type { Message } from '../core/model/message.ts';
import { mentionsTools, renderMessages, renderPrompt } from '../core/text-protocol/tool-prompt.ts';
import { isRecord, listOf, recordOf, stringOf } from '../core/json/wire-value.ts';
import { LeakedCalls } from '../core/text-protocol/leaked-calls.ts';
import type { TextToolCalls } from '../core/text-protocol/tool-calls.ts';
import type { CallableTools } from '../core/text-protocol/written-calls.ts';
import type { JsonSchema } from '../core/tools/tool.ts';
import type { ChatModel, ChatRequest } from '../ports/chat-model.ts';
import { profileFor } from './profiles.ts';
import { failureEvents, overflowProblem } from './provider-error.ts';
import { withSplitThinking } from './think-tags.ts';

export function withTextProtocol(model: ChatModel): ChatModel {
  return {
    stream(request, signal) {
      const { protocol: usual, thinkTags } = profileFor(request.access, request.model);
      const protocol = request.protocol ?? usual;
      const read = (sent: ChatRequest): AsyncIterable<readonly ChatEvent[]> => {
        const reply = model.stream(sent, signal);
        return thinkTags === 'none' ? reply : withSplitThinking(reply, request.access.name, thinkTags === 'opened');
      };
      const needsIt = request.tools.length > 0 || mentionsTools(request.messages);
      if (protocol === 'text' && needsIt) return streamAsText(read, request);
      const reply = read(request);
      return request.tools.length > 0 && request.toolChoice !== 'none' ? recoverCalls(request, reply) : reply;
    },
  };
}

/** Not a generator, because each batch would cost a turn of the event loop per generator. */
function recoverCalls({ tools, settings }: ChatRequest, reply: AsyncIterable<readonly ChatEvent[]>): AsyncIterable<readonly ChatEvent[]> {
  const options = { ...callable(tools), bare: settings.responseFormat === undefined };
  const leaks = new LeakedCalls(options);
  return {
    [Symbol.asyncIterator]() {
      const batches = reply[Symbol.asyncIterator]();
      const watched = async (): Promise<IteratorResult<readonly ChatEvent[]>> => {
        for (;;) {
          const read = await batches.next();
          if (!read.done && leaks.needsParser(read.value)) leaks.useParser((await loadTextToolCalls()).TextToolCalls);
          const events = read.done ? [] : leaks.take(read.value);
          if (read.done || events.length > 0) return read.done ? read : { done: false, value: events };
        }
      };
      const end = { done: true as const, value: undefined };
      // Most replies are decided by their first text; the rest of them is passed on without a step of its own.
      const next = () => (leaks.isDecided ? batches.next() : watched());
      return { next, return: async () => (await batches.return?.()) ?? end };
    },
  };
}

/** What recovers calls of the tools of a client's request, in any dialect. */
export async function leakedCallsOf({
  tools,
  tool_choice: choice,
  response_format: format,
  text,
}: Readonly<Record<string, unknown>>): Promise<LeakedCalls | null> {
  const offered = listOf(tools).map((tool) => {
    const { name, parameters, input_schema: schema } = recordOf(recordOf(tool).function ?? tool);
    return { name: stringOf(name), description: '', inputSchema: recordOf(parameters ?? schema) };
  });
  const named = offered.filter(({ name }) => name !== '');
  if (named.length === 0 || choice === 'none' || recordOf(choice).type === 'none') return null;
  const asked = format ?? recordOf(text).format;
  const { TextToolCalls } = await loadTextToolCalls();
  return new LeakedCalls({ ...callable(named), bare: !isRecord(asked) || asked.type === 'text' }, TextToolCalls);
}

/** Loaded when it is needed. */
const loadTextToolCalls = once(() => import('../core/text-protocol/tool-calls.ts'));

/** The tools of a request, as the parser of their calls needs them: by name, once a call is found. */
function callable(tools: ChatRequest['tools']): CallableTools {
  let byName: ReadonlyMap<string, JsonSchema> | null = null;
  const schemas = () => (byName ??= new Map(tools.map(({ name, inputSchema }) => [name, inputSchema])));
  return { isTool: (name) => schemas().has(name), schemaOf: (name) => schemas().get(name) };
}

async function* streamAsText(
  read: (sent: ChatRequest) => AsyncIterable<readonly ChatEvent[]>,
  request: ChatRequest,
): AsyncGenerator<readonly ChatEvent[]> {
  const { TextToolCalls } = await loadTextToolCalls();
  const calls = new TextToolCalls({ ...callable(request.tools), otherwise: request.forClient ? 'text' : 'call' });
  const reply = new TextReply(request, calls);
  for await (const batch of read(toTextRequest(request))) {
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

  constructor(request: ChatRequest, calls: TextToolCalls) {
    this.#request = request;
    this.#calls = calls;
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
      case 'search':
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
