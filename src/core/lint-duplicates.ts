/**
 * Descriptions that are (nearly) the same: a model that is sent both tools tells them apart by their names alone. Found without
 * comparing each with each: MinHash with bands (Broder 1997; Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", 3.4) proposes
 * pairs, which are then compared word by word. Used by `lint.ts`.
 */
import { fold } from './fold.ts';
import { spaceWords } from './name-words.ts';

export type Described = { wireName: string; ownName: string; description: string };

/** `index` says what `of` had said before it. `same`: in the very words. */
export type Duplicate = { index: number; of: number; same: boolean };

/** At most one for each tool: with the first one that it is like. */
export function duplicateDescriptions(tools: readonly Described[]): Duplicate[] {
  const texts = tools.map(readText);
  const exact = new Map<string, number>();
  const buckets = new Map<number, number[]>();
  const hashes = new Map<string, Uint32Array>();
  return texts.flatMap((text, index): Duplicate[] => {
    if (text.total < minWords) return [];
    const before = exact.get(text.normalised);
    if (before !== undefined) return [{ index, of: before, same: true }];
    exact.set(text.normalised, index);
    if (text.words.size < minWordsToCompare) return [];
    const of = findLike(texts, index, signatureOf(text.words, hashes), buckets);
    return of === null ? [] : [{ index, of, same: false }];
  });
}

/** "Search" twice is a short description, and no copy of a text. */
const minWords = 3;
/** Of fewer words one that differs is a difference: "Create a new issue in a repository", "Create a new label in a repository". */
const minWordsToCompare = 8;
/** What a text says is said by then; a hostile one may go on. */
const maxWords = 300;
/** Shared words of all words. Measured on 1,472 public tools: below it, pairs are about different things (`lint.test.ts`). */
const minShared = 0.85;
const minSharedOpening = 0.6;

type Text = { tool: Described; normalised: string; total: number; words: ReadonlySet<string> };

function readText(tool: Described): Text {
  const words = wordsOf(tool.description);
  return { tool, normalised: words.join(' '), total: words.length, words: new Set(words) };
}

/** The first sentence or line. */
function openingOf({ description }: Described): ReadonlySet<string> {
  return new Set(wordsOf(/^[^.!?。！？\n]*/.exec(description.trimStart())?.[0] ?? ''));
}

/** Of scripts that put no spaces between words: every two characters that stand side by side. */
function wordsOf(text: string): string[] {
  const runs =
    text
      .slice(0, maxWords * 20)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return runs.flatMap((run) => (spaceless.test(run) ? pairsOf(run) : run)).slice(0, maxWords);
}

const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** `createIssues` → create, issues, issue. */
function nameWords({ wireName, ownName }: Described): ReadonlySet<string> {
  const words = spaceWords(`${wireName} ${ownName}`)
    .split(/[^A-Za-z0-9]+/)
    .map(fold);
  return new Set(words.flatMap((word) => [word, word.replace(/s$/, ''), `${word}s`]));
}

function findLike(texts: readonly Text[], index: number, signature: Uint32Array, buckets: Map<number, number[]>): number | null {
  const text = texts[index];
  const compared = new Set<number>();
  let found: number | null = null;
  for (let band = 0; band < bands; band++) {
    const key = bandKey(signature, band);
    const bucket = buckets.get(key);
    if (bucket === undefined) {
      buckets.set(key, [index]);
      continue;
    }
    for (const other of bucket) {
      if (found !== null || compared.has(other)) continue;
      compared.add(other);
      const candidate = texts[other];
      if (text !== undefined && candidate !== undefined && isLike(text, candidate)) found = other;
    }
    if (bucket.length < maxBucket) bucket.push(index);
  }
  return found;
}

/**
 * Many tools of one server share a page of advice: then what stands before it counts. Words in which two differ may be just what the
 * tools are named for: then the texts do tell them apart.
 */
function isLike(a: Text, b: Text): boolean {
  if (sharedPart(a.words, b.words) < minShared || sharedPart(openingOf(a.tool), openingOf(b.tool)) < minSharedOpening) return false;
  const [namesA, namesB] = [nameWords(a.tool), nameWords(b.tool)];
  return !isNamedForItsWords(a, namesA, b, namesB) && !isNamedForItsWords(b, namesB, a, namesA);
}

function isNamedForItsWords(a: Text, namesA: ReadonlySet<string>, b: Text, namesB: ReadonlySet<string>): boolean {
  return [...namesA].some((word) => !namesB.has(word) && a.words.has(word) && !b.words.has(word));
}

/** Shared words of all words of two texts (Jaccard): 1 for equal ones. */
function sharedPart(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  const all = a.size + b.size - shared;
  return all === 0 ? 1 : shared / all;
}

/** 6 bands of 3: texts that share 85 of 100 words meet in one of them 99 times in 100. */
const bands = 6;
const rows = 3;
/** Texts alike by the hundred are each compared with these only: the work stays linear. */
const maxBucket = 4;

/** Texts of one toolset share most of their words, so each word is hashed once. */
function signatureOf(words: ReadonlySet<string>, hashes: Map<string, Uint32Array>): Uint32Array {
  const signature = new Uint32Array(bands * rows).fill(0xffffffff);
  for (const word of words) {
    const hashed = hashes.get(word) ?? hashesOf(word);
    hashes.set(word, hashed);
    for (let row = 0; row < bands * rows; row++) {
      const hash = hashed[row] ?? 0;
      if (hash < (signature[row] ?? 0)) signature[row] = hash;
    }
  }
  return signature;
}

function hashesOf(word: string): Uint32Array {
  const hash = hashOf(word);
  const hashes = new Uint32Array(bands * rows);
  for (let row = 0; row < bands * rows; row++) hashes[row] = mix(hash ^ Math.imul(row + 1, 0x9e3779b1));
  return hashes;
}

function bandKey(signature: Uint32Array, band: number): number {
  let low = band;
  for (let row = 0; row < rows; row++) low = mix(low ^ (signature[band * rows + row] ?? 0));
  // The band in the upper part keeps bands apart.
  return band * 0x100000000 + low;
}

/** FNV-1a. Not a safeguard: whoever makes words meet gets pairs compared that differ. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
