/**
 * Finds secret values, in the forms of `secret-spellings.ts`, in a text that may arrive in pieces. Reads each character once, however many
 * values there are and however they repeat themselves (Aho and Corasick). The one search for values that are known: `secretRedactor` removes
 * them from complete texts, `secret-filter.ts` from streams of bytes. What is known only by its form is found by rules (`redact-text.ts`).
 */
import { replaceMatches, type SearchStep, type TextMatch, type TextRedactor } from './redact-text.ts';
import { secretParts, secretSpellings } from './secret-spellings.ts';

export const secretMark = '[secret]';

/** Characters that are searched at a time, and the work for each of them. */
const pieceLength = 64 * 1024;
const characterWork = 1;

/** Returns the values to search for: those of headers, with the credential in them, if they have at least so many characters. */
export function searchedValues(values: Iterable<string>, minLength: number): string[] {
  return [...new Set([...values].flatMap(secretParts))].filter(({ length }) => length >= minLength);
}

/** Removes values from complete texts. Linear and not bounded, so that no text is withheld because a call has read a secret. */
export function secretRedactor(values: readonly string[]): TextRedactor {
  // Built when it is used first: some calls that read a secret return nothing.
  let matcher: SecretMatcher | null = null;
  const find = function* (text: string): Generator<SearchStep> {
    matcher ??= new SecretMatcher(values.flatMap(secretSpellings));
    const search = new SecretSearch(matcher);
    for (let from = 0; from < text.length; from += pieceLength) {
      const piece = text.slice(from, from + pieceLength);
      search.read(piece);
      yield piece.length * characterWork;
    }
    yield* search.spans;
  };
  return (text, work) => replaceMatches(text, find, secretMark, (units) => work.count(units));
}

/** One search in a text, whose pieces are read in order. */
export class SecretSearch {
  /** What has been found, in order, not overlapping. */
  readonly spans: TextMatch[] = [];
  readonly #matcher: SecretMatcher;
  #node = root;
  #at = 0;

  constructor(matcher: SecretMatcher) {
    this.#matcher = matcher;
  }

  /** How many characters at the end may be the beginning of a value. */
  get open(): number {
    return this.#matcher.depth(this.#node);
  }

  /** A character of bytes is a byte. */
  read(piece: string | Uint8Array): void {
    let node = this.#node;
    for (let at = 0; at < piece.length; at += 1) {
      node = this.#matcher.next(node, typeof piece === 'string' ? piece.charCodeAt(at) : (piece[at] ?? 0));
      const length = this.#matcher.matched(node);
      if (length > 0) this.#add(this.#at + at + 1 - length, this.#at + at + 1);
    }
    this.#node = node;
    this.#at += piece.length;
  }

  /** Values may overlap: what is removed is all that belongs to one. */
  #add(start: number, end: number): void {
    let from = start;
    for (let last = this.spans.at(-1); last !== undefined && last[1] >= start; last = this.spans.at(-1)) {
      from = Math.min(from, last[0]);
      this.spans.pop();
    }
    this.spans.push([from, end]);
  }
}

const root = 0;

/** The beginnings of all values as a tree, in which each node has the node that continues after a mismatch: that of its longest proper suffix. */
export class SecretMatcher {
  readonly #codes: Uint16Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #suffix: Int32Array;
  readonly #depth: Int32Array;
  /** The length of the longest value that ends in a node, or in one of its suffixes. */
  readonly #matched: Int32Array;
  /** The children of the root, where most characters lead back to. */
  readonly #first = new Int32Array(256);
  #size = 1;

  constructor(spellings: readonly string[]) {
    const most = spellings.reduce((sum, { length }) => sum + length, 1);
    this.#codes = new Uint16Array(most);
    [this.#child, this.#sibling, this.#suffix] = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
    [this.#depth, this.#matched] = [new Int32Array(most), new Int32Array(most)];
    for (const spelling of spellings) this.#insert(spelling);
    this.#link();
  }

  next(from: number, code: number): number {
    for (let node = from; ; node = this.#suffix[node] ?? root) {
      const child = this.#childOf(node, code);
      if (child !== root || node === root) return child;
    }
  }

  depth(node: number): number {
    return this.#depth[node] ?? 0;
  }

  matched(node: number): number {
    return this.#matched[node] ?? 0;
  }

  /** Returns the root if there is none. */
  #childOf(node: number, code: number): number {
    if (node === root && code < this.#first.length) return this.#first[code] ?? root;
    let child = this.#child[node] ?? root;
    while (child !== root && this.#codes[child] !== code) child = this.#sibling[child] ?? root;
    return child;
  }

  #insert(spelling: string): void {
    let node = root;
    for (let at = 0; at < spelling.length; at += 1) {
      const code = spelling.charCodeAt(at);
      node = this.#childOf(node, code) || this.#grow(node, code);
    }
    this.#matched[node] = spelling.length;
  }

  #grow(parent: number, code: number): number {
    const node = this.#size;
    this.#size += 1;
    this.#codes[node] = code;
    this.#depth[node] = this.depth(parent) + 1;
    this.#sibling[node] = this.#child[parent] ?? root;
    this.#child[parent] = node;
    if (parent === root && code < this.#first.length) this.#first[code] = node;
    return node;
  }

  /** Level by level: a suffix is shorter than what it is the suffix of. */
  #link(): void {
    const queue = new Int32Array(this.#size);
    let end = 1;
    for (let at = 0; at < end; at += 1) {
      const parent = queue[at] ?? root;
      for (let node = this.#child[parent] ?? root; node !== root; node = this.#sibling[node] ?? root) {
        if (parent !== root) this.#suffix[node] = this.next(this.#suffix[parent] ?? root, this.#codes[node] ?? 0);
        this.#matched[node] ||= this.matched(this.#suffix[node] ?? root);
        queue[end] = node;
        end += 1;
      }
    }
  }
}
