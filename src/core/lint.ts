/**
 * Advice about the tools of a toolset, whichever provider is sent them: what works, and costs or confuses. Names that two tools claim
 * are errors (`name-claims.ts`); what one provider makes of the definitions is `http/toolset-report.ts`. Used when a toolset is written,
 * and by `GET …/tools`. Linear in the tools.
 */
import { definitionNames } from './definition-names.ts';
import { limits } from './limits.ts';
import type { ToolKind } from './tool.ts';
import { firstWarnings, type Warning } from './warning.ts';

/** Of an edition's tool, in the place it has in the document. */
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

/** Kind by kind, each with what it says one by one bounded, and the rest counted. */
export function lintTools(tools: readonly LintedTool[]): Warning[] {
  // What has no definition yet, and what no model is sent, has nothing to advise on.
  const told = tools
    .map((tool, index) => ({ ...tool, path: `tools[${index}]` }))
    .filter(({ state, kind }) => state !== 'missing' && kind !== 'ui');
  return [...longNames(told), ...descriptionLengths(told), ...sameDescriptions(told)];
}

/** What there is to say of a number of definitions that are offered at once: some clients and APIs take fewer. */
export function countWarnings(definitions: number): Warning[] {
  const [first] = tooMany.filter(({ most }) => definitions > most);
  if (first === undefined) return [];
  const advice = 'list fewer tools, or set onDemandAbove below their number, so that a model is given them as it needs them';
  return [{ path: 'tools', message: `${definitions} definitions are offered from the start: ${first.what}; ${advice}` }];
}

/** Definitions that a model is sent with its first step: of all tools for it, or of those that are always sent and `find_tools`. */
export function definitionsAtFirst(tools: readonly LintedTool[], onDemandAbove: number = limits.defaultOnDemandAbove): number {
  const ready = tools.filter(({ state, kind }) => state === 'ready' && kind !== 'ui');
  const sent = ready.length > onDemandAbove ? ready.filter(({ alwaysOffered }) => alwaysOffered === true) : ready;
  const names = sent.reduce((sum, tool) => sum + definitionNames(tool).length, 0);
  return sent.length < ready.length ? names + 1 : names;
}

/**
 * OpenAI: "a maximum of 128 functions" (API reference, `tools`), which GitHub Copilot passes on (microsoft/vscode-copilot-release#11653).
 * Cursor sends the first 40 tools of all servers together. The first that fits is told.
 */
const tooMany = [
  { most: 128, what: 'OpenAI and Copilot take 128 at once, Cursor 40' },
  { most: 40, what: 'Cursor takes 40 at once, and models choose worse among more' },
];

type Told = LintedTool & { path: string };

/** Cloudflare's portals refuse longer ones, and clients put the name of a server before it and cut at 60 or 64. */
const longestName = 40;

function longNames(tools: readonly Told[]): Warning[] {
  const names = tools.flatMap((tool) => definitionNames(tool).map((name) => ({ path: tool.path, canonical: tool.canonical, name })));
  const long = [...new Map(names.map((row) => [row.name, row])).values()].filter(({ name }) => name.length > longestName);
  return firstWarnings(
    long.map(({ path, canonical, name }) => {
      const message = `"${name}" (${canonical}) has ${name.length} characters; some clients cut or refuse names of more than ${longestName}: give it a shorter name`;
      return { path, message };
    }),
    'names of that length',
  );
}

/** About 500 tokens, paid for at every step; of 1,472 public tools seven in a thousand have more. */
const longestDescription = 2_000;

function descriptionLengths(tools: readonly Told[]): Warning[] {
  const empty = tools.filter(({ description }) => description.trim() === '');
  const long = tools.filter(({ description }) => description.length > longestDescription);
  return [
    ...firstWarnings(
      empty.map(({ path, canonical }) => {
        return { path, message: `${canonical} has no description: a model has its name alone to go by; give the entry one` };
      }),
      'tools without a description',
    ),
    ...firstWarnings(
      long.map(({ path, canonical, description }) => {
        const message = `the description of ${canonical} has ${description.length} characters, which every step pays for; give the entry a shorter one`;
        return { path, message };
      }),
      'descriptions of that length',
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
    const message = `${called(tool)} is described in the same words as ${called(first)}: a model can tell them apart only by their names; say in a description or a note when to use which`;
    return [{ path: tool.path, message }];
  });
  return firstWarnings(warnings, 'tools with the description of another tool');
}

/** In lower case. In scripts that put no spaces between words, each character counts as a word. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu) ?? [];
}

function called({ canonical, wireName }: Told): string {
  return `"${wireName}" (${canonical})`;
}
