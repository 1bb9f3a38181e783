/**
 * Replaces what the redaction rules of a workspace find by labels. Each rule searches in steps whose work is counted
 * (`redaction-work.ts`). Texts without a match are returned unchanged. What characters are hidden in is found, too: each search is repeated in
 * the text without them, since models read it so.
 */
import { bareText } from '../text/bare-text.ts';
import type { RedactionWork } from './redaction-work.ts';

/** Characters `start` (inclusive) to `end` (exclusive). */
export type TextMatch = readonly [start: number, end: number];

/** A match, or the units of work since the last step. */
export type SearchStep = TextMatch | number;

/** `find`: matches in order, not overlapping. Its steps are small, since a search only pauses between them. */
export type TextRule = { name: string; label: string; find(text: string): Iterable<SearchStep> };

/** Pauses at the end of a slice. Throws `RedactionLimitReached`. */
export type TextRedactor = (text: string, work: RedactionWork) => Generator<void, string>;

/** Where rules overlap, the earlier rule wins. */
export function createTextRedactor(rules: readonly TextRule[]): TextRedactor {
  return function* (text, work) {
    if (isEncoded(text)) return text;
    let rest = text;
    for (const { name, label, find } of rules) {
      const count = (units: number): boolean => work.countRule(units, name, rest);
      if (count(textWork)) yield;
      rest = yield* replaceMatches(rest, find, label, count);
    }
    return rest;
  };
}

/** For each rule and text, whatever its length. */
const textWork = 20;

/** Characters of a text without what is invisible, of one that has some. */
const bareWork = 2;

/** Replaces what is found by the label. `count`: returns whether the slice has ended. */
export function* replaceMatches(
  text: string,
  find: TextRule['find'],
  label: string,
  count: (units: number) => boolean,
): Generator<void, string> {
  const found: TextMatch[] = [];
  const bare = bareText(text);
  if (bare !== null && count(text.length * bareWork)) yield;
  for (const view of bare === null ? [null] : [null, bare]) {
    for (const step of find(view?.text ?? text)) {
      if (typeof step !== 'number') found.push(view?.original(...step) ?? step);
      else if (count(step)) yield;
    }
  }
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of bare === null ? found : joined(found)) {
    pieces.push(text.slice(from, start), label);
    from = end;
  }
  return from === 0 ? text : [...pieces, text.slice(from)].join('');
}

/** Returns the matches of both searches in order, those that overlap as one. */
function joined(found: readonly TextMatch[]): TextMatch[] {
  const spans: TextMatch[] = [];
  for (const [start, end] of [...found].sort(([one], [other]) => one - other)) {
    const last = spans.at(-1);
    if (last === undefined || start >= last[1]) spans.push([start, end]);
    else spans[spans.length - 1] = [last[0], Math.max(last[1], end)];
  }
  return spans;
}

const minEncodedLength = 1_000;

/** Whether a text is data in base64, such as an image, which a replacement would destroy. */
function isEncoded(text: string): boolean {
  return text.length >= minEncodedLength && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
