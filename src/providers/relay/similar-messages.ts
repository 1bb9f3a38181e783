/**
 * Reads the messages of a reply that differ from an earlier one only in a piece of text, as most do, without parsing them: they are compared
 * with it as text. What they mean is still read from their bodies, which are made from the earlier one. Parsing takes more than half of the
 * time of a reply that passes unchanged.
 */
import { isRecord, type Json, tryParse } from '../../core/json/wire-value.ts';
import { SseParser } from '../../net/sse.ts';

/**
 * The only piece of text that a message brings. `with`: returns the message with another one in its place. `isJoined`: several pieces mean the
 * same as their text in one.
 */
export type Piece = { text: string; with(text: string): Json; isJoined: boolean };

/** `raw`: the text of one or more messages. */
export type SimilarMessage = { raw: string; name: string; body: Json };

/** Stops comparing in a reply whose messages differ in more. */
const maxMisses = 16;

export class SimilarMessages {
  readonly #pieceOf: (body: Json) => Piece | null;
  #form: readonly Segment[] = [];
  #piece: Piece | null = null;
  #name = '';
  #misses = 0;

  constructor(pieceOf: (body: Json) => Piece | null) {
    this.#pieceOf = pieceOf;
  }

  /** Returns the messages at this index that are like the earlier one; null: there is none. */
  match(text: string, begin: number): SimilarMessage | null {
    const piece = this.#piece;
    if (piece === null) return null;
    let end = begin;
    let said = '';
    let number: string | undefined;
    do {
      const found = matchForm(this.#form, text, end);
      const read = found?.text.includes('\\') ? tryParse(`"${found.text}"`) : found?.text;
      if (found === null || typeof read !== 'string') break;
      said += read;
      number = found.number ?? number;
      end = found.end;
    } while (piece.isJoined);
    if (end === begin) return null;
    this.#misses = 0;
    const body = piece.with(said);
    if (number !== undefined) body.sequence_number = Number(number);
    return { raw: text.slice(begin, end), name: this.#name, body };
  }

  /** Takes a message that was like none before. */
  learn({ raw, name, body }: SimilarMessage): void {
    const piece = this.#misses > maxMisses ? null : this.#pieceOf(body);
    if (piece === null || piece.text === '') return;
    this.#misses += 1;
    const written = JSON.stringify(piece.text);
    const at = raw.indexOf(written);
    if (at < 0 || !this.#isPlace(raw, at, piece.text)) return;
    this.#form = [...segmentsOf(raw.slice(0, at + 1), 'text'), ...segmentsOf(raw.slice(at + written.length - 1))];
    this.#piece = piece;
    this.#name = name;
  }

  /** Whether the piece is what stands there. */
  #isPlace(raw: string, at: number, text: string): boolean {
    const other = `${text}~`;
    const [message] = new SseParser().take(raw.slice(0, at) + JSON.stringify(other) + raw.slice(at + JSON.stringify(text).length));
    const body = tryParse(message?.data ?? '');
    return isRecord(body) && this.#pieceOf(body)?.text === other;
  }
}

/** The text of a message up to and with something that differs in each; the last one has only text. */
type Segment = { literal: string; differs: keyof typeof forms | undefined };

/** What differs in each message: its text, and of OpenAI's APIs its number and padding without meaning. Searched at a place each. */
const forms = { text: /(?:[^"\\\p{Cc}]|\\.)*/uy, number: /\d+/y, padding: /\w*/y };
/** A quote within a string would be escaped. */
const differing = /(?<="sequence_number": ?)(?<number>\d+)|(?<="obfuscation": ?")(?<padding>\w*)/g;

/** `last`: what follows this text. */
function segmentsOf(raw: string, last?: Segment['differs']): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  for (const { index, 0: found, groups } of raw.matchAll(differing)) {
    segments.push({ literal: raw.slice(from, index), differs: groups?.number === undefined ? 'padding' : 'number' });
    from = index + found.length;
  }
  return [...segments, { literal: raw.slice(from), differs: last }];
}

function matchForm(form: readonly Segment[], text: string, begin: number): { text: string; number: string | null; end: number } | null {
  let end = begin;
  const found = { text: '', number: null as string | null, padding: '' };
  for (const { literal, differs } of form) {
    // `startsWith` compares character by character, and takes twice the time of all the rest.
    if (text.slice(end, end + literal.length) !== literal) return null;
    end += literal.length;
    if (differs === undefined) continue;
    const pattern = forms[differs];
    pattern.lastIndex = end;
    if (!pattern.test(text)) return null;
    found[differs] = text.slice(end, pattern.lastIndex);
    end = pattern.lastIndex;
  }
  return { text: found.text, number: found.number, end };
}
