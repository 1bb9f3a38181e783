/**
 * Edits of a text by exact match, and a short unified diff of the changes. Pure; linear in the text for each edit. Used by
 * `edit_file`.
 */

/** The file content shown for an edit that does not match: positions of a text that occurs more than once, and similar lines. */
const maxShownPlaces = 10;
const maxShownNearLines = 12;
const maxShownLineLength = 400;
/** Lines of a diff that are shown, removed and added. */
const maxShownDiffLines = 60;

export type TextEdit = { oldText: string; newText: string; all: boolean };

export type Edited = { ok: true; text: string; replaced: number } | { ok: false; reason: string };

/**
 * Applies the edits in order, each to the result of the previous ones; all or none. `maxLength`: maximum length of the text in
 * characters.
 */
export function applyEdits(before: string, edits: readonly TextEdit[], maxLength: number): Edited {
  let text = before;
  let replaced = 0;
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? 'oldText' : `edits[${index}].oldText`;
    const places = placesOf(text, edit.oldText);
    const [first] = places;
    if (first === undefined) return { ok: false, reason: textNotFound(text, edit, which) };
    if (places.length > 1 && !edit.all) return { ok: false, reason: tooMany(text, places, which) };
    const used = edit.all ? places : [first];
    if (text.length + used.length * (edit.newText.length - edit.oldText.length) > maxLength)
      return { ok: false, reason: `The file would be longer than ${maxLength} bytes.` };
    text = replaceAt(text, used, edit);
    replaced += used.length;
  }
  return { ok: true, text, replaced };
}

/** Returns the offsets of `part`, without overlaps. */
function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function replaceAt(text: string, places: readonly number[], { oldText, newText }: TextEdit): string {
  const pieces: string[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(text.slice(from, place), newText);
    from = place + oldText.length;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function tooMany(text: string, places: readonly number[], which: string): string {
  const shown = places.slice(0, maxShownPlaces);
  const lines = lineNumbers(text, shown).join(', ');
  return `${which} occurs ${places.length} times (lines ${lines}${places.length > shown.length ? ', …' : ''}). Include more of the surrounding text, or set replaceAll to true.`;
}

function textNotFound(text: string, { oldText }: TextEdit, which: string): string {
  const near = nearestLines(text, oldText);
  const hint =
    near === null
      ? 'Read the file again.'
      : `The closest match is at line ${near.line}:\n${near.text}\nCopy it exactly, including spaces and line ends.`;
  return `${which} was not found in the file. ${hint}`;
}

/** Returns the line numbers of ascending offsets, in one pass over the text. */
function lineNumbers(text: string, offsets: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return offsets.map((offset) => {
    for (let at = text.indexOf('\n', from); at >= 0 && at < offset; at = text.indexOf('\n', from)) {
      line += 1;
      from = at + 1;
    }
    return line;
  });
}

/** Returns the lines that share most words with the first significant line of the searched text; null if none shares any. */
function nearestLines(text: string, wanted: string): { line: number; text: string } | null {
  const wantedLines = wanted.split('\n');
  const start = wantedLines.findIndex((line) => line.trim() !== '');
  if (start < 0) return null;
  const words = foldedWords(wantedLines[start] ?? '');
  const lines = text.split('\n');
  let best = 0;
  let found = -1;
  for (const [index, line] of lines.entries()) {
    const score = shareOf(words, foldedWords(line));
    if (score <= best) continue;
    best = score;
    found = index;
  }
  if (found < 0) return null;
  const from = Math.max(0, found - start);
  const shown = lines.slice(from, from + Math.min(wantedLines.length, maxShownNearLines));
  return { line: from + 1, text: shown.map((line) => line.slice(0, maxShownLineLength).toWellFormed()).join('\n') };
}

function foldedWords(line: string): ReadonlySet<string> {
  return new Set(
    line
      .slice(0, maxShownLineLength)
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== ''),
  );
}

/** Returns the share of words that occur in both texts, of those that occur in either. */
function shareOf(wanted: ReadonlySet<string>, given: ReadonlySet<string>): number {
  let both = 0;
  for (const word of wanted) if (given.has(word)) both += 1;
  const either = wanted.size + given.size - both;
  return either === 0 ? 0 : both / either;
}

/** Returns one hunk from the first changed line to the last, with three lines of context; a long middle is left out. */
export function editsDiff(before: string, after: string, name: string): string {
  const from = before.split('\n');
  const to = after.split('\n');
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  const most = Math.min(from.length, to.length) - start;
  while (end < most && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const head = Math.max(0, start - 3);
  const tail = Math.max(0, end - 3);
  const removed = from.slice(start, from.length - end).map((line) => `-${line}`);
  const added = to.slice(start, to.length - end).map((line) => `+${line}`);
  const body = [
    ...from.slice(head, start).map((line) => ` ${line}`),
    ...shortened(removed),
    ...shortened(added),
    ...from.slice(from.length - end, from.length - tail).map((line) => ` ${line}`),
  ];
  const range = `@@ -${head + 1},${from.length - tail - head} +${head + 1},${to.length - tail - head} @@`;
  return [`--- ${name}`, `+++ ${name}`, range, ...body.map((line) => line.slice(0, maxShownLineLength).toWellFormed())].join('\n');
}

function shortened(lines: readonly string[]): readonly string[] {
  const most = maxShownDiffLines;
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 10), `[… ${lines.length - most} lines …]`, ...lines.slice(-10)];
}
