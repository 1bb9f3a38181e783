/**
 * Finds any of many patterns in texts, in one pass whatever their number: a rolling hash over a window of the shortest pattern's
 * length (Rabin–Karp). Several texts are scanned one after another, so that a pattern split across them is found too. Used by
 * `engine/call/redact.ts`.
 */
import type { RedactionWork } from '../redaction/redaction-work.ts';
import { squeeze, type Squeezed, squeezedText, unsqueezed } from './squeezed-text.ts';

/** Characters `start` (inclusive) to `end` (exclusive) of the text with this number. */
export type Span = { text: number; start: number; end: number };

export type Scanner = {
  /** Returns the places in order, not overlapping. Pauses at the end of a slice of work. */
  find(texts: readonly string[], work: RedactionWork): Generator<void, Span[]>;
};

/** Once separators and case are ignored, shorter patterns would match almost anything. */
export const minSqueezedLength = 8;

/** Characters of a text that are read at a time: bounds the memory that a scan uses besides the text. */
const pieceLength = 64 * 1024;
/** Work for each of them. */
const characterWork = 5;

/** Finds the exact spellings, each within one text. */
export function createExactScanner(spellings: readonly string[]): Scanner {
  const shortest = spellings.reduce((least, { length }) => Math.min(least, length), pieceLength);
  return createScanner([...new Set(spellings)], { read: unsqueezed, windowLength: shortest, between: noCharacter });
}

/** Finds the spellings squeezed, also across texts. Leaves out spellings that squeeze to less than `minSqueezedLength`. */
export function createSqueezedScanner(spellings: readonly string[]): Scanner {
  const patterns = [...new Set(spellings.map(squeezedText))].filter(({ length }) => length >= minSqueezedLength);
  return createScanner(patterns, { read: squeeze, windowLength: minSqueezedLength, between: null });
}

/** Separates two texts, so that no pattern is found across them. */
const noCharacter = 0xffff;

/** `windowLength`: the length of the shortest pattern. */
type Reading = { read: typeof squeeze; windowLength: number; between: number | null };

function createScanner(patterns: readonly string[], { read, windowLength, between }: Reading): Scanner {
  const longest = patterns.reduce((most, { length }) => Math.max(most, length), 0);
  const index = createIndex(patterns, windowLength);
  return {
    *find(texts, work) {
      if (patterns.length === 0) return [];
      const spans: Span[] = [];
      const total = texts.reduce((sum, { length }) => sum + length + 1, 0);
      const window = new Window(Math.min(total, pieceLength) + longest + 1);
      const compare = createComparison(window);
      let covered = 0;
      const search = (last: number): void => {
        const end = window.length - last + 1;
        index.search(window, end, compare, (begin, length) => {
          addSpans(spans, window, { begin, from: Math.max(begin, covered), end: begin + length });
          covered = Math.max(covered, begin + length);
        });
        window.drop(end);
        covered -= Math.max(0, end);
      };
      for (const [number, text] of texts.entries()) {
        for (let from = 0; from < text.length; ) {
          const piece = read(text, from, Math.min(from + pieceLength, text.length));
          if (!window.fits(piece.length + 1)) search(longest);
          window.add(number, piece);
          if (work.count((piece.next - from) * characterWork)) yield;
          from = piece.next;
        }
        if (between === null) continue;
        if (!window.fits(1)) search(longest);
        window.add(number, { ...nothing, codes: Uint16Array.of(between) });
      }
      search(windowLength);
      return merged(spans);
    },
  };
}

const nothing: Squeezed = { codes: new Uint16Array(1), starts: new Uint32Array(1), ends: new Uint32Array(1), length: 1, next: 0 };

const base = 0x01000193;
const filterBits = 0xffff;

/** Patterns by the hash of their first characters. */
function createIndex(patterns: readonly string[], windowLength: number) {
  const byHash = new Map<number, string[]>();
  const filter = new Uint8Array(filterBits + 1);
  for (const pattern of patterns) {
    let hash = 0;
    for (let at = 0; at < windowLength; at += 1) hash = (Math.imul(hash, base) + pattern.charCodeAt(at)) | 0;
    byHash.set(hash, [...(byHash.get(hash) ?? []), pattern]);
    filter[(hash >>> 16) & filterBits] = 1;
  }
  let highest = 1;
  for (let at = 1; at < windowLength; at += 1) highest = Math.imul(highest, base);
  return {
    /** Calls `found` with the longest pattern at each position before `end`. */
    search(window: Window, end: number, compare: Comparison, found: (begin: number, length: number) => void): void {
      const { codes } = window;
      let hash = 0;
      if (end > 0) for (let at = 0; at < windowLength; at += 1) hash = (Math.imul(hash, base) + (codes[at] ?? 0)) | 0;
      for (let at = 0; at < end; at += 1) {
        if (filter[(hash >>> 16) & filterBits] === 1) {
          const length = longestAt(byHash.get(hash) ?? [], compare, at);
          if (length > 0) found(at, length);
        }
        hash = (Math.imul(hash - Math.imul(codes[at] ?? 0, highest), base) + (codes[at + windowLength] ?? 0)) | 0;
      }
    },
  };
}

function longestAt(patterns: readonly string[], compare: Comparison, begin: number): number {
  return patterns.reduce(
    (most, pattern) => (pattern.length > most && compare(pattern, begin) === pattern.length ? pattern.length : most),
    0,
  );
}

/** Returns how many of the first characters of a pattern are at a position, which only increases. */
type Comparison = (pattern: string, begin: number) => number;

/**
 * Compares each character of the text once for each pattern, also where the text and the pattern repeat themselves: what is known to be equal to
 * an earlier part of the pattern is looked up (Gusfield's Z-algorithm).
 */
function createComparison(window: Window): Comparison {
  const known = new Map<string, { begin: number; end: number; prefixes: Int32Array | null }>();
  return (pattern, position) => {
    const begin = window.dropped + position;
    const before = known.get(pattern);
    let equal = 0;
    if (before !== undefined && begin < before.end) {
      before.prefixes ??= commonPrefixes(pattern);
      equal = Math.min(before.prefixes[begin - before.begin] ?? 0, before.end - begin);
      if (begin + equal < before.end) return equal;
    }
    equal = window.equalLength(pattern, position, equal);
    known.set(pattern, { begin, end: begin + equal, prefixes: before?.prefixes ?? null });
    return equal;
  };
}

/** For each position of a text, how many characters from there are the same as at its beginning. */
function commonPrefixes(text: string): Int32Array {
  const prefixes = new Int32Array(text.length);
  let [begin, end] = [0, 0];
  for (let at = 1; at < text.length; at += 1) {
    let equal = at < end ? Math.min(prefixes[at - begin] ?? 0, end - at) : 0;
    while (at + equal < text.length && text.charCodeAt(equal) === text.charCodeAt(at + equal)) equal += 1;
    prefixes[at] = equal;
    if (at + equal > end) [begin, end] = [at, at + equal];
  }
  return prefixes;
}

/** The characters in which a pattern may still begin or end. */
class Window {
  readonly codes: Uint16Array;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #texts: Uint32Array;
  length = 0;
  /** The number of characters before the first one. */
  dropped = 0;

  constructor(size: number) {
    this.codes = new Uint16Array(size);
    this.#starts = new Uint32Array(size);
    this.#ends = new Uint32Array(size);
    this.#texts = new Uint32Array(size);
  }

  fits(count: number): boolean {
    return this.length + count <= this.codes.length;
  }

  /** Returns how many of the first characters of the pattern are at this position. `known`: how many are. */
  equalLength(pattern: string, begin: number, known: number): number {
    const most = Math.min(pattern.length, this.length - begin);
    let equal = known;
    while (equal < most && this.codes[begin + equal] === pattern.charCodeAt(equal)) equal += 1;
    return equal;
  }

  /** The position of the character in its text. */
  placeOf(at: number): Span {
    return { text: this.#texts[at] ?? 0, start: this.#starts[at] ?? 0, end: this.#ends[at] ?? 0 };
  }

  /** Adds one piece of the text with this number. */
  add(number: number, { codes, starts, ends, length }: Squeezed): void {
    this.codes.set(codes.subarray(0, length), this.length);
    this.#starts.set(starts.subarray(0, length), this.length);
    this.#ends.set(ends.subarray(0, length), this.length);
    this.#texts.fill(number, this.length, this.length + length);
    this.length += length;
  }

  /** Removes the first `count` characters. */
  drop(count: number): void {
    if (count <= 0) return;
    for (const part of [this.codes, this.#starts, this.#ends, this.#texts]) part.copyWithin(0, count, this.length);
    this.length -= count;
    this.dropped += count;
  }
}

/** `from`: the characters before it were added. */
function addSpans(spans: Span[], window: Window, { begin, from, end: matchEnd }: { begin: number; from: number; end: number }): void {
  for (let at = from; at < matchEnd; at += 1) {
    const { text, start, end } = window.placeOf(at);
    const last = spans.at(-1);
    // Characters between two characters of a match belong to it.
    if (last !== undefined && last.text === text && (at > begin || start <= last.end)) last.end = Math.max(last.end, end);
    else spans.push({ text, start, end });
  }
}

function merged(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.text - other.text || one.start - other.start)) {
    const last = found.at(-1);
    if (last !== undefined && last.text === span.text && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else found.push({ ...span });
  }
  return found;
}
