/**
 * Chat Completions: the adapter, and its reply, streamed or unstreamed, as events. For the kinds `openai` and `openai-compatible`;
 * differences between servers are data in the profiles. `request.ts` builds the request; `transport.ts` sends it and reads the
 * bytes. Wire: OpenAI API reference, "Chat Completions", and the recorded replies in the tests.
 */
import type { ChatEvent, FinishReason, Usage } from '../../core/model/chat-event.ts';
import type { Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { ToolCallAssembler } from '../../core/model/tool-call-assembler.ts';
import type { SseMessage } from '../../net/sse.ts';
import type { Adapter, ReplyReader } from '../adapter.ts';
import { type OpenAiNative, toChatBody } from './request.ts';
import { openAiRows } from './profiles.ts';
import { errorBodyProblem, failureEvents, malformedProblem, overflowProblem } from '../provider-error.ts';
import { argumentsOf, isCount, isRecord, type Json, stringOf as text, tryParse } from '../../core/json/wire-value.ts';

export const chatCompletions: Adapter = {
  dialect: 'openai-chat',
  path: () => '/chat/completions',
  profileRows: openAiRows,
  toBody: toChatBody,
  createReply: (access) => new OpenAiReply(access),
};

/** Reads one reply. Only the first choice is read. */
export class OpenAiReply implements ReplyReader {
  state: 'open' | 'tail' | 'over' = 'open';
  /** The provider's id and creation time (seconds) of the reply, once received. */
  id: string | null = null;
  created: number | null = null;
  readonly #access: ProviderAccess;
  readonly #assembler = new ToolCallAssembler();
  /** The index of the last started call; -1: none. */
  #started = -1;
  /** `extra_content` received before its call was started. */
  readonly #callExtras = new Map<number, unknown>();
  #details: Json[] = [];
  #extra: unknown;
  #usage: Usage | null = null;
  #finishReason: string | null = null;
  #atLimit = false;
  #spoke = false;

  constructor(access: ProviderAccess) {
    this.#access = access;
  }

  take(message: SseMessage): ChatEvent[] {
    if (this.state === 'over') return [];
    if (message.error !== undefined) return this.#fail(tryParse(message.error) ?? message.error);
    const data = message.data;
    if (data === '[DONE]') return this.#finish(true);
    if (data.trim() === '') return [];
    const chunk = tryParse(data);
    if (!isRecord(chunk)) return this.#end([], malformedProblem(this.#access, 'sent an event that is not JSON'));
    if (message.event === 'error') return this.#fail(chunk.error ?? chunk);
    return this.#read(chunk);
  }

  takeWhole(body: unknown): ChatEvent[] {
    if (this.state === 'over') return [];
    if (!isRecord(body) || (!Array.isArray(body.choices) && body.error == null)) {
      return this.#end([], malformedProblem(this.#access, 'sent a reply without choices'));
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
    // Some servers send the same text in both fields. The text of details is for the provider only.
    this.#addReasoning(text(delta.reasoning_content) || text(delta.reasoning), events);
  }

  #addReasoning(piece: string, events: ChatEvent[]): void {
    if (piece === '') return;
    events.push({ type: 'reasoning', text: piece });
  }

  /** `place`: the call's index in the delta, which identifies it if the wire has no index. */
  #readCall(call: Json, place: number | null, events: ChatEvent[]): void {
    const named = isRecord(call.function) ? call.function : null;
    const custom = isRecord(call.custom) ? call.custom : null;
    const id = text(call.id);
    const index = Number.isInteger(call.index) ? (call.index as number) : place;
    // Some gateways add the other kind with zero values.
    if (custom !== null && text(custom.name) !== '' && !text(named?.name)) {
      this.#push({ id, index, name: text(custom.name), arguments: text(custom.input), custom: true }, events);
    } else if (custom !== null && named === null) {
      this.#push({ id, index, arguments: text(custom.input) }, events);
    } else {
      this.#push({ id, index, name: text(named?.name), arguments: argumentsOf(named?.arguments) }, events);
    }
    if (call.extra_content != null && this.#assembler.latest >= 0) this.#addCallExtra(this.#assembler.latest, call.extra_content, events);
  }

  #push(piece: Parameters<ToolCallAssembler['push']>[0], events: ChatEvent[]): void {
    this.#note(this.#assembler.push(piece), events);
  }

  #note(made: ChatEvent[], events: ChatEvent[]): void {
    for (const event of made) {
      events.push(event);
      if (event.type !== 'call-start') continue;
      this.#started = event.call;
      const extra = this.#callExtras.get(event.call);
      if (extra !== undefined) events.push(this.#native({ callExtra: extra }));
    }
  }

  /**
   * Emits the data directly after its call, since both are returned together. Data that arrives after another call began is dropped; no
   * server was seen to do this.
   */
  #addCallExtra(call: number, extra: unknown, events: ChatEvent[]): void {
    if (this.#started < call) this.#callExtras.set(call, extra);
    else if (this.#started === call && !this.#callExtras.has(call)) events.push(this.#native({ callExtra: extra }));
  }

  #native(data: Omit<OpenAiNative, 'api'>): ChatEvent {
    return { type: 'native', provider: this.#access.name, data: { api: 'openai-chat', ...data } satisfies OpenAiNative };
  }

  #fail(error: unknown): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#note(this.#assembler.finish({ ended: this.#finishReason !== null, length: this.#atLimit }), events);
    return this.#end(events, errorBodyProblem(this.#access, error));
  }

  #finish(ended: boolean): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#note(this.#assembler.finish({ ended, length: this.#atLimit }), events);
    if (!ended) return this.#end(events, malformedProblem(this.#access, 'ended its reply before it was complete'));
    if (this.#assembler.overflowed) return this.#end(events, overflowProblem(this.#access));
    if (failureReasons.has(this.#finishReason ?? '')) return this.#end(events, malformedProblem(this.#access, 'aborted its reply'));
    if (this.#details.length > 0) events.push(this.#native({ reasoningDetails: this.#details }));
    if (this.#extra !== undefined) events.push(this.#native({ extra: this.#extra }));
    if (this.#usage !== null) events.push({ type: 'usage', usage: this.#usage });
    events.push({ type: 'finish', reason: this.#reason(), raw: this.#finishReason });
    this.state = 'over';
    return events;
  }

  #end(events: ChatEvent[], problem: Problem): ChatEvent[] {
    this.state = 'over';
    return [...events, ...failureEvents(problem, this.#spoke ? this.#usage : null)];
  }

  /** Derived from the content if the wire's reason is not reliable. */
  #reason(): FinishReason {
    const raw = this.#finishReason;
    if (this.#atLimit) return 'length';
    if (raw !== null && /^content[-_]?filter$|^safety$/i.test(raw)) return 'content-filter';
    if (this.#started >= 0) return 'tool-calls';
    return raw === null ? 'unknown' : 'stop';
  }
}

const limitReasons = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);
const failureReasons = new Set(['error', 'insufficient_system_resource', 'network_error']);

/** Joins the pieces of a reasoning item, which must be returned whole; other details stay separate. */
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

function joinText(parts: unknown): string {
  if (!Array.isArray(parts)) return text(parts);
  return parts.map((part) => (isRecord(part) ? text(part.text) : '')).join('');
}
