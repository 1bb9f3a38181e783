/**
 * Text without what a person cannot see, for searches: a value with invisible characters inside is found as if they were not there, and the
 * match is at its place in the original text. `core/tools/listing-text.ts` cleans text for models; what a search finds here is at least what
 * is left there.
 */
import { hiddenCharacter } from './visible-text.ts';

/**
 * ECMA-48 control sequences (`ESC [ … m`), strings (`ESC ] … BEL`), and the rest. The length is bounded, so that an unterminated sequence
 * does not remove the rest of the text.
 */
export const escapeSequence = [
  String.raw`(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]?`,
  String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]{0,2048}(?:\u0007|\u001b\\|\u009c)?`,
  String.raw`\u001b[ -/]{0,8}[0-~]?`,
].join('|');

export type BareText = {
  text: string;
  /** Returns the place of a match, from `start` (inclusive) to `end` (exclusive), in the original text. */
  original(start: number, end: number): readonly [start: number, end: number];
};

/** Returns null for a text in which nothing is invisible. Line and paragraph separators are kept, since they are seen. */
export function bareText(text: string): BareText | null {
  if (!firstUnseen.test(text)) return null;
  const pieces: string[] = [];
  /** Where each piece begins in the bare and in the original text. */
  const [bareStarts, starts]: [number[], number[]] = [[], []];
  let length = 0;
  const keep = (from: number, to: number): void => {
    if (from === to) return;
    pieces.push(text.slice(from, to));
    bareStarts.push(length);
    starts.push(from);
    length += to - from;
  };
  let from = 0;
  for (const { 0: found, index } of text.matchAll(everyUnseen)) {
    keep(from, index);
    from = index + found.length;
  }
  keep(from, text.length);
  const at = (index: number): number => {
    const piece = lastAtMost(bareStarts, index);
    return (starts[piece] ?? 0) + index - (bareStarts[piece] ?? 0);
  };
  return { text: pieces.join(''), original: (start, end) => [at(start), end > start ? at(end - 1) + 1 : at(start)] };
}

const unseen = String.raw`${escapeSequence}|(?![\p{Zl}\p{Zp}])${hiddenCharacter}`;
const firstUnseen = new RegExp(unseen, 'u');
const everyUnseen = new RegExp(unseen, 'gu');

/** Returns the index of the last number that is at most `value`, of numbers in order that begin with 0. */
function lastAtMost(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
