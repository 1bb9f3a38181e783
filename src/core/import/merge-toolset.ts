/**
 * Merges the toolset of a file into the stored one, entry by entry. An import never removes the entries of other files: it removes only
 * a tool that the file lists as excluded. A tool that was taken out here stays out, also if the file has all tools of its server.
 */
import { fold } from '../names/fold.ts';
import { isRecord, type Json, recordOf } from '../json/wire-value.ts';
import { aliasName, type ToolsetAlias } from '../names/toolset-alias.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { ToolsetEntry } from '../toolset/toolset.ts';
import { entryIndex, expandEntries, isWildcard } from '../toolset/wildcards.ts';
import { isUnchanged, type Marks, marksIn, type MergeContext, mergeRecord, withKeyedTools } from './merge-document.ts';

/** The entries of a file with the tools of its wildcards. `byPattern`: those of wildcards; `excluded`: what `except` names. */
export type ReadEntries = { tools: ToolsetEntry[]; byPattern: ReadonlySet<string>; excluded: ReadonlySet<string> };

/** A wildcard stays if its server has no tools yet, and if an exception is wrong: writing the toolset then says so. */
export function readEntries(
  entries: readonly ToolsetEntry[],
  known: () => Iterable<ToolDefinition>,
  revoked: readonly string[] | undefined,
): ReadEntries {
  const { rows, issues } = expandEntries(entries, known, revoked);
  const faulty = new Set(issues.flatMap(({ path }) => entryIndex.exec(path)?.[1] ?? []).map(Number));
  const isKept = (place: number): boolean => faulty.has(place);
  const tools = entries.flatMap((entry, index) =>
    isKept(index) ? [entry] : rows.flatMap((row) => (row.place === index ? [row.entry] : [])),
  );
  const whole = expandEntries(
    entries.map(({ except: _except, ...entry }) => entry),
    known,
    revoked,
  ).rows.flatMap(({ entry }) => entry.tool ?? []);
  const taken = new Set(tools.flatMap(({ tool }) => tool ?? []));
  const patterns = entries.flatMap((entry, index) => (isWildcard(entry) ? [index] : []));
  return {
    tools,
    byPattern: new Set([
      ...tools.flatMap((entry) => (isWildcard(entry) ? (entry.tool ?? []) : [])),
      ...rows.flatMap(({ entry, place }) => (patterns.includes(place) ? (entry.tool ?? []) : [])),
    ]),
    excluded: new Set(whole.filter((tool) => !taken.has(tool))),
  };
}

/** Returns the merged document. Both documents have their `tools` as a record (`withKeyedTools`). */
export function mergeToolset(
  context: MergeContext,
  base: Marks | undefined,
  theirs: Json,
  ours: Json,
  { byPattern, excluded }: Omit<ReadEntries, 'tools'>,
): Json {
  const [given, stored] = [recordOf(theirs.tools), recordOf(ours.tools)];
  const before = marksIn(base, 'tools');
  const { tools: _theirs, ...theirRest } = theirs;
  const { tools: _ours, ...ourRest } = ours;
  const rest = mergeRecord(context, withoutTools(base), theirRest, ourRest);
  const entries = new Map<string, Json>();
  const [absent, out] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const [key, entry] of Object.entries(stored)) {
    const known = marksIn(before, key);
    const other = given[key];
    if (isRecord(other)) entries.set(key, mergeEntry(context, known, other, recordOf(entry), key));
    else if (!excluded.has(key) || !isUnchanged(known, entry, context.mark, ['tools', key])) {
      entries.set(key, recordOf(entry));
      if (known !== undefined || excluded.has(key)) note(absent, key);
    }
  }
  const isListed = (server: string, keys: Iterable<string>): string[] => [...keys].filter((key) => serverOf(key) === server);
  for (const [key, entry] of Object.entries(given)) {
    if (Object.hasOwn(stored, key)) continue;
    const server = serverOf(key);
    const earlier = isListed(server, Object.keys(recordOf(before)));
    const isChosen =
      earlier.length > 0 ? earlier.some((one) => !Object.hasOwn(stored, one)) : isListed(server, Object.keys(stored)).length > 0;
    if (marksIn(before, key) !== undefined || (byPattern.has(key) && isChosen)) note(out, key);
    else entries.set(key, recordOf(entry));
  }
  for (const [server, keys] of absent)
    context.kept.push({ path: `tools (${server}.*)`, reason: `the file does not have them: ${listed(keys)}` });
  for (const [server, keys] of out)
    context.kept.push({
      path: `tools (${server}.*)`,
      reason: `the stored toolset is without them, and stays so: ${listed(keys)}`,
    });
  return { ...rest, tools: withFreeNames(context, entries, new Set(Object.keys(stored))) };
}

/** Members that were set here stay, and are named. Without a base, the whole entry is a choice of a person. */
function mergeEntry(context: MergeContext, base: Marks | undefined, theirs: Json, ours: Json, key: string): Json {
  const path = `tools (${key})`;
  const own = Object.keys(ours).filter((name) => theirs[name] === undefined && marksIn(base, name) === undefined);
  if (own.length > 0)
    context.kept.push({ path, reason: `set here: ${own.map((name) => `${name} ${JSON.stringify(ours[name])}`).join(', ')}` });
  if (base !== undefined) return mergeRecord(context, base, theirs, ours, ['tools', key]);
  const missing = Object.keys(theirs).filter((name) => ours[name] === undefined);
  if (missing.length > 0)
    context.kept.push({
      path,
      reason: `written here; the file also has ${missing.map((name) => `${name} ${JSON.stringify(theirs[name])}`).join(', ')}`,
    });
  const shared = Object.entries(theirs).filter(([name]) => !missing.includes(name));
  return mergeRecord(context, undefined, Object.fromEntries(shared), ours, ['tools', key]);
}

function withoutTools(base: Marks | undefined): Marks | undefined {
  if (typeof base !== 'object') return base;
  const { tools: _tools, ...rest } = base;
  return rest;
}

/** A tool of the file does not get an alias that a stored entry has, and stays out if its own name is such a name. */
function withFreeNames({ kept, skipped }: MergeContext, entries: ReadonlyMap<string, Json>, stored: ReadonlySet<string>): Json {
  const all = [...entries].map(([key, entry]) => ({ isStored: stored.has(key), entry: entry as ToolsetEntry })); // Parsed by the schema.
  const owners = new Map<string, string>();
  for (const { isStored, entry } of all) if (isStored) for (const name of chosenNames(entry)) owners.set(fold(name), entry.tool ?? '');
  const free = all.filter(({ isStored, entry: { tool = '' } }) => {
    const own = tool.slice(tool.indexOf('.') + 1);
    const owner = owners.get(fold(own));
    if (isStored || owner === undefined || owner === tool) return true;
    skipped.push({ path: `tools (${tool})`, reason: `${JSON.stringify(own)} is a name of ${owner} in the stored toolset` });
    return false;
  });
  const first = new Set(free.flatMap(({ isStored, entry }) => (isStored ? [entry] : [])));
  const { tools, repeated } = withoutRepeatedAliases(
    free.map(({ entry }) => entry),
    (entry) => first.has(entry),
  );
  for (const { alias, tool, owner } of repeated)
    kept.push({
      path: `tools (${owner})`,
      reason: `it has the alias ${JSON.stringify(alias)} here, so ${tool} of the file does not get it`,
    });
  return recordOf(withKeyedTools({ tools }).tools);
}

function chosenNames({ name, aliases = [] }: ToolsetEntry): string[] {
  return [...(name === undefined ? [] : [name]), ...aliases.map(aliasName)];
}

/** `owner`: the tool that has the alias. */
type RepeatedAlias = { alias: string; tool: string; owner: string };

/** Leaves out aliases that an earlier entry of another tool has; those of entries with `isFirst` are earlier than all others. */
export function withoutRepeatedAliases(
  entries: readonly ToolsetEntry[],
  isFirst: (entry: ToolsetEntry) => boolean = () => false,
): { tools: ToolsetEntry[]; repeated: RepeatedAlias[] } {
  const owners = new Map<string, string>();
  const claim = (name: string, tool: string): string => {
    const folded = fold(name);
    const owner = owners.get(folded) ?? tool;
    owners.set(folded, owner);
    return owner;
  };
  const repeated: RepeatedAlias[] = [];
  for (const entry of entries) if (isFirst(entry)) for (const alias of entry.aliases ?? []) claim(aliasName(alias), entry.tool ?? '');
  for (const { name, tool = '' } of entries) if (name !== undefined) claim(name, tool);
  const tools = entries.map((entry) => {
    const { aliases, tool = '' } = entry;
    if (aliases === undefined || isFirst(entry)) return entry;
    const own = aliases.filter((alias: ToolsetAlias) => {
      const owner = claim(aliasName(alias), tool);
      if (owner !== tool) repeated.push({ alias: aliasName(alias), tool, owner });
      return owner === tool;
    });
    return own.length === aliases.length ? entry : { ...entry, aliases: own };
  });
  return { tools, repeated };
}

function serverOf(key: string): string {
  return key.slice(0, key.indexOf('.'));
}

function note(groups: Map<string, string[]>, key: string): void {
  const server = serverOf(key);
  groups.set(server, [...(groups.get(server) ?? []), key]);
}

const maxNamed = 10;

function listed(keys: readonly string[]): string {
  const more = keys.length - maxNamed;
  return `${keys.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
