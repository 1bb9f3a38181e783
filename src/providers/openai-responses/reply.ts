/**
 * OpenAI's Responses API: the adapter, and its reply, streamed or unstreamed, as events. A reply is a list of items; a stream contains
 * their pieces, and then each whole item once more. The whole item adds what the pieces lacked. `openai-responses/request.ts` builds the
 * request. Wire: OpenAI API reference, "Responses: streaming events" (SDK 7.57), and the recorded replies in the tests.
 */
import type { ChatEvent, FinishReason, Usage } from '../../core/model/chat-event.ts';
import { GrowingText } from '../../core/model/growing-text.ts';
import { isDeeperThan } from '../../core/json/json-depth.ts';
import { limits } from '../../core/limits.ts';
import type { Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { ToolCallAssembler } from '../../core/model/tool-call-assembler.ts';
import type { SseMessage } from '../../net/sse.ts';
import type { Adapter, ReplyReader } from '../adapter.ts';
import { type ResponseItem, ReplyItems } from './items.ts';
import { type ResponsesNative, toResponsesBody } from './request.ts';
import { responsesRows } from './profiles.ts';
import {
  contentPart,
  finalStatuses,
  itemInputOf,
  isSameJson,
  isServerItem,
  type OfferedItem,
  partOf,
  streamPieces,
  readOfferedItem,
  readUsage,
  resultItems,
  type ContentKind,
  terminals,
} from './events.ts';
import { errorBodyProblem, failureEvents, malformedProblem, overflowProblem } from '../provider-error.ts';
import { isCount, isRecord, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';

export const openaiResponses: Adapter = {
  dialect: 'openai-responses',
  path: () => '/responses',
  profileRows: responsesRows,
  toBody: toResponsesBody,
  createReply: (access) => new ResponsesReply(access),
};

class ResponsesReply implements ReplyReader {
  state: 'open' | 'over' = 'open';
  id: string | null = null;
  created: number | null = null;
  readonly #access: ProviderAccess;
  readonly #assembler = new ToolCallAssembler();
  readonly #items = new ReplyItems();
  #offered: OfferedItem | null = null;
  #usage: Usage | null = null;
  #spoke = false;
  #called = false;
  /** Why the reply is invalid, if known before its end. */
  #fault: string | null = null;

  constructor(access: ProviderAccess) {
    this.#access = access;
  }

  take({ event, data, error }: SseMessage): ChatEvent[] {
    if (this.state === 'over') return [];
    if (error !== undefined) return this.#fail([], errorBodyProblem(this.#access, tryParse(error) ?? error));
    const value = tryParse(data);
    if (isRecord(value)) return this.#read(stringOf(value.type) || event, value);
    if (data.trim() === '') return [];
    if (data.trim() === '[DONE]') return this.#endUntold();
    return this.#fail([], malformedProblem(this.#access, 'sent an event that is not JSON'));
  }

  takeWhole(body: unknown): ChatEvent[] {
    if (this.state === 'over') return [];
    if (!isRecord(body) || !Array.isArray(body.output)) {
      const error = isRecord(body) ? body.error : null;
      const problem = error == null ? malformedProblem(this.#access, 'sent a reply without output') : errorBodyProblem(this.#access, error);
      return this.#fail([], problem);
    }
    this.#readHead(body);
    return this.#readEnd(body, stringOf(body.status) || 'completed');
  }

  end(): ChatEvent[] {
    return this.state === 'over' ? [] : this.#fail([], malformedProblem(this.#access, 'ended its reply before it was complete'));
  }

  #read(type: string, event: Json): ChatEvent[] {
    const events: ChatEvent[] = [];
    const piece = streamPieces.get(type);
    if (piece !== undefined) {
      const item = this.#items.ofPiece(event);
      const part = partOf(event);
      if (piece.isWhole) {
        if (this.#isReadable(event)) this.#sayRest(item, part, piece.said, event[piece.field], events);
      } else {
        this.#say(item, part, piece.said, stringOf(event.delta), events);
      }
      return events;
    }
    // Other events repeat these (begin and end of parts), or report the progress of provider tools.
    if (type === 'response.output_item.added') this.#begin(this.#items.ofItem(event, true), recordOf(event.item), events);
    else if (type === 'response.output_item.done') this.#readItem(this.#items.ofItem(event, false), recordOf(event.item), events);
    else if (type === 'error' || (type === 'message' && event.error != null)) {
      return this.#fail(events, errorBodyProblem(this.#access, event.error ?? event));
    } else if (isRecord(event.response)) {
      this.#readHead(event.response);
      const status = terminals.get(type);
      if (status !== undefined) return this.#readEnd(event.response, status);
    }
    return events;
  }

  #readHead(response: Json): void {
    if (this.id === null && stringOf(response.id) !== '') this.id = stringOf(response.id);
    if (this.created === null && isCount(response.created_at)) this.created = response.created_at;
    if (this.#offered === null && Array.isArray(response.tools)) this.#offered = readOfferedItem(response.tools);
  }

  // ---- Items ----

  #begin(item: ResponseItem, value: Json, events: ChatEvent[]): void {
    this.#items.latest = item;
    if (item.isWhole || item.kind === 'ours' || item.kind === 'theirs') return;
    item.begun = value;
    const custom = value.type === 'custom_tool_call';
    if (!custom && value.type !== 'function_call') return;
    item.callId = stringOf(value.call_id);
    item.kind = custom && isServerItem(stringOf(value.name), this.#offered) ? 'theirs' : 'ours';
    if (item.kind === 'theirs') return;
    const held = item.said.get(contentPart(0))?.read() ?? '';
    this.#push({ id: item.callId, index: item.index, name: stringOf(value.name), arguments: held, custom }, events);
  }

  /** Reads a whole item: adds text that was not streamed, and stores what must be returned. */
  #readItem(item: ResponseItem, value: Json, events: ChatEvent[]): void {
    if (item.isWhole || !this.#isReadable(value)) return;
    this.#begin(item, value, events);
    const { type } = value;
    if (type === 'message') this.#readMessage(item, value, events);
    else if (type === 'reasoning') this.#readReasoning(item, value, events);
    else if (item.kind === 'ours') this.#readCall(item, value, events);
    else if (item.kind === 'theirs' || (resultItems.has(stringOf(type)) && value.execution !== 'client'))
      this.#keep({ item: value }, events);
    item.isWhole = true;
  }

  /** Items are written as JSON again, here and elsewhere, which must never fail. */
  #isReadable(value: Json): boolean {
    if (isDeeperThan(value, limits.maxJsonDepth)) this.#fault = 'sent an item that nests too deep';
    return this.#fault === null;
  }

  #readMessage(item: ResponseItem, { content, phase }: Json, events: ChatEvent[]): void {
    for (const [index, part] of listOf(content).entries()) {
      const { type, text, refusal } = recordOf(part);
      if (type === 'refusal') this.#sayRest(item, contentPart(index), 'refusal', refusal, events);
      else this.#sayRest(item, contentPart(index), 'text', text, events);
    }
    if (stringOf(phase) !== '') this.#keep({ message: { phase: stringOf(phase) } }, events);
  }

  #readReasoning(item: ResponseItem, value: Json, events: ChatEvent[]): void {
    const content = listOf(value.content);
    for (const [index, part] of listOf(value.summary).entries()) this.#sayRest(item, index, 'reasoning', recordOf(part).text, events);
    for (const [index, part] of content.entries()) this.#sayRest(item, contentPart(index), 'reasoning', recordOf(part).text, events);
    // An item with little more than its id would be looked up, but nothing is stored: "Item with id 'rs_…' not found" (vercel/ai#7543).
    if (stringOf(value.encrypted_content) !== '' || content.length > 0) this.#keep({ item: value }, events);
  }

  #readCall(item: ResponseItem, value: Json, events: ChatEvent[]): void {
    this.#sayRest(item, contentPart(0), 'arguments', itemInputOf(value), events);
    // Cut at a limit: `done` then only means that the item has ended (recorded: gpt-5.6-incomplete-mid-call).
    if (value.status === 'incomplete' || this.#fault !== null) return;
    this.#note(this.#assembler.end({ id: item.callId, index: item.index }), events);
    const { type, namespace, caller } = value;
    const call: NonNullable<ResponsesNative['call']> = { call_id: item.callId };
    if (type === 'custom_tool_call') call.type = type;
    if (namespace != null) call.namespace = namespace;
    if (caller != null) call.caller = caller;
    if (Object.keys(call).length > 1) this.#keep({ call }, events);
  }

  // ---- Pieces ----

  #say(item: ResponseItem, part: number, what: ContentKind, text: string, events: ChatEvent[]): void {
    if (text === '' || item.isWhole) return;
    const said = item.said.get(part) ?? new GrowingText();
    if (said.length === 0) item.said.set(part, said);
    said.append(text);
    if (what === 'reasoning') {
      // Encrypted content is bound to the item id: "Encrypted content item_id did not match the target item id" (openclaw/openclaw#71333).
      const nativeId = item.said.size === 1 && said.length === text.length ? stringOf(item.begun.id) : '';
      events.push({ type: what, text, ...(nativeId !== '' && { nativeId }) });
      this.#spoke = true;
    } else if (what !== 'arguments') {
      events.push(what === 'refusal' ? { type: 'text', text, refusal: true } : { type: what, text });
      this.#spoke = true;
    } else if (item.kind === 'ours') this.#push({ index: item.index, arguments: text }, events);
    // Without a name, the assembler would treat it as a separate call, so it waits for the item.
    else if (item.kind === 'other') item.kind = 'unnamed';
  }

  /**
   * Adds the rest of a whole text after its pieces. If the texts differ, the pieces count, because they were already emitted; for a call's
   * arguments the reply fails.
   */
  #sayRest(item: ResponseItem, part: number, what: ContentKind, whole: unknown, events: ChatEvent[]): void {
    const text = isRecord(whole) ? JSON.stringify(whole) : stringOf(whole);
    const said = item.said.get(part);
    if (said === undefined) this.#say(item, part, what, text, events);
    else if (text.startsWith(said.read())) this.#say(item, part, what, text.slice(said.length), events);
    // An event was lost or damaged, and it is unknown which of the texts is right.
    else if (what === 'arguments' && text !== '' && !isSameJson(text, said.read()))
      this.#fault = 'sent two different versions of a tool call';
  }

  #push(piece: Parameters<ToolCallAssembler['push']>[0], events: ChatEvent[]): void {
    this.#note(this.#assembler.push(piece), events);
  }

  #note(made: readonly ChatEvent[], events: ChatEvent[]): void {
    for (const event of made) {
      if (event.type === 'call-start') this.#called = true;
      events.push(event);
    }
  }

  #keep(native: Omit<ResponsesNative, 'api'>, events: ChatEvent[]): void {
    events.push({ type: 'native', provider: this.#access.name, data: { api: 'openai-responses', ...native } satisfies ResponsesNative });
  }

  // ---- The end ----

  /** `eventStatus`: the status that the event name implies; servers differ in which of the two is right. */
  #readEnd(response: Json, eventStatus: string): ChatEvent[] {
    this.#usage = readUsage(response.usage) ?? this.#usage;
    const status = finalStatuses.has(stringOf(response.status)) ? stringOf(response.status) : eventStatus;
    if (status === 'failed' && response.error != null) return this.#fail([], errorBodyProblem(this.#access, response.error));
    if (status !== 'completed' && status !== 'incomplete') return this.#fail([], malformedProblem(this.#access, 'aborted its reply'));
    const events: ChatEvent[] = [];
    // If the reply was cut, so was its last item; only the received pieces count.
    if (status === 'completed' || this.#items.size === 0) this.#readOutput(listOf(response.output), events);
    return this.#finish(events, status, stringOf(recordOf(response.incomplete_details).reason));
  }

  /** Reads all items again, or for the first time; some servers send an empty list. Streamed text stays unchanged. */
  #readOutput(output: readonly unknown[], events: ChatEvent[]): void {
    if (this.#items.size === 0) {
      for (const [index, value] of output.entries()) this.#readItem(this.#items.at(index), recordOf(value), events);
      return;
    }
    const calls = new Map(output.map((value) => [stringOf(recordOf(value).call_id), recordOf(value)]));
    for (const item of this.#items.values()) {
      if (item.isWhole) continue;
      const value = item.callId === '' ? recordOf(output[item.index]) : (calls.get(item.callId) ?? item.begun);
      if (item.begun.type === undefined || item.begun.type === value.type) this.#readItem(item, value, events);
    }
  }

  /** The end marker of other APIs, which some proxies add. Alone it ends the reply if no item is open. */
  #endUntold(): ChatEvent[] {
    const isWhole = this.#items.size > 0 && [...this.#items.values()].every((item) => item.isWhole);
    return isWhole ? this.#finish([], null, '') : this.end();
  }

  #finish(events: ChatEvent[], status: 'completed' | 'incomplete' | null, why: string): ChatEvent[] {
    const isCut = status === 'incomplete';
    // Pieces of a call that no item ever named; its result reports this.
    for (const item of this.#items.values()) {
      if (item.kind === 'unnamed') this.#push({ index: item.index, arguments: item.said.get(contentPart(0))?.read() ?? '' }, events);
    }
    if (this.#fault !== null) return this.#fail(events, malformedProblem(this.#access, this.#fault));
    this.#note(this.#assembler.finish({ ended: true, length: isCut }), events);
    if (this.#assembler.overflowed) return this.#fail(events, overflowProblem(this.#access));
    if (this.#usage !== null) events.push({ type: 'usage', usage: this.#usage });
    events.push({ type: 'finish', reason: this.#reason(status, why), raw: status });
    this.state = 'over';
    return events;
  }

  #reason(status: string | null, why: string): FinishReason {
    if (status === 'incomplete') return why === 'content_filter' ? 'content-filter' : 'length';
    if (this.#called) return 'tool-calls';
    return status === null ? 'unknown' : 'stop';
  }

  #fail(events: ChatEvent[], problem: Problem): ChatEvent[] {
    this.#note(this.#assembler.finish({ ended: false, length: false }), events);
    events.push(...failureEvents(problem, this.#spoke || this.#called ? this.#usage : null));
    this.state = 'over';
    return events;
  }
}
