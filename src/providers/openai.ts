/**
 * Chat Completions, both halves of the mapping: a neutral request to the wire's body, and its reply, streamed or plain, to
 * events. For the kinds `openai` and `openai-compatible`; what servers do differently is data in `profiles.ts`. Sending and
 * reading bytes is `transport.ts`. Wire: OpenAI API reference, "Chat Completions", and the recorded replies in the tests.
 */
import type { ChatEvent, FinishReason, Usage } from '../core/chat-event.ts';
import type { AssistantPart, InputPart, Message, ToolCallPart } from '../core/message.ts';
import type { ProviderAccess } from '../core/provider.ts';
import { contentText } from '../core/tool.ts';
import { ToolCallAssembler } from '../core/tool-call-assembler.ts';
import type { SseMessage } from '../net/sse.ts';
import type { ChatRequest, OfferedTool } from '../ports/chat-model.ts';
import { createCallIds } from './call-ids.ts';
import { ChunkTemplates } from './chunk-template.ts';
import type { Profile } from '../core/provider-profile.ts';
import { profileFor } from './profiles.ts';
import { errorBodyProblem, malformedProblem } from './provider-error.ts';
import type { Adapter, ReplyReader } from './adapter.ts';

type Json = Record<string, unknown>;

/** What goes back to the same provider with the assistant message it came with (`native` events and parts). */
type NativeData = {
  reasoningContent?: string;
  reasoningDetails?: Json[];
  /** `extra_content` of calls, by their place in the message: Gemini's thought signatures. */
  callExtras?: Record<string, unknown>;
  /** `extra_content` of the message. */
  extra?: unknown;
};

export const chatCompletions: Adapter = {
  path: () => '/chat/completions',
  toBody: toRequestBody,
  createReply: ({ access, model }) => new OpenAiReply(access, model),
};

// ---- Request ----

/** The body of a streamed request. */
export function toRequestBody(request: ChatRequest): Json {
  const { access, model, tools, toolChoice, settings } = request;
  const profile = profileFor(access, model);
  const body: Json = { model, messages: toMessages(request.messages, access.name, profile), stream: true };
  if (profile.streamUsage) body.stream_options = { include_usage: true };
  if (tools.length > 0) {
    body.tools = tools.map((tool) => toTool(tool, profile));
    if (toolChoice !== 'auto') {
      body.tool_choice = typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } };
    }
    if (settings.parallelToolCalls !== undefined && profile.parallelToolCalls) body.parallel_tool_calls = settings.parallelToolCalls;
  }
  if (settings.temperature !== undefined) body.temperature = settings.temperature;
  if (settings.topP !== undefined) body.top_p = settings.topP;
  if (settings.maxOutputTokens !== undefined) body[profile.maxTokensField] = settings.maxOutputTokens;
  if (settings.stop !== undefined && settings.stop.length > 0) body.stop = settings.stop;
  if (settings.seed !== undefined) body.seed = settings.seed;
  if (settings.frequencyPenalty !== undefined) body.frequency_penalty = settings.frequencyPenalty;
  if (settings.presencePenalty !== undefined) body.presence_penalty = settings.presencePenalty;
  if (settings.reasoningEffort !== undefined) body.reasoning_effort = settings.reasoningEffort;
  if (settings.responseFormat !== undefined) body.response_format = settings.responseFormat;
  return body;
}

function toTool(tool: OfferedTool, profile: Profile): Json {
  const limit = profile.maxToolDescription ?? Number.POSITIVE_INFINITY;
  const description = tool.description.length > limit ? `${tool.description.slice(0, limit - 1)}…`.toWellFormed() : tool.description;
  // An object schema without `properties` is refused by OpenAI.
  const parameters = { ...tool.inputSchema, type: 'object', properties: tool.inputSchema.properties ?? {} };
  return { type: 'function', function: { name: tool.name, description, parameters } };
}

function toMessages(messages: readonly Message[], provider: string, profile: Profile): Json[] {
  const idOf = createCallIds(messages, provider, profile);
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  return messages.flatMap((message, index): Json[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.parts.map((part) => part.text).join('\n\n') }];
      case 'user':
        return [{ role: 'user', content: toUserContent(message.parts) }];
      case 'assistant':
        return toAssistant(message.parts, { provider, profile, idOf, inLoop: index > lastUser });
      case 'tool':
        return message.parts.map((part) => ({ role: 'tool', tool_call_id: idOf(part.callId), content: contentText(part.content) }));
      default:
        return message satisfies never;
    }
  });
}

function toUserContent(parts: readonly InputPart[]): unknown {
  if (parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('\n\n');
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    return { type: 'image_url', image_url: { url: part.url ?? `data:${part.mediaType ?? 'image/png'};base64,${part.data ?? ''}` } };
  });
}

function toAssistant(
  parts: readonly AssistantPart[],
  { provider, profile, idOf, inLoop }: { provider: string; profile: Profile; idOf: (callId: string) => string; inLoop: boolean },
): Json[] {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = parts.filter((part) => part.type === 'tool-call');
  // Nothing of it can be sent: an empty assistant message is refused by most.
  if (text === '' && calls.length === 0) return [];
  const native = nativeOf(parts, provider);
  const message: Json = { role: 'assistant', content: text === '' && !profile.contentNeverNull ? null : text };
  if (profile.echoReasoning && inLoop && native.reasoningContent !== undefined) message.reasoning_content = native.reasoningContent;
  if (native.reasoningDetails !== undefined) message.reasoning_details = native.reasoningDetails;
  if (native.extra !== undefined) message.extra_content = native.extra;
  if (calls.length > 0) {
    message.tool_calls = calls.map((call, index) => {
      const extra = native.callExtras?.[String(index)];
      return { ...toCall(call, idOf(call.callId)), ...(extra !== undefined && { extra_content: extra }) };
    });
  }
  return [message];
}

function nativeOf(parts: readonly AssistantPart[], provider: string): NativeData {
  const part = parts.find((candidate) => candidate.type === 'native' && candidate.provider === provider);
  // Written by `OpenAiReply` below under the same provider name; nobody else may.
  return part?.type === 'native' ? (part.data as NativeData) : {};
}

function toCall(call: ToolCallPart, id: string): Json {
  // What a model made up may be no legal name, and one illegal name in the history has the whole request refused.
  const name = call.requested.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown_tool';
  return { id, type: 'function', function: { name, arguments: JSON.stringify(call.arguments ?? {}) } };
}

// ---- Reply ----

/** Reads one reply. Only the first of several choices is read. */
export class OpenAiReply implements ReplyReader {
  state: 'open' | 'tail' | 'over' = 'open';
  /** The provider's own name and time (seconds) of the reply, once it told them. */
  id: string | null = null;
  created: number | null = null;
  readonly #access: ProviderAccess;
  readonly #echoesReasoning: boolean;
  readonly #assembler = new ToolCallAssembler();
  readonly #templates = new ChunkTemplates<ConstantPart>();
  /** Calls in the order of their `call-start`, which is their order in the message. */
  readonly #started: number[] = [];
  readonly #callExtras = new Map<number, unknown>();
  #reasoning = '';
  #details: Json[] = [];
  #extra: unknown;
  #usage: Usage | null = null;
  #finishReason: string | null = null;
  #atLimit = false;
  #spoke = false;

  constructor(access: ProviderAccess, model: string) {
    this.#access = access;
    this.#echoesReasoning = profileFor(access, model).echoReasoning;
  }

  take(message: SseMessage): ChatEvent[] {
    if (this.state === 'over') return [];
    if (message.error !== undefined) return this.#fail(tryParse(message.error) ?? message.error);
    const data = message.data;
    const known = message.event === 'error' ? null : this.#templates.match(data);
    if (known !== null) return this.#readKnown(known);
    if (data === '[DONE]') return this.#finish(true);
    if (data.trim() === '') return [];
    const chunk = tryParse(data);
    if (!isRecord(chunk)) return this.#end([], malformedProblem(this.#access, 'sent an event that is not JSON').toBody());
    if (message.event === 'error') return this.#fail(chunk.error ?? chunk);
    const constant = constantPart(chunk);
    if (constant !== null) this.#templates.learn(data, constant.key, constant.text, constant);
    return this.#read(chunk);
  }

  takeWhole(body: unknown): ChatEvent[] {
    if (this.state === 'over') return [];
    if (!isRecord(body) || (!Array.isArray(body.choices) && body.error == null)) {
      return this.#end([], malformedProblem(this.#access, 'sent a reply without choices').toBody());
    }
    const events = this.#read(body);
    return this.#over() ? events : [...events, ...this.#finish(true)];
  }

  end(): ChatEvent[] {
    return this.state === 'over' ? [] : this.#finish(this.#finishReason !== null);
  }

  #over(): boolean {
    return this.state === 'over';
  }

  /** A chunk like one before it, but for its string. */
  #readKnown({ value, text: piece }: { value: ConstantPart; text: string }): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (value.key === 'content') this.#readContent(piece, events);
    else this.#push({ index: value.index, arguments: piece }, events);
    this.#spoke = true;
    return events;
  }

  #read(chunk: Json): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (this.id === null && text(chunk.id) !== '') this.id = text(chunk.id);
    if (this.created === null && isCount(chunk.created)) this.created = chunk.created;
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) if (isRecord(choice) && (choice.index ?? 0) === 0) this.#readChoice(choice, events);
    const usage = readUsage(chunk.usage) ?? (isRecord(chunk.x_groq) ? readUsage(chunk.x_groq.usage) : null);
    if (usage !== null) this.#usage = usage;
    if (events.length > 0) this.#spoke = true;
    if (chunk.error != null) return [...events, ...this.#fail(chunk.error)];
    return events;
  }

  #readChoice(choice: Json, events: ChatEvent[]): void {
    const delta = choice.delta ?? choice.message;
    if (isRecord(delta)) this.#readDelta(delta, events);
    if (typeof choice.finish_reason === 'string') {
      this.#finishReason = choice.finish_reason;
      this.state = 'tail';
    }
    if (limitReasons.has(String(choice.finish_reason)) || limitReasons.has(String(choice.native_finish_reason).toLowerCase()))
      this.#atLimit = true;
  }

  #readDelta(delta: Json, events: ChatEvent[]): void {
    this.#readReasoning(delta, events);
    this.#readContent(delta.content, events);
    if (typeof delta.refusal === 'string' && delta.refusal !== '') events.push({ type: 'text', text: delta.refusal, refusal: true });
    if (delta.extra_content != null) this.#extra = delta.extra_content;
    if (Array.isArray(delta.tool_calls)) {
      const whole = delta.tool_calls.length > 1;
      for (const [place, call] of delta.tool_calls.entries()) if (isRecord(call)) this.#readCall(call, whole ? place : null, events);
    }
    if (isRecord(delta.function_call))
      this.#push({ name: text(delta.function_call.name), arguments: argumentsOf(delta.function_call.arguments) }, events);
  }

  #readContent(content: unknown, events: ChatEvent[]): void {
    if (typeof content === 'string') {
      if (content !== '') events.push({ type: 'text', text: content });
      return;
    }
    // Mistral's reasoning models send typed parts.
    for (const part of Array.isArray(content) ? content : []) {
      if (!isRecord(part)) continue;
      if (part.type === 'text' && typeof part.text === 'string' && part.text !== '') events.push({ type: 'text', text: part.text });
      if (part.type === 'thinking') this.#addReasoning(joinText(part.thinking), events);
    }
  }

  #readReasoning(delta: Json, events: ChatEvent[]): void {
    const details = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isRecord) : [];
    for (const detail of details) addDetail(this.#details, detail);
    // Some servers send the same text in both fields. The text of details alone is for the provider, not for readers.
    this.#addReasoning(text(delta.reasoning_content) || text(delta.reasoning), events);
  }

  #addReasoning(piece: string, events: ChatEvent[]): void {
    if (piece === '') return;
    if (this.#echoesReasoning) this.#reasoning += piece;
    events.push({ type: 'reasoning', text: piece });
  }

  /** `place`: its place among several calls of one delta, which tells them apart where the wire gives no index. */
  #readCall(call: Json, place: number | null, events: ChatEvent[]): void {
    const named = isRecord(call.function) ? call.function : null;
    const custom = isRecord(call.custom) ? call.custom : null;
    const id = text(call.id);
    const index = Number.isInteger(call.index) ? (call.index as number) : place;
    // Some gateways send the other kind beside it with zero values.
    if (custom !== null && text(custom.name) !== '' && !text(named?.name)) {
      this.#push({ id, index, name: text(custom.name), arguments: text(custom.input), custom: true }, events);
    } else if (custom !== null && named === null) {
      this.#push({ id, index, arguments: text(custom.input) }, events);
    } else {
      this.#push({ id, index, name: text(named?.name), arguments: argumentsOf(named?.arguments) }, events);
    }
    if (call.extra_content != null && this.#assembler.latest >= 0) this.#callExtras.set(this.#assembler.latest, call.extra_content);
  }

  #push(piece: Parameters<ToolCallAssembler['push']>[0], events: ChatEvent[]): void {
    this.#note(this.#assembler.push(piece), events);
  }

  #note(made: ChatEvent[], events: ChatEvent[]): void {
    for (const event of made) {
      if (event.type === 'call-start') this.#started.push(event.call);
      events.push(event);
    }
  }

  #fail(error: unknown): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#note(this.#assembler.finish({ ended: this.#finishReason !== null, length: this.#atLimit }), events);
    return this.#end(events, errorBodyProblem(this.#access, error).toBody());
  }

  #finish(ended: boolean): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#note(this.#assembler.finish({ ended, length: this.#atLimit }), events);
    if (!ended) return this.#end(events, malformedProblem(this.#access, 'broke off in the middle of its reply').toBody());
    if (this.#assembler.overflowed)
      return this.#end(events, malformedProblem(this.#access, 'began more tool calls than a reply may hold').toBody());
    if (failureReasons.has(this.#finishReason ?? ''))
      return this.#end(events, malformedProblem(this.#access, 'gave up on its reply').toBody());
    const native = this.#native();
    if (native !== null) events.push({ type: 'native', provider: this.#access.name, data: native });
    if (this.#usage !== null) events.push({ type: 'usage', usage: this.#usage });
    events.push({ type: 'finish', reason: this.#reason(), raw: this.#finishReason });
    this.state = 'over';
    return events;
  }

  #end(events: ChatEvent[], problem: Extract<ChatEvent, { type: 'error' }>['problem']): ChatEvent[] {
    this.state = 'over';
    // A reply that failed has been paid for, too. Where nothing was said, the error stays the first event: it is tried again.
    const spent: ChatEvent[] = this.#usage === null || !this.#spoke ? [] : [{ type: 'usage', usage: this.#usage }];
    return [...events, ...spent, { type: 'error', problem, retryable: problem.retryable === true }];
  }

  /** From the content where the wire's word cannot be relied on. */
  #reason(): FinishReason {
    const raw = this.#finishReason;
    if (this.#atLimit) return 'length';
    if (raw !== null && /^content[-_]?filter$|^safety$/i.test(raw)) return 'content-filter';
    if (this.#started.length > 0) return 'tool-calls';
    return raw === null ? 'unknown' : 'stop';
  }

  #native(): NativeData | null {
    const data: NativeData = {};
    if (this.#reasoning !== '') data.reasoningContent = this.#reasoning;
    if (this.#details.length > 0) data.reasoningDetails = this.#details;
    if (this.#extra !== undefined) data.extra = this.#extra;
    if (this.#callExtras.size > 0) {
      data.callExtras = Object.fromEntries([...this.#callExtras].map(([call, extra]) => [String(this.#started.indexOf(call)), extra]));
    }
    return Object.keys(data).length === 0 ? null : data;
  }
}

/** The one string by which a chunk may differ from the next, and what it belongs to. */
type ConstantPart = { key: 'content'; text: string } | { key: 'arguments'; text: string; index: number };

/** null for a chunk that says anything more than a piece of text, or of one numbered call's arguments. */
function constantPart(chunk: Json): ConstantPart | null {
  if (!Array.isArray(chunk.choices) || chunk.choices.length !== 1 || chunk.usage != null || chunk.error != null || chunk.x_groq != null)
    return null;
  const choice: unknown = chunk.choices[0];
  if (!isRecord(choice) || (choice.index ?? 0) !== 0 || choice.finish_reason != null || !isRecord(choice.delta)) return null;
  const { content, tool_calls: calls, role: _role, ...others } = choice.delta;
  if (Object.values(others).some((value) => value != null) || choice.native_finish_reason != null) return null;
  if (calls == null) return typeof content === 'string' ? { key: 'content', text: content } : null;
  if (!Array.isArray(calls) || calls.length !== 1 || (content != null && content !== '')) return null;
  const call: unknown = calls[0];
  if (!isRecord(call) || !Number.isInteger(call.index) || call.id || call.custom != null || call.extra_content != null) return null;
  const named = call.function;
  if (!isRecord(named) || named.name || typeof named.arguments !== 'string') return null;
  return { key: 'arguments', text: named.arguments, index: call.index as number };
}

const limitReasons = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);
const failureReasons = new Set(['error', 'insufficient_system_resource', 'network_error']);

/** Pieces of one reasoning item are joined, so that it goes back whole; everything else stays an item of its own. */
function addDetail(details: Json[], detail: Json): void {
  const last = details.at(-1);
  const field = detail.type === 'reasoning.text' ? 'text' : detail.type === 'reasoning.summary' ? 'summary' : null;
  if (field === null || last === undefined || last.type !== detail.type || last.index !== detail.index) {
    details.push({ ...detail });
    return;
  }
  const joined = text(last[field]) + text(detail[field]);
  for (const [name, value] of Object.entries(detail)) if (value != null) last[name] = value;
  last[field] = joined;
}

function readUsage(value: unknown): Usage | null {
  if (!isRecord(value) || !isCount(value.prompt_tokens)) return null;
  const usage: Usage = { inputTokens: value.prompt_tokens, outputTokens: isCount(value.completion_tokens) ? value.completion_tokens : 0 };
  const output = value.completion_tokens_details;
  const input = value.prompt_tokens_details;
  if (isRecord(output) && isCount(output.reasoning_tokens)) usage.reasoningTokens = output.reasoning_tokens;
  const cached = isRecord(input) ? input.cached_tokens : value.prompt_cache_hit_tokens;
  if (isCount(cached)) usage.cachedInputTokens = cached;
  return usage;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function argumentsOf(value: unknown): string | object | null {
  return typeof value === 'string' || (typeof value === 'object' && value !== null) ? value : null;
}

function joinText(parts: unknown): string {
  if (!Array.isArray(parts)) return text(parts);
  return parts.map((part) => (isRecord(part) ? text(part.text) : '')).join('');
}

function tryParse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // Not JSON: the caller says so in its own words.
    return undefined;
  }
}
