/**
 * Replaces old tool names in a text by the current ones (contract §4): only where a whole inline code (`name`) is the name, never in
 * prose, other code or fences, where a word may mean something else. Old names found there are listed in one line below the text.
 * `old-names.ts` maps the names; `model-definitions.ts`, `system-prompt.ts` and skills use this file. Of 1,472 public tools some 70
 * name tools of their server, and none names a tool of another: 17 in inline code of one backtick or two, the rest in prose.
 */
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';

/** Old names listed below one text. */
export const maxListedOldNames = 20;
/** Characters by which a text may grow when tool names in it are replaced; beyond that the names are only listed below it. */
const maxRewrittenGrowth = 8 * KB;

/**
 * Returns the current name for an old one; undefined for a text that is not a name, is ambiguous, or is a current name. Never returns
 * a name that is itself an old one.
 */
export type NameLookup = (name: string) => string | undefined;

/**
 * Idempotent. `alsoNamed`: old names found in related text that cannot carry the extra line itself. Linear in the length of the text,
 * however many names there are.
 */
export function rewriteNames(text: string, lookup: NameLookup, alsoNamed: ReadonlyMap<string, string> = noNames): string {
  const [before, told] = splitLine(text);
  if (told !== '') {
    const reading = readNames(before, lookup);
    // The line from an earlier run, or an identical line that the author wrote.
    if (told === lineOf(reading, alsoNamed)) return join(apply(before, reading), told);
  }
  const reading = readNames(text, lookup);
  return join(apply(text, reading), lineOf(reading, alsoNamed));
}

/** For texts that cannot carry the extra line: rewrites inline code, and returns the old names found elsewhere in `others`. */
export function rewriteInline(text: string, lookup: NameLookup): { text: string; others: ReadonlyMap<string, string> } {
  const reading = readNames(text, lookup);
  return { text: apply(text, reading), others: reading.others };
}

type Edit = { start: number; end: number; name: string };
type Reading = { edits: readonly Edit[]; others: ReadonlyMap<string, string> };

const noNames: ReadonlyMap<string, string> = new Map();

function readNames(text: string, lookup: NameLookup): Reading {
  const edits: Edit[] = [];
  const others = new Map<string, string>();
  for (const { start, end, isFence } of blocksOf(text)) {
    if (isFence) recordOldNames(text.slice(start, end), lookup, others);
    else readBlock(text, start, end, lookup, edits, others);
  }
  return bounded(text, { edits, others });
}

/**
 * Short names replaced by long ones can make a text many times as long. If it grows by more than a little, all names go into the
 * extra line: all or none, so that a second run gives the same result.
 */
function bounded(text: string, reading: Reading): Reading {
  const growth = reading.edits.reduce((sum, { start, end, name }) => sum + name.length - (end - start), 0);
  if (growth <= maxRewrittenGrowth) return reading;
  const others = new Map(reading.others);
  for (const { start, end, name } of reading.edits) others.set(text.slice(start, end), name);
  return { edits: [], others };
}

function apply(text: string, { edits }: Reading): string {
  if (edits.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, name } of edits) {
    pieces.push(text.slice(at, start), name);
    at = end;
  }
  return pieces.join('') + text.slice(at);
}

// ---- The extra line ----

const opening = 'Names used here: ';

function lineOf({ others }: Reading, alsoNamed: ReadonlyMap<string, string>): string {
  const names = [...new Map([...others, ...alsoNamed])].slice(0, maxListedOldNames);
  return names.length === 0 ? '' : `${opening}${names.map(([old, name]) => `\`${old}\` is \`${name}\``).join(', ')}.`;
}

function join(text: string, line: string): string {
  return line === '' ? text : `${text}\n\n${line}`;
}

function splitLine(text: string): [before: string, line: string] {
  const at = text.lastIndexOf(`\n\n${opening}`);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 2)];
}

// ---- Markdown, as far as needed to tell code from prose (CommonMark 0.31 §4.5, §6.1) ----

type Block = { start: number; end: number; isFence: boolean };

/**
 * Yields fences and the text between them. More lenient than CommonMark: descriptions are indented as in their source files, and a
 * fence may begin in a list or a quotation. Anything that may be a fence counts as one, to its end or to the end of the text.
 */
function* blocksOf(text: string): Generator<Block> {
  // Most texts have no fence.
  if (!text.includes('```') && !text.includes('~~~')) {
    yield { start: 0, end: text.length, isFence: false };
    return;
  }
  let from = 0;
  let fence: string | null = null;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    const mark = fenceMark.exec(text.slice(start, end));
    const run = mark?.[1] ?? '';
    if (fence === null && mark !== null && !(run.startsWith('`') && (mark[2] ?? '').includes('`'))) {
      if (start > from) yield { start: from, end: start, isFence: false };
      [from, fence] = [start, run];
    } else if (fence !== null && run.startsWith(fence) && (mark?.[2] ?? '').trim() === '') {
      yield { start: from, end, isFence: true };
      [from, fence] = [end, null];
    }
    start = end;
  }
  if (from < text.length) yield { start: from, end: text.length, isFence: fence !== null };
}

const fenceMark = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)/;

/** Runs of backticks, and ends of paragraphs: a blank line, or a line that begins a list item, a heading or a quotation. */
const marks = /`+|\n(?=[ \t\r]*(?:\n|(?:[-*+>]|#{1,6}|\d{1,9}[.)])[ \t]))/g;

/** A code span goes from a run of backticks to the next run of the same length in its paragraph. */
function readBlock(text: string, start: number, end: number, lookup: NameLookup, edits: Edit[], others: Map<string, string>): void {
  const block = text.slice(start, end);
  const runs = block.includes('`') ? runsOf(block, start) : [];
  const closing = closingRuns(runs);
  let at = start;
  for (let index = 0; index < runs.length; index++) {
    const open = runs[index];
    const close = runs[closing[index] ?? -1];
    if (open === undefined || close === undefined || isEscaped(text, open.at)) continue;
    recordOldNames(text.slice(at, open.at), lookup, others);
    const code = text.slice(open.at + open.length, close.at);
    const name = code.length <= limits.maxToolNameLength ? lookup(code) : undefined;
    if (name === undefined) recordOldNames(code, lookup, others);
    else edits.push({ start: open.at + open.length, end: close.at, name });
    at = close.at + close.length;
    index = closing[index] ?? index;
  }
  recordOldNames(text.slice(at, end), lookup, others);
}

type Run = { at: number; length: number; paragraph: number };

function runsOf(block: string, offset: number): Run[] {
  const runs: Run[] = [];
  let paragraph = 0;
  for (const { 0: mark, index } of block.matchAll(marks)) {
    if (mark === '\n') paragraph++;
    else runs.push({ at: offset + index, length: mark.length, paragraph });
  }
  return runs;
}

/** Returns for each run the index of the run that would close it, found in one pass from the end. */
function closingRuns(runs: readonly Run[]): (number | undefined)[] {
  const closing = new Array<number | undefined>(runs.length);
  const next = new Map<number, number>();
  for (let index = runs.length - 1; index >= 0; index--) {
    const run = runs[index];
    if (run === undefined) continue;
    if (run.paragraph !== runs[index + 1]?.paragraph) next.clear();
    closing[index] = next.get(run.length);
    next.set(run.length, index);
  }
  return closing;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

// ---- Prose and other code ----

const words = /[A-Za-z0-9_][A-Za-z0-9_.-]*/g;
/** Excludes plain words: `search` may be any search. */
const identifierPattern = /[_.\d-]|[a-z][A-Z]/;

/** Records the old names among the words. A name between letters of scripts without spaces also counts. */
function recordOldNames(text: string, lookup: NameLookup, others: Map<string, string>): void {
  for (const word of text.match(words) ?? []) {
    if (word.length > limits.maxToolNameLength || !identifierPattern.test(word)) continue;
    // A full stop at the end belongs to the sentence.
    const old = /[.-]$/.test(word) ? word.replace(/[.-]+$/, '') : word;
    const name = identifierPattern.test(old) ? lookup(old) : undefined;
    if (name !== undefined) others.set(old, name);
  }
}
