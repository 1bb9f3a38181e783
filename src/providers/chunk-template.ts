/**
 * Reading the next chunk of a stream without parsing it again. Chunks of one stream differ in one string, its envelope is
 * the same hundreds of bytes each time; so after one was parsed, the next is compared with it and only that string is read.
 * Exact: what stands before the string fixes how it is read, whatever the string holds; any other difference is no match.
 */

/** One learnt chunk: everything but the string. `value` is what the caller wants to hear again. */
type Template<T> = { before: string; after: string; value: T };

/** Interleaved calls differ in their index too: a few envelopes are kept, oldest out. */
const maxTemplates = 16;

export class ChunkTemplates<T> {
  #templates: Template<T>[] = [];
  /** Calls take turns or go on: the one after the last hit is tried first, then the last. */
  #last = 0;

  /** The string of a chunk whose like was learnt, with what was learnt about it; null: parse it. */
  match(chunk: string): { value: T; text: string } | null {
    const count = this.#templates.length;
    for (let tried = 0; tried < count; tried++) {
      const at = (this.#last + tried) % count;
      const { before, after, value } = this.#templates[at] as Template<T>;
      const end = chunk.length - after.length;
      // Slices are compared at once; `startsWith` goes character by character and would cost as much as the parse.
      if (end < before.length || chunk.slice(end) !== after || chunk.slice(0, before.length) !== before) continue;
      const text = readString(chunk.slice(before.length, end));
      if (text === null) return null;
      this.#last = at;
      return { value, text };
    }
    return null;
  }

  /** Learns a parsed chunk whose only changing part is the string `text`, under the key `key`. */
  learn(chunk: string, key: string, text: string, value: T): void {
    const named = `"${key}":`;
    const at = chunk.indexOf(named);
    const quote = at < 0 ? -1 : at + named.length + (chunk[at + named.length] === ' ' ? 1 : 0);
    if (chunk[quote] !== '"') return;
    const start = quote + 1;
    const end = stringEnd(chunk, start);
    // Another string under the same key, or one that is not what the parser read: not the chunk it seems to be.
    if (end < 0 || readString(chunk.slice(start, end)) !== text || chunk.includes(`"${key}"`, end)) return;
    if (this.#templates.length >= maxTemplates) this.#templates.shift();
    this.#templates.push({ before: chunk.slice(0, start), after: chunk.slice(end), value });
  }
}

/** What the inside of a JSON string says; null where it is no such inside. */
function readString(inside: string): string | null {
  // Nothing special in it is by far the commonest case.
  if (!special.test(inside)) return inside;
  try {
    return JSON.parse(`"${inside}"`);
  } catch {
    // It ends early, or has an illegal escape: the whole chunk must be looked at.
    return null;
  }
}

// Quotes, backslashes, and the control characters that JSON refuses.
const special = /["\\\p{Cc}]/u;

function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) at++;
  }
  return -1;
}
