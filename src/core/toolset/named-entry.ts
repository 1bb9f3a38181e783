/**
 * First phase of compiling a toolset: each entry by itself. Finds its tool, reads its names, and reports what is wrong with them. The
 * next phase finds conflicts between entries (`name-claims.ts`).
 */
import { isDeeperThan } from '../json/wire-value.ts';
import { type KnownTools, notListedYet, spellings, whyMissing } from './known-tools.ts';
import { describeHold } from '../tools/hold.ts';
import { limits } from '../limits/limits.ts';
import { isListedName, parseAlias, parseWireName, quote, toWireName, type CanonicalName, type WireName } from '../names/names.ts';
import type { Issue, Warning } from '../problem.ts';
import { createSuggester } from '../names/suggest.ts';
import { reservedServers } from '../names/reserved-names.ts';
import type { EditionTool } from './edition-tool.ts';
import { withCurrentRules } from './arguments/entry-arguments.ts';
import type { ToolDefinition, ToolSource } from '../tools/tool.ts';
import type { Toolset, ToolsetEntry } from './toolset.ts';
import type { AliasMode, ToolsetAlias } from '../names/toolset-alias.ts';
import { targetPath, targetNames, toolOf } from './entries/entry-targets.ts';

/** An entry with its final names, not yet compared with the others. */
export type NamedEntry = {
  /** `tools[i]` in the document. */
  path: string;
  source: ToolsetEntry;
  canonical: CanonicalName;
  server: string;
  ownName: string;
  /** null: the tool of a known server that has not listed it. */
  definition: ToolDefinition | null;
  /** The definitions of the further targets (`entry-targets.ts`). */
  others: readonly ToolDefinition[];
  /** The name given in the entry; null if the default is used. */
  givenName: WireName | null;
  /** Whether `wireName` is that of an earlier edition of the same document, which a change of default names must not replace. */
  isKept: boolean;
  aliases: EntryAlias[];
  wireName: WireName;
};

/** `path` points to the alias in the document, or to the entry for an inherited alias of the tool. */
export type EntryAlias = { name: string; mode: AliasMode; note?: string; path: string; inherited: boolean };

export type EntryReadings = { entries: NamedEntry[]; issues: Issue[]; warnings: Warning[] };

/**
 * Returns all errors of all entries. `entries` is only complete if `issues` is empty. `before`: the tools of an earlier edition of the same
 * document, whose wire names stay.
 */
export function readNamedEntries(
  toolset: Pick<Toolset, 'tools' | 'names'>,
  known: KnownTools,
  before: readonly EditionTool[] = [],
): EntryReadings {
  const reading: EntryReadings = { entries: [], issues: [], warnings: [] };
  const find = createFinder(known);
  for (const [index, written] of toolset.tools.entries()) {
    const path = `tools[${index}]`;
    const givenName = readGivenName(written, path, reading);
    const found = find(toolOf(written) ?? '');
    const at = `${path}.${targetPath(written, 0)}`;
    if (!found.ok) reading.issues.push({ path: at, message: found.message });
    const others = readOthers(written, find, path, reading);
    const definition = found.ok ? found.definition : null;
    const source = currentEntry(written, definition, path, reading);
    const aliases = source.aliases === undefined ? inheritAliases(definition, path, reading) : readAliases(source.aliases, path, reading);
    if (!found.ok) continue;
    const { canonical, server, ownName } = found;
    const state = definition?.source === undefined ? null : stateWarning(definition.canonical, server, definition.source);
    if (state !== null) reading.warnings.push({ path: at, message: state });
    if (definition === null) {
      reading.warnings.push({
        path: at,
        message: `${canonical} is not known yet and cannot be called until it is: ${notListedYet(server)}`,
      });
    }
    const kept = givenName === null && before[index]?.canonical === canonical ? before[index].wireName : null;
    const wireName = givenName ?? kept ?? defaultWireName(canonical, ownName, toolset.names === 'primary' ? [] : aliases);
    reading.entries.push({
      path,
      source,
      canonical,
      server,
      ownName,
      definition,
      others,
      givenName,
      isKept: kept !== null,
      aliases,
      wireName,
    });
  }
  return reading;
}

/** A further target that is not known yet is left out: its schema cannot be compared with the first one's. */
function readOthers(entry: ToolsetEntry, find: (canonical: string) => Found, path: string, reading: EntryReadings): ToolDefinition[] {
  return targetNames(entry).flatMap((name, index): ToolDefinition[] => {
    if (index === 0) return [];
    const at = `${path}.${targetPath(entry, index)}`;
    const found = find(name);
    const definition = found.ok ? found.definition : null;
    if (!found.ok) reading.issues.push({ path: at, message: found.message });
    else if (definition === null)
      reading.warnings.push({ path: at, message: `${name} is not known yet and gets no calls until it is: ${notListedYet(found.server)}` });
    const state = definition?.source === undefined ? null : stateWarning(name, definition.server, definition.source);
    if (state !== null) reading.warnings.push({ path: at, message: state });
    return definition === null ? [] : [definition];
  });
}

/** The rules of an entry may have earlier names of the arguments of a tool in code. */
function currentEntry(entry: ToolsetEntry, definition: ToolDefinition | null, path: string, reading: EntryReadings): ToolsetEntry {
  if (entry.arguments === undefined || definition?.renamed === undefined) return entry;
  const { rules, issues } = withCurrentRules(entry.arguments, definition.renamed);
  reading.issues.push(...issues.map((issue) => ({ ...issue, path: `${path}.arguments.${issue.path}` })));
  return { ...entry, arguments: rules };
}

/**
 * Returns the names that an entry by itself gives its tool. Those in a compiled edition also depend on the other entries
 * (`settle-names.ts`).
 */
export function namesOfEntry(entry: ToolsetEntry, definition: ToolDefinition | undefined): EntryNames {
  const faults: EntryReadings = { entries: [], issues: [], warnings: [] };
  const aliases = entry.aliases === undefined ? inheritAliases(definition ?? null, '', faults) : readAliases(entry.aliases, '', faults);
  const { canonical, ownName } = ownNameOf(entry, definition);
  return { wireName: readGivenName(entry, '', faults) ?? defaultWireName(canonical, ownName, aliases), aliases };
}

export type EntryNames = { wireName: string; aliases: readonly EntryAlias[] };

/** `definition` undefined: its server never listed it, or is gone. Then the name is split at the first dot: server names contain no dot. */
export function ownNameOf(entry: ToolsetEntry, definition: ToolDefinition | undefined): { canonical: string; ownName: string } {
  const canonical = toolOf(entry) ?? '';
  return { canonical, ownName: definition?.name ?? canonical.slice(canonical.indexOf('.') + 1) };
}

function stateWarning(canonical: string, server: string, { state, held, renamedTo }: ToolSource): string | null {
  if (state === 'missing') {
    const now = renamedTo === undefined ? '' : `; ${renamedTo} now has its definition: set tool to it, and the names stay the same`;
    return `${canonical} cannot be called: ${whyMissing({ server, pin: 'known', canonical })}${now}`;
  }
  if (state === 'held') return `${canonical} cannot be called: ${describeHold(held)}`;
  return null;
}

/** An announced alias of the entry was chosen for this toolset, so it takes precedence over the tool's own name. Default aliases do not. */
function defaultWireName(canonical: string, ownName: string, aliases: readonly EntryAlias[]): WireName {
  const announced = aliases.find((alias) => alias.mode === 'announced' && !alias.inherited);
  // Every legal alias is a legal wire name.
  return announced === undefined ? toWireName(canonical, ownName) : (announced.name as string as WireName);
}

function readGivenName(source: ToolsetEntry, path: string, reading: EntryReadings): WireName | null {
  if (source.name === undefined) return null;
  const parsed = parseWireName(source.name);
  if (parsed.ok) return parsed.wireName;
  reading.issues.push({ path: `${path}.name`, message: parsed.reason });
  return null;
}

function readAliases(sources: readonly ToolsetAlias[], entryPath: string, reading: EntryReadings): EntryAlias[] {
  const aliases = new Map<string, EntryAlias>();
  for (const [index, source] of sources.entries()) {
    const path = `${entryPath}.aliases[${index}]`;
    const { name, mode, note } = aliasOf(source);
    const parsed = parseAlias(name);
    if (!parsed.ok) {
      reading.issues.push({ path, message: parsed.reason });
      continue;
    }
    const before = aliases.get(parsed.alias);
    if (before === undefined)
      aliases.set(parsed.alias, { name: parsed.alias, mode, ...(note !== undefined && { note }), path, inherited: false });
    else if (before.mode === mode)
      reading.warnings.push({ path, message: `"${parsed.alias}" is listed twice in this entry; remove one of them` });
    else
      reading.issues.push({
        path,
        message: `"${parsed.alias}" is "${before.mode}" at ${before.path} and "${mode}" here; remove one of them`,
      });
  }
  return [...aliases.values()];
}

/** A tool's default aliases were checked when they were set; an invalid one must still not break the toolset. */
function inheritAliases(definition: ToolDefinition | null, path: string, reading: EntryReadings): EntryAlias[] {
  const aliases = new Map<string, EntryAlias>();
  for (const given of definition?.aliases ?? []) {
    const { name, mode, note } = aliasOf(given);
    const parsed = parseAlias(name);
    if (parsed.ok && aliases.size < limits.maxAliasesPerEntry)
      aliases.set(parsed.alias, { name: parsed.alias, mode, ...(note !== undefined && { note }), path, inherited: true });
    else {
      const reason = parsed.ok ? `there are more than ${limits.maxAliasesPerEntry}` : parsed.reason;
      reading.warnings.push({ path, message: `a default alias of ${definition?.canonical} is left out: ${reason}` });
    }
  }
  return [...aliases.values()];
}

function aliasOf(given: ToolsetAlias): { name: string; mode: AliasMode; note?: string | undefined } {
  return typeof given === 'string' ? { name: given, mode: 'announced' } : given;
}

type Found =
  | { ok: true; canonical: CanonicalName; server: string; ownName: string; definition: ToolDefinition | null }
  | { ok: false; message: string };

function createFinder(known: KnownTools): (canonical: string) => Found {
  let listed: Set<string> | undefined;
  const suggest = createSuggester(() => spellings(known.all()));

  const find = (canonical: string): Found => {
    const definition = known.get(canonical);
    if (definition !== undefined) {
      // The later phases walk the schemas recursively without a depth check.
      if (isDeeperThan([definition.inputSchema, definition.outputSchema, definition.annotations], limits.maxJsonDepth + 1)) {
        return {
          ok: false,
          message: `the schemas of ${canonical} nest deeper than ${limits.maxJsonDepth} levels, so it cannot be offered`,
        };
      }
      return { ok: true, canonical: definition.canonical, server: definition.server, ownName: definition.name, definition };
    }
    return findUnlisted(canonical) ?? { ok: false, message: refusal(canonical) };
  };

  /**
   * Only the document names such a tool, so its name is split here, at the first dot: server names contain no dot, and the server
   * must be known. The names stay the same once the server lists the tool.
   */
  const findUnlisted = (canonical: string): Found | null => {
    const dot = canonical.indexOf('.');
    const server = canonical.slice(0, dot);
    const ownName = canonical.slice(dot + 1);
    if (dot < 1 || reservedServers.has(server) || !known.hasServer(server) || !isListedName(ownName)) return null;
    listed ??= new Set(Array.from(known.all(), (tool) => tool.server));
    if (listed.has(server)) return null;
    // `<server>.<name>`, and both parts were just checked.
    return { ok: true, canonical: canonical as CanonicalName, server, ownName, definition: null };
  };

  const refusal = (canonical: string): string => {
    const dot = canonical.indexOf('.');
    const server = dot < 1 ? null : canonical.slice(0, dot);
    const what =
      server === null
        ? `there is no tool ${quote(canonical)}; a canonical name has the form <server>.<tool>`
        : known.hasServer(server)
          ? `the server ${quote(server)} has no tool ${quote(canonical.slice(dot + 1))}`
          : `there is no server ${quote(server)}`;
    return what + suggest(canonical);
  };

  return find;
}
