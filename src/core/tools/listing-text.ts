/**
 * Cleans text from servers before models receive it: removes invisible characters, and cuts definitions where a person would stop
 * scrolling. Emoji, accents and all scripts are kept. Each text is scanned once, whatever it contains.
 * The removed characters are Unicode's default-ignorable and format classes that have no use in a description (bidi: UAX #9 §2; variation
 * selectors: UTS #51; tags: UTS #51 §C). Escape sequences: `core/text/bare-text.ts`.
 */
import { quote } from '../names/names.ts';
import { cutToBytes, utf8Length } from '../text/utf8.ts';
import { escapeSequence } from '../text/bare-text.ts';
import { emojiPart, hiddenCharacter } from '../text/visible-text.ts';
import { KB } from '../limits/units.ts';

/** Longer listed descriptions are cut, since every token of them is paid for. */
export const maxListedDescriptionBytes = 16 * KB;

export type TextFinding = { finding: string; message: string };
export type CleanedText = { text: string; findings: TextFinding[] };

/** Cleans a description or title. */
export function cleanDescription(text: string): CleanedText {
  const stripped = stripHidden(text, 'prose');
  return cutLong(stripped.text, stripped.findings);
}

/**
 * Cleans a value that is sent unchanged (`enum`, `default`). Delimiters such as a carriage return are content, and the length is not
 * limited.
 */
export function cleanValue(text: string): CleanedText {
  return stripHidden(text, 'value');
}

/**
 * Cleans a tool's result. The length is not limited; single joiners between letters are kept because some scripts need them, and so is CR LF,
 * without which an edit of the text would not match. `removed`: if given, how many characters of each kind are not in the result is added to it.
 */
export function cleanOutput(text: string, removed?: Removed): string {
  return stripHidden(text, 'output', removed).text;
}

/** Numbers of characters by their kind, as in "3 escape sequences". */
export type Removed = Map<string, number>;

/** Returns whether the text contains no hidden characters. */
export function hasNoHiddenCharacters(text: string): boolean {
  return stripHidden(text, 'prose').text === text;
}

/** In the role `value`, delimiters are content. */
type Role = 'prose' | 'value' | 'output';

function stripHidden(given: string, role: Role, removed: Removed = new Map()): CleanedText {
  const found = new Map<string, string>();
  const wellFormed = given.isWellFormed() ? given : given.toWellFormed();
  if (wellFormed !== given) {
    found.set('lone-surrogate', 'contains unpaired surrogates; each is replaced by U+FFFD');
    count(removed, 'unpaired surrogate', given.match(loneSurrogate)?.length);
  }
  const bare = wellFormed.replace(escapeSequences, () => {
    found.set('ansi-escape', 'contains escape sequences, which rewrite or hide terminal output; removed');
    count(removed, 'escape sequence');
    return '';
  });
  const text = role === 'prose' ? bare.replaceAll('\r\n', '\n') : bare;
  const single = { count: 0 };
  const cleaned = text.replace(hiddenRun, (run, offset: number) => cleanRun({ run, text, offset, role, single, found, removed }));
  if (single.count > maxSingles) found.set('zero-width-run', `contains ${single.count} zero-width characters; removed`);
  return { text: cleaned, findings: [...found].map(([finding, message]) => ({ finding, message })) };
}

const escapeSequences = new RegExp(escapeSequence, 'gu');

const hiddenRun = new RegExp(`${hiddenCharacter}+`, 'gu');

const loneSurrogate = /\p{Cs}/gu;

function count(removed: Removed, kind: string, times = 1): void {
  removed.set(kind, (removed.get(kind) ?? 0) + times);
}

type Run = {
  run: string;
  text: string;
  offset: number;
  role: Role;
  single: { count: number };
  found: Map<string, string>;
  removed: Removed;
};

function cleanRun({ run: given, text, offset, role, single, found, removed }: Run): string {
  if (isPartOfEmoji(given, text, offset)) return given;
  const endsLine = role === 'output' && given.endsWith('\r') && text[offset + given.length] === '\n';
  const run = endsLine ? given.slice(0, -1) : given;
  if (run === '') return given;
  if (role === 'output' && /^[\u200c\u200d]$/.test(run) && isBetweenLetters(text, offset, run.length)) return run;
  const characters = [...run];
  const kept = characters.map((character) => keptOf(character, role)).join('');
  const gone = characters.filter((character) => keptOf(character, role) === '');
  const separators = characters.filter((character) => lineSeparators.test(character)).length;
  if (separators > 0) count(removed, 'line separator', separators);
  for (const character of gone) {
    const finding = findingOf(character);
    if (finding !== null) found.set(finding, messages.get(finding) ?? '');
    count(removed, kinds.get(finding) ?? (selectors.test(character) ? 'variation selector' : 'zero-width character'));
  }
  const tags = gone.filter((character) => isBetween(character, 0xe0020, 0xe007e));
  if (tags.length > 0 && !isNote(found.get('tag-characters'))) found.set('tag-characters', hiddenWords(tags));
  const soft = gone.filter((character) => findingOf(character) === null);
  if (soft.length > 1) {
    const isSelector = soft.every((character) => selectors.test(character));
    const finding = isSelector ? 'variation-selector-run' : 'zero-width-run';
    found.set(finding, messages.get(finding) ?? '');
  } else if (soft.length === 1 && !isBetweenLetters(text, offset, run.length)) single.count += 1;
  return endsLine ? `${kept}\r` : kept;
}

/** Joiners between emoji, and one selector after a character with two presentations. */
function isPartOfEmoji(run: string, text: string, offset: number): boolean {
  if (!/^[\ufe0e\ufe0f]?\u200d?$/.test(run)) return false;
  emojiParts.lastIndex = offset;
  return emojiParts.exec(text)?.[0].length === run.length;
}

const emojiParts = new RegExp(`(?:${emojiPart})+`, 'uy');

/** Some scripts use single joiners in their spelling. Models read the words without them as well. */
function isBetweenLetters(text: string, offset: number, length: number): boolean {
  return (
    /[\p{L}\p{M}]$/u.test(text.slice(Math.max(0, offset - 2), offset)) && /^\p{L}/u.test(text.slice(offset + length, offset + length + 2))
  );
}

function keptOf(character: string, role: Role): string {
  if (lineSeparators.test(character)) return '\n';
  return role === 'value' && isBetween(character, 0, 0x9f) ? character : '';
}

const lineSeparators = /[\u2028\u2029]/;

/** null: harmless alone, such as a soft hyphen; only a run of such characters is a finding. */
function findingOf(character: string): string | null {
  if (isBetween(character, 0xe0100, 0xe01ef)) return null;
  if (isBetween(character, 0xe0000, 0xe0fff)) return 'tag-characters';
  if (isBetween(character, 0x202a, 0x202e) || isBetween(character, 0x2066, 0x2069)) return 'bidi-control';
  if (isBetween(character, 0, 0x9f) || isBetween(character, 0xfdd0, 0xfdef) || isBetween(character, 0xfffe, 0xffff))
    return 'control-character';
  return null;
}

const messages: ReadonlyMap<string, string> = new Map([
  ['tag-characters', 'contains tag characters, which only models can see; removed'],
  ['bidi-control', 'contains characters that change the display order of text; removed'],
  ['control-character', 'contains control characters; removed'],
  ['variation-selector-run', 'contains a run of variation selectors, which can carry hidden bytes; removed'],
  ['zero-width-run', 'contains a run of zero-width characters, which can carry hidden bits; removed'],
]);

const kinds: ReadonlyMap<string | null, string> = new Map([
  ['tag-characters', 'tag character'],
  ['bidi-control', 'bidirectional control'],
  ['control-character', 'control character'],
]);

/** Tag characters are shifted ASCII, so the finding can quote the hidden text. */
function hiddenWords(tags: readonly string[]): string {
  const words = tags.slice(0, 200).map((tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000));
  return `hides the text ${quote(words.join(''))} in tag characters, which only models can see; removed`;
}

function isNote(message: string | undefined): boolean {
  return message?.startsWith('hides') ?? false;
}

function isBetween(character: string, first: number, last: number): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code >= first && code <= last;
}

const selectors = /[\u180b-\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

/** Allowed single zero-width characters in one text; prose has few. */
const maxSingles = 16;

function cutLong(text: string, findings: TextFinding[]): CleanedText {
  let cut = text;
  const blank = longBlankRun(cut);
  if (blank !== null) {
    cut = cut.slice(0, blank);
    findings.push({ finding: 'long-blank-run', message: 'continues after a screen of blanks; cut where the blanks begin' });
  }
  if (cut.length * 3 > maxListedDescriptionBytes && utf8Length(cut) > maxListedDescriptionBytes) {
    cut = cutToBytes(cut, maxListedDescriptionBytes);
    findings.push({ finding: 'too-long', message: `is longer than ${maxListedDescriptionBytes} bytes; truncated` });
  }
  return { text: cut, findings };
}

const longBlanks = 200;
const longBlankLines = 12;

/** Returns the start of a run of blanks that fills a screen and is followed by text. Blanks at the end hide nothing. null: none. */
function longBlankRun(text: string): number | null {
  for (const match of text.matchAll(/[\s\u2800]+/g)) {
    const [run] = match;
    if (match.index + run.length === text.length) return null;
    if (run.length >= longBlanks || (run.length >= longBlankLines && run.split('\n').length > longBlankLines)) return match.index;
  }
  return null;
}
