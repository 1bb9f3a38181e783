/**
 * Cohere's Chat v2: the adapter, and its reply, streamed or unstreamed, as events. Tool plan and thinking blocks are both reasoning; a mark
 * after each records the field, so that it is returned in the same one. Citations are ignored. `request.ts` builds the request.
 * Wire: API reference "Chat with streaming" (v2), and the recorded replies in the tests.
 */
import type { CallPiece } from '../../core/model/open-call.ts';
import { type ReasoningField, type ReasoningMark, toCohereBody, cohereRows } from './request.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import type { Adapter } from '../adapter.ts';
import { errorBodyProblem, timeoutProblem } from '../provider-error.ts';
import { WireReply } from '../wire-reply.ts';
import { toUsage } from '../wire-usage.ts';
import { argumentsOf, isCount, isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';

export const cohere: Adapter = {
  path: () => '/chat',
  profileRows: cohereRows,
  toBody: toCohereBody,
  createReply: (access) => new CohereReply(access),
  // Version 2 has no list.
  modelsUrl: (baseUrl) => `${baseUrl.replace(/\/v2$/, '/v1')}/models?page_size=1000`,
  outputLimits: ({ max_tokens: most }) => [most],
};

class CohereReply extends WireReply {
  /** The field of the current reasoning, which has no mark yet. */
  #reasoning: ReasoningField | null = null;

  protected override read(value: Json): void {
    const delta = recordOf(value.delta);
    const message = recordOf(delta.message);
    const index = isCount(value.index) ? value.index : null;
    switch (value.type) {
      case 'content-start':
      case 'content-delta':
        this.#readContent(message.content);
        break;
      case 'content-end':
        this.#markReasoning();
        break;
      case 'tool-plan-delta':
        this.#addText('tool_plan', message.tool_plan);
        break;
      case 'tool-call-start':
      case 'tool-call-delta':
        // An object, one call per event; a list in some proxies.
        for (const call of isRecord(message.tool_calls) ? [message.tool_calls] : listOf(message.tool_calls)) this.#readCall(call, index);
        break;
      case 'tool-call-end':
        this.endCall({ index });
        break;
      case 'message-end':
        this.#readEnd(delta);
        break;
      default:
      // `message-start`, citations, `debug` and future events are ignored.
    }
  }

  protected override isReply({ type, message, delta }: Json): boolean {
    return isRecord(message) || isRecord(delta) || /^(message|content|tool|citation)-/.test(stringOf(type));
  }

  protected override readWhole(body: Json): void {
    const { content, tool_plan: plan, tool_calls: calls } = recordOf(body.message);
    this.#addText('text', content);
    for (const block of listOf(content)) {
      this.#readContent(block);
      this.#markReasoning();
    }
    this.#addText('tool_plan', plan);
    for (const [index, call] of listOf(calls).entries()) this.#readCall(call, index);
    this.#readEnd(body);
  }

  #readContent(block: unknown): void {
    const { thinking, text } = recordOf(block);
    this.#addText('thinking', thinking);
    this.#addText('text', text);
  }

  #addText(field: 'text' | ReasoningField, value: unknown): void {
    const piece = stringOf(value);
    if (piece === '') return;
    if (this.#reasoning !== field) this.#markReasoning();
    if (field !== 'text') this.#reasoning = field;
    this.emitText(field === 'text' ? 'text' : 'reasoning', piece);
  }

  /** The mark ends a run of reasoning and separates it from the next. */
  #markReasoning(): void {
    if (this.#reasoning === null) return;
    const mark: ReasoningMark = { api: 'cohere', field: this.#reasoning };
    this.#reasoning = null;
    this.emitNative(mark);
  }

  #readCall(call: unknown, index: number | null): void {
    if (!isRecord(call)) return;
    const named = recordOf(call.function);
    const piece: CallPiece = { id: stringOf(call.id), index, name: stringOf(named.name), arguments: argumentsOf(named.arguments) };
    this.#markReasoning();
    this.pushCall(piece);
  }

  /** `end`: the object with the reason and the usage. */
  #readEnd(end: Json): void {
    this.finishReason = stringOf(end.finish_reason) || null;
    this.usage = readUsage(end.usage);
    if (this.finishReason === 'TIMEOUT') this.fail(timeoutProblem(this.access, 'exceeded its own time limit'));
    else if (this.finishReason === 'ERROR') this.#readError(end);
    else this.finish();
  }

  /** The end marker without an end event ends the reply without a reason. */
  protected override finish(): void {
    this.#markReasoning();
    this.endCalls(true);
    this.complete({ length: this.isCut(), filtered: this.finishReason === 'ERROR_TOXIC' });
  }

  protected override isCut(): boolean {
    return limitReasons.has(this.finishReason ?? '');
  }

  /**
   * A failed generation may succeed on a retry. An error without a kind is described by the reference as "failed due to an internal error"
   * (`ChatFinishReason`).
   */
  #readError({ error, error_type: type }: Json): void {
    if (type === 'INVALID_TOOL_GENERATION') this.fault('generated an invalid tool call');
    else if (stringOf(error) === '') this.fault('aborted its reply');
    else this.fail(errorBodyProblem(this.access, { message: error, code: stringOf(type) || 'internal_error' }));
  }
}

const limitReasons = new Set(['MAX_TOKENS', 'ERROR_LIMIT']);

/** `tokens` counts what the model read and wrote; `billed_units` excludes Cohere's own prompt. */
function readUsage(value: unknown): Usage | null {
  const { tokens, billed_units: billed, cached_tokens: cached } = recordOf(value);
  const { input_tokens: input, output_tokens: output, reasoning_tokens: reasoning } = recordOf(tokens ?? billed);
  return toUsage({ input, output, reasoning, cached });
}
