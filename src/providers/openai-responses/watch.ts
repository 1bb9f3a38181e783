/** What clients of Responses can read: items in order, each added, filled and done under one index and id, and all of them at the end. */
import { isRecord, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { AnswerFrame } from '../../dialects/dialect.ts';
import { CallCount, isName, type WatchedMessage, type WatchedWire, type WireWatch } from '../relay/wire-watch.ts';
import { streamPieces, terminals } from './items.ts';

export const responsesWire: WatchedWire = {
  createWatch: () => new ResponsesWatch(),
  pieceOf(body) {
    const { type, delta: text } = body;
    if (streamPieces.get(stringOf(type))?.isWhole !== false || typeof text !== 'string') return null;
    return { text, isJoined: joined.has(type), with: (delta) => ({ ...body, delta }) };
  },
  isRegular({ id, status, output }, events) {
    const items = listOf(output).map(recordOf);
    const calls = items.filter(({ type }) => type === 'function_call');
    const started = events.filter((event) => event.type === 'call-start' && event.custom !== true).length;
    return isName(id) && isName(status) && items.every(isItem) && calls.every(isWholeCall) && calls.length === started;
  },
  mend: (reply, { output, status, ...encoded }) => ({ ...encoded, ...reply, output, status }),
};

/** An item that the client has received. */
type ShownItem = { index: number; id: string; type: string; value: Json; isDone: boolean; notes: Set<string> };

class ResponsesWatch implements WireWatch {
  readonly #calls = new CallCount();
  /** Free-text calls, which are read as they come, and not at all where the provider runs them. */
  readonly #custom = new Set<number>();
  /** By their index: the id and type of each item, and whether it has ended. */
  readonly #items: { id: string; type: string; isDone: boolean }[] = [];
  readonly #shown: ShownItem[] = [];
  /** Of the response. */
  #id = '';
  /** A free-text call without text so far, which may be the provider's. */
  #waiting: unknown = null;
  #isOver = false;
  #response: Json = {};
  #sequence = -1;

  take({ name, body }: WatchedMessage, events: readonly ChatEvent[]): boolean {
    for (const event of events) if (event.type === 'call-start' && event.custom === true) this.#custom.add(event.call);
    this.#calls.read(events.filter((event) => !('call' in event && this.#custom.has(event.call))));
    // Clients choose by the type.
    const type = stringOf(body?.type);
    if (body === null || type === '' || (name !== 'message' && name !== type)) return false;
    const piece = streamPieces.get(type);
    if (piece !== undefined) return this.#isPiece(body, piece, events) && !this.#calls.isMore();
    if (type === 'error') return isName(body.message) || isRecord(body.error);
    return this.#isEvent(type, body, events) && !this.#calls.isMore();
  }

  #isEvent(type: string, body: Json, events: readonly ChatEvent[]): boolean {
    if (type === 'response.output_item.added') return this.#isAdded(body.output_index, recordOf(body.item));
    if (type === 'response.output_item.done') return this.#isDone(body.output_index, recordOf(body.item), events);
    if (!isRecord(body.response)) return true;
    const { id } = body.response;
    if (this.#id === '') this.#id = stringOf(id);
    return isName(id) && id === this.#id && (!terminals.has(type) || this.#isEnd(body.response));
  }

  #isAdded(index: unknown, item: Json): boolean {
    if (this.#id === '' || index !== this.#items.length || !isItem(item)) return false;
    this.#items.push({ id: stringOf(item.id), type: stringOf(item.type), isDone: false });
    this.#waiting = item.type === 'custom_tool_call' ? index : null;
    if (item.type === 'function_call') this.#calls.begin();
    else if (item.type !== 'custom_tool_call') return true;
    return isName(item.call_id) && isName(item.name) && !item.arguments && !item.input;
  }

  #isPiece(
    { output_index: index, item_id: id, delta, ...body }: Json,
    { field, isWhole }: { field: string; isWhole: boolean },
    events: readonly ChatEvent[],
  ): boolean {
    const item = this.#items[index as number];
    if (item === undefined || item.id !== id || item.isDone || typeof (isWhole ? body[field] : delta) !== 'string') return false;
    if (index === this.#waiting) this.#waiting = null;
    if (item.type === 'function_call' && !isWhole) this.#calls.add(delta);
    return !isWhole || !events.some(isText);
  }

  /** Whether the item is the one that was added, and its pieces are all that it contains. */
  #isDone(index: unknown, value: Json, events: readonly ChatEvent[]): boolean {
    const item = this.#items[index as number];
    if (item === undefined || item.isDone || item.id !== value.id || item.type !== value.type) return false;
    item.isDone = true;
    if (index === this.#waiting) this.#waiting = null;
    return !events.some(isText);
  }

  #isEnd({ output, status }: Json): boolean {
    this.#isOver = true;
    const isWhole = this.#items.every(({ isDone }) => isDone) || status !== 'completed';
    return isWhole && isName(status) && this.#isSame() && listOf(output).length >= this.#items.length;
  }

  #isSame(): boolean {
    return this.#calls.isSame() && !this.#calls.hasEmpty();
  }

  /** A call that has not ended with its item is incomplete, or will be repaired at the end of the reply. */
  isSettled(): boolean {
    const open = this.#items.filter(({ type, isDone }) => type === 'function_call' && !isDone).length;
    return this.#isOver || (this.#waiting === null && this.#calls.isSame() && (open > 0 || this.#calls.hasEnded()));
  }

  /** The last event has the whole response. */
  end(): null {
    return null;
  }

  show(body: Json): void {
    if (typeof body.sequence_number === 'number') this.#sequence = body.sequence_number;
    if (isRecord(body.response)) this.#response = { ...this.#response, ...body.response };
    const item = this.#shown[body.output_index as number];
    if (body.type === 'response.output_item.added') this.#shown.push(shownItem(this.#shown.length, recordOf(body.item)));
    else if (body.type === 'response.output_item.done' && item !== undefined)
      Object.assign(item, { value: recordOf(body.item), isDone: true });
    else if (noteOf(body) !== '') item?.notes.add(noteOf(body));
  }

  items(): readonly unknown[] {
    const output = listOf(this.#response.output);
    return output.length > 0 ? output : this.#shown.map(({ value }) => value);
  }

  /** The encoder has no items of unknown types: its items are matched to those of the client by their types, in order. */
  align(shown: readonly AnswerFrame[]) {
    const places = new Map<number, ShownItem>();
    const read = (frame: AnswerFrame): Json => JSON.parse(frame.data) as Json;
    const place = (index: number, value: Json, isKnown: (item: ShownItem) => boolean): ShownItem => {
      const taken = new Set(places.values());
      const next = (item: ShownItem): boolean => item.type === value.type && !taken.has(item) && isKnown(item);
      const item = places.get(index) ?? this.#shown.find(next) ?? shownItem(this.#shown.length, value);
      places.set(index, item);
      return item;
    };
    for (const event of shown.map(read))
      if (event.type === 'response.output_item.added') place(event.output_index as number, recordOf(event.item), () => true);
    const continued = (index: number, value: Json): ShownItem => place(index, value, ({ isDone }) => !isDone);
    const write = (event: Json): AnswerFrame => {
      this.#sequence += 1;
      return { event: stringOf(event.type), data: JSON.stringify({ ...event, sequence_number: this.#sequence }) };
    };
    return (frame: AnswerFrame): AnswerFrame[] => {
      const event = read(frame);
      if (isRecord(event.response)) event.response = this.#continueResponse(event.response, continued);
      if (typeof event.output_index !== 'number') return [write(event)];
      const item = continued(event.output_index, recordOf(event.item));
      if (!this.#continueItem(event, item)) return [];
      const { output_index, item_id, summary_index } = event;
      const part = { type: 'response.reasoning_summary_part.added', item_id, output_index, summary_index, part: emptySummary };
      // The client has the reasoning so far in another part of the item.
      const isMissing = summary_index !== undefined && event.type !== part.type && !item.notes.has(noteOf(part));
      if (isMissing) item.notes.add(noteOf(part));
      return [...(isMissing ? [write(part)] : []), write(event)];
    };
  }

  /** Changes an event so that it is about the client's item. Returns false if the client has received it. */
  #continueItem(event: Json, item: ShownItem): boolean {
    const isNew = !this.#shown.includes(item);
    if (isNew) this.#shown.push(item);
    const isSecond = event.type === 'response.output_item.added' ? !isNew : item.notes.has(noteOf(event));
    if (item.isDone || isSecond) return false;
    if (noteOf(event) !== '') item.notes.add(noteOf(event));
    event.output_index = item.index;
    if (event.item_id !== undefined) event.item_id = item.id;
    if (isRecord(event.item)) event.item = { ...event.item, id: item.id };
    if (event.type === 'response.output_item.done') Object.assign(item, { value: event.item, isDone: true });
    return true;
  }

  /** Returns the response with the items that the client has received, and what its provider said about it. */
  #continueResponse(response: Json, place: (index: number, value: Json) => ShownItem): Json {
    const { output, status, usage, error, incomplete_details: details } = response;
    for (const [index, value] of listOf(output).entries()) {
      const item = place(index, recordOf(value));
      if (!item.isDone) item.value = { ...recordOf(value), id: item.id };
    }
    const items = this.#shown.map(({ value }) => value);
    this.#response = { ...response, ...this.#response, status, usage, error, incomplete_details: details, output: items };
    return this.#response;
  }
}

/** Pieces of text, unlike those of calls, are never odd. */
const joined = new Set<unknown>(['response.output_text.delta', 'response.reasoning_text.delta', 'response.reasoning_summary_text.delta']);

const emptySummary = { type: 'summary_text', text: '' };

function shownItem(index: number, value: Json): ShownItem {
  return { index, id: stringOf(value.id), type: stringOf(value.type), value, isDone: false, notes: new Set() };
}

/** What an event is about, of which the client gets one; empty for pieces of a text. */
function noteOf({ type, summary_index: summary, content_index: content, annotation_index: annotation = '' }: Json): string {
  return stringOf(type).endsWith('.delta') ? '' : `${stringOf(type)} ${summary ?? content} ${annotation}`;
}

/** The reader has found in a whole text what its pieces lacked. */
function isText({ type }: ChatEvent): boolean {
  return type === 'text' || type === 'reasoning' || type === 'call-delta';
}

function isItem({ type, id }: Json): boolean {
  return isName(type) && (isName(id) || !namedTypes.has(type));
}

/** Items whose pieces name them. */
const namedTypes = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);

function isWholeCall({ call_id: id, name, arguments: args }: Json): boolean {
  return isName(id) && isName(name) && isRecord(tryParse(stringOf(args)));
}
