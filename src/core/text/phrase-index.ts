/**
 * Indexes text for phrase search in any language. Case, accents and widths are normalized; in scripts without spaces between words
 * (or, as in Korean, with endings attached) each character is a word, so that a phrase is found inside a longer run. Tool names are
 * folded instead (`fold.ts`). Used by `proposals.ts`.
 */

/** The words between two separators: one for most scripts, one per character in scripts without spaces. */
export type Unit = readonly string[];

export type PhraseIndex = {
  /** Whether these words occur in sequence, as whole words. False for an empty list. */
  has(words: readonly string[]): boolean;
};

/** One pass over the text per phrase length, for phrases whose words all occur; each further phrase is one lookup. */
export function indexPhrases(text: string): PhraseIndex {
  const words = toUnits(text).flat();
  const single: ReadonlySet<string> = new Set(words);
  const joined = words.join(' ');
  /** The index at which each word begins, and at which another one would begin. */
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const isAscii = /^[\x00-\x7f]*$/;

/** Whether a word is a character of a script that is written without spaces, or with endings attached. */
export function isUnspaced(word: string): boolean {
  return unspaced.test(word);
}

/**
 * Keeps the marks of other scripts: without its voicing mark が is another syllable, and without its vowel a Thai word is another
 * word.
 */
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
