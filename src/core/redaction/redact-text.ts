/**
 * Replaces what the redaction rules of a workspace find by labels. Each rule searches in steps whose work is counted
 * (`redaction-work.ts`). Texts without a match are returned unchanged.
 */
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
    for (const rule of rules) rest = yield* replaceMatches(rest, rule, work);
    return rest;
  };
}

/** For each rule and text, whatever its length. */
const textWork = 20;

function* replaceMatches(text: string, { name, label, find }: TextRule, work: RedactionWork): Generator<void, string> {
  const pieces: string[] = [];
  let from = 0;
  if (work.countRule(textWork, name, text)) yield;
  for (const step of find(text)) {
    if (typeof step === 'number') {
      if (work.countRule(step, name, text)) yield;
      continue;
    }
    pieces.push(text.slice(from, step[0]), label);
    from = step[1];
  }
  return from === 0 ? text : [...pieces, text.slice(from)].join('');
}

const minEncodedLength = 1_000;

/** Whether a text is data in base64, such as an image, which a replacement would destroy. */
function isEncoded(text: string): boolean {
  return text.length >= minEncodedLength && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
