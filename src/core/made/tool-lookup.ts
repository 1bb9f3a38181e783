/**
 * Finds the tool that a name in code means, among all tools of a workspace: canonical name, own name and default alias, then any
 * spelling of these. The first level with a match decides, as in the resolution of calls (`alias-map.ts`). There is no toolset here,
 * so there are no wire names.
 */
import { fold } from '../names/fold.ts';
import { quote } from '../names/names.ts';
import { nearNames } from '../names/suggest.ts';
import type { ToolDefinition, ToolSource } from '../tools/tool.ts';

/** The fields of a tool that are needed to name it. */
export type LookupTool = Pick<ToolDefinition, 'canonical' | 'name' | 'kind' | 'aliases'> & { source?: Pick<ToolSource, 'state'> };

export type Lookup = {
  find(name: string): { tool: LookupTool } | { fault: string };
};

type Tools = { get(canonical: string): LookupTool | undefined; all(): Iterable<LookupTool> };

/** Each suggestion walks all tools. If the code has more wrong names than this, the problem is not a typing error. */
const maxFaultsWithSuggestions = 20;

export function createLookup(known: Tools): Lookup {
  let tables: Tables | undefined;
  let suggestionsLeft = maxFaultsWithSuggestions;
  return {
    find(name) {
      const exact = known.get(name);
      if (exact !== undefined) return { tool: exact };
      tables ??= buildTables(known);
      const hit = tables.own.get(name) ?? tables.alias.get(name) ?? tables.folded.get(fold(name));
      const [tool, ...others] = [...(hit ?? [])];
      if (tool !== undefined && others.length === 0) return { tool };
      if (tool !== undefined) {
        const candidates = [tool, ...others].map(({ canonical }) => canonical).sort();
        return {
          fault: `${quote(name)} means ${candidates.slice(0, 5).join(', ')}; use the canonical name, as in tools["${candidates[0]}"]`,
        };
      }
      suggestionsLeft -= 1;
      const near = suggestionsLeft < 0 ? [] : nearNames(name, spellings(known));
      return { fault: `there is no tool ${quote(name)}${near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`}` };
    },
  };
}

type Table = Map<string, Set<LookupTool>>;
type Tables = { own: Table; alias: Table; folded: Table };

function buildTables(known: Pick<Tools, 'all'>): Tables {
  const tables: Tables = { own: new Map(), alias: new Map(), folded: new Map() };
  for (const tool of known.all()) {
    if (tool.source?.state === 'missing') continue;
    add(tables.own, tool.name, tool);
    for (const alias of tool.aliases) add(tables.alias, alias, tool);
    for (const name of [tool.canonical, tool.name, ...tool.aliases]) add(tables.folded, fold(name), tool);
  }
  // Names that fold to the empty string match nothing.
  tables.folded.delete('');
  return tables;
}

function add(table: Table, name: string, tool: LookupTool): void {
  const tools = table.get(name);
  if (tools === undefined) table.set(name, new Set([tool]));
  else tools.add(tool);
}

function* spellings(known: Pick<Tools, 'all'>): Generator<readonly [string, string]> {
  for (const tool of known.all()) {
    if (tool.source?.state === 'missing' || tool.kind === 'ui') continue;
    for (const name of [tool.canonical, tool.name, ...tool.aliases]) yield [name, tool.canonical];
  }
}
