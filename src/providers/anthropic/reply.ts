/**
 * Anthropic's Messages API: converts its reply, streamed or unstreamed, to events. `request.ts` builds the request; both share
 * `NativeData` in `messages.ts`. Wire: API reference "Streaming messages", guide "Stop reasons", and the recorded replies in the
 * tests. `pause_turn` (the provider's own tools ran long enough) ends the reply like a limit: the incomplete text stays, and the next
 * request returns all of it to be continued.
 */
import { toMessagesBody, anthropicRows } from './request.ts';
import { toCitation } from '../../core/model/citation.ts';
import type { ChatEvent, Usage } from '../../core/model/chat-event.ts';
import { limits } from '../../core/limits.ts';
import type { Adapter } from '../adapter.ts';
import type { AnthropicNative } from './messages.ts';
import { blockInputOf, completeBlock, isRepeatedStart, kindOf, openBlock, type OpenBlock, unknownFields } from './open-block.ts';
import { toUsage, WireReply } from '../wire-reply.ts';
import { argumentsOf, isCount, isRecord, type Json, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { utf8Length } from '../../core/text/utf8.ts';

export const anthropic: Adapter = {
  dialect: 'anthropic-messages',
  path: () => '/messages',
  countTokensPath: '/messages/count_tokens',
  headers: { 'anthropic-version': '2023-06-01' },
  profileRows: anthropicRows,
  toBody: toMessagesBody,
  createReply: (access) => new MessagesReply(access),
  outputLimits: ({ max_tokens: most }) => [most],
  readUsage(usage) {
    const counts: TokenCounts = {};
    addCounts(counts, usage);
    return usageOf(counts);
  },
};

/** Reads one reply. */
class MessagesReply extends WireReply {
  readonly #blocks = new Map<number, OpenBlock>();
  #latest: OpenBlock | null = null;
  #serials = 0;
  #begun = false;
  /** The last text block, if nothing followed it: another one after it is a separate block. */
  #lastText: number | null = null;
  #counts: TokenCounts = {};
  #textLength = 0;

  protected override readWhole(body: unknown): void {
    if (isRecord(body) && body.error != null) this.failWith(body.error);
    else if (!isRecord(body) || !Array.isArray(body.content)) this.fault('sent a reply without content');
    else this.#readMessage(body, body.content);
  }

  #readMessage(body: Json, content: readonly unknown[]): void {
    this.#begin(body);
    for (const [index, block] of content.entries()) {
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
      case 'error':
        this.failWith(event.error ?? event);
        break;
      default:
        // `ping`, and future events. An error without its type is still an error.
        if (event.error != null) this.failWith(event.error);
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
        if (whole !== null) this.#emitData({ api: 'anthropic', type: 'block', block: whole });
        return;
      }
      default:
        block.kind satisfies never;
    }
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
    addCounts(this.#counts, usage);
    this.usage = usageOf(this.#counts);
  }

  protected override finish(): void {
    const raw = this.finishReason ?? '';
    // Some servers omit stop events; in a reply that was cut, they are missing because the block is incomplete.
    if (!this.isCut()) for (const block of this.#blocks.values()) this.#settle(block);
    this.endCalls(true);
    this.complete({ length: limitReasons.has(raw), filtered: /^refusal$|^content[-_]?filter/i.test(raw) });
  }

  protected override isCut(): boolean {
    return cutReasons.has(this.finishReason ?? '');
  }
}

const limitReasons = new Set(['max_tokens', 'model_context_window_exceeded', 'pause_turn']);
/** A refusal stops the model in the middle of its output. */
const cutReasons = new Set([...limitReasons, 'refusal']);

type TokenCounts = { input?: number; cacheRead?: number; cacheCreation?: number; output?: number; thinking?: number };

/** Each event has running totals; unknown counts are absent or null. */
function addCounts(counts: TokenCounts, usage: unknown): void {
  if (!isRecord(usage)) return;
  if (isCount(usage.input_tokens)) counts.input = usage.input_tokens;
  if (isCount(usage.cache_read_input_tokens)) counts.cacheRead = usage.cache_read_input_tokens;
  if (isCount(usage.cache_creation_input_tokens)) counts.cacheCreation = usage.cache_creation_input_tokens;
  if (isCount(usage.output_tokens)) counts.output = usage.output_tokens;
  const thinking = recordOf(usage.output_tokens_details).thinking_tokens;
  if (isCount(thinking)) counts.thinking = thinking;
}

/** `input_tokens` excludes tokens read from or written to the cache (guide "Prompt caching", "Tracking cache performance"). */
function usageOf({ input, cacheRead, cacheCreation, output, thinking }: TokenCounts): Usage | null {
  if (input === undefined && output === undefined) return null;
  const usage = toUsage((input ?? 0) + (cacheRead ?? 0) + (cacheCreation ?? 0), output, thinking, cacheRead);
  return usage === null || !cacheCreation ? usage : { ...usage, cacheWriteInputTokens: cacheCreation };
}
