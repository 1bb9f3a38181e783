/** Last phase of compiling a toolset: warnings about names that are legal and free, but may cause problems. */
import { fold } from '../names/fold.ts';
import type { KnownTools } from './known-tools.ts';
import type { NamedEntry } from './named-entry.ts';
import { nameWarning } from '../names/reserved-names.ts';
import type { Warning } from '../warning.ts';

/** Returns the warnings grouped by kind, each in the order of the entries. Linear in entries and known tools. */
export function nameWarnings(entries: readonly NamedEntry[], known: KnownTools): Warning[] {
  return [...loadedWords(entries), ...shadowedTools(entries, known), ...repeatedTools(entries), ...lookalikes(entries)];
}

type ChosenName = { name: string; path: string; entry: NamedEntry };

function chosenNames(entries: readonly NamedEntry[]): ChosenName[] {
  return entries.flatMap((entry) => [
    ...(entry.givenName === null ? [] : [{ name: entry.givenName, path: `${entry.path}.name`, entry }]),
    ...entry.aliases.map(({ name, path }) => ({ name, path, entry })),
  ]);
}

function loadedWords(entries: readonly NamedEntry[]): Warning[] {
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
    const others =
      tools.slice(0, maxNamedTools).join(', ') + (tools.length > maxNamedTools ? ` and ${tools.length - maxNamedTools} more` : '');
    return [{ path, message: `"${name}" is also the own name of ${others}, outside this toolset; here it means ${entry.canonical}` }];
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

/** Wire names that differ only in spelling (`get-logs`, `get_logs`): exact calls work, other spellings are ambiguous. */
function lookalikes(entries: readonly NamedEntry[]): Warning[] {
  const first = new Map<string, NamedEntry>();
  return entries.flatMap((entry) => {
    const folded = fold(entry.wireName);
    const before = first.get(folded);
    if (before === undefined) {
      first.set(folded, entry);
      return [];
    }
    const message = `"${entry.wireName}" differs from "${before.wireName}" (${before.canonical}) in spelling only; any other spelling is ambiguous`;
    return [{ path: entry.path, message }];
  });
}
