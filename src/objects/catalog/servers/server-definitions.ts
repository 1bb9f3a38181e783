/**
 * The definitions of servers' tools for compiling toolsets, cached parsed in the object: a workspace has thousands, and every write of a
 * toolset reads them. The rows themselves are `server-tools.ts`.
 */
import { acceptedAnnotationPins, canonicalOf, isRemembered, toolStateOf, toToolDefinition } from '../../../core/listing/stored-tool.ts';
import type { StoredTool, DefinitionSource } from '../../../core/listing/stored-tool.ts';
import type { Server, ServerAccess } from '../../../core/servers/server.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import type { CatalogContext } from '../context.ts';
import { findRow } from '../documents/documents.ts';
import { enqueuePublish } from '../records/publications.ts';
import { namedTools } from '../toolsets/toolset-versions.ts';
import { deleteServerTool, readTool, readTools } from './server-tools.ts';

/** By server, including removed ones. */
export function serverDefinitions(context: CatalogContext): ReadonlyMap<string, readonly ToolDefinition[]> {
  const parsed = parsedOf(context);
  parsed.names ??= serverNames(context.sql);
  return new Map(parsed.names.map((server) => [server, parsedServer(context, server).definitions]));
}

/** Call in a write's transaction: invalidates the cached definitions of a server, and publishes which of its tools are ready. */
export function dropDefinitions(context: CatalogContext, server: string): void {
  enqueuePublish(context, 'server', server);
  const parsed = parsedOf(context);
  parsed.names = null;
  parsed.servers.delete(server);
}

/** Call after a failed transaction: values read within it are invalid. */
export function dropAllDefinitions(context: CatalogContext): void {
  parsedServers.delete(context);
}

/**
 * Call in a write's transaction after toolsets have removed these tools (canonical names): deletes those that their server no longer lists
 * and no toolset names.
 */
export function forgetUnnamed(context: CatalogContext, canonicals: ReadonlySet<string>): void {
  if (canonicals.size === 0) return;
  for (const definition of [...serverDefinitions(context).values()].flat()) {
    if (definition.source?.state !== 'missing' || !canonicals.has(definition.canonical)) continue;
    const named = context.sql.exec('SELECT 1 FROM toolset_tools WHERE tool = ? LIMIT 1', definition.canonical).toArray();
    if (named.length > 0) continue;
    const { server, name } = definition;
    const tool = readTool(context.sql, server, name);
    if (tool === null || isRemembered(tool, () => false)) continue;
    deleteServerTool(context.sql, server, name);
    dropDefinitions(context, server);
  }
}

/**
 * Definitions, and own names of a server's tools: those that can be called now (`ready`), and all others (`held`). `annotated`: pins of
 * those whose annotations were accepted.
 */
export function parsedServer(context: CatalogContext, server: string): ParsedServer {
  const { servers } = parsedOf(context);
  const known = servers.get(server);
  if (known !== undefined) return known;
  const tools = readTools(context.sql, server);
  const parsed = {
    definitions: definitionsOfServer(serverOf(context, server), withoutRemembered(context.sql, server, tools)),
    ready: tools.filter((tool) => toolStateOf(tool) === 'ready').map(({ name }) => name),
    held: tools.filter((tool) => toolStateOf(tool) !== 'ready').map(({ name }) => name),
    ...acceptedAnnotationPins(tools),
  };
  servers.set(server, parsed);
  return parsed;
}

/** Leaves out tools that are known only because they were rejected: their server does not list them, and no toolset names them. */
function withoutRemembered(sql: SqlStorage, server: string, tools: readonly StoredTool[]): readonly StoredTool[] {
  const isUnlisted = (tool: StoredTool): boolean => toolStateOf(tool) === 'missing' && isRemembered(tool, () => false);
  if (!tools.some(isUnlisted)) return tools;
  const named = namedTools(sql, server);
  return tools.filter((tool) => !isUnlisted(tool) || named.has(canonicalOf(server, tool.name)));
}

function serverNames(sql: SqlStorage): string[] {
  const query = `SELECT server FROM server_tools UNION SELECT name FROM documents WHERE kind = 'server' AND deleted = 0 ORDER BY 1`;
  return Array.from(sql.exec<{ server: string }>(query), ({ server }) => server);
}

function parsedOf(context: CatalogContext): Parsed {
  const parsed = parsedServers.get(context) ?? { names: null, servers: new Map() };
  parsedServers.set(context, parsed);
  return parsed;
}

export function definitionsOfServer(server: DefinitionSource, tools: readonly StoredTool[]): ToolDefinition[] {
  return tools.flatMap((tool) => toToolDefinition(server, tool) ?? []);
}

/** A removed server has no settings for its tools. */
export function serverOf(context: CatalogContext, name: string): DefinitionSource {
  const row = findRow(context.sql, 'server', name);
  if (row === null) return { name, kind: 'static', trusted: false };
  return toServerOfTools(name, row.body as Omit<Server, 'tools'>); // Parsed by the schema on write.
}

export function toServerOfTools(name: string, { kind, trusted = false, instructions }: Omit<Server, 'tools'>): DefinitionSource {
  return { name, kind, trusted, ...(instructions !== undefined && { instructions }) };
}

/** `names`: names of all servers, null until first used. */
type Parsed = { names: string[] | null; servers: Map<string, ParsedServer> };
type ParsedServer = { definitions: readonly ToolDefinition[] } & Pick<ServerAccess, 'ready' | 'held' | 'annotated'>;

/** Lives as long as the object of the context. */
const parsedServers = new WeakMap<CatalogContext, Parsed>();
