/**
 * Which of the names in a text are tools' names of other days, and what those tools go by now (DESIGN §4): own names, canonical names and
 * aliases of what a plan offers. Read by whoever rewrites a text (`rewrite-names.ts`); calls are resolved by `alias-map.ts`, which also
 * forgives spelling.
 */
import { isForModels, type Edition, type EditionTool } from './edition.ts';
import type { NameLookup } from './rewrite-names.ts';

/** What it reads of an `AliasMap`. */
export type OfferedNames = {
  readonly edition: Pick<Edition, 'tools'>;
  readonly tools: readonly EditionTool[];
  /** The table that this one extends with tools of a conversation. Those must not change what was told before them. */
  readonly base?: OfferedNames;
};

/**
 * For texts of a server, or of nobody in particular (null: skills, instructions). Names mean, in this order: the server's own tools by
 * their own names, then as a call would be read: names of today, canonical names, aliases of any mode, own names. What two tools share
 * on a level is left alone. Built once for the names, the tables are shared by all texts.
 */
export function nameLookup(names: OfferedNames, server: string | null): NameLookup {
  const tables = tablesOf(rootOf(names));
  const first = server === null ? undefined : tables.servers.get(server);
  const nameOf = (name: string): string | undefined => {
    const own = first?.get(name);
    if (own !== undefined) return own.now;
    const hit = tables.names.get(name);
    // Servers know nothing of each other: a plain word in the text of one is not another's tool.
    if (hit === undefined || (hit.isOwn && server !== null && isPlainWord.test(name))) return undefined;
    return hit.now;
  };
  return (name) => {
    const now = nameOf(name);
    // A name that is itself an old one would be rewritten the next time; compiled editions have none.
    return now === undefined || now === name || (nameOf(now) ?? now) !== now ? undefined : now;
  };
}

/** `now`: undefined where several tools share the name. */
type Meaning = { now: string | undefined; isOwn: boolean };
type Tables = { servers: ReadonlyMap<string, ReadonlyMap<string, Meaning>>; names: ReadonlyMap<string, Meaning> };

const isPlainWord = /^[a-z]+$|^[A-Z][a-z]*$/;
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

function buildTables({ tools, edition }: OfferedNames): Tables {
  const offered = tools.flatMap((tool, index) => (isForModels(tool) ? [{ tool, written: index }] : []));
  const written = asWritten(tools, edition.tools);
  const servers = new Map<string, Map<string, Meaning>>();
  for (const { tool } of offered) {
    const own = servers.get(tool.server) ?? new Map<string, Meaning>();
    servers.set(tool.server, own);
    add(own, tool.ownName, tool, true);
  }
  const names = new Map<string, Meaning>();
  const addLevel = (isOwn: boolean, namesOf: (tool: EditionTool, index: number) => readonly string[]): void => {
    const level = new Map<string, Meaning>();
    for (const { tool, written: index } of offered) for (const name of namesOf(tool, index)) add(level, name, tool, isOwn);
    for (const [name, meaning] of level) if (!names.has(name)) names.set(name, meaning);
  };
  addLevel(false, (tool) => [tool.wireName]);
  addLevel(false, (tool) => [tool.canonical]);
  addLevel(false, (_tool, index) => {
    const { wireName, aliases = [] } = written[index] ?? {};
    return [...aliases.map(({ name }) => name), ...(wireName === undefined ? [] : [wireName])];
  });
  addLevel(true, (tool) => [tool.ownName]);
  return { servers, names };
}

function add(table: Map<string, Meaning>, name: string, tool: EditionTool, isOwn: boolean): void {
  const before = table.get(name);
  if (before === undefined) table.set(name, { now: tool.wireName, isOwn });
  else if (before.now !== tool.wireName) before.now = undefined;
}

/** The entries as the toolset has them: with `MONIKER_ALIASES=off` the tools go without the names that texts call them by. */
function asWritten(tools: readonly EditionTool[], entries: readonly EditionTool[]): readonly EditionTool[] {
  const listed = new Set(tools.map(({ canonical }) => canonical));
  const written = entries.filter(({ canonical }) => listed.has(canonical));
  // All entries of a tool are listed, or none is, in the edition's order.
  return written.length === tools.length ? written : tools;
}
