/**
 * Anthropic's Messages API: converts its reply, streamed or unstreamed, to events. `request.ts` builds the request; both share
 * `NativeData` in `messages.ts`. Wire: API reference "Streaming messages", guide "Stop reasons", and the recorded replies in the
 * tests. `pause_turn` (the provider's own tools ran long enough) ends the reply like a limit: the incomplete text stays, and the next
 * request returns all of it to be continued.
 */
import type { ChatEvent, FinishReason } from '../../core/model/chat-event.ts';
import { limits } from '../../core/limits.ts';
import type { Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { ToolCallAssembler } from '../../core/model/tool-call-assembler.ts';
import type { SseMessage } from '../../net/sse.ts';
import type { Adapter, ReplyReader } from '../adapter.ts';
import { unknownFields, blockInputOf, isRepeatedStart, kindOf, type OpenBlock, openBlock, completeBlock } from './blocks.ts';
import { toMessagesBody } from './request.ts';
import { anthropicRows } from './profiles.ts';
import type { AnthropicNative } from './messages.ts';
import { addCounts, type TokenCounts, usageOf } from './usage.ts';
import { errorBodyProblem, failureEvents, malformedProblem, overflowProblem } from '../provider-error.ts';
import { argumentsOf, isCount, isRecord, type Json, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';

export const anthropic: Adapter = {
  dialect: 'anthropic-messages',
  path: () => '/messages',
  countTokensPath: '/messages/count_tokens',
  headers: { 'anthropic-version': '2023-06-01' },
  profileRows: anthropicRows,
  toBody: toMessagesBody,
  createReply: (access) => new MessagesReply(access),
};

/** Reads one reply. */
class MessagesReply implements ReplyReader {
  state: 'open' | 'tail' | 'over' = 'open';
  /** The provider's id of the reply, once received. */
  id: string | null = null;
  readonly #access: ProviderAccess;
  readonly #assembler = new ToolCallAssembler();
  readonly #blocks = new Map<number, OpenBlock>();
  #latest: OpenBlock | null = null;
  #serials = 0;
  #begun = false;
  /** The last text block, if nothing followed it: another one after it is a separate block. */
  #speaking: number | null = null;
  #calls = 0;
  #counts: TokenCounts = {};
  #stopReason: string | null = null;
  #spoke = false;

  constructor(access: ProviderAccess) {
    this.#access = access;
  }

  take(message: SseMessage): ChatEvent[] {
    if (this.state === 'over') return [];
    if (message.error !== undefined) return this.#fail(tryParse(message.error) ?? message.error);
    const { data } = message;
    if (data.trim() === '') return [];
    // Gateways add OpenAI's end marker after this wire's own.
    if (data === '[DONE]') return this.#finish(true);
    const event = tryParse(data);
    if (!isRecord(event)) return this.#fault('sent an event that is not JSON');
    return this.#keep(this.#read(event, stringOf(event.type) || message.event));
  }

  takeWhole(body: unknown): ChatEvent[] {
    if (this.state === 'over') return [];
    if (isRecord(body) && body.error != null) return this.#fail(body.error);
    if (!isRecord(body) || !Array.isArray(body.content)) return this.#fault('sent a reply without content');
    const events = this.#begin(body);
    for (const [index, block] of body.content.entries()) {
      if (isRecord(block)) events.push(...this.#open({ index, content_block: block }), ...this.#close({ index }));
    }
    this.#readEnd({ delta: body });
    return [...this.#keep(events), ...this.#finish(true)];
  }

  end(): ChatEvent[] {
    return this.state === 'over' ? [] : this.#finish(this.#stopReason !== null);
  }

  #keep(events: ChatEvent[]): ChatEvent[] {
    if (events.length > 0) this.#spoke = true;
    return events;
  }

  #read(event: Json, type: string): ChatEvent[] {
    switch (type) {
      case 'message_start':
        return this.#begin(recordOf(event.message));
      case 'content_block_start':
        return this.#open(event);
      case 'content_block_delta':
        return this.#feed(event.index, recordOf(event.delta));
      case 'content_block_stop':
        return this.#close(event);
      case 'message_delta':
        this.#readEnd(event);
        return [];
      case 'message_stop':
        return this.#finish(true);
      case 'error':
        return this.#fail(event.error ?? event);
      default:
        // `ping`, and future events. An error without its type is still an error.
        return event.error == null ? [] : this.#fail(event.error);
    }
  }

  #begin(message: Json): ChatEvent[] {
    const id = stringOf(message.id) || null;
    // A proxy retried in the middle of the reply; the rest belongs to another reply, whose blocks are numbered from 0 again.
    if (this.#begun && (id !== this.id || this.#serials > 0)) return this.#fault('began another reply in the middle of this one');
    this.#begun = true;
    this.id = id;
    addCounts(this.#counts, message.usage);
    return [];
  }

  #open(event: Json): ChatEvent[] {
    const start = recordOf(event.content_block);
    const kind = kindOf(start);
    const events: ChatEvent[] = [];
    const before = isCount(event.index) ? this.#blocks.get(event.index) : undefined;
    if (before !== undefined && isRepeatedStart(before, kind, start)) return events;
    // Signatures belong to whole runs of thinking, so an earlier run ends here.
    if (kind === 'thinking' && this.#latest?.kind === 'thinking') this.#settle(this.#latest, events);
    const block = openBlock(start, this.#serials++);
    this.#blocks.set(isCount(event.index) ? event.index : block.serial, block);
    this.#latest = block;
    if (kind === 'call') {
      this.#note(this.#assembler.push({ index: block.serial, id: stringOf(start.id), name: stringOf(start.name) }), events);
    }
    if (kind === 'text') this.#say(block, stringOf(start.text), events);
    if (kind === 'thinking') this.#think(stringOf(start.thinking), events);
    return events;
  }

  #feed(index: unknown, delta: Json): ChatEvent[] {
    const events: ChatEvent[] = [];
    const block = (isCount(index) ? this.#blocks.get(index) : this.#latest) ?? this.#blockFor(index, delta);
    if (block.closed) return events;
    block.fed = true;
    // Recognized by the field, because some servers omit delta types and each type has its own field.
    if (delta.partial_json != null) this.#feedInput(block, argumentsOf(delta.partial_json), events);
    else if (typeof delta.text === 'string') this.#say(block, delta.text, events);
    else if (typeof delta.thinking === 'string') this.#think(delta.thinking, events);
    else if (typeof delta.signature === 'string') block.signature = delta.signature;
    else if (delta.citation != null) block.citations.push(delta.citation);
    else block.input = null;
    return events;
  }

  /** Opens the block of a delta whose start is missing. */
  #blockFor(index: unknown, delta: Json): OpenBlock {
    const type = delta.partial_json != null ? 'tool_use' : typeof delta.thinking === 'string' ? 'thinking' : 'text';
    this.#open({ index, content_block: { type } });
    return this.#latest as OpenBlock;
  }

  #feedInput(block: OpenBlock, piece: string | object | null, events: ChatEvent[]): void {
    if (block.kind === 'call') this.#note(this.#assembler.push({ index: block.serial, arguments: piece }), events);
    else if (typeof piece === 'string' && block.input !== null && block.input.length + piece.length <= limits.maxArgumentBytes)
      block.input.append(piece);
    else block.input = null;
  }

  #say(block: OpenBlock, text: string, events: ChatEvent[]): void {
    if (text === '') return;
    if (this.#speaking !== null && this.#speaking !== block.serial) events.push(this.#native({ api: 'anthropic', type: 'text' }));
    this.#speaking = block.serial;
    events.push({ type: 'text', text });
  }

  #think(text: string, events: ChatEvent[]): void {
    if (text === '') return;
    this.#speaking = null;
    events.push({ type: 'reasoning', text });
  }

  #note(made: readonly ChatEvent[], events: ChatEvent[]): void {
    for (const event of made) {
      if (event.type === 'call-start') {
        this.#calls += 1;
        this.#speaking = null;
      }
      events.push(event);
    }
  }

  #close(event: Json): ChatEvent[] {
    const events: ChatEvent[] = [];
    const block = isCount(event.index) ? this.#blocks.get(event.index) : this.#latest;
    if (block != null) this.#settle(block, events);
    return events;
  }

  /** Completes a block. */
  #settle(block: OpenBlock, events: ChatEvent[]): void {
    if (block.closed) return;
    block.closed = true;
    const { start, serial } = block;
    switch (block.kind) {
      case 'text':
        if (block.citations.length > 0) events.push(this.#native({ api: 'anthropic', type: 'text', citations: block.citations }));
        return;
      case 'thinking':
        events.push(this.#native({ api: 'anthropic', type: 'thinking', signature: block.signature }));
        return;
      case 'call': {
        // Some servers send the whole input in the start event.
        if (!block.fed) this.#note(this.#assembler.push({ index: serial, arguments: blockInputOf(start) }), events);
        this.#note(this.#assembler.end({ index: serial }), events);
        const fields = unknownFields(start);
        if (fields !== null) events.push(this.#native({ api: 'anthropic', type: 'tool_use', id: stringOf(start.id), fields }));
        return;
      }
      case 'other': {
        const whole = completeBlock(block);
        if (whole !== null) events.push(this.#native({ api: 'anthropic', type: 'block', block: whole }));
        return;
      }
      default:
        block.kind satisfies never;
    }
  }

  #native(data: AnthropicNative): ChatEvent {
    this.#speaking = null;
    return { type: 'native', provider: this.#access.name, data };
  }

  #readEnd(event: Json): void {
    const delta = recordOf(event.delta);
    addCounts(this.#counts, event.usage ?? delta.usage);
    if (typeof delta.stop_reason !== 'string') return;
    this.#stopReason = delta.stop_reason;
    this.state = 'tail';
  }

  #fault(what: string): ChatEvent[] {
    return this.#break(malformedProblem(this.#access, what));
  }

  #fail(error: unknown): ChatEvent[] {
    return this.#break(errorBodyProblem(this.#access, error));
  }

  /** Incomplete blocks stay incomplete. */
  #break(problem: Problem): ChatEvent[] {
    return this.#end(this.#assembler.finish({ ended: false, length: false }), problem);
  }

  #finish(ended: boolean): ChatEvent[] {
    if (!ended) return this.#fault('ended its reply before it was complete');
    const events: ChatEvent[] = [];
    const isCut = this.#stopReason !== null && cutReasons.has(this.#stopReason);
    // Some servers omit stop events; in a reply that was cut, they are missing because the block is incomplete.
    if (!isCut) for (const block of this.#blocks.values()) this.#settle(block, events);
    this.#note(this.#assembler.finish({ ended: true, length: isCut }), events);
    if (this.#assembler.overflowed) return this.#end(events, overflowProblem(this.#access));
    const usage = usageOf(this.#counts);
    if (usage !== null) events.push({ type: 'usage', usage });
    events.push({ type: 'finish', reason: this.#reason(), raw: this.#stopReason });
    this.state = 'over';
    return events;
  }

  #end(events: ChatEvent[], problem: Problem): ChatEvent[] {
    this.state = 'over';
    return [...events, ...failureEvents(problem, this.#spoke || events.length > 0 ? usageOf(this.#counts) : null)];
  }

  #reason(): FinishReason {
    const raw = this.#stopReason;
    if (raw !== null && limitReasons.has(raw)) return 'length';
    if (raw !== null && /^refusal$|^content[-_]?filter/i.test(raw)) return 'content-filter';
    if (this.#calls > 0) return 'tool-calls';
    return raw === null ? 'unknown' : 'stop';
  }
}

const limitReasons = new Set(['max_tokens', 'model_context_window_exceeded', 'pause_turn']);
/** A refusal stops the model in the middle of its output. */
const cutReasons = new Set([...limitReasons, 'refusal']);
