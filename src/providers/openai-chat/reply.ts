/**
 * Chat Completions: the adapter, and its reply, streamed or unstreamed, as events. For the kinds `openai` and `openai-compatible`;
 * differences between servers are data in the profiles. `request.ts` builds the request; `transport.ts` sends it and reads the
 * bytes. Wire: OpenAI API reference, "Chat Completions", and the recorded replies in the tests.
 */
import { type Citation, toCitation } from '../../core/model/citation.ts';
import type { ChatEvent, Usage } from '../../core/model/chat-event.ts';
import type { Adapter } from '../adapter.ts';
import { addOwnFields, blockNative, type ChatNative, ownFieldsOfCall } from '../../dialects/openai-chat/own-fields.ts';
import { toChatBody } from './request.ts';
import { openAiRows } from './profiles.ts';
import { malformedProblem } from '../provider-error.ts';
import { WireReply } from '../wire-reply.ts';
import { mergeUsage, readCost, toUsage } from '../wire-usage.ts';
import { argumentsOf, isCount, isRecord, type Json, listOf, recordOf, stringOf as text } from '../../core/json/wire-value.ts';

export const chatCompletions: Adapter = {
  dialect: 'openai-chat',
  watched: async () => (await import('./watch.ts')).chatWire,
  path: () => '/chat/completions',
  profileRows: openAiRows,
  toBody: toChatBody,
  createReply: (access) => new ChatReply(access),
  modelsUrl: (baseUrl) => `${baseUrl}/models`,
  // Servers that only know the older field ignore the newer one.
  outputLimits: ({ max_tokens: most, max_completion_tokens: newer }, { maxTokensField }) => [
    most,
    ...(maxTokensField === 'max_completion_tokens' ? [newer] : []),
  ],
  readUsage,
};

/** Reads one reply. Only the first choice is read. */
class ChatReply extends WireReply {
  /** The index of the last started call; -1: none. */
  #lastStarted = -1;
  /** Fields of calls that were received before their call was started. */
  readonly #callFields = new Map<number, Json>();
  #details: Json[] = [];
  readonly #fields: Json = {};
  /** The latest list of sources of Perplexity and xAI, which every chunk repeats. */
  #sources: readonly unknown[] = [];
  #hasAnnotations = false;
  #atLimit = false;
  #counts: Json = {};
  /** The reply is one document. */
  #isWhole = false;

  protected override isReply({ choices, usage }: Json): boolean {
    return Array.isArray(choices) || isRecord(usage);
  }

  protected override readWhole(body: Json): void {
    this.#isWhole = true;
    this.readEvent(body, '');
    if (!this.isOver()) this.finish();
  }

  protected override read(chunk: Json): void {
    if (this.id === null && text(chunk.id) !== '') this.id = text(chunk.id);
    if (this.created === null && isCount(chunk.created)) this.created = chunk.created;
    for (const choice of listOf(chunk.choices)) if (isRecord(choice) && (choice.index ?? 0) === 0) this.#readChoice(choice);
    if (chunk.search_results != null || chunk.citations != null) this.#readSources(chunk);
    this.#readUsage(chunk.usage ?? recordOf(chunk.x_groq).usage ?? timedUsage(chunk.timings));
  }

  #readUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    this.#counts = mergeUsage(this.#counts, usage);
    this.usage = readUsage(this.#counts);
  }

  #readChoice(choice: Json): void {
    const { delta, message } = choice;
    // Moonshot's place; some gateways leave it in the last delta.
    this.#readUsage(choice.usage ?? recordOf(delta).usage);
    // Perplexity sends both: an empty `delta` in a whole reply, and in a stream a `message` of all text so far.
    const isWhole = this.#isWhole || delta == null || (choice.finish_reason != null && !this.hasOutput && !saysAnything(delta));
    this.#readDelta(recordOf(isWhole ? (message ?? delta) : delta));
    if (typeof choice.finish_reason === 'string') this.setFinishReason(choice.finish_reason);
    if (limitReasons.has(String(choice.finish_reason)) || limitReasons.has(String(choice.native_finish_reason).toLowerCase()))
      this.#atLimit = true;
    // OpenRouter's form of an error of the model's service.
    if (choice.error != null) this.failWith(choice.error);
  }

  #readDelta(delta: Json): void {
    for (const detail of listOf(delta.reasoning_details)) if (isRecord(detail)) addDetail(this.#details, detail);
    this.#readReasoning(delta);
    this.#readContent(delta.content);
    if (text(delta.refusal) !== '') this.emit({ type: 'text', text: text(delta.refusal), refusal: true });
    if (delta.images != null) for (const image of listOf(delta.images)) this.#readImage(image);
    if (delta.annotations != null) this.#readAnnotations(listOf(delta.annotations));
    addOwnFields(this.#fields, delta);
    const calls = listOf(delta.tool_calls);
    for (const [place, call] of calls.entries()) if (isRecord(call)) this.#readCall(call, calls.length > 1 ? place : null);
    const { function_call: call } = delta;
    if (isRecord(call)) this.pushCall({ name: text(call.name), arguments: argumentsOf(call.arguments) });
  }

  /**
   * Some servers send the same text in several fields. The text of details is for the provider only. LiteLLM's blocks of a stream are pieces,
   * of which the last has the signature.
   */
  #readReasoning(delta: Json): void {
    const blocks = delta.thinking_blocks == null ? [] : listOf(delta.thinking_blocks).map(recordOf);
    const isInBlocks = blocks.some(({ thinking }) => text(thinking) !== '');
    if (!isInBlocks) this.emitText('reasoning', text(delta.reasoning_content) || text(delta.reasoning) || text(delta.reasoning_text));
    for (const block of blocks) {
      this.emitText('reasoning', text(block.thinking));
      const native = blockNative(block);
      if (native !== null) this.emitNative(native);
    }
  }

  #readSources({ search_results: results, citations }: Json): void {
    const sources = listOf(results).length > 0 ? listOf(results) : listOf(citations);
    if (sources.length > 0) this.#sources = sources;
  }

  /** OpenRouter's field for images of models; their data is in the URL. */
  #readImage(image: unknown): void {
    const url = text(recordOf(recordOf(image).image_url).url);
    const [head, mediaType = ''] = /^data:([^;,]{1,100});base64,/.exec(url.slice(0, 200)) ?? [];
    if (head !== undefined) this.emitImage(mediaType, url.slice(head.length));
    else if (url !== '') this.emitText('text', `![image](${url})`);
  }

  #readAnnotations(annotations: readonly unknown[]): void {
    const cited = annotations.map((annotation) => {
      const { url, title, content, start_index: start, end_index: end } = recordOf(recordOf(annotation).url_citation);
      return toCitation({ url, title, quote: content, start, end });
    });
    this.#hasAnnotations ||= cited.some((citation) => citation !== null);
    this.emitCitations(cited);
  }

  #readContent(content: unknown): void {
    this.emitText('text', text(content));
    // Mistral's reasoning models send typed parts.
    for (const part of listOf(content)) {
      if (!isRecord(part)) continue;
      if (part.type === 'text') this.emitText('text', text(part.text));
      if (part.type === 'thinking') this.emitText('reasoning', joinText(part.thinking));
    }
  }

  /** `place`: the call's index in the delta, which identifies it if the wire has no index. */
  #readCall(call: Json, place: number | null): void {
    const named = isRecord(call.function) ? call.function : null;
    const custom = isRecord(call.custom) ? call.custom : null;
    const id = text(call.id);
    const index = Number.isInteger(call.index) ? (call.index as number) : place;
    // Some gateways add the other kind with zero values.
    if (custom !== null && text(custom.name) !== '' && !text(named?.name)) {
      this.pushCall({ id, index, name: text(custom.name), arguments: text(custom.input), custom: true });
    } else if (custom !== null && named === null) {
      this.pushCall({ id, index, arguments: text(custom.input) });
    } else {
      this.pushCall({ id, index, name: text(named?.name), arguments: argumentsOf(named?.arguments) });
    }
    const fields = ownFieldsOfCall(call);
    if (fields !== null && this.assembler.latest >= 0) this.#addCallFields(this.assembler.latest, fields);
  }

  protected override emit(event: ChatEvent): void {
    super.emit(event);
    if (event.type !== 'call-start') return;
    this.#lastStarted = event.call;
    const callFields = this.#callFields.get(event.call);
    if (callFields !== undefined) this.#emitData({ callFields });
  }

  /**
   * Emits the data directly after its call, since both are returned together. Data that arrives after another call began is dropped; no
   * server was seen to do this.
   */
  #addCallFields(call: number, callFields: Json): void {
    if (this.#lastStarted < call) this.#callFields.set(call, callFields);
    else if (this.#lastStarted === call && !this.#callFields.has(call)) this.#emitData({ callFields });
  }

  #emitData(data: Omit<ChatNative, 'api'>): void {
    this.emitNative({ api: 'openai-chat', ...data } satisfies ChatNative);
  }

  protected override finish(): void {
    this.endCalls(true);
    if (failureReasons.has(this.finishReason ?? '')) this.abort(malformedProblem(this.access, `aborted its reply (${this.finishReason})`));
    else this.#complete();
  }

  #complete(): void {
    if (!this.#hasAnnotations) this.emitCitations(this.#sources.map(toSource));
    if (this.#details.length > 0) this.#fields.reasoning_details = this.#details;
    if (Object.keys(this.#fields).length > 0) this.#emitData({ fields: this.#fields });
    this.complete({ length: this.isCut(), filtered: /^content[-_]?filter$|^safety$/i.test(this.finishReason ?? '') });
  }

  protected override isCut(): boolean {
    return this.#atLimit;
  }
}

/** A URL (`citations`), or an object with one (`search_results`). */
function toSource(source: unknown): Citation | null {
  const { url = source, title, snippet } = recordOf(source);
  return toCitation({ url, title, quote: snippet });
}

function saysAnything(delta: unknown): boolean {
  const { content, tool_calls: calls, reasoning_content: reasoning, refusal } = recordOf(delta);
  return [content, calls, reasoning, refusal].some((value) => (Array.isArray(value) ? value.length > 0 : text(value) !== ''));
}

const limitReasons = new Set(['length', 'max_tokens', 'max_output_tokens', 'model_length']);
const failureReasons = new Set(['error', 'abort', 'aborted', 'insufficient_system_resource', 'network_error']);

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

/**
 * Details have other names at DeepSeek (`prompt_cache_hit_tokens`), Moonshot (`cached_tokens`), Perplexity (`reasoning_tokens`), OpenRouter
 * (`cache_write_tokens`), LiteLLM (`cache_creation_tokens`) and gateways that mix in Anthropic's names.
 */
function readUsage(value: unknown): Usage | null {
  const usage = recordOf(value);
  const inputs = recordOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const outputs = recordOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  return toUsage({
    input: usage.prompt_tokens ?? usage.input_tokens,
    output: usage.completion_tokens ?? usage.output_tokens,
    total: usage.total_tokens,
    reasoning: outputs.reasoning_tokens ?? usage.reasoning_tokens,
    cached: inputs.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.cache_read_input_tokens,
    written: inputs.cache_write_tokens ?? inputs.cache_creation_tokens ?? usage.cache_creation_input_tokens,
    writtenForHour: recordOf(inputs.cache_creation_token_details ?? usage.cache_creation).ephemeral_1h_input_tokens,
    cost: readCost(usage),
  });
}

/** The counts of llama.cpp's server in a reply without `usage` (its README, `timings`). */
function timedUsage(timings: unknown): Json | null {
  const { prompt_n: read, cache_n: cached = 0, predicted_n: output } = recordOf(timings);
  if (!isCount(read) || !isCount(cached)) return null;
  return { prompt_tokens: read + cached, completion_tokens: output, prompt_tokens_details: { cached_tokens: cached } };
}

function joinText(parts: unknown): string {
  if (!Array.isArray(parts)) return text(parts);
  return parts.map((part) => (isRecord(part) ? text(part.text) : '')).join('');
}
