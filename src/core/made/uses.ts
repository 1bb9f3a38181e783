/**
 * Determines the tools that a made tool may call, when it is written: its declared `uses`, or the tools that its code names. Each one
 * must be callable from code; stored by canonical name, together with names in the code that differ from it. A name that the stored
 * version of the tool uses keeps its meaning, whatever tools were added or removed since.
 */
import { readCodeUses } from './code-uses.ts';
import { aliasName } from '../names/toolset-alias.ts';
import { fold } from '../names/fold.ts';
import { limits } from '../limits/limits.ts';
import { isForAppsOnly, onlyForApps } from '../toolset/edition-tool.ts';
import type { MadeSource, MadeTool } from '../tools/made-tool.ts';
import { listFirst } from '../text/paragraphs.ts';
import type { Issue, Warning } from '../problem.ts';
import { quote } from '../names/names.ts';
import { createSuggester } from '../names/suggest.ts';
import type { ToolDefinition, ToolSource } from '../tools/tool.ts';

type ReadUses = { uses: string[]; names: Record<string, string>; issues: Issue[]; warnings: Warning[] };

/** `bound`: what names meant in the stored version of the tool; absent: there is none. */
export function readUses(
  tool: Pick<MadeTool, 'implementation' | 'uses' | 'names'>,
  lookup: Lookup,
  bound: (name: string) => LookupTool | null = () => null,
): ReadUses {
  const issues: Issue[] = [];
  const warnings: Warning[] = [];
  const used = new Map<string, LookupTool>();
  const look = (name: string, path: string, where = '', now = lookup(name)): LookupTool | null => {
    const before = bound(name);
    const found = before === null ? now : { tool: before };
    const fault = 'fault' in found ? found.fault : refusal(found.tool);
    if (fault !== null) issues.push({ path, message: where + fault });
    if (!('tool' in found) || fault !== null) return null;
    const { canonical } = found.tool;
    const others = ['tool' in now ? now.tool.canonical : canonical, ...(now.others ?? [])].filter((other) => other !== canonical);
    if (others.length > 0) {
      const why = before === null ? 'built-in tools take precedence' : 'it keeps the meaning that it was written with';
      const also = `${quote(name)} means ${canonical}, and is a name of ${listFirst(others, maxShownMeanings)} too; ${why}`;
      warnings.push({ path, message: `${where}${also}. To call another one, use its canonical name, as in tools["${others[0]}"]` });
    }
    return found.tool;
  };
  const take = (found: LookupTool | null, path: string): void => {
    if (found === null || used.has(found.canonical)) return;
    used.set(found.canonical, found);
    const state = found.source?.state ?? 'ready';
    if (state !== 'ready') warnings.push({ path, message: `${found.canonical} is ${state}; calls to it return an error until then` });
  };

  for (const [index, name] of (tool.uses ?? []).entries()) take(look(name, `uses[${index}]`), `uses[${index}]`);
  const given = new Map<string, LookupTool>();
  for (const [name, meant] of Object.entries(tool.names ?? {})) {
    const path = `names.${name}`;
    const found = look(meant, path);
    take(found, path);
    if (found !== null) given.set(name, found);
  }

  const code = readCodeUses(tool.implementation);
  if (tool.uses === undefined && code.unread !== null) {
    const message = `line ${code.unread} uses \`tools\` in another form than tools.name or tools["name"]; list the tools that it may call in \`uses\``;
    issues.push({ path: 'implementation', message });
  }
  const named = new Map<string, LookupTool>(given);
  const declared =
    tool.uses === undefined ? null : createLookup({ get: (canonical) => used.get(canonical), all: () => [...used.values()] });
  for (const { name, line } of code.names) {
    if (given.has(name)) continue;
    const where = `line ${line}: `;
    const own = declared?.(name);
    const isDeclared = own !== undefined && 'tool' in own;
    const found = isDeclared && own.others === undefined ? own.tool : look(name, 'implementation', where, isDeclared ? own : lookup(name));
    if (found === null) continue;
    if (declared !== null && !used.has(found.canonical))
      issues.push({ path: 'uses', message: `line ${line} of the code calls ${found.canonical}, which is not listed here` });
    else {
      take(found, 'implementation');
      named.set(name, found);
    }
  }

  if (used.size > limits.maxMadeUses)
    issues.push({ path: 'uses', message: `it would call ${used.size} tools; at most ${limits.maxMadeUses}` });
  const others = [...named].filter(([name, { canonical }]) => given.has(name) || !isFoundAmong(name, canonical, [...used.values()]));
  return {
    uses: [...used.keys()].sort(),
    names: Object.fromEntries(others.map(([name, { canonical }]) => [name, canonical])),
    issues,
    warnings,
  };
}

const maxShownMeanings = 5;

/**
 * Returns what the names in the code of a stored tool mean: they are bound to its tools, whatever else has these names by now. `get`: null
 * for a tool that may not be called any more.
 */
export function boundNames(
  { uses, names = {} }: Pick<MadeSource, 'uses' | 'names'>,
  get: (canonical: string) => LookupTool | null,
): (name: string) => LookupTool | null {
  const tools = uses.map((canonical) => get(canonical)).filter((tool) => tool !== null);
  return (name) => {
    const named = Object.hasOwn(names, name) ? names[name] : undefined;
    const isMeant = ({ canonical }: LookupTool): boolean =>
      named === undefined ? isFoundAmong(name, canonical, tools) : canonical === named;
    return tools.find(isMeant) ?? null;
  };
}

/** Returns why code cannot call the tool, whoever writes it; null if it can. */
function refusal({ canonical, kind, presentation }: LookupTool): string | null {
  if (kind === 'ui') return `${canonical} is a UI tool and cannot be called`;
  if (presentation && isForAppsOnly({ presentation })) return `${canonical} cannot be called: ${onlyForApps}`;
  // Its code could call more than is listed here.
  if (canonical === 'builtin.run_code') return `${canonical} cannot be called from code: write its code here instead`;
  return null;
}

/** Whether the name means this tool whatever default aliases exist later: by its canonical or own name, in any spelling. */
function isFoundAmong(name: string, canonical: string, tools: readonly LookupTool[]): boolean {
  if (name === canonical) return true;
  const bare = tools.filter((tool) => tool.name === name);
  const hits = bare.length > 0 ? bare : tools.filter((tool) => fold(tool.name) === fold(name) || fold(tool.canonical) === fold(name));
  return hits.length === 1 && hits[0]?.canonical === canonical;
}

// Finds the tool that a name in code means, among all tools of a workspace: canonical name, own name and default alias, then any spelling
// of these. The first level with a match decides, as in the resolution of calls (`alias-map.ts`), and there a built-in tool before others.
// There is no toolset here, so there are no wire names.

/** The fields of a tool that are needed to name it. */
export type LookupTool = Pick<ToolDefinition, 'canonical' | 'name' | 'kind' | 'aliases' | 'presentation'> & {
  source?: Pick<ToolSource, 'state'>;
};

/** `others`: canonical names of the tools that the name could mean as well, or, with `fault`, of all that it could mean; absent: none. */
export type Lookup = (name: string) => ({ tool: LookupTool } | { fault: string }) & { others?: readonly string[] };

type Tools = { get(canonical: string): LookupTool | undefined; all(): Iterable<LookupTool> };

export function createLookup(known: Tools): Lookup {
  let tables: Tables | undefined;
  const suggest = createSuggester(() => spellings(known));
  return (name) => {
    const exact = known.get(name);
    if (exact !== undefined) return { tool: exact };
    tables ??= buildTables(known);
    const hit = tables.own.get(name) ?? tables.alias.get(name) ?? tables.folded.get(fold(name));
    const hits = [...(hit ?? [])];
    const builtin = hits.filter(({ kind }) => kind === 'builtin');
    const [tool, ...rest] = builtin.length === 1 ? builtin : hits;
    if (tool !== undefined && hits.length === 1) return { tool };
    if (tool !== undefined) {
      const candidates = hits.map(({ canonical }) => canonical as string).sort();
      if (rest.length === 0) return { tool, others: candidates.filter((other) => other !== tool.canonical) };
      return {
        fault: `${quote(name)} means ${listFirst(candidates, maxShownMeanings)}; use the canonical name, as in tools["${candidates[0]}"]`,
        others: candidates,
      };
    }
    return { fault: `there is no tool ${quote(name)}${suggest(name)}` };
  };
}

type Table = Map<string, Set<LookupTool>>;
type Tables = { own: Table; alias: Table; folded: Table };

function buildTables(known: Pick<Tools, 'all'>): Tables {
  const tables: Tables = { own: new Map(), alias: new Map(), folded: new Map() };
  for (const tool of known.all()) {
    if (tool.source?.state === 'missing') continue;
    add(tables.own, tool.name, tool);
    const aliases = tool.aliases.map(aliasName);
    for (const alias of aliases) add(tables.alias, alias, tool);
    for (const name of [tool.canonical, tool.name, ...aliases]) add(tables.folded, fold(name), tool);
  }
  // Names that fold to the empty string match nothing.
  tables.folded.delete('');
  return tables;
}

function add(table: Table, name: string, tool: LookupTool): void {
  table.set(name, (table.get(name) ?? new Set()).add(tool));
}

function* spellings(known: Pick<Tools, 'all'>): Generator<readonly [string, string]> {
  for (const tool of known.all()) {
    if (tool.source?.state === 'missing' || tool.kind === 'ui') continue;
    for (const name of [tool.canonical, tool.name, ...tool.aliases.map(aliasName)]) yield [name, tool.canonical];
  }
}
