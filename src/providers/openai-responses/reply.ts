/**
 * OpenAI's Responses API: the adapter, and its reply, streamed or unstreamed, as events. A reply is a list of items; a stream contains
 * their pieces, and then each whole item once more. The whole item adds what the pieces lacked. `request.ts` builds the
 * request. Wire: OpenAI API reference, "Responses: streaming events" (SDK 7.57), and the recorded replies in the tests.
 */
import {
  type ResponseItem,
  ReplyItems,
  contentPart,
  finalStatuses,
  itemInputOf,
  isSameJson,
  isServerItem,
  type OfferedItem,
  partOf,
  type StreamPiece,
  streamPieces,
  readOfferedItem,
  readUsage,
  resultItems,
  type ContentKind,
  terminals,
} from './items.ts';
import { responsesRows } from './profiles.ts';
import { type ResponsesNative, toResponsesBody } from './request.ts';
import { shiftCitations, toCitation } from '../../core/model/citation.ts';
import { GrowingText } from '../../core/model/growing-text.ts';
import { isDeeperThan, isCount, isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Adapter } from '../adapter.ts';
import { WireReply } from '../wire-reply.ts';

export const openaiResponses: Adapter = {
  dialect: 'openai-responses',
  watched: async () => (await import('./watch.ts')).responsesWire,
  path: () => '/responses',
  countTokensPath: () => '/responses/input_tokens',
  profileRows: responsesRows,
  toBody: toResponsesBody,
  createReply: (access) => new ResponsesReply(access),
  modelsUrl: (baseUrl) => `${baseUrl}/models`,
  outputLimits: ({ max_output_tokens: most }) => [most],
  readUsage,
};

class ResponsesReply extends WireReply {
  readonly #items = new ReplyItems();
  #offered: OfferedItem | null = null;
  /** Why the reply is invalid, if known before its end. */
  #fault: string | null = null;
  #isFiltered = false;
  #textLength = 0;

  protected override isReply({ type, output }: Json, name: string): boolean {
    return Array.isArray(output) || /^response\./.test(stringOf(type) || name);
  }

  protected override readWhole(body: Json): void {
    this.#readHead(body);
    this.#readEnd(body, stringOf(body.status) || 'completed');
  }

  protected override read(event: Json, name: string): void {
    const type = stringOf(event.type) || name;
    const piece = streamPieces.get(type);
    // Other events repeat these (begin and end of parts), or report the progress of provider tools.
    if (piece !== undefined) this.#readPiece(event, piece);
    else if (type === 'response.output_item.added') this.#begin(this.#items.ofItem(event, true), recordOf(event.item));
    else if (type === 'response.output_item.done') this.#readItem(this.#items.ofItem(event, false), recordOf(event.item));
    else if (isRecord(event.response)) {
      this.#readHead(event.response);
      const status = terminals.get(type);
      if (status !== undefined) this.#readEnd(event.response, status);
    }
  }

  #readPiece(event: Json, { said, field, isWhole }: StreamPiece): void {
    const item = this.#items.ofPiece(event);
    if (!isWhole) this.#add(item, partOf(event), said, stringOf(event.delta));
    else if (this.#isReadable(event)) this.#addRest(item, partOf(event), said, event[field]);
  }

  #readHead(response: Json): void {
    if (this.id === null && stringOf(response.id) !== '') this.id = stringOf(response.id);
    if (this.created === null && isCount(response.created_at)) this.created = response.created_at;
    if (this.#offered === null && Array.isArray(response.tools)) this.#offered = readOfferedItem(response.tools);
  }

  // ---- Items ----

  #begin(item: ResponseItem, value: Json): void {
    this.#items.latest = item;
    if (item.isWhole || item.kind === 'ours' || item.kind === 'theirs') return;
    item.begun = value;
    const custom = value.type === 'custom_tool_call';
    if (!custom && value.type !== 'function_call') return;
    item.callId = stringOf(value.call_id);
    item.kind = custom && isServerItem(stringOf(value.name), this.#offered) ? 'theirs' : 'ours';
    if (item.kind === 'theirs') return;
    const held = item.said.get(contentPart(0))?.read() ?? '';
    this.pushCall({ id: item.callId, index: item.index, name: stringOf(value.name), arguments: held, custom });
  }

  /** Reads a whole item: adds text that was not streamed, and stores what must be returned. */
  #readItem(item: ResponseItem, value: Json): void {
    if (item.isWhole || !this.#isReadable(value)) return;
    this.#begin(item, value);
    const { type } = value;
    if (type === 'message') this.#readMessage(item, value);
    else if (type === 'reasoning') this.#readReasoning(item, value);
    else if (item.kind === 'ours') this.#readCall(item, value);
    else if (type === 'image_generation_call') this.#readImage(value);
    else if (type === 'web_search_call') this.#readSearch(value);
    else if (item.kind === 'theirs' || (resultItems.has(stringOf(type)) && value.execution !== 'client')) this.#emitData({ item: value });
    item.isWhole = true;
  }

  /** Items are written as JSON again, here and elsewhere, which must never fail. */
  #isReadable(value: Json): boolean {
    if (isDeeperThan(value, limits.maxJsonDepth)) this.#fault = 'sent an item that nests too deep';
    return this.#fault === null;
  }

  #readMessage(item: ResponseItem, { content, phase }: Json): void {
    for (const [index, part] of listOf(content).entries()) {
      const { type, text, refusal } = recordOf(part);
      if (type === 'refusal') this.#addRest(item, contentPart(index), 'refusal', refusal);
      else {
        this.#addRest(item, contentPart(index), 'text', text);
        this.#readAnnotations(listOf(recordOf(part).annotations), stringOf(text).length);
      }
    }
    if (stringOf(phase) !== '') this.#emitData({ message: { phase: stringOf(phase) } });
  }

  /** Of the text that ends the text of the reply so far. */
  #readAnnotations(annotations: readonly unknown[], length: number): void {
    if (annotations.length === 0) return;
    const cited = annotations.flatMap((annotation) => {
      const { type, url, title, start_index: start, end_index: end } = recordOf(annotation);
      return type === 'url_citation' ? (toCitation({ url, title, start, end }) ?? []) : [];
    });
    this.emitCitations(shiftCitations(cited, Math.max(0, this.#textLength - length)));
  }

  #readImage(value: Json): void {
    const data = stringOf(value.result);
    if (data !== '') this.emitImage(`image/${stringOf(value.output_format) || 'png'}`, data);
    this.#emitData({ item: value });
  }

  /** Pages that the model opened within a search are no search. */
  #readSearch(value: Json): void {
    this.#emitData({ item: value });
    const { type, query, queries, sources } = recordOf(value.action);
    if (type !== 'search') return;
    const found = listOf(sources).map((source) => toCitation({ url: recordOf(source).url }));
    this.emitSearch(Array.isArray(queries) ? queries : [query], found, value.status === 'failed');
  }

  #readReasoning(item: ResponseItem, value: Json): void {
    const content = listOf(value.content);
    for (const [index, part] of listOf(value.summary).entries()) this.#addRest(item, index, 'reasoning', recordOf(part).text);
    for (const [index, part] of content.entries()) this.#addRest(item, contentPart(index), 'reasoning', recordOf(part).text);
    // An item with little more than its id would be looked up, but nothing is stored: "Item with id 'rs_…' not found" (vercel/ai#7543).
    if (stringOf(value.encrypted_content) !== '' || content.length > 0) this.#emitData({ item: value });
  }

  #readCall(item: ResponseItem, value: Json): void {
    this.#addRest(item, contentPart(0), 'arguments', itemInputOf(value));
    // Cut at a limit: `done` then only means that the item has ended (recorded: gpt-5.6-incomplete-mid-call).
    if (value.status === 'incomplete' || this.#fault !== null) return;
    const { type, namespace, caller } = value;
    const call: NonNullable<ResponsesNative['call']> = { call_id: item.callId };
    if (type === 'custom_tool_call') call.type = type;
    if (namespace != null) call.namespace = namespace;
    if (caller != null) call.caller = caller;
    // First, because the end of the call is written with it.
    if (Object.keys(call).length > 1) this.#emitData({ call });
    this.endCall({ id: item.callId, index: item.index });
  }

  // ---- Pieces ----

  #add(item: ResponseItem, part: number, what: ContentKind, text: string): void {
    if (text === '' || item.isWhole) return;
    const said = item.said.get(part) ?? new GrowingText();
    if (said.length === 0) item.said.set(part, said);
    said.append(text);
    if (what === 'text') this.#textLength += text.length;
    if (what === 'reasoning') {
      // Encrypted content is bound to the item id: "Encrypted content item_id did not match the target item id" (openclaw/openclaw#71333).
      const nativeId = item.said.size === 1 && said.length === text.length ? stringOf(item.begun.id) : '';
      this.emit({ type: what, text, ...(nativeId !== '' && { nativeId }) });
    } else if (what !== 'arguments') {
      this.emit(what === 'refusal' ? { type: 'text', text, refusal: true } : { type: what, text });
    } else if (item.kind === 'ours') this.pushCall({ index: item.index, arguments: text });
    // Without a name, the assembler would treat it as a separate call, so it waits for the item.
    else if (item.kind === 'other') item.kind = 'unnamed';
  }

  /**
   * Adds the rest of a whole text after its pieces. If the texts differ, the pieces count, because they were already emitted; for a call's
   * arguments the reply fails.
   */
  #addRest(item: ResponseItem, part: number, what: ContentKind, whole: unknown): void {
    const text = isRecord(whole) ? JSON.stringify(whole) : stringOf(whole);
    const said = item.said.get(part);
    if (said === undefined) this.#add(item, part, what, text);
    else if (text.startsWith(said.read())) this.#add(item, part, what, text.slice(said.length));
    // An event was lost or damaged, and it is unknown which of the texts is right.
    else if (what === 'arguments' && text !== '' && !isSameJson(text, said.read()))
      this.#fault = 'sent two different versions of a tool call';
  }

  #emitData(native: Omit<ResponsesNative, 'api'>): void {
    this.emitNative({ api: 'openai-responses', ...native } satisfies ResponsesNative);
  }

  // ---- The end ----

  /** `eventStatus`: the status that the event name implies; servers differ in which of the two is right. */
  #readEnd(response: Json, eventStatus: string): void {
    this.usage = readUsage(response.usage) ?? this.usage;
    const status = finalStatuses.has(stringOf(response.status)) ? stringOf(response.status) : eventStatus;
    if (status === 'failed' && response.error != null) this.failWith(response.error);
    else if (status !== 'completed' && status !== 'incomplete') this.fault('aborted its reply');
    else this.#finishAs(status, response);
  }

  #finishAs(status: 'completed' | 'incomplete', response: Json): void {
    // If the reply was cut, so was its last item; only the received pieces count.
    if (status === 'completed' || this.#items.size === 0) this.#readOutput(listOf(response.output));
    this.finishReason = status;
    this.#isFiltered = status === 'incomplete' && recordOf(response.incomplete_details).reason === 'content_filter';
    this.finish();
  }

  /** Reads all items again, or for the first time; some servers send an empty list. Streamed text stays unchanged. */
  #readOutput(output: readonly unknown[]): void {
    if (this.#items.size === 0) {
      for (const [index, value] of output.entries()) this.#readItem(this.#items.at(index), recordOf(value));
      return;
    }
    const calls = new Map(output.map((value) => [stringOf(recordOf(value).call_id), recordOf(value)]));
    for (const item of this.#items.values()) {
      if (item.isWhole) continue;
      const value = item.callId === '' ? recordOf(output[item.index]) : (calls.get(item.callId) ?? item.begun);
      if (item.begun.type === undefined || item.begun.type === value.type) this.#readItem(item, value);
    }
  }

  /** Alone, the marker ends the reply if no item is open. */
  protected override readEndMark(): void {
    const isWhole = this.#items.size > 0 && [...this.#items.values()].every((item) => item.isWhole);
    if (isWhole) this.finish();
    else this.endStream();
  }

  protected override finish(): void {
    // Pieces of a call that no item ever named; its result reports this.
    for (const item of this.#items.values()) {
      if (item.kind === 'unnamed') this.pushCall({ index: item.index, arguments: item.said.get(contentPart(0))?.read() ?? '' });
    }
    if (this.#fault !== null) {
      this.fault(this.#fault);
      return;
    }
    this.endCalls(true);
    this.complete({ length: this.isCut() && !this.#isFiltered, filtered: this.#isFiltered });
  }

  protected override isCut(): boolean {
    return this.finishReason === 'incomplete';
  }
}
