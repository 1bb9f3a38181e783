/**
 * Ranks tools by the words of a query: BM25 (the `minisearch` library) over their names, aliases, servers, descriptions with notes, and
 * the names of their arguments. The index is built at the first query and cached with the names. Used by `find_tools`.
 */
import { rootOf } from './old-names.ts';
import { memoizeByObject } from '../memoize.ts';
import MiniSearch from 'minisearch';
import type { AliasMap } from './alias-map.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { fold } from '../names/fold.ts';
import { limits } from '../limits/limits.ts';
import { injectedNames } from '../names/reserved-names.ts';
import { isUnspaced, stem, toUnits } from '../text/phrase-index.ts';
import { isRecord } from '../json/wire-value.ts';
import { spaceWords } from '../names/name-words.ts';

const maxIndexedArguments = 100;

/** The toolset's tools that match, best first, ties in the document's order. Tools that a turn adds are not searched. */
export function searchTools(map: AliasMap, query: string, max: number): EditionTool[] {
  const { tools, index } = indexOf(rootOf(map));
  const found = index.search(query, { tokenize: () => [...queryTerms(query)] });
  return found
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, max)
    .flatMap(({ id }) => tools[id] ?? []);
}

const indexOf = memoizeByObject((map: AliasMap): { tools: readonly EditionTool[]; index: MiniSearch<ToolText> } => {
  const tools = map.own.filter((tool) => isForModels(tool) && injectedNames.get(tool.ownName) !== tool.canonical);
  const index = new MiniSearch<ToolText>({
    fields: Object.keys(boost),
    extractField: (text, field) => text[field as keyof ToolText] as string,
    tokenize: (terms) => terms.split(' '),
    processTerm: (term) => term,
    searchOptions: { boost },
  });
  index.addAll(tools.map(readTool));
  return { tools, index };
});

const boost = { name: 3, whole: 4, server: 1.5, description: 1, argument: 0.4 };

/** The terms of each field, joined by spaces; `id` is the place of the tool. */
type ToolText = { id: number } & Record<keyof typeof boost, string>;

function readTool({ canonical, wireName, ownName, server, aliases, description, inputSchema }: EditionTool, id: number): ToolText {
  const names = [...new Set([wireName, ownName, ...aliases.map((alias) => alias.name)])];
  const argumentNames = isRecord(inputSchema.properties) ? Object.keys(inputSchema.properties).slice(0, maxIndexedArguments) : [];
  return {
    id,
    // A word that is in several names counts as often as in one.
    name: distinct(names.flatMap(termsOf)),
    whole: distinct([canonical, ...names].map(fold)),
    server: distinct(termsOf(server)),
    argument: distinct(argumentNames.flatMap(termsOf)),
    description: termsOf(description.slice(0, limits.maxIndexedDescriptionLength)).join(' '),
  };
}

function distinct(terms: readonly string[]): string {
  return [...new Set(terms)].join(' ');
}

/** The words of the query, each once, and each two neighbors as one word: `web search` also finds `websearch`. */
function queryTerms(query: string): Set<string> {
  const text = query.slice(0, limits.maxFindQueryLength);
  const words = termsOf(text).slice(0, limits.maxFindQueryWords);
  const joined = words.slice(1).map((word, index) => `${words[index]}${word}`);
  const names = text.split(/\s+/, limits.maxFindQueryWords).map(fold);
  return new Set([...words, ...joined, fold(text), ...names].filter((term) => term !== ''));
}

/**
 * The stems of a text's words: `createIssues` gives `create` and `issue`, and the joined word, since others write `YouTube` as one
 * word. In scripts without spaces, each two adjacent characters are a term, as is usual in search.
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

/** Words that say nothing about a tool. In a small toolset their frequency alone would not show it. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be by can could do does for from get give has have how i if in into is it its let make me my need of on or ' +
    'our out please should so some that the their them then there these this to tool tools up us use used using want was we what when ' +
    'where which who will with would you your'
  ).split(' '),
);
