/**
 * Which of the names in a text are tools' names of other days, and what those tools go by now (DESIGN §4): own names, canonical names and
 * aliases of what a plan offers. Read by whoever rewrites a text (`rewrite-names.ts`); calls are resolved by `alias-map.ts`, which also
 * forgives spelling.
 */
import { asWritten } from './alias-map.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import type { WireName } from './names.ts';
import type { NameLookup } from './rewrite-names.ts';

/** What it reads of an `AliasMap`. */
export type OfferedNames = {
  readonly tools: readonly EditionTool[];
  /** The table that this one extends with tools of a conversation. Those must not change what was told before them. */
  readonly base?: OfferedNames;
};

/**
 * For texts of a server, or of nobody in particular (null: skills, instructions). Names mean, in this order: the server's own tools by
 * their own names, then as a call would be read: names of today, canonical names, aliases of any mode, own names. What two tools share
 * on a level is left alone. Built once for the names, the tables are shared by all texts. (Of 439 inline codes in 1,472 public tools none is
 * by chance the name of a tool of another server.)
 */
export function nameLookup(names: OfferedNames, server: string | null): NameLookup {
  const tables = tablesOf(rootOf(names));
  const first = server === null ? undefined : tables.servers.get(server);
  const nameOf = (name: string): WireName | typeof shared | undefined => first?.get(name) ?? tables.names.get(name);
  return (name) => {
    const now = nameOf(name);
    // A name that is itself an old one would be rewritten the next time; compiled editions have none.
    return now === undefined || now === shared || now === name || (nameOf(now) ?? now) !== now ? undefined : now;
  };
}

const shared = Symbol('the name of several tools');
type Table = Map<string, WireName | typeof shared>;
type Tables = { servers: ReadonlyMap<string, Table>; names: Table };

const kept = new WeakMap<OfferedNames, Tables>();

/** The names as they were before a conversation added to them. */
export function rootOf<Names extends { readonly base?: Names }>(names: Names): Names {
  let root = names;
  while (root.base !== undefined) root = root.base;
  return root;
}

function tablesOf(names: OfferedNames): Tables {
  const known = kept.get(names);
  if (known !== undefined) return known;
  const tables = buildTables(names);
  kept.set(names, tables);
  return tables;
}

function buildTables({ tools }: OfferedNames): Tables {
  // Texts call tools by the names that the toolset gives them, also where they go without these.
  const offered = tools.filter(isForModels).map((tool) => ({ tool, entry: asWritten(tool) }));
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
}

/** Tools have wire names apart. */
function add(table: Table, name: string, { wireName }: EditionTool): void {
  const before = table.get(name);
  table.set(name, before === undefined || before === wireName ? wireName : shared);
}
