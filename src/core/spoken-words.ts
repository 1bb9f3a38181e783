/**
 * Text as words that can be looked for in any language: case, accents and widths made equal; of scripts that put no spaces between
 * words (or, as Korean, endings behind them) each character is a word, so that a phrase of theirs is found inside a longer run.
 * Not for names of tools, which are folded (`fold.ts`). Used by `proposals.ts`.
 */

/** What stands between two separators, as its words: one for most scripts, one a character where words are not set apart. */
export type Unit = readonly string[];

export type SpokenWords = {
  /** Whether these words stand one right after the other, whole. Never true of none. */
  has(words: readonly string[]): boolean;
};

/** One pass over the text for each length of phrase of which all words are in it; each phrase after that is one look-up. */
export function indexWords(text: string): SpokenWords {
  const words = toUnits(text).flat();
  const single: ReadonlySet<string> = new Set(words);
  const joined = words.join(' ');
  /** Where each word begins in it, and where one more would. */
  const begins = [0];
  for (const word of words) begins.push((begins.at(-1) ?? 0) + word.length + 1);
  const phrases = new Map<number, ReadonlySet<string>>();
  const phrasesOf = (length: number): ReadonlySet<string> => {
    const known = phrases.get(length);
    if (known !== undefined) return known;
    const found = new Set<string>();
    for (let start = 0; start + length <= words.length; start += 1)
      found.add(joined.slice(begins[start], (begins[start + length] ?? 0) - 1));
    phrases.set(length, found);
    return found;
  };
  return {
    has(phrase) {
      if (phrase.length === 0 || !phrase.every((word) => single.has(word))) return false;
      return phrase.length === 1 || phrasesOf(phrase.length).has(phrase.join(' '));
    },
  };
}

/** `Fotografía del PDFを` → `[fotografia] [del] [pdf, を]`. */
export function toUnits(text: string): Unit[] {
  if (isAscii.test(text)) return Array.from(text.toLowerCase().match(/[a-z0-9]+/g) ?? [], (word) => [word]);
  return Array.from(plain(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [], (unit) => unit.match(unitWords) ?? []);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const isAscii = /^[\x00-\x7f]*$/;

/** Whether a word is a character of a script that is written without spaces, or with endings. */
export function isUnspaced(word: string): boolean {
  return unspaced.test(word);
}

/** Marks of other scripts stay: without its voicing sign が is another syllable, without its vowel a Thai word another word. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC');
}

const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const unspaced = new RegExp(`^[${unspacedScripts}]`, 'u');
const unitWords = new RegExp(`[${unspacedScripts}]\\p{M}*|(?:(?![${unspacedScripts}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');
