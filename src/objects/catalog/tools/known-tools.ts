/**
 * All tools of a workspace: defined in code, listed by servers, registered by pages, and made from these; each with its configured default
 * aliases.
 */
import { type KnownTools, requireKnownTool } from '../../../core/toolset/known-tools.ts';
import { limits } from '../../../core/limits/limits.ts';
import { type SecretBinding, secretHostOf } from '../../../core/secrets/secret.ts';
import { callUrlOf, type Server } from '../../../core/servers/server.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import { createToolFilter, type ToolFilter } from '../../../core/toolset/tool-filter.ts';
import { toUiToolDefinition } from '../../../core/tools/ui-tool-definition.ts';
import type { UiTool } from '../../../core/tools/ui-tool.ts';
import type { NameMap } from '../../../core/toolset/toolset.ts';
import type { ToolsetAlias } from '../../../core/names/toolset-alias.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import type { Page, PageRequest } from '../../../ports/catalog.ts';
import { sortedPage } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, allRows, readRow } from '../documents/documents.ts';
import { readWorkspaceSettings } from '../documents/workspace-settings.ts';
import { serverDefinitions } from '../servers/server-definitions.ts';
import { madeToolDefinitions, privateDefinitions, missingTools } from './made-tool-definitions.ts';

/** A pending change, which takes precedence over what is stored. */
export type PendingChange = {
  /** Default aliases of one tool; null restores its own. */
  aliases?: { canonical: string; aliases: readonly ToolsetAlias[] | null };
  tools?: readonly ToolDefinition[];
  /** All tools of one server. */
  server?: { name: string; tools: readonly ToolDefinition[] };
  nameMap?: NameMap;
  /** A skill as it will be; null: it is deleted. */
  skill?: { name: string; skill: Skill | null };
};

export function knownTools(context: CatalogContext, aboutToBe: PendingChange = {}): KnownTools {
  const defaults = defaultAliases(context, aboutToBe.aliases);
  const tools = new Map<string, ToolDefinition>();
  const servers = new Set<string>();
  const add = (definition: ToolDefinition): void => {
    const aliases = defaults.get(definition.canonical);
    tools.set(definition.canonical, aliases === undefined ? definition : { ...definition, aliases });
    servers.add(definition.server);
  };
  const listed = new Map(serverDefinitions(context));
  if (aboutToBe.server !== undefined) listed.set(aboutToBe.server.name, aboutToBe.server.tools);
  for (const definition of [...codeToolDefinitions(context), ...uiToolDefinitions(context), ...madeToolDefinitions(context)])
    add(definition);
  for (const [server, definitions] of listed) {
    // Includes servers without callable tools.
    servers.add(server);
    definitions.forEach(add);
  }
  aboutToBe.tools?.forEach(add);
  return {
    get: (canonical) => tools.get(canonical),
    all: () => tools.values(),
    hasServer: (server) => servers.has(server),
    secret: (name) => secretBinding(context, name),
    host: (server) => hostOf(context, server),
    skill: (name) => (aboutToBe.skill?.name === name ? (aboutToBe.skill.skill ?? undefined) : findSkill(context, name)),
    nameMap: aboutToBe.nameMap ?? readWorkspaceSettings(context.sql).nameMap,
  };
}

function uiToolDefinitions({ sql }: CatalogContext): ToolDefinition[] {
  // UI tool bodies were parsed by the schema when they were written.
  const there = allRows(sql, 'ui-tool').map(({ name, body }) => toUiToolDefinition(name, body as UiTool));
  return [...there, ...missingTools(sql, 'ui', there)];
}

/** Another build may have had more. */
function codeToolDefinitions({ sql, definitions }: CatalogContext): ToolDefinition[] {
  const there = definitions();
  return [...there, ...missingTools(sql, 'builtin', there), ...missingTools(sql, 'local', there)];
}

function findSkill(context: CatalogContext, name: string): Skill | undefined {
  // Skill bodies were parsed from their files when they were written.
  return (findRow(context.sql, 'skill', name)?.body as Skill | undefined) ?? undefined;
}

function secretBinding(context: CatalogContext, name: string): SecretBinding | undefined {
  const row = findRow(context.sql, 'secret', name);
  // Secret bodies were parsed by the schema when they were written.
  return row === null ? undefined : (row.body as SecretBinding);
}

function hostOf(context: CatalogContext, server: string): string | undefined {
  const row = readRow(context.sql, 'server', server);
  const url = row === null || row.deleted ? null : callUrlOf(row.body as Server);
  return url === null ? undefined : secretHostOf(url);
}

function defaultAliases(context: CatalogContext, aboutToBe: PendingChange['aliases']): Map<string, readonly ToolsetAlias[]> {
  // Written only by the `tool-aliases` writer.
  const defaults = new Map(allRows(context.sql, 'tool-aliases').map((row) => [row.name, row.body.aliases as readonly ToolsetAlias[]]));
  if (aboutToBe?.aliases === null) defaults.delete(aboutToBe.canonical);
  else if (aboutToBe !== undefined) defaults.set(aboutToBe.canonical, aboutToBe.aliases);
  return defaults;
}

/** `owner`: includes its private tools, except those whose name a shared tool has. Pages are filled after filtering. */
export function listTools(context: CatalogContext, page: PageRequest, owner?: string, filter: ToolFilter = {}): Page<ToolDefinition> {
  // Cached, so that paging through ten thousand tools does not sort them for each page.
  const tools = withPrivate(context, context.untilWrite(sortedTools), owner);
  const isListed = createToolFilter(filter);
  function* read(after: string, count: number): Iterable<ToolDefinition> {
    let found = 0;
    for (let index = firstAfter(tools, after); index < tools.length && found < count; index += 1) {
      const tool = tools[index];
      if (tool === undefined || !isListed(tool)) continue;
      found += 1;
      yield tool;
    }
  }
  const measure = { position: (tool: ToolDefinition) => tool.canonical, bytes: (tool: ToolDefinition) => utf8Length(JSON.stringify(tool)) };
  return sortedPage('tools', { ...page, maxItems: limits.maxToolPageItems }, read, measure);
}

function withPrivate(context: CatalogContext, shared: readonly ToolDefinition[], owner: string | undefined): readonly ToolDefinition[] {
  const own = owner === undefined ? [] : privateDefinitions(context, owner);
  if (own.length === 0) return shared;
  const taken = new Set(shared.map(({ canonical }) => canonical));
  return [...shared, ...own.filter(({ canonical }) => !taken.has(canonical))].sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
}

function sortedTools(context: CatalogContext): readonly ToolDefinition[] {
  return [...knownTools(context).all()].sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
}

function firstAfter(tools: readonly ToolDefinition[], after: string): number {
  let [low, high] = [0, tools.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tools[middle]?.canonical ?? '') > after) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Throws `unknown_tool` with similar names. */
export function findKnownTool(context: CatalogContext, canonical: string): ToolDefinition {
  return requireKnownTool(knownTools(context), canonical);
}
