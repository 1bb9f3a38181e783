/**
 * Which tools fit a few words: BM25 over their names, aliases, descriptions with notes, and the names of their arguments
 * (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, §3.6: fields are weighted before they are
 * saturated). Built when first asked for and kept with the names; a query reads only the lists of its own words. Used by `find_tools`.
 */
import type { AliasMap } from './alias-map.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { fold } from './fold.ts';
import { limits } from './limits.ts';
import { injectedNames } from './reserved-names.ts';
import { isUnspaced, toUnits } from './spoken-words.ts';
import { isRecord } from './wire-value.ts';
import { spaceWords } from './name-words.ts';

/** The toolset's tools that fit, the best first, ties in the document's order. Those that are added to it are never looked for. */
export function searchTools(map: AliasMap, query: string, max: number): EditionTool[] {
  const { tools, lists } = indexOf(map);
  const scores = new Map<number, number>();
  for (const term of queryTerms(query)) {
    for (const { tool, weight } of lists.get(term) ?? []) scores.set(tool, (scores.get(tool) ?? 0) + weight);
  }
  return best(scores, max).flatMap((index) => tools[index] ?? []);
}

/** `weight`: what the term says for the tool, with how rare it is. */
type Posting = { tool: number; weight: number };
type ToolIndex = { tools: readonly EditionTool[]; lists: ReadonlyMap<string, readonly Posting[]> };

const kept = new WeakMap<AliasMap, ToolIndex>();

function indexOf(map: AliasMap): ToolIndex {
  if (map.base !== undefined) return indexOf(map.base);
  const known = kept.get(map);
  if (known !== undefined) return known;
  const index = buildIndex(map.own.filter((tool) => isForModels(tool) && injectedNames.get(tool.ownName) !== tool.canonical));
  kept.set(map, index);
  return index;
}

/** How soon more of the same word says nothing new, and how much a long description takes from each of its words: the usual values. */
const saturation = 1.2;
const lengthShare = 0.75;

function buildIndex(tools: readonly EditionTool[]): ToolIndex {
  const texts = tools.map(readTool);
  const averageLength = texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, tools.length) || 1;
  const lists = new Map<string, Posting[]>();
  for (const [tool, { named, told, length }] of texts.entries()) {
    const longer = 1 - lengthShare + (lengthShare * length) / averageLength;
    const counts = new Map(named);
    for (const [term, count] of told) counts.set(term, (counts.get(term) ?? 0) + count / longer);
    for (const [term, count] of counts) {
      const posting = { tool, weight: (count * (saturation + 1)) / (count + saturation) };
      const list = lists.get(term);
      if (list === undefined) lists.set(term, [posting]);
      else list.push(posting);
    }
  }
  for (const list of lists.values()) {
    const rarity = Math.log(1 + (tools.length - list.length + 0.5) / (list.length + 0.5));
    for (const posting of list) posting.weight *= rarity;
  }
  return { tools, lists };
}

const weights = { name: 3, whole: 4, server: 1.5, told: 1, argument: 0.4 };

/** Terms of the short fields, and of the description, whose length counts. */
type ToolText = { named: ReadonlyMap<string, number>; told: ReadonlyMap<string, number>; length: number };

function readTool({ canonical, wireName, ownName, server, aliases, description, inputSchema }: EditionTool): ToolText {
  const named = new Map<string, number>();
  const told = new Map<string, number>();
  const atLeast = (term: string, weight: number): void => void named.set(term, Math.max(weight, named.get(term) ?? 0));
  // The same word in several names is no more than in one.
  for (const name of new Set([wireName, ownName, ...aliases.map((alias) => alias.name)])) {
    for (const term of termsOf(name)) atLeast(term, weights.name);
    atLeast(fold(name), weights.whole);
  }
  atLeast(fold(canonical), weights.whole);
  for (const term of termsOf(server)) atLeast(term, weights.server);
  for (const name of argumentNames(inputSchema)) for (const term of termsOf(name)) atLeast(term, weights.argument);
  const terms = termsOf(description.slice(0, limits.maxIndexedDescriptionLength));
  for (const term of terms) told.set(term, (told.get(term) ?? 0) + weights.told);
  return { named, told, length: terms.length };
}

function argumentNames({ properties }: EditionTool['inputSchema']): string[] {
  return isRecord(properties) ? Object.keys(properties).slice(0, limits.maxIndexedArguments) : [];
}

/** Words of the query, each once, with what two neighbours are as one word: `web search` also finds `websearch`. */
function queryTerms(query: string): Set<string> {
  const text = query.slice(0, limits.maxFindQueryLength);
  const words = termsOf(text).slice(0, limits.maxFindQueryWords);
  const joined = words.slice(1).map((word, index) => `${words[index]}${word}`);
  const names = text.split(/\s+/, limits.maxFindQueryWords).map(fold);
  return new Set([...words, ...joined, fold(text), ...names].filter((term) => term !== ''));
}

/**
 * Words as they are compared, `createIssues` as `create` and `issue`, and as the one word that others write it as (`YouTube`); of
 * scripts without spaces each two characters that stand together, as is usual for their search.
 */
function termsOf(text: string): string[] {
  const spaced = spaceWords(text);
  const joined = spaced === text ? [] : (text.match(/[A-Za-z0-9]+/g) ?? []).filter((word) => /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word));
  const words = toUnits(spaced).flatMap((unit) =>
    unit.flatMap((word, index) => {
      if (!isUnspaced(word)) return stopWords.has(word) ? [] : [stem(word)];
      const next = unit[index + 1];
      if (next !== undefined && isUnspaced(next)) return [word + next];
      const before = unit[index - 1];
      return before !== undefined && isUnspaced(before) ? [] : [word];
    }),
  );
  return [...words, ...joined.map((word) => stem(word.toLowerCase()))];
}

/** English endings that say little: `issues`, `searching`, `created`. What is left need not be a word, only the same for all of them. */
function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const bare = word
    .replace(/ies$/, 'y')
    .replace(/(?<=ss|x|ch|sh)es$/, '')
    .replace(/(?<=[^su])s$/, '');
  const shorter = bare.replace(/(?<=[a-z]{3})(?:ing|ed)$/, '').replace(/([b-df-hj-np-tv-z])\1$/, '$1');
  return shorter.replace(/(?<=[a-z]{3})e$/, '');
}

/** Too frequent to say anything, also in toolsets too small for their frequency to show it. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be by can could do does for from get give has have how i if in into is it its let make me my need of on or ' +
    'our out please should so some that the their them then there these this to tool tools up us use used using want was we what when ' +
    'where which who will with would you your'
  ).split(' '),
);

/** The few best of many, without sorting all of them. */
function best(scores: ReadonlyMap<number, number>, max: number): number[] {
  const top: { tool: number; score: number }[] = [];
  for (const [tool, score] of scores) {
    const last = top.at(-1);
    if (top.length >= max && last !== undefined && !isBefore({ tool, score }, last)) continue;
    const at = top.findIndex((other) => isBefore({ tool, score }, other));
    top.splice(at < 0 ? top.length : at, 0, { tool, score });
    if (top.length > max) top.pop();
  }
  return top.map(({ tool }) => tool);
}

function isBefore(one: { tool: number; score: number }, other: { tool: number; score: number }): boolean {
  return one.score > other.score || (one.score === other.score && one.tool < other.tool);
}
