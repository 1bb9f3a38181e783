/**
 * Finds names in a text that tools had earlier, and their current names (contract §4): own names, canonical names and aliases of the
 * tools that a plan offers. Used to rewrite texts (`rewrite-names.ts`); calls are resolved by `alias-map.ts`, which also accepts
 * other spellings.
 */
import { memoizeByObject } from '../memoize.ts';
import { configuredEntry } from './alias-map.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import type { WireName } from '../names/names.ts';
import type { NameLookup } from '../names/rewrite-names.ts';

/** The part of an `AliasMap` that this file reads. */
export type OfferedNames = {
  readonly tools: readonly EditionTool[];
  /** The table that this one extends with tools of a conversation. Added tools must not change texts sent earlier. */
  readonly base?: OfferedNames;
};

/**
 * Returns the lookup for texts of a server, or of no particular server (null: skills, instructions). A name is looked up in this
 * order: the server's own tools by their own names, then as a call would be resolved: current names, canonical names, aliases of any
 * mode, own names. Names that two tools share on one level are left unchanged. The tables are built once and shared by all texts. (Of
 * 439 inline codes in 1,472 public tools, none is by chance the name of another server's tool.)
 */
export function nameLookup(names: OfferedNames, server: string | null): NameLookup {
  const tables = tablesOf(rootOf(names));
  const first = server === null ? undefined : tables.servers.get(server);
  const nameOf = (name: string): WireName | typeof shared | undefined => first?.get(name) ?? tables.names.get(name);
  return (name) => {
    const now = nameOf(name);
    // A current name that is itself an old name would be rewritten the next time; compiled editions have none.
    return now === undefined || now === shared || now === name || (nameOf(now) ?? now) !== now ? undefined : now;
  };
}

const shared = Symbol('the name of several tools');
type Table = Map<string, WireName | typeof shared>;
type Tables = { servers: ReadonlyMap<string, Table>; names: Table };

/** Returns the names from before a conversation added tools to them. */
export function rootOf<Names extends { readonly base?: Names }>(names: Names): Names {
  let root = names;
  while (root.base !== undefined) root = root.base;
  return root;
}

const tablesOf = memoizeByObject(({ tools }: OfferedNames): Tables => {
  // Texts use the names that the toolset gives its tools, even if the tools currently go by other names.
  const offered = tools.filter(isForModels).map((tool) => ({ tool, entry: configuredEntry(tool) }));
  const servers = new Map<string, Table>();
  for (const { tool } of offered) {
    const own: Table = servers.get(tool.server) ?? new Map();
    servers.set(tool.server, own);
    add(own, tool.ownName, tool);
  }
  const names: Table = new Map();
  const addLevel = (namesOf: (tool: EditionTool, entry: EditionTool) => readonly string[]): void => {
    const level: Table = new Map();
    for (const { tool, entry } of offered) for (const name of namesOf(tool, entry)) add(level, name, tool);
    for (const [name, now] of level) if (!names.has(name)) names.set(name, now);
  };
  addLevel(({ wireName }) => [wireName]);
  addLevel(({ canonical }) => [canonical]);
  addLevel((_tool, { wireName, aliases }) => [wireName, ...aliases.map(({ name }) => name)]);
  addLevel(({ ownName }) => [ownName]);
  return { servers, names };
});

/** Wire names are unique per tool. */
function add(table: Table, name: string, { wireName }: EditionTool): void {
  const before = table.get(name);
  table.set(name, before === undefined || before === wireName ? wireName : shared);
}
