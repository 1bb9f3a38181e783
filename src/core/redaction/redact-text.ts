/**
 * Replaces what the redaction rules of a workspace find by labels. Each rule searches in time linear in the text. Texts without a match are
 * returned unchanged.
 */

/** Characters `start` (inclusive) to `end` (exclusive). */
export type TextMatch = readonly [start: number, end: number];

/** `find`: matches in order, not overlapping. */
export type TextRule = { label: string; find(text: string): Iterable<TextMatch> };

export type TextRedactor = (text: string) => string;

/** Where rules overlap, the earlier rule wins. */
export function createTextRedactor(rules: readonly TextRule[]): TextRedactor {
  return (text) => (isEncoded(text) ? text : rules.reduce((rest, { label, find }) => replaceMatches(rest, label, find(rest)), text));
}

function replaceMatches(text: string, label: string, matches: Iterable<TextMatch>): string {
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of matches) {
    pieces.push(text.slice(from, start), label);
    from = end;
  }
  return from === 0 ? text : [...pieces, text.slice(from)].join('');
}

const minEncodedLength = 1_000;

/** Whether a text is data in base64, such as an image, which a replacement would destroy. */
function isEncoded(text: string): boolean {
  return text.length >= minEncodedLength && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
