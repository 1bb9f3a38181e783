/**
 * Phase of compiling a toolset between reading the entries (`named-entry.ts`) and finding conflicts (`name-claims.ts`): decides the names
 * that no administrator wrote. Adds the names of the name map, leaves out default aliases that clash, and puts the server's name before
 * own names that several tools share. The result does not depend on the order of the entries.
 */
import { fold } from '../names/fold.ts';
import { isAlias, namespacedWireName, quote, toWireName } from '../names/names.ts';
import { didYouMean } from '../names/suggest.ts';
import { reservedNames } from '../names/reserved-names.ts';
import type { KnownTools } from './known-tools.ts';
import { type EntryAlias, type EntryNames, type EntryReadings, type NamedEntry, namesOfEntry, readNamedEntries } from './named-entry.ts';
import type { NameMap, Toolset } from './toolset.ts';
import type { Issue, Warning } from '../problem.ts';
import { toolOf } from './entries/entry-targets.ts';

/** `leftOut`: names that clash in this toolset, each a warning with the tool that does not get it. */
type SettledReadings = EntryReadings & { leftOut: LeftOutName[] };
export type LeftOutName = Warning & { canonical: string };

/** Returns the reading with final names. Names that conflict with others remain: `findConflicts` reports them. */
export function settleNames(
  { entries, issues, warnings }: EntryReadings,
  { nameMap }: Pick<Toolset, 'nameMap'>,
  known: Pick<KnownTools, 'nameMap'>,
): SettledReadings {
  const reading: SettledReadings = { entries, issues: [...issues], warnings: [...warnings], leftOut: [] };
  if (nameMap !== undefined) reading.entries = addMappedNames(nameMap, reading);
  reading.entries = dropClashingDefaults(reading);
  reading.entries = separateOwnNames(reading);
  if (known.nameMap !== undefined) reading.entries = addWorkspaceNames(known.nameMap, nameMap ?? {}, reading);
  return reading;
}

/** Returns the names of each entry, equal to those of a compiled edition, for views of a document that is not compiled. */
export function namesOfEntries(document: Pick<Toolset, 'tools' | 'names' | 'nameMap'>, known: KnownTools): EntryNames[] {
  const { entries } = settleNames(readNamedEntries(document, known), document, known);
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  // Entries of tools that no longer exist are not read.
  return document.tools.map((entry, index) => byPath.get(`tools[${index}]`) ?? namesOfEntry(entry, known.get(toolOf(entry) ?? '')));
}

// The name map: names of another system for the tools of this toolset, as hidden aliases.

function addMappedNames(nameMap: NameMap, { entries, issues }: EntryReadings): NamedEntry[] {
  const added = new Map<NamedEntry, EntryAlias[]>();
  for (const [written, target] of Object.entries(nameMap)) {
    const path = `nameMap[${quote(written)}]`;
    const name = toAlias(written);
    if (!isAlias(name)) {
      issues.push({ path, message: invalidNameMessage(written) });
      continue;
    }
    const [entry, ...others] = entriesNamed(entries, target);
    if (entry === undefined || others.length > 0) {
      issues.push({ path, message: entry === undefined ? notListed(entries, target) : severalTools([entry, ...others], target) });
      continue;
    }
    // A name that the entry has in another spelling already resolves. Default aliases do not count: they may be left out.
    const aliases = added.get(entry) ?? entry.aliases;
    const present = [entry.wireName, entry.ownName, ...aliases.flatMap((alias) => (alias.inherited ? [] : alias.name))];
    if (present.some((known) => fold(known) === fold(name))) continue;
    const isDefault = (alias: EntryAlias): boolean => fold(alias.name) === fold(name);
    if (aliases.some(isDefault))
      added.set(
        entry,
        aliases.map((alias) => (isDefault(alias) ? { ...alias, path, inherited: false } : alias)),
      );
    else added.set(entry, [...aliases, { name, mode: 'hidden', path, inherited: false }]);
  }
  return entries.map((entry) => ({ ...entry, aliases: added.get(entry) ?? entry.aliases }));
}

// The name map of the workspace, last of all: it changes no other name, and leaves out what does not fit this toolset.

function addWorkspaceNames(nameMap: NameMap, own: NameMap, { entries, leftOut }: SettledReadings): NamedEntry[] {
  const mapped = new Set(Object.keys(own).map((name) => fold(toAlias(name))));
  const owners = new Map([...reservedNames].map(([name, owner]) => [fold(name), owner]));
  for (const entry of entries) for (const name of namesOf(entry)) owners.set(fold(name), entry.canonical);
  const added = new Map<NamedEntry, EntryAlias[]>();
  for (const [written, target] of Object.entries(nameMap)) {
    const name = toAlias(written);
    const [entry, ...others] = entriesNamed(entries, target);
    if (!isAlias(name) || entry === undefined || mapped.has(fold(name))) continue;
    const owner = owners.get(fold(name));
    const leaveOut = (reason: string): void => {
      const message = `"${name}", a name of the workspace, is left out: ${reason}`;
      leftOut.push({ path: workspaceNamePath(written), message, canonical: entry.canonical });
    };
    if (others.length > 0) leaveOut(severalTools([entry, ...others], target));
    else if (owner === undefined) {
      added.set(entry, [...(added.get(entry) ?? entry.aliases), { name, mode: 'hidden', path: entry.path, inherited: true }]);
      owners.set(fold(name), entry.canonical);
    } else if (owner !== entry.canonical) leaveOut(`${owner} has that name in this toolset`);
  }
  return entries.map((entry) => ({ ...entry, aliases: added.get(entry) ?? entry.aliases }));
}

/** Returns the names of a workspace's map that cannot be names. */
export function nameMapIssues(nameMap: NameMap): Issue[] {
  const wrong = Object.keys(nameMap).filter((written) => !isAlias(toAlias(written)));
  return wrong.map((written) => ({ path: workspaceNamePath(written), message: invalidNameMessage(written) }));
}

function workspaceNamePath(written: string): string {
  return `settings.nameMap[${quote(written)}]`;
}

function invalidNameMessage(written: string): string {
  return `${quote(written)} cannot be a name: use 2 to 64 letters, digits, "_" and "-", beginning with a letter`;
}

/** `Web Search` → `web_search`: calls match in any case, so the map may have the spelling of the other system. */
function toAlias(name: string): string {
  return name.trim().toLowerCase().replace(/[ .]+/g, '_');
}

/** As a call is resolved: exact names before names in another spelling. */
function entriesNamed(entries: readonly NamedEntry[], target: string): NamedEntry[] {
  const exact = entries.filter((entry) => entry.wireName === target || entry.canonical === target);
  if (exact.length > 0) return exact;
  const folded = fold(target);
  return folded === '' ? [] : entries.filter((entry) => namesOf(entry).some((name) => fold(name) === folded));
}

function namesOf({ wireName, canonical, ownName, aliases }: NamedEntry): string[] {
  return [wireName, canonical, ownName, ...aliases.map(({ name }) => name)];
}

function notListed(entries: readonly NamedEntry[], target: string): string {
  const candidates = entries.flatMap((entry) => namesOf(entry).map((name) => [name, entry.wireName] as const));
  return `${quote(target)} is no tool of this toolset${didYouMean(target, candidates)}`;
}

function severalTools(entries: readonly NamedEntry[], target: string): string {
  return `${quote(target)} matches several tools: ${entries.map(({ wireName, canonical }) => `${wireName} (${canonical})`).join(', ')}; write the name of one of them`;
}

// Default aliases, which the author of the toolset did not write: one that clashes is left out.

function dropClashingDefaults({ entries, leftOut }: SettledReadings): NamedEntry[] {
  const owners = nameOwners(entries);
  const reserved = new Map([...reservedNames].map(([name, owner]) => [fold(name), owner]));
  return entries.map((entry) => {
    const kept = entry.aliases.filter((alias) => {
      if (!alias.inherited) return true;
      const other = reserved.get(fold(alias.name)) ?? owners.otherThan(entry, alias.name);
      if (other === null || other === entry.canonical) return true;
      const message = `"${alias.name}", a default alias of ${entry.canonical}, is left out: ${other} claims that name too. To use it, write it into the aliases of one of them`;
      leftOut.push({ path: entry.path, message, canonical: entry.canonical });
      return false;
    });
    return kept.length === entry.aliases.length ? entry : { ...entry, aliases: kept };
  });
}

/** The claimants of a name: by its exact form for own names, folded for all others. */
function nameOwners(entries: readonly NamedEntry[]) {
  const exact = Map.groupBy(entries, ({ ownName }) => ownName);
  const folded = new Map<string, Set<NamedEntry>>();
  const add = (name: string, entry: NamedEntry): void => {
    const claimants = folded.get(fold(name)) ?? new Set();
    folded.set(fold(name), claimants.add(entry));
  };
  for (const entry of entries) {
    for (const { name } of entry.aliases) add(name, entry);
    if (entry.givenName !== null || entry.isKept) add(entry.wireName, entry);
  }
  return {
    otherThan(entry: NamedEntry, name: string): string | null {
      const others = [
        ...(exact.get(name) ?? []).filter(({ canonical }) => canonical !== entry.canonical),
        ...(folded.get(fold(name)) ?? []),
      ];
      return others.find((other) => other !== entry)?.canonical ?? null;
    },
  };
}

// Own names as wire names: if tools of several servers share one, each gets the name of its server too.

function separateOwnNames({ entries, warnings }: EntryReadings): NamedEntry[] {
  const isDefault = ({ givenName, isKept, wireName, canonical, ownName }: NamedEntry): boolean =>
    givenName === null && !isKept && wireName === toWireName(canonical, ownName);
  const shared = new Map<NamedEntry, string>();
  for (const [name, group] of Map.groupBy(entries.filter(isDefault), ({ wireName }) => wireName)) {
    const owners = new Set<string>([...group.map(({ canonical }) => canonical), reservedNames.get(name) ?? []].flat());
    for (const entry of group) {
      const other = [...owners].sort().find((canonical) => canonical !== entry.canonical);
      // A chosen announced alias that equals the own name is a chosen name.
      const isChosen = entry.aliases.some((alias) => alias.mode === 'announced' && alias.name === name);
      if (other !== undefined && !isChosen && reservedNames.get(name) !== entry.canonical) shared.set(entry, other);
    }
  }
  if (shared.size === 0) return [...entries];
  const written = entries.flatMap(({ wireName, ownName, aliases }) => [wireName, ownName, ...aliases.map(({ name }) => name)]);
  const taken = new Set([...reservedNames.keys(), ...written].map(fold));
  return entries.map((entry) => {
    const other = shared.get(entry);
    if (other === undefined) return entry;
    const wireName = namespacedWireName(entry.canonical, entry.ownName, taken);
    const message = `"${entry.wireName}" is the own name of ${entry.canonical} and of ${other}, so ${entry.canonical} is called "${wireName}"; set name to choose another one`;
    warnings.push({ path: entry.path, message });
    return { ...entry, wireName };
  });
}
