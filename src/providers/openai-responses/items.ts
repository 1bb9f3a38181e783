/**
 * The items of one reply of OpenAI's Responses API, and the lookup of an event's item: servers number and name items differently, or not at
 * all. `openai-responses/dialect.ts`, the only user, reads the events.
 */
import type { GrowingText } from '../../core/model/growing-text.ts';
import { isCount, type Json, recordOf, stringOf } from '../../core/json/wire-value.ts';

/** One item of the reply while it is streamed. */
export type ResponseItem = {
  index: number;
  /** For a call, once known. */
  callId: string;
  /** `ours`: a client call, which the assembler tracks; `unnamed`: pieces of a call that has not begun; `theirs`: run by the provider. */
  kind: 'other' | 'unnamed' | 'ours' | 'theirs';
  isWhole: boolean;
  /** The text of each part so far: summaries by their index, others by `contentPart`. */
  said: Map<number, GrowingText>;
  /** The item as it began. */
  begun: Json;
};

export class ReplyItems {
  /** By `output_index`, because some gateways change item ids from event to event (recorded: gpt-5.3-codex-item-id-rotates). */
  readonly #items = new Map<number, ResponseItem>();
  /** By item id and call id, for servers with missing or wrong indexes. */
  readonly #byId = new Map<string, ResponseItem>();
  /** The item of events that name none. */
  latest: ResponseItem | null = null;

  get size(): number {
    return this.#items.size;
  }

  values(): IterableIterator<ResponseItem> {
    return this.#items.values();
  }

  /** Returns the item at this index. */
  at(index: number): ResponseItem {
    return this.#items.get(index) ?? this.#open(index);
  }

  /** Returns the item of a piece: by its index, otherwise by its item id, otherwise the latest. */
  ofPiece({ output_index: place, item_id: id }: Json): ResponseItem {
    if (isCount(place)) return this.at(place);
    return this.#byId.get(stringOf(id)) ?? this.latest ?? this.#open(this.#items.size);
  }

  /**
   * Returns the item that begins or is complete. An index in use belongs to another item if that one is complete or another call begins;
   * the end of an open item is its own regardless of ids.
   */
  ofItem({ output_index: place, item: value }: Json, begins: boolean): ResponseItem {
    const { id, call_id: callId } = recordOf(value);
    const named = this.#byId.get(stringOf(callId)) ?? this.#byId.get(stringOf(id));
    const known = (isCount(place) ? this.#items.get(place) : undefined) ?? named;
    const differs = known !== undefined && stringOf(callId) !== '' && known.callId !== '' && known.callId !== callId;
    const isAnother = known === undefined || (differs && (begins || known.isWhole));
    const item = isAnother ? this.#open(isCount(place) ? place : this.#items.size) : known;
    for (const name of [stringOf(id), stringOf(callId)]) if (name !== '') this.#byId.set(name, item);
    return item;
  }

  #open(index: number): ResponseItem {
    const item: ResponseItem = { index, callId: '', kind: 'other', isWhole: false, said: new Map(), begun: {} };
    this.#items.set(index, item);
    this.latest = item;
    return item;
  }
}
