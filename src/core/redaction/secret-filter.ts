/**
 * Removes secrets from bytes that arrive in chunks, also across chunk borders. Holds back less than the longest form of a secret. A chunk
 * without a secret is returned unchanged. Used for provider responses, most of which are passed on unparsed.
 */
import { fromLatin1, joinBytes } from '../text/bytes.ts';
import type { TextMatch } from './redact-text.ts';
import { SecretMatcher, secretMark, SecretSearch } from './secret-matcher.ts';
import { secretSpellings } from './secret-spellings.ts';

/** Characters are the bytes of UTF-8, so that positions are those of bytes. */
export function matchBytes(values: readonly string[]): SecretMatcher {
  const encoder = new TextEncoder();
  return new SecretMatcher(values.flatMap(secretSpellings).map((spelling) => fromLatin1(encoder.encode(spelling))));
}

export class SecretFilter {
  readonly #search: SecretSearch;
  #held: Uint8Array = new Uint8Array(0);
  /** The position in the stream of the first byte that is held back. */
  #from = 0;

  constructor(matcher: SecretMatcher) {
    this.#search = new SecretSearch(matcher);
  }

  /** Returns the bytes that can be passed on now; empty if all of them may be the beginning of a secret. */
  push(piece: Uint8Array): Uint8Array {
    this.#search.read(piece);
    const bytes = this.#held.byteLength === 0 ? piece : joinBytes([this.#held, piece]);
    return this.#passOn(bytes, bytes.byteLength - this.#search.open);
  }

  /** Returns the bytes that were held back, at the end of the response. */
  end(): Uint8Array {
    return this.#passOn(this.#held, this.#held.byteLength);
  }

  #passOn(bytes: Uint8Array, end: number): Uint8Array {
    const pieces: Uint8Array[] = [];
    let at = 0;
    for (const [start, stop] of this.#takeSpans(this.#from + end)) {
      // A secret whose beginning was passed on already has its mark.
      if (start >= this.#from) pieces.push(bytes.subarray(at, start - this.#from), mark);
      at = Math.min(stop - this.#from, end);
    }
    pieces.push(bytes.subarray(at, end));
    this.#held = bytes.slice(end);
    this.#from += end;
    return at === 0 && end === bytes.byteLength ? bytes : joinBytes(pieces);
  }

  /** Returns the spans that begin before a position. One that does not end before it is kept: the search may still extend it. */
  #takeSpans(end: number): readonly TextMatch[] {
    const { spans } = this.#search;
    const taken = spans.filter(([start]) => start < end);
    spans.splice(0, taken.filter(([, stop]) => stop <= end).length);
    return taken;
  }
}

const mark = new TextEncoder().encode(secretMark);
