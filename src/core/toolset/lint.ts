/**
 * Advice about the tools of a toolset that works but is expensive or confusing, for any provider. Conflicting names are errors
 * (`name-claims.ts`); `http/toolset-report.ts` covers what a single provider does with the definitions. Used when a toolset is
 * written, and by `GET …/tools`. Linear in the tools.
 */
import { definitionNames } from './definition-names.ts';
import { limits } from '../limits.ts';
import type { ToolKind } from '../tools/tool.ts';
import { firstWarnings, type Warning } from '../warning.ts';

/** A tool of an edition, at its position in the document. */
export type LintedTool = {
  canonical: string;
  wireName: string;
  ownName: string;
  description: string;
  state: string;
  kind: ToolKind;
  alwaysOffered?: true;
  aliases: readonly { name: string; mode: string }[];
};

/** Returns the warnings grouped by kind, each kind bounded, with a count of the rest. */
export function lintTools(tools: readonly LintedTool[]): Warning[] {
  // Tools without a definition and UI tools are skipped.
  const told = tools
    .map((tool, index) => ({ ...tool, path: `tools[${index}]` }))
    .filter(({ state, kind }) => state !== 'missing' && kind !== 'ui');
  return [...longNames(told), ...descriptionLengths(told), ...sameDescriptions(told)];
}

/** Returns warnings about the number of definitions that are offered at once: some clients and APIs accept fewer. */
export function countWarnings(definitions: number): Warning[] {
  const [first] = tooMany.filter(({ most }) => definitions > most);
  if (first === undefined) return [];
  const advice = 'list fewer tools, or set onDemandAbove below their number so that tools are loaded on demand';
  return [{ path: 'tools', message: `${definitions} definitions are offered from the start: ${first.what}; ${advice}` }];
}

/**
 * Returns the number of definitions sent with the first step: all tools for models, or those that are always sent plus `find_tools`.
 */
export function definitionsAtFirst(tools: readonly LintedTool[], onDemandAbove: number = limits.defaultOnDemandAbove): number {
  const ready = tools.filter(({ state, kind }) => state === 'ready' && kind !== 'ui');
  const sent = ready.length > onDemandAbove ? ready.filter(({ alwaysOffered }) => alwaysOffered === true) : ready;
  const names = sent.reduce((sum, tool) => sum + definitionNames(tool).length, 0);
  return sent.length < ready.length ? names + 1 : names;
}

/**
 * OpenAI: "a maximum of 128 functions" (API reference, `tools`), which GitHub Copilot passes on
 * (microsoft/vscode-copilot-release#11653). Cursor sends the first 40 tools of all servers together. Only the first matching limit is
 * reported.
 */
const tooMany = [
  { most: 128, what: 'OpenAI and Copilot accept 128 at once, Cursor 40' },
  { most: 40, what: 'Cursor accepts 40 at once, and models choose less accurately among more' },
];

type Told = LintedTool & { path: string };

/** Cloudflare's portals refuse longer names, and clients prefix the server name and cut at 60 or 64 characters. */
const longestName = 40;

function longNames(tools: readonly Told[]): Warning[] {
  const names = tools.flatMap((tool) => definitionNames(tool).map((name) => ({ path: tool.path, canonical: tool.canonical, name })));
  const long = [...new Map(names.map((row) => [row.name, row])).values()].filter(({ name }) => name.length > longestName);
  return firstWarnings(
    long.map(({ path, canonical, name }) => {
      const message = `"${name}" (${canonical}) has ${name.length} characters; some clients cut or refuse names longer than ${longestName}; give it a shorter name`;
      return { path, message };
    }),
    'long names',
  );
}

/** About 500 tokens, sent with every step; of 1,472 public tools seven in a thousand have longer descriptions. */
const longestDescription = 2_000;

function descriptionLengths(tools: readonly Told[]): Warning[] {
  const empty = tools.filter(({ description }) => description.trim() === '');
  const long = tools.filter(({ description }) => description.length > longestDescription);
  return [
    ...firstWarnings(
      empty.map(({ path, canonical }) => {
        return { path, message: `${canonical} has no description, so models choose it by its name alone; add a description to the entry` };
      }),
      'tools without a description',
    ),
    ...firstWarnings(
      long.map(({ path, canonical, description }) => {
        const message = `the description of ${canonical} has ${description.length} characters, which are sent with every step; set a shorter one on the entry`;
        return { path, message };
      }),
      'long descriptions',
    ),
  ];
}

/** A shorter description ("Search") says too little for its repetition to be a copy. */
const minWords = 3;

/** Tools with the description of an earlier tool, whatever its case, punctuation and spacing. */
function sameDescriptions(tools: readonly Told[]): Warning[] {
  const firsts = new Map<string, Told>();
  const warnings = tools.flatMap((tool): Warning[] => {
    const words = wordsOf(tool.description);
    const text = words.join(' ');
    const first = firsts.get(text);
    if (words.length < minWords) return [];
    if (first === undefined) {
      firsts.set(text, tool);
      return [];
    }
    const message = `${called(tool)} has the same description as ${called(first)}, so models can tell them apart only by name; say in a description or a note when to use which`;
    return [{ path: tool.path, message }];
  });
  return firstWarnings(warnings, 'tools with the description of another tool');
}

/** Returns the words in lower case. In scripts without spaces between words, each character counts as a word. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu) ?? [];
}

function called({ canonical, wireName }: Told): string {
  return `"${wireName}" (${canonical})`;
}
