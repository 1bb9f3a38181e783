/**
 * Cohere's Chat v2: the adapter, and its reply, streamed or unstreamed, as events. Tool plan and thinking blocks are both reasoning; a mark
 * after each records the field, so that it is returned in the same one. Citations are ignored. `request.ts` builds the request.
 * Wire: API reference "Chat with streaming" (v2), and the recorded replies in the tests.
 */
import type { ChatEvent, FinishReason, Usage } from '../../core/model/chat-event.ts';
import type { Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { ToolCallAssembler } from '../../core/model/tool-call-assembler.ts';
import type { SseMessage } from '../../net/sse.ts';
import type { Adapter, ReplyReader } from '../adapter.ts';
import { type ReasoningField, type ReasoningMark, toCohereBody } from './request.ts';
import { cohereRows } from './profiles.ts';
import { errorBodyProblem, failureEvents, malformedProblem, overflowProblem, timeoutProblem } from '../provider-error.ts';
import { argumentsOf, isCount, isRecord, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';

export const cohere: Adapter = {
  path: () => '/chat',
  profileRows: cohereRows,
  toBody: toCohereBody,
  createReply: (access) => new CohereReply(access),
};

class CohereReply implements ReplyReader {
  state: 'open' | 'tail' | 'over' = 'open';
  readonly #access: ProviderAccess;
  readonly #assembler = new ToolCallAssembler();
  /** The field of the current reasoning, which has no mark yet. */
  #reasoning: ReasoningField | null = null;
  #usage: Usage | null = null;
  #spoke = false;
  #called = false;

  constructor(access: ProviderAccess) {
    this.#access = access;
  }

  take({ event, data, error }: SseMessage): ChatEvent[] {
    if (this.state === 'over') return [];
    if (error !== undefined) return this.#fail([], errorBodyProblem(this.#access, tryParse(error) ?? error));
    if (data.trim() === '') return [];
    // Normally follows `message-end`, which has ended the reply; alone it marks the end without a reason.
    if (data.trim() === '[DONE]') return this.#finish([], null);
    const value = tryParse(data);
    if (!isRecord(value)) return this.#fail([], malformedProblem(this.#access, 'sent an event that is not JSON'));
    // A failure in the stream has the form of an error body: no type, and a text message.
    if (event === 'error' || (value.type === undefined && typeof value.message === 'string')) {
      return this.#fail([], errorBodyProblem(this.#access, value.error ?? value));
    }
    return this.#read(value);
  }

  takeWhole(body: unknown): ChatEvent[] {
    if (this.state === 'over') return [];
    if (!isRecord(body) || !isRecord(body.message)) {
      const said = isRecord(body) && typeof body.message === 'string';
      return this.#fail([], said ? errorBodyProblem(this.#access, body) : malformedProblem(this.#access, 'sent a reply without a message'));
    }
    const { content, tool_plan: plan, tool_calls: calls } = body.message;
    const events: ChatEvent[] = [];
    if (typeof content === 'string') this.#say('text', content, events);
    for (const block of listOf(content)) {
      this.#readContent(block, events);
      this.#markReasoning(events);
    }
    this.#say('tool_plan', stringOf(plan), events);
    for (const [index, call] of listOf(calls).entries()) this.#readCall(call, index, events);
    return this.#finish(events, body);
  }

  end(): ChatEvent[] {
    return this.state === 'over' ? [] : this.#fail([], malformedProblem(this.#access, 'ended its reply before it was complete'));
  }

  #read(value: Json): ChatEvent[] {
    const events: ChatEvent[] = [];
    const delta = recordOf(value.delta);
    const message = recordOf(delta.message);
    const index = isCount(value.index) ? value.index : null;
    switch (value.type) {
      case 'content-start':
      case 'content-delta':
        this.#readContent(message.content, events);
        break;
      case 'content-end':
        this.#markReasoning(events);
        break;
      case 'tool-plan-delta':
        this.#say('tool_plan', stringOf(message.tool_plan), events);
        break;
      case 'tool-call-start':
      case 'tool-call-delta':
        // An object, one call per event; a list in some proxies.
        for (const call of isRecord(message.tool_calls) ? [message.tool_calls] : listOf(message.tool_calls))
          this.#readCall(call, index, events);
        break;
      case 'tool-call-end':
        this.#pass(this.#assembler.end({ index }), events);
        break;
      case 'message-end':
        return this.#finish(events, delta);
      default:
        // `message-start`, citations, `debug` and future events are ignored.
        break;
    }
    return events;
  }

  #readContent(block: unknown, events: ChatEvent[]): void {
    if (!isRecord(block)) return;
    this.#say('thinking', stringOf(block.thinking), events);
    this.#say('text', stringOf(block.text), events);
  }

  #say(field: 'text' | ReasoningField, piece: string, events: ChatEvent[]): void {
    if (piece === '') return;
    this.#spoke = true;
    if (this.#reasoning !== field) this.#markReasoning(events);
    if (field === 'text') {
      events.push({ type: 'text', text: piece });
    } else {
      this.#reasoning = field;
      events.push({ type: 'reasoning', text: piece });
    }
  }

  /** The mark ends a run of reasoning and separates it from the next. */
  #markReasoning(events: ChatEvent[]): void {
    if (this.#reasoning === null) return;
    const mark: ReasoningMark = { api: 'cohere', field: this.#reasoning };
    this.#reasoning = null;
    events.push({ type: 'native', provider: this.#access.name, data: mark });
  }

  #readCall(call: unknown, index: number | null, events: ChatEvent[]): void {
    if (!isRecord(call)) return;
    const named = recordOf(call.function);
    this.#push({ id: stringOf(call.id), index, name: stringOf(named.name), arguments: argumentsOf(named.arguments) }, events);
  }

  #push(piece: Parameters<ToolCallAssembler['push']>[0], events: ChatEvent[]): void {
    this.#markReasoning(events);
    this.#spoke = true;
    this.#pass(this.#assembler.push(piece), events);
  }

  #pass(made: readonly ChatEvent[], events: ChatEvent[]): void {
    for (const event of made) {
      if (event.type === 'call-start') this.#called = true;
      events.push(event);
    }
  }

  /** `end`: the object with the reason and the usage; null if only the end marker arrived. */
  #finish(events: ChatEvent[], end: Json | null): ChatEvent[] {
    const raw = end === null ? null : stringOf(end.finish_reason) || null;
    this.#usage = readUsage(end?.usage);
    if (raw === 'TIMEOUT') return this.#fail(events, timeoutProblem(this.#access, 'exceeded its own time limit'));
    if (raw === 'ERROR') return this.#fail(events, this.#errorOf(end ?? {}));
    this.#markReasoning(events);
    this.#pass(this.#assembler.finish({ ended: true, length: limitReasons.has(raw ?? '') }), events);
    if (this.#assembler.overflowed) return this.#fail(events, overflowProblem(this.#access));
    this.state = 'over';
    if (this.#usage !== null) events.push({ type: 'usage', usage: this.#usage });
    events.push({ type: 'finish', reason: this.#reason(raw), raw });
    return events;
  }

  /**
   * A failed generation may succeed on a retry. An error without a kind is described by the reference as "failed due to an internal error"
   * (`ChatFinishReason`).
   */
  #errorOf({ error, error_type: type }: Json): Problem {
    if (type === 'INVALID_TOOL_GENERATION' || stringOf(error) === '') {
      return malformedProblem(this.#access, type === 'INVALID_TOOL_GENERATION' ? 'generated an invalid tool call' : 'aborted its reply');
    }
    return errorBodyProblem(this.#access, { message: error, code: stringOf(type) || 'internal_error' });
  }

  #reason(raw: string | null): FinishReason {
    if (limitReasons.has(raw ?? '')) return 'length';
    if (raw === 'ERROR_TOXIC') return 'content-filter';
    if (this.#called) return 'tool-calls';
    return raw === null ? 'unknown' : 'stop';
  }

  #fail(events: ChatEvent[], problem: Problem): ChatEvent[] {
    this.state = 'over';
    const ended = [...events, ...this.#assembler.finish({ ended: false, length: false })];
    return [...ended, ...failureEvents(problem, this.#spoke ? this.#usage : null)];
  }
}

const limitReasons = new Set(['MAX_TOKENS', 'ERROR_LIMIT']);

/** `tokens` counts what the model read and wrote; `billed_units` excludes Cohere's own prompt. */
function readUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning } = recordOf(value.tokens ?? value.billed_units);
  if (!isCount(input)) return null;
  const usage: Usage = { inputTokens: input, outputTokens: isCount(output) ? output : 0 };
  if (isCount(reasoning)) usage.reasoningTokens = reasoning;
  if (isCount(value.cached_tokens)) usage.cachedInputTokens = value.cached_tokens;
  return usage;
}
