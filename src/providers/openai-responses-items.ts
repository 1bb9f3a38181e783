/**
 * The items of one reply of OpenAI's Responses API, and how an event finds the one that it is about: servers number and name them
 * differently, or not at all. What the events say of an item is read in `openai-responses.ts`, the only user.
 */
import type { GrowingText } from '../core/growing-text.ts';
import { isCount, type Json, recordOf, textOf } from '../core/wire-value.ts';

/** One item of the reply while its pieces come in. */
export type Item = {
  index: number;
  /** Of a call, once it is known. */
  callId: string;
  /** `ours`: a call for us, which the assembler knows; `unnamed`: pieces of a call that was not begun; `theirs`: run by the provider. */
  kind: 'other' | 'unnamed' | 'ours' | 'theirs';
  isWhole: boolean;
  /** What was said of each of its parts: a summary's by their index, others by `contentPart`. */
  said: Map<number, GrowingText>;
  /** As it was when it began. */
  begun: Json;
};

export class ReplyItems {
  /** By `output_index`: ids of items rotate from event to event at some gateways (recorded: gpt-5.3-codex-item-id-rotates). */
  readonly #items = new Map<number, Item>();
  /** By their ids and those of their calls: for servers that number nothing, or wrongly. */
  readonly #byId = new Map<string, Item>();
  /** What a piece belongs to that names no item. */
  latest: Item | null = null;

  get size(): number {
    return this.#items.size;
  }

  values(): IterableIterator<Item> {
    return this.#items.values();
  }

  /** The item at this place. */
  at(index: number): Item {
    return this.#items.get(index) ?? this.#open(index);
  }

  /** Of a piece: by its place, else by its item's id, else the latest. */
  ofPiece({ output_index: place, item_id: id }: Json): Item {
    if (isCount(place)) return this.at(place);
    return this.#byId.get(textOf(id)) ?? this.latest ?? this.#open(this.#items.size);
  }

  /**
   * Of an item that begins or is whole. A place in use is another item's where that one is whole, or another call begins there; the
   * end of an open one is its own whatever the ids say.
   */
  ofItem({ output_index: place, item: value }: Json, begins: boolean): Item {
    const { id, call_id: callId } = recordOf(value);
    const named = this.#byId.get(textOf(callId)) ?? this.#byId.get(textOf(id));
    const known = (isCount(place) ? this.#items.get(place) : undefined) ?? named;
    const differs = known !== undefined && textOf(callId) !== '' && known.callId !== '' && known.callId !== callId;
    const isAnother = known === undefined || (differs && (begins || known.isWhole));
    const item = isAnother ? this.#open(isCount(place) ? place : this.#items.size) : known;
    for (const name of [textOf(id), textOf(callId)]) if (name !== '') this.#byId.set(name, item);
    return item;
  }

  #open(index: number): Item {
    const item: Item = { index, callId: '', kind: 'other', isWhole: false, said: new Map(), begun: {} };
    this.#items.set(index, item);
    this.latest = item;
    return item;
  }
}
