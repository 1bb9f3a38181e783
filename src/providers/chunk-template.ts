/**
 * Reading the next chunk of a stream without parsing it again. Chunks of one stream differ in one string, and on some wires in a
 * running number or a padding, while their envelope is the same hundreds of bytes each time; so after one was parsed, the next is
 * compared with it and only that string is read. Exact: what stands before a hole fixes how it is read, whatever it holds; any other
 * difference is no match.
 */

/** One learnt chunk: `parts` are what stands around its holes. `value` is what the caller wants to hear again. */
type Template<T> = { parts: readonly string[]; holes: readonly Hole[]; value: T };
/** `text`: the string that is wanted; `place`: the number that says what it belongs to. The others are passed over. */
type Hole = 'text' | 'place' | 'string' | 'number';
/** `place`: where the chunk was learnt with one. */
type Known<T> = { value: T; text: string; place?: number };
type Place = { start: number; end: number; hole: Hole };

/** Interleaved calls differ in their index too: as many envelopes are kept as calls are likely to take turns, oldest out. */
const maxTemplates = 80;
/** A stream that keeps giving new envelopes is not one to learn from: what does not come again costs more than it saves. */
const maxWasted = 200;

export class ChunkTemplates<T> {
  #templates: Template<T>[] = [];
  /** Calls take turns or go on: the last hit is tried first, then the one after it. */
  #last = 0;
  #wasted = 0;

  /** The string of a chunk whose like was learnt, with what was learnt about it; null: parse it. */
  match(chunk: string): Known<T> | null {
    const count = this.#templates.length;
    for (let tried = 0; tried < count; tried++) {
      const at = (this.#last + tried) % count;
      const template = this.#templates[at] as Template<T>;
      const known = template.holes.length === 1 ? readOne(chunk, template) : readHoles(chunk, template);
      if (known === null) continue;
      this.#last = at;
      this.#wasted = 0;
      return known;
    }
    return null;
  }

  /**
   * Learns a parsed chunk whose only changing parts are the string `text`, under the key `key`, and what stands under the keys
   * `varying`: whole numbers or strings that nobody needs. With `placeKey`, the whole number under it may change too, and is told: so
   * that calls which take turns are one envelope. Each key must stand in the chunk once.
   */
  learn(chunk: string, key: string, text: string, value: T, varying: readonly string[] = [], placeKey?: string): void {
    if (this.#wasted >= maxWasted) return;
    this.#wasted += 1;
    const place = placeOf(chunk, key, 'text');
    // Another string under the same key, or one that is not what the parser read: not the chunk it seems to be.
    if (place === null || place.hole !== 'text' || readString(chunk.slice(place.start, place.end)) !== text) return;
    const places = [place];
    for (const other of varying) {
      if (!chunk.includes(`"${other}"`)) continue;
      const found = placeOf(chunk, other, 'string');
      if (found === null) return;
      places.push(found);
    }
    if (placeKey !== undefined) {
      const found = placeOf(chunk, placeKey, 'string');
      if (found?.hole !== 'number') return;
      places.push({ ...found, hole: 'place' });
    }
    places.sort((a, b) => a.start - b.start);
    const parts = places.map(({ start }, index) => chunk.slice(places[index - 1]?.end ?? 0, start));
    if (this.#templates.length >= maxTemplates) this.#templates.shift();
    this.#templates.push({ parts: [...parts, chunk.slice(places.at(-1)?.end)], holes: places.map(({ hole }) => hole), value });
  }
}

/** Where the one value under a key stands: inside its quotes, or its digits. null: none, or not only one, or another kind of value. */
function placeOf(chunk: string, key: string, kind: 'text' | 'string'): Place | null {
  const named = `"${key}":`;
  const at = chunk.indexOf(named);
  if (at < 0) return null;
  const start = at + named.length + (chunk[at + named.length] === ' ' ? 1 : 0);
  const isString = chunk[start] === '"';
  const place: Place = isString
    ? { start: start + 1, end: stringEnd(chunk, start + 1), hole: kind }
    : { start, end: numberEnd(chunk, start), hole: 'number' };
  return place.end < place.start || (!isString && place.end === place.start) || chunk.includes(`"${key}"`, place.end) ? null : place;
}

function readOne<T>(chunk: string, { parts: [before = '', after = ''], value }: Template<T>): Known<T> | null {
  const end = chunk.length - after.length;
  // Slices are compared at once; `startsWith` goes character by character and would cost as much as the parse.
  if (end < before.length || chunk.slice(end) !== after || chunk.slice(0, before.length) !== before) return null;
  const text = readString(chunk.slice(before.length, end));
  return text === null ? null : { value, text };
}

function readHoles<T>(chunk: string, { parts, holes, value }: Template<T>): Known<T> | null {
  const last = parts.at(-1) ?? '';
  if (chunk.slice(chunk.length - last.length) !== last) return null;
  const known: Known<T> = { value, text: '' };
  let at = 0;
  for (const [index, hole] of holes.entries()) {
    const part = parts[index] ?? '';
    if (chunk.slice(at, at + part.length) !== part) return null;
    const start = at + part.length;
    const isNumber = hole === 'number' || hole === 'place';
    at = isNumber ? numberEnd(chunk, start) : stringEnd(chunk, start);
    if (at < start || (isNumber && at === start)) return null;
    if (hole === 'place') known.place = Number(chunk.slice(start, at));
    if (isNumber) continue;
    const inside = readString(chunk.slice(start, at));
    if (inside === null) return null;
    if (hole === 'text') known.text = inside;
  }
  return at === chunk.length - last.length ? known : null;
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

/** -1: it does not end. */
function stringEnd(text: string, from: number): number {
  const quote = text.indexOf('"', from);
  // With no backslash right before it, it is no part of the string.
  if (quote < 0 || text.charCodeAt(quote - 1) !== 0x5c) return quote;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) at++;
  }
  return -1;
}

/** Of a whole number without sign; where there is none, `from`. */
function numberEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at++;
  // A leading zero is no JSON.
  return at > from + 1 && text.charCodeAt(from) === 0x30 ? from : at;
}
