/** The tools a workspace knows: those of this code base, with the workspace's default aliases in place of their own. */
import type { KnownTools } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { nearNames } from '../core/suggest.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { Page, PageRequest } from '../ports/catalog.ts';
import { decodeTextCursor, encodeCursor } from '../storage/cursor.ts';
import type { CatalogContext } from './context.ts';
import { allRows } from './documents.ts';
import { uiToolDefinitions } from './ui-tool-definitions.ts';

/** What is about to be written, in the place of what is stored. */
export type AboutToBe = {
  /** Default aliases of one tool; null gives it its own again. */
  aliases?: { canonical: string; aliases: readonly string[] | null };
  tools?: readonly ToolDefinition[];
};

export function knownTools(context: CatalogContext, aboutToBe: AboutToBe = {}): KnownTools {
  const defaults = defaultAliases(context, aboutToBe.aliases);
  const tools = new Map<string, ToolDefinition>();
  const servers = new Set<string>();
  for (const definition of [...context.definitions(), ...uiToolDefinitions(context), ...(aboutToBe.tools ?? [])]) {
    const aliases = defaults.get(definition.canonical);
    tools.set(definition.canonical, aliases === undefined ? definition : { ...definition, aliases });
    servers.add(definition.server);
  }
  return { get: (canonical) => tools.get(canonical), all: () => [...tools.values()], hasServer: (server) => servers.has(server) };
}

function defaultAliases(context: CatalogContext, aboutToBe: AboutToBe['aliases']): Map<string, readonly string[]> {
  // Written by the `tool-aliases` writer only.
  const defaults = new Map(allRows(context.sql, 'tool-aliases').map((row) => [row.name, row.body.aliases as readonly string[]]));
  if (aboutToBe?.aliases === null) defaults.delete(aboutToBe.canonical);
  else if (aboutToBe !== undefined) defaults.set(aboutToBe.canonical, aboutToBe.aliases);
  return defaults;
}

export function listTools(context: CatalogContext, page: PageRequest): Page<ToolDefinition> {
  const after = decodeTextCursor('tools', page.cursor) ?? '';
  const limit = Math.min(page.limit, limits.maxPageItems);
  const rest = [...knownTools(context).all()].filter((tool) => tool.canonical > after).sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rest.length > limit && last !== undefined ? encodeCursor('tools', last.canonical) : null };
}

/** `unknown_tool` with near names. */
export function findTool(context: CatalogContext, canonical: string): ToolDefinition {
  const known = knownTools(context);
  const tool = known.get(canonical);
  if (tool !== undefined) return tool;
  const suggestions = nearNames(
    canonical,
    [...known.all()].flatMap(({ canonical, name }) => [[canonical, canonical] as const, [name, canonical] as const]),
  );
  const near = suggestions.length === 0 ? '' : ` Near: ${suggestions.join(', ')}.`;
  throw new Problem('unknown_tool', `No tool goes by the canonical name ${JSON.stringify(canonical.slice(0, 128))}.${near}`, {
    requested: canonical.slice(0, limits.maxToolNameBytes),
    suggestions,
  });
}
