/**
 * Advice about the tools of a toolset that works but is expensive or confusing, for any provider. Conflicting names are errors
 * (`name-claims.ts`); `http/routes/toolsets/toolset-report.ts` covers what a single provider does with the definitions. Used when a toolset is
 * written, and by `GET …/tools`. Linear in the tools.
 */
import { definitionNames } from './model-definitions.ts';
import { limits } from '../limits/limits.ts';
import type { ToolKind, ToolPresentation } from '../tools/tool.ts';
import { type EditionTool, isForModels } from './edition-tool.ts';
import { firstWarnings, type Warning } from '../problem.ts';
import { fold } from '../names/fold.ts';
import type { KnownTools } from './known-tools.ts';
import type { NamedEntry } from './named-entry.ts';
import { nameWarning } from '../names/reserved-names.ts';
import { listFirst } from '../text/paragraphs.ts';

/** A tool of an edition, at its position in the document. */
export type LintedTool = {
  canonical: string;
  wireName: string;
  ownName: string;
  description: string;
  state: EditionTool['state'];
  kind: ToolKind;
  presentation?: ToolPresentation;
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

/** Returns the number of definitions sent with the first step: all tools for models, or those that are always sent plus `find_tools`. */
export function definitionsAtFirst(tools: readonly LintedTool[], onDemandAbove: number = limits.defaultOnDemandAbove): number {
  const ready = tools.filter(isForModels);
  const sent = ready.length > onDemandAbove ? ready.filter(({ alwaysOffered }) => alwaysOffered === true) : ready;
  const names = sent.reduce((sum, tool) => sum + definitionNames(tool).length, 0);
  return sent.length < ready.length ? names + 1 : names;
}

/**
 * OpenAI: "a maximum of 128 functions" (API reference, `tools`), which GitHub Copilot passes on (microsoft/vscode-copilot-release#11653).
 * Cursor sends the first 40 tools of all servers together. Only the first matching limit is reported.
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
  const emptyWarnings = empty.map(({ path, canonical }) => {
    return { path, message: `${canonical} has no description, so models choose it by its name alone; add a description to the entry` };
  });
  const longWarnings = long.map(({ path, canonical, description }) => {
    const message = `the description of ${canonical} has ${description.length} characters, which are sent with every step; set a shorter one on the entry`;
    return { path, message };
  });
  return [...firstWarnings(emptyWarnings, 'tools without a description'), ...firstWarnings(longWarnings, 'long descriptions')];
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

// Last phase of compiling a toolset: warnings about names that are legal and free, but may cause problems.

/** Returns the warnings grouped by kind, each in the order of the entries. Linear in entries and known tools. */
export function nameWarnings(entries: readonly NamedEntry[], known: KnownTools): Warning[] {
  return [...reservedWordWarnings(entries), ...shadowedTools(entries, known), ...repeatedTools(entries), ...lookalikes(entries)];
}

type ChosenName = { name: string; path: string; entry: NamedEntry };

function chosenNames(entries: readonly NamedEntry[]): ChosenName[] {
  return entries.flatMap((entry) => [
    ...(entry.givenName === null ? [] : [{ name: entry.givenName, path: `${entry.path}.name`, entry }]),
    ...entry.aliases.map(({ name, path }) => ({ name, path, entry })),
  ]);
}

function reservedWordWarnings(entries: readonly NamedEntry[]): Warning[] {
  return chosenNames(entries).flatMap(({ name, path }) => {
    const message = nameWarning(name);
    return message === null ? [] : [{ path, message }];
  });
}

/** One chosen name may shadow many tools of the workspace; the message names the first few. */
const maxNamedTools = 3;

/** Names that are another tool's own name, outside this toolset: readers who know that tool would expect it. */
function shadowedTools(entries: readonly NamedEntry[], known: KnownTools): Warning[] {
  const chosen = chosenNames(entries).filter(({ name, entry }) => name !== entry.ownName);
  const shadowed = new Map<string, string[]>(chosen.map(({ name }) => [name, []]));
  if (shadowed.size === 0) return [];
  const inside = new Set<string>(entries.map((entry) => entry.canonical));
  for (const tool of known.all()) if (!inside.has(tool.canonical)) shadowed.get(tool.name)?.push(tool.canonical);
  return chosen.flatMap(({ name, path, entry }) => {
    const tools = (shadowed.get(name) ?? []).sort();
    if (tools.length === 0) return [];
    const message = `"${name}" is also the own name of ${listFirst(tools, maxNamedTools)}, outside this toolset; here it means ${entry.canonical}`;
    return [{ path, message }];
  });
}

/**
 * A canonical name with several entries resolves to the only one without presets (`alias-map.ts`). If there is none or more than one
 * without presets, a call by the canonical name is ambiguous.
 */
function repeatedTools(entries: readonly NamedEntry[]): Warning[] {
  const first = new Map<string, NamedEntry>();
  const plain = new Map<string, number>();
  for (const entry of entries) {
    if (!first.has(entry.canonical)) first.set(entry.canonical, entry);
    if (entry.source.arguments?.preset === undefined) plain.set(entry.canonical, (plain.get(entry.canonical) ?? 0) + 1);
  }
  return entries.flatMap((entry) => {
    const before = first.get(entry.canonical);
    if (before === undefined || before === entry || plain.get(entry.canonical) === 1) return [];
    const message = `${entry.canonical} is also listed at ${before.path}; a call by its canonical name matches both and is refused as ambiguous`;
    return [{ path: `${entry.path}.tool`, message }];
  });
}

/**
 * Names of two tools that differ only in spelling (`get-logs`, `get_logs`; the alias `terminalcd` beside the name `terminalCd`): exact calls
 * work, other spellings are ambiguous.
 */
function lookalikes(entries: readonly NamedEntry[]): Warning[] {
  const first = new Map<string, { name: string; entry: NamedEntry }>();
  const warnings = entries.flatMap((entry): Warning[] => {
    const told = new Set<string>();
    return [entry.wireName, entry.ownName, ...entry.aliases.map(({ name }) => name)].flatMap((name) => {
      const folded = fold(name);
      const before = first.get(folded);
      if (before === undefined) first.set(folded, { name, entry });
      if (before === undefined || before.name === name || before.entry.canonical === entry.canonical || told.has(folded)) return [];
      told.add(folded);
      const message = `"${name}" differs from "${before.name}" (${before.entry.canonical}) in spelling only; any other spelling is ambiguous`;
      return [{ path: entry.path, message }];
    });
  });
  return firstWarnings(warnings, 'names that differ in spelling only');
}
