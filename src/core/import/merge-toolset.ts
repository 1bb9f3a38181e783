/**
 * Merges the toolset of a file into the stored one, entry by entry. An import never removes the entries of other files: it removes only
 * a tool that the file excludes, or gave before and leaves out now, where it lists other tools of the server one by one. A tool that was taken out here stays out, also if the file has all tools of its server.
 */
import { fold } from '../names/fold.ts';
import { isRecord, type Json, recordOf } from '../json/wire-value.ts';
import { listFirst } from '../text/paragraphs.ts';
import { aliasName } from '../names/toolset-alias.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { ToolsetEntry } from '../toolset/toolset.ts';
import { entryIndex, expandEntries, isWildcard } from '../toolset/wildcards.ts';
import { isUnchanged, type Marks, type Part, memberMarks, type MergeContext, mergeRecord, withKeyedTools } from './merge-document.ts';
import { toolOf } from '../toolset/entries/entry-targets.ts';

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
  const tools = entries.flatMap((entry, index) =>
    faulty.has(index) ? [entry] : rows.flatMap((row) => (row.place === index ? [row.entry] : [])),
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
  const before = memberMarks(base, 'tools');
  const { tools: _theirs, ...theirRest } = theirs;
  const { tools: _ours, ...ourRest } = ours;
  const rest = mergeRecord(context, withoutTools(base), theirRest, ourRest);
  const entries = new Map<string, Json>();
  // The file lists some tools of the server, and not this one, which it gave before.
  const single = Map.groupBy(Object.keys(given), serverOf);
  const isLeftOut = (key: string): boolean => excluded.has(key) || single.get(serverOf(key))?.every((one) => !byPattern.has(one)) === true;
  const [absent, out]: [string[], string[]] = [[], []];
  for (const [key, entry] of Object.entries(stored)) {
    const known = memberMarks(before, key);
    const other = given[key];
    if (isRecord(other)) entries.set(key, mergeEntry(context, known, other, recordOf(entry), key));
    else if (!isLeftOut(key) || !isUnchanged(known, entry, context.mark, ['tools', key])) {
      entries.set(key, recordOf(entry));
      if (known !== undefined || excluded.has(key)) absent.push(key);
    }
  }
  const isListed = (server: string, keys: Iterable<string>): string[] => [...keys].filter((key) => serverOf(key) === server);
  for (const [key, entry] of Object.entries(given)) {
    if (Object.hasOwn(stored, key)) continue;
    const server = serverOf(key);
    const earlier = isListed(server, Object.keys(recordOf(before)));
    const isChosen =
      earlier.length > 0 ? earlier.some((one) => !Object.hasOwn(stored, one)) : isListed(server, Object.keys(stored)).length > 0;
    if (memberMarks(before, key) !== undefined || (byPattern.has(key) && isChosen)) out.push(key);
    else entries.set(key, recordOf(entry));
  }
  for (const [server, keys] of Map.groupBy(absent, serverOf))
    context.kept.push({ path: `tools (${server}.*)`, reason: `the file does not have them: ${listFirst(keys, maxNamed)}` });
  for (const [server, keys] of Map.groupBy(out, serverOf))
    context.kept.push({
      path: `tools (${server}.*)`,
      reason: `the stored toolset is without them, and stays so: ${listFirst(keys, maxNamed)}`,
    });
  const own = new Set([...entries].flatMap(([key, entry]) => (Object.hasOwn(stored, key) ? [entry as ToolsetEntry] : [])));
  // Parsed by the schema of toolsets.
  const tools = withFreeNames(context.skipped, [...entries.values()] as ToolsetEntry[], own);
  return { ...rest, tools: recordOf(withKeyedTools({ tools }).tools) };
}

/** Members that were set here stay, and are named. Without a base, the whole entry is a choice of a person. */
function mergeEntry(context: MergeContext, base: Marks | undefined, theirs: Json, ours: Json, key: string): Json {
  const path = `tools (${key})`;
  const own = Object.keys(ours).filter((name) => theirs[name] === undefined && memberMarks(base, name) === undefined);
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

/**
 * Returns the entries with names that each tool can have: of two tools that claim one, the stored or else the first entry gets it, and the
 * own name of a tool goes before chosen ones. What the file's entries do not get is added to `skipped`.
 */
export function withFreeNames(skipped: Part[], entries: readonly ToolsetEntry[], stored: ReadonlySet<ToolsetEntry>): ToolsetEntry[] {
  const owners = new Map<string, string>();
  const claim = (name: string, tool: string): string => {
    const owner = owners.get(fold(name)) ?? tool;
    owners.set(fold(name), owner);
    return owner;
  };
  const chosen = ({ name, aliases = [] }: ToolsetEntry): string[] => [...(name === undefined ? [] : [name]), ...aliases.map(aliasName)];
  for (const entry of entries) if (stored.has(entry)) for (const name of chosen(entry)) claim(name, toolOf(entry) ?? '');
  const free = entries.filter((entry) => {
    const tool = toolOf(entry) ?? '';
    const owner = owners.get(fold(ownName(tool)));
    if (stored.has(entry) || owner === undefined || owner === tool) return true;
    skipped.push({ path: `tools (${tool})`, reason: `${JSON.stringify(ownName(tool))} is a name of ${owner} in the stored toolset` });
    return false;
  });
  const own = new Map(free.map((entry) => toolOf(entry) ?? '').map((tool) => [ownName(tool), tool]));
  const isFree = (name: string, tool: string, member: string): boolean => {
    const other = own.get(name) ?? tool;
    const owner = other === tool ? claim(name, tool) : other;
    if (owner !== tool) skipped.push({ path: `tools (${tool}).${member}`, reason: `${JSON.stringify(name)} is a name of ${owner}` });
    return owner === tool;
  };
  return free.map((entry) => {
    const { name, aliases, ...rest } = entry;
    const tool = toolOf(entry) ?? '';
    if (stored.has(entry)) return entry;
    const hasName = name !== undefined && isFree(name, tool, 'name');
    const kept = aliases?.filter((alias) => isFree(aliasName(alias), tool, 'aliases'));
    return { ...rest, ...(hasName && { name }), ...(kept !== undefined && { aliases: kept }) };
  });
}

/** Tools that one report names. */
const maxNamed = 10;

function ownName(tool: string): string {
  return tool.slice(tool.indexOf('.') + 1);
}

function serverOf(key: string): string {
  return key.slice(0, key.indexOf('.'));
}
