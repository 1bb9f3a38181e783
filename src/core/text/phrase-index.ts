/**
 * Indexes text for phrase search in any language. Case, accents and widths are normalized; in scripts without spaces between words
 * (or, as in Korean, with endings attached) each character is a word, so that a phrase is found inside a longer run. Tool names are
 * folded instead (`fold.ts`). Used by `proposals.ts` and `tool-index.ts`.
 */

/** The words between two separators: one for most scripts, one per character in scripts without spaces. */
export type Unit = readonly string[];

export type PhraseIndex = {
  /** Whether the words of the phrase (`toPhrase`) occur in sequence, as whole words. False for no words. */
  has(phrase: string): boolean;
};

/** Returns words as they are searched: the last one in any English form, and however text or phrase space them. */
export function toPhrase(words: readonly string[]): string {
  return words.slice(0, -1).join('') + stem(words.at(-1) ?? '');
}

/** Characters of a phrase that decide most searches, and occurrences of a phrase inside of words that are skipped. */
const [prefixLength, maxSkipped] = [6, 100];

/**
 * `mind map`, `mind-map` and `mindmaps` are one phrase: words are compared without what is between them, from the begin of a word to the end or
 * the stem of one. No phrase reaches over the end of a sentence.
 */
export function indexPhrases(text: string): PhraseIndex {
  let joined = '';
  const begins = new Set<number>();
  const ends = new Set<number>();
  for (const sentence of text.split(sentenceEnd)) {
    for (const word of toUnits(sentence).flat()) {
      begins.add(joined.length);
      ends.add(joined.length + stem(word).length);
      joined += word;
      ends.add(joined.length);
    }
    joined += '\n';
  }
  const prefixes = new Set<string>();
  for (const begin of begins) for (let length = 1; length <= prefixLength; length += 1) prefixes.add(joined.slice(begin, begin + length));
  return {
    has(phrase) {
      if (phrase === '' || !prefixes.has(phrase.slice(0, prefixLength))) return false;
      let at = joined.indexOf(phrase);
      for (let skipped = 0; at >= 0 && skipped < maxSkipped; skipped += 1) {
        if (begins.has(at) && ends.has(at + phrase.length)) return true;
        at = joined.indexOf(phrase, at + 1);
      }
      return false;
    },
  };
}

const sentenceEnd = /[.!?…]+\s+|[。！？]+/u;

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
 * Removes the English endings of `issues`, `searching`, `created`, `queries` and `query`. The stem need not be a word, only the same for all forms;
 * every word begins with its stem.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const bare = word
    .replace(/(?<=[a-z]{2}[^aeiou])(?:ies|y)$/, '')
    .replace(/(?<=ss|x|z|ch|sh)es$/, '')
    .replace(/(?<=[^su])s$/, '');
  const shorter = bare.replace(/(?<=[a-z]{3})(?:ing|ed)$/, '').replace(/([b-df-hj-np-tv-z])\1$/, '$1');
  return shorter.replace(/(?<=[a-z]{3})e$/, '');
}

/**
 * Removes accents and the vowel marks of Hebrew and Arabic. Keeps the marks of other scripts: without its voicing mark が is another syllable, and without its vowel a Thai word is another
 * word.
 */
function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g, '')
    .normalize('NFKC');
}

const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const unspaced = new RegExp(`^[${unspacedScripts}]`, 'u');
const unitWords = new RegExp(`[${unspacedScripts}]\\p{M}*|(?:(?![${unspacedScripts}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');
