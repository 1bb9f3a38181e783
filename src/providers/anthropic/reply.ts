/**
 * Anthropic's Messages API: converts its reply, streamed or unstreamed, to events. `request.ts` builds the request; both share
 * `NativeData` in `messages.ts`. Wire: API reference "Streaming messages", guide "Stop reasons", and the recorded replies in the
 * tests. `pause_turn` (the provider's own tools ran long enough) ends the reply like a limit: the incomplete text stays, and the next
 * request returns all of it to be continued.
 */
import { toMessagesBody, anthropicRows } from './request.ts';
import { toCitation } from '../../core/model/citation.ts';
import type { ChatEvent, Usage } from '../../core/model/chat-event.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Adapter } from '../adapter.ts';
import type { AnthropicNative } from './messages.ts';
import { blockInputOf, completeBlock, isRepeatedStart, kindOf, openBlock, type OpenBlock, unknownFields } from './open-block.ts';
import { WireReply } from '../wire-reply.ts';
import { mergeUsage, readCost, toUsage } from '../wire-usage.ts';
import { argumentsOf, isCount, isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { utf8Length } from '../../core/text/utf8.ts';

export const anthropic: Adapter = {
  dialect: 'anthropic-messages',
  watched: async () => (await import('./watch.ts')).messagesWire,
  path: () => '/messages',
  countTokensPath: () => '/messages/count_tokens',
  headers: { 'anthropic-version': '2023-06-01' },
  profileRows: anthropicRows,
  toBody: toMessagesBody,
  createReply: (access) => new MessagesReply(access),
  modelsUrl: (baseUrl) => `${baseUrl}/models?limit=1000`,
  outputLimits: ({ max_tokens: most }) => [most],
  readUsage,
};

/** Reads one reply. */
class MessagesReply extends WireReply {
  readonly #blocks = new Map<number, OpenBlock>();
  #latest: OpenBlock | null = null;
  #serials = 0;
  #begun = false;
  /** The last text block, if nothing followed it: another one after it is a separate block. */
  #lastText: number | null = null;
  #counts: Json = {};
  #textLength = 0;
  /** The queries of searches without a result, by the ids of their calls. */
  readonly #queries = new Map<string, unknown>();

  protected override isReply({ type, content }: Json, name: string): boolean {
    return Array.isArray(content) || /^(message|content_block)_/.test(stringOf(type) || name);
  }

  protected override readWhole(body: Json): void {
    this.#begin(body);
    for (const [index, block] of listOf(body.content).entries()) {
      if (!isRecord(block)) continue;
      this.#open({ index, content_block: block });
      this.#close({ index });
    }
    this.#readEnd({ delta: body });
    this.finish();
  }

  protected override read(event: Json, name: string): void {
    switch (stringOf(event.type) || name) {
      case 'message_start':
        this.#begin(recordOf(event.message));
        break;
      case 'content_block_start':
        this.#open(event);
        break;
      case 'content_block_delta':
        this.#feed(event.index, recordOf(event.delta));
        break;
      case 'content_block_stop':
        this.#close(event);
        break;
      case 'message_delta':
        this.#readEnd(event);
        break;
      case 'message_stop':
        this.finish();
        break;
      default:
      // `ping`, and future events.
    }
  }

  #begin(message: Json): void {
    const id = stringOf(message.id) || null;
    // A proxy retried in the middle of the reply; the rest belongs to another reply, whose blocks are numbered from 0 again.
    if (this.#begun && (id !== this.id || this.#serials > 0)) this.fault('began another reply in the middle of this one');
    this.#begun = true;
    this.id = id;
    this.#addCounts(message.usage);
  }

  #open(event: Json): void {
    const start = recordOf(event.content_block);
    const kind = kindOf(start);
    const before = isCount(event.index) ? this.#blocks.get(event.index) : undefined;
    if (before !== undefined && isRepeatedStart(before, kind, start)) return;
    // Signatures belong to whole runs of thinking, so an earlier run ends here.
    if (kind === 'thinking' && this.#latest?.kind === 'thinking') this.#settle(this.#latest);
    const block = openBlock(start, this.#serials++);
    this.#blocks.set(isCount(event.index) ? event.index : block.serial, block);
    this.#latest = block;
    if (kind === 'call') this.pushCall({ index: block.serial, id: stringOf(start.id), name: stringOf(start.name) });
    if (kind === 'text') this.#addText(block, stringOf(start.text));
    if (kind === 'thinking') this.emitText('reasoning', stringOf(start.thinking));
  }

  #feed(index: unknown, delta: Json): void {
    const block = (isCount(index) ? this.#blocks.get(index) : this.#latest) ?? this.#blockFor(index, delta);
    if (block.closed) return;
    block.fed = true;
    // Recognized by the field, because some servers omit delta types and each type has its own field.
    if (delta.partial_json != null) this.#addInput(block, argumentsOf(delta.partial_json));
    else if (typeof delta.text === 'string') this.#addText(block, delta.text);
    else if (typeof delta.thinking === 'string') this.emitText('reasoning', delta.thinking);
    else if (typeof delta.signature === 'string') block.signature = delta.signature;
    else if (delta.citation != null) block.citations.push(delta.citation);
    else block.input = null;
  }

  /** Opens the block of a delta whose start is missing. */
  #blockFor(index: unknown, delta: Json): OpenBlock {
    const type = delta.partial_json != null ? 'tool_use' : typeof delta.thinking === 'string' ? 'thinking' : 'text';
    this.#open({ index, content_block: { type } });
    return this.#latest as OpenBlock;
  }

  #addInput(block: OpenBlock, piece: string | object | null): void {
    if (block.kind === 'call') this.pushCall({ index: block.serial, arguments: piece });
    else if (typeof piece !== 'string' || block.input === null) block.input = null;
    else {
      block.inputBytes += utf8Length(piece);
      if (block.inputBytes <= limits.maxArgumentBytes) block.input.append(piece);
      else block.input = null;
    }
  }

  #addText(block: OpenBlock, text: string): void {
    if (text === '') return;
    if (this.#lastText !== null && this.#lastText !== block.serial) this.#emitData({ api: 'anthropic', type: 'text' });
    this.emit({ type: 'text', text });
    block.textStart ??= this.#textLength;
    this.#textLength += text.length;
    this.#lastText = block.serial;
  }

  /** Anything but text and the pieces of a call ends the run of text. */
  protected override emit(event: ChatEvent): void {
    if (event.type === 'reasoning' || event.type === 'native' || event.type === 'call-start') this.#lastText = null;
    super.emit(event);
  }

  #close(event: Json): void {
    const block = isCount(event.index) ? this.#blocks.get(event.index) : this.#latest;
    if (block != null) this.#settle(block);
  }

  /** Completes a block. */
  #settle(block: OpenBlock): void {
    if (block.closed) return;
    block.closed = true;
    const { start, serial } = block;
    switch (block.kind) {
      case 'text':
        this.#cite(block);
        if (block.citations.length > 0) this.#emitData({ api: 'anthropic', type: 'text', citations: block.citations });
        return;
      case 'thinking':
        this.#emitData({ api: 'anthropic', type: 'thinking', signature: block.signature });
        return;
      case 'call': {
        // Some servers send the whole input in the start event.
        if (!block.fed) this.pushCall({ index: serial, arguments: blockInputOf(start) });
        this.endCall({ index: serial });
        const fields = unknownFields(start);
        if (fields !== null) this.#emitData({ api: 'anthropic', type: 'tool_use', id: stringOf(start.id), fields });
        return;
      }
      case 'other': {
        const whole = completeBlock(block);
        if (whole === null) return;
        this.#emitData({ api: 'anthropic', type: 'block', block: whole });
        this.#readSearch(whole);
        return;
      }
      default:
        block.kind satisfies never;
    }
  }

  /** A search is the call, and its result. */
  #readSearch({ type, id, name, input, tool_use_id: of, content }: Json): void {
    if (type === 'server_tool_use' && name === 'web_search') this.#queries.set(stringOf(id), recordOf(input).query);
    if (type !== 'web_search_tool_result') return;
    const sources = listOf(content).map((found) => toCitation({ url: recordOf(found).url, title: recordOf(found).title }));
    this.emitSearch([this.#queries.get(stringOf(of))], sources, !Array.isArray(content));
  }

  #cite({ citations, textStart }: OpenBlock): void {
    const cited = citations.map((citation) => {
      const { url, source, title, cited_text: quote } = recordOf(citation);
      return toCitation({ url: url ?? source, title, quote, start: textStart, end: this.#textLength });
    });
    this.emitCitations(cited);
  }

  #emitData(data: AnthropicNative): void {
    this.emitNative(data);
  }

  #readEnd(event: Json): void {
    const delta = recordOf(event.delta);
    this.#addCounts(event.usage ?? delta.usage);
    if (typeof delta.stop_reason === 'string') this.setFinishReason(delta.stop_reason);
  }

  #addCounts(usage: unknown): void {
    this.#counts = mergeUsage(this.#counts, usage);
    this.usage = readUsage(this.#counts);
  }

  protected override finish(): void {
    const raw = this.finishReason ?? '';
    // Some servers omit stop events; in a reply that was cut, they are missing because the block is incomplete.
    if (!this.isCut()) for (const block of this.#blocks.values()) this.#settle(block);
    this.endCalls(true);
    this.complete({ length: limitReasons.has(raw), filtered: /^refusal$|^content[-_]?filter|^guardrail/i.test(raw) });
  }

  protected override isCut(): boolean {
    return cutReasons.has(this.finishReason ?? '');
  }
}

const limitReasons = new Set(['max_tokens', 'model_context_window_exceeded', 'pause_turn']);
/** A refusal stops the model in the middle of its output. */
const cutReasons = new Set([...limitReasons, 'refusal']);

/** `input_tokens` excludes tokens read from or written to the cache (guide "Prompt caching", "Tracking cache performance"). */
function readUsage(value: unknown): Usage | null {
  const usage = recordOf(value);
  const count = (tokens: unknown): number => (isCount(tokens) ? tokens : 0);
  if (!isCount(usage.input_tokens) && !isCount(usage.output_tokens)) return null;
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: forHour } = recordOf(usage.cache_creation);
  const written = count(usage.cache_creation_input_tokens ?? count(short) + count(forHour));
  return toUsage({
    input: count(usage.input_tokens) + count(usage.cache_read_input_tokens) + written,
    output: usage.output_tokens,
    reasoning: recordOf(usage.output_tokens_details).thinking_tokens,
    cached: usage.cache_read_input_tokens,
    written,
    writtenForHour: forHour,
    cost: readCost(usage),
  });
}
