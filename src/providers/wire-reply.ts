/**
 * What the reply readers of all wires share: parsing messages, collecting events, assembling calls, and ending the reply exactly once. The
 * reader of a wire extends it with the meaning of each event.
 */
import type { CallPiece } from '../core/model/open-call.ts';
import { type Json, isRecord, tryParse } from '../core/json/wire-value.ts';
import { type Citation, createCitationFilter } from '../core/model/citation.ts';
import type { ChatEvent, FinishReason, Usage } from '../core/model/chat-event.ts';
import { MB } from '../core/limits/units.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { maxShownSearches, toMadeSearch } from '../core/model/web-search.ts';
import { ToolCallAssembler } from '../core/model/tool-call-assembler.ts';
import type { Problem } from '../core/problem.ts';
import type { SseMessage } from '../net/sse.ts';
import type { ReplyReader } from './adapter.ts';
import { reportsError } from './reported-error.ts';
import { errorBodyProblem, failureEvents, malformedProblem, overflowProblem } from './provider-error.ts';

/** Images of one reply, which a session stores, and the base64 of each: an event of a stream is not larger. */
const maxImages = 4;
const maxImageCharacters = 4 * MB;

export abstract class WireReply implements ReplyReader {
  state: ReplyReader['state'] = 'open';
  message: Json | null = null;
  id: string | null = null;
  created: number | null = null;
  protected readonly access: ProviderAccess;
  protected readonly assembler = new ToolCallAssembler();
  protected usage: Usage | null = null;
  /** The wire's own reason, once received. */
  protected finishReason: string | null = null;
  /** The number of calls that have started. */
  protected started = 0;
  protected hasOutput = false;
  #images = 0;
  #searches = 0;
  readonly #newCitations = createCitationFilter();
  /** The events of the current message. */
  #events: ChatEvent[] = [];

  constructor(access: ProviderAccess) {
    this.access = access;
  }

  take(message: SseMessage, body?: Json): ChatEvent[] {
    return this.#collect(() => this.#readMessage(message, body));
  }

  takeWhole(body: unknown): ChatEvent[] {
    // A list is a stream of its elements.
    if (Array.isArray(body))
      return [...body.flatMap((event) => this.take({ event: 'message', data: JSON.stringify(event) })), ...this.end()];
    return this.#collect(() => {
      if (isRecord(body) && this.isReply(body, '')) this.readWhole(body);
      else if (isRecord(body) && !reportsError(body, false)) this.fault('sent a reply that its API does not have');
      else this.failWith(body);
    });
  }

  end(): ChatEvent[] {
    return this.#collect(() => this.endStream());
  }

  // ---- Defined by each wire ----

  /** Returns whether an event, or a body, has the form of this API. Others may report an error in any other form. */
  protected abstract isReply(value: Json, name: string): boolean;
  /** Reads one event of a stream. `name`: its SSE event name, `message` if it has none. */
  protected abstract read(event: Json, name: string): void;
  /** Reads the body of an unstreamed reply and ends the reply. */
  protected abstract readWhole(body: Json): void;
  /** Ends the reply, which is complete. */
  protected abstract finish(): void;
  /** Returns whether the reply was cut, so that its last call may be incomplete. */
  protected abstract isCut(): boolean;

  /** Reads an event of this API, or an error in any form. */
  protected readEvent(event: Json, name: string): void {
    this.read(event, name);
    if (!this.isOver() && (name === 'error' || reportsError(event, this.isReply(event, name)))) this.failWith(event);
  }

  /** Reads OpenAI's end marker, which gateways add to other wires too. */
  protected readEndMark(): void {
    this.finish();
  }

  // ---- Used by each wire ----

  protected endStream(): void {
    if (this.finishReason === null) this.fault('ended its reply before it was complete');
    else this.finish();
  }

  /** Only usage and the end marker may follow. */
  protected setFinishReason(reason: string): void {
    this.finishReason = reason;
    this.state = 'tail';
  }

  protected emit(event: ChatEvent): void {
    this.hasOutput = true;
    if (event.type === 'call-start') this.started += 1;
    this.#events.push(event);
  }

  /** Emits `text` or `reasoning`, unless it is empty. */
  protected emitText(type: 'text' | 'reasoning', text: string): void {
    if (text !== '') this.emit({ type, text });
  }

  /** Emits an image that the model made; a note for one that is too large, or one too many. */
  protected emitImage(mediaType: string, data: string): void {
    const isShown = /^image\/[a-z0-9.+-]{1,100}$/i.test(mediaType) && data.length <= maxImageCharacters && this.#images < maxImages;
    if (isShown) this.#images += 1;
    this.emit(
      isShown ? { type: 'image', mediaType, data } : { type: 'text', text: `[file: ${mediaType.slice(0, 100) || 'of unknown type'}]` },
    );
  }

  /** Emits the sources that were not cited before. */
  protected emitCitations(sources: readonly (Citation | null)[]): void {
    const citations = this.#newCitations(sources);
    if (citations.length > 0) this.emit({ type: 'citations', citations });
  }

  /** Emits a web search of the provider, unless its query is unknown. */
  protected emitSearch(queries: readonly unknown[], sources: readonly (Citation | null)[], failed = false): void {
    const search = toMadeSearch(queries, sources, failed);
    if (search === null || this.#searches >= maxShownSearches) return;
    this.#searches += 1;
    this.emit({ type: 'search', ...search });
  }

  protected emitNative(data: unknown): void {
    this.emit({ type: 'native', provider: this.access.name, data });
  }

  protected pushCall(piece: CallPiece): void {
    for (const event of this.assembler.push(piece)) this.emit(event);
  }

  protected endCall(call: Pick<CallPiece, 'id' | 'index'>): void {
    for (const event of this.assembler.end(call)) this.emit(event);
  }

  /** `ended`: the wire reported the end of the reply. */
  protected endCalls(ended: boolean): void {
    for (const event of this.assembler.finish({ ended, length: this.isCut() })) this.emit(event);
  }

  /** Ends a complete reply after its calls. `other`: the reason if the reply has no calls and was not cut. */
  protected complete(
    how: { length: boolean; filtered: boolean },
    other: FinishReason = this.finishReason === null ? 'unknown' : 'stop',
  ): void {
    // A reply may be empty, for example after a tool result that needs no words. Then it has a reason.
    const isEmpty = !this.finishReason && !this.hasOutput;
    if (this.assembler.overflowed || isEmpty) {
      this.abort(isEmpty ? malformedProblem(this.access, 'ended its reply without an answer') : overflowProblem(this.access));
      return;
    }
    if (this.usage !== null) this.emit({ type: 'usage', usage: this.usage });
    const reason = how.length ? 'length' : how.filtered ? 'content-filter' : this.started > 0 ? 'tool-calls' : other;
    this.emit({ type: 'finish', reason, raw: this.finishReason });
    this.state = 'over';
  }

  /** The reply is not valid. `what` completes "The provider …". */
  protected fault(what: string): void {
    this.fail(malformedProblem(this.access, what));
  }

  /** The provider reported an error. */
  protected failWith(error: unknown): void {
    this.fail(errorBodyProblem(this.access, error), this.finishReason !== null);
  }

  protected fail(problem: Problem, ended = false): void {
    if (this.isOver()) return;
    this.endCalls(ended);
    this.abort(problem);
  }

  /** Ends a failed reply after its calls. */
  protected abort(problem: Problem): void {
    this.#events.push(...failureEvents(problem, this.hasOutput ? this.usage : null));
    this.state = 'over';
  }

  /** Unlike a comparison, which TypeScript remembers after a call that changes the state. */
  protected isOver(): boolean {
    return this.state === 'over';
  }

  #collect(read: () => void): ChatEvent[] {
    if (this.isOver()) return [];
    this.#events = [];
    read();
    return this.#events;
  }

  #readMessage({ event: name, data, error }: SseMessage, body?: Json): void {
    const event = body ?? tryParse(error ?? data);
    this.message = isRecord(event) ? event : null;
    if (error !== undefined) this.failWith(event ?? error);
    else if (isRecord(event)) this.readEvent(event, name);
    else if (name === 'error') this.failWith(event ?? data);
    else if (data.trim() === '[DONE]') this.readEndMark();
    else if (data.trim() !== '') this.fault('sent an event that is not JSON');
  }
}
