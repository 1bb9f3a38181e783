/**
 * The result of `list-available-tools`: every tool that a toolset may contain, by server, with its token cost. Bounded: of thousands
 * of tools the first are listed, with a cursor for the others.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { toWireName } from '../names/names.ts';
import { oneLine } from '../text/paragraphs.ts';
import { ServerHealth } from '../servers/server-state.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { shownAliases, fitRows, Context, contextOf, tokenCosts, type ToolTable } from './tool-table.ts';
import { namesOfEntry } from '../toolset/named-entry.ts';
import { cutToLength } from '../text/utf8.ts';
import { createToolFilter } from '../toolset/tool-filter.ts';

export const AvailableToolsQuery = z.strictObject({
  server: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Only the tools of this server.', examples: ['github'] }),
  query: z
    .string()
    .max(limits.maxFindQueryLength)
    .optional()
    .meta({ description: 'Only tools whose name or description contains all of these words.' }),
  after: z
    .string()
    .max(limits.maxCanonicalNameLength)
    .optional()
    .meta({ description: 'Only tools after this namespacedName: the cursor of the next page.' }),
});
export type AvailableToolsQuery = z.infer<typeof AvailableToolsQuery>;

const AvailableTool = z.object({
  name: z.string(),
  description: z.string().optional(),
  namespacedName: z.string(),
  serverName: z.string(),
  refId: z.string(),
  wireName: z.string().meta({ description: 'Its name in a toolset that gives it no alias.' }),
  alias: z.string().optional().meta({ description: 'The first default alias.' }),
  aliases: z.array(z.string()).meta({ description: 'The default aliases of the tool.' }),
  state: z
    .enum(['ready', 'held'])
    .meta({ description: '`held`: its definition has changed, and it cannot be called until an administrator accepts the change.' }),
  context: Context,
});

export const AvailableTools = z.object({
  success: z.boolean(),
  error: z.string().optional(),
  summary: z
    .object({
      totalTools: z.int(),
      totalServers: z.int(),
      matchingTools: z.int(),
      shownTools: z.int(),
      leftOut: z.int().meta({ description: 'Number of matching tools that are not listed here.' }),
      nextAfter: z.string().optional().meta({ description: 'Send this as `after` to get the next page.' }),
      tokens: z.int().meta({ description: 'Sum over all tools.' }),
    })
    .optional(),
  toolsByServer: z
    .array(
      z.object({
        serverName: z.string(),
        toolCount: z.int(),
        status: ServerHealth.shape.status.optional(),
        reason: z.string().optional(),
        context: Context,
        tools: z.array(AvailableTool),
      }),
    )
    .optional(),
});
export type AvailableTools = z.infer<typeof AvailableTools>;
export type AvailableTool = z.infer<typeof AvailableTool>;

/** By server name, including servers without tools; servers with an unknown state are left out. */
export type ServerStates = ReadonlyMap<string, Pick<ServerHealth, 'status' | 'reason'>>;

export function listAvailable(table: ToolTable, standings: ServerStates, query: AvailableToolsQuery): AvailableTools {
  const { there, tokensOf, total } = tokenCosts(table);
  const isMatch = createToolFilter({ q: query.query, server: query.server });
  const matching = there.filter((tool) => isMatch(tool) && (query.after === undefined || tool.canonical > query.after));
  const byServer = Map.groupBy(there, ({ server }) => server);
  const names = new Set(matching.map(({ server }) => server));
  const isNarrow = query.server !== undefined || query.query !== undefined;
  const servers = [...byServer].filter(([name]) => !isNarrow || names.has(name));
  const heads = servers.map(([serverName, tools]) => {
    const { status, reason } = standings.get(serverName) ?? {};
    const context = contextOf(tokensOf(tools), total);
    return { serverName, toolCount: tools.length, ...(status && { status }), ...(reason && { reason: shorten(reason) }), context };
  });
  heads.push(...silentHeads(standings, new Set(byServer.keys()), query));
  const fittingHeads = fitRows(heads, limits.maxConfigurationAnswerBytes / 2);
  const rows = matching.map((tool) => rowOf(tool, table, contextOf(tokensOf([tool]), total)));
  const shown = fitRows(rows, limits.maxConfigurationAnswerBytes / 2);
  const rowsByServer = Map.groupBy(shown.rows, ({ serverName }) => serverName);
  const last = shown.rows.at(-1)?.namespacedName;
  return {
    success: true,
    summary: {
      totalTools: there.length,
      totalServers: byServer.size,
      matchingTools: matching.length,
      shownTools: shown.rows.length,
      leftOut: shown.leftOut,
      ...(shown.leftOut > 0 && last !== undefined && { nextAfter: last }),
      tokens: total,
    },
    toolsByServer: withRows(fittingHeads.rows, heads, rowsByServer),
  };
}

/** Returns heads for servers without tools, so that a search for their tools shows why there are none. */
function silentHeads(standings: ServerStates, seen: ReadonlySet<string>, { server, query, after }: AvailableToolsQuery): Head[] {
  if (query !== undefined || after !== undefined) return [];
  return [...standings].flatMap(([serverName, { status, reason }]) => {
    if (status === 'ok' || seen.has(serverName) || (server ?? serverName) !== serverName) return [];
    return [{ serverName, toolCount: 0, status, ...(reason && { reason: shorten(reason) }), context: { tokens: 0, percent: 0 } }];
  });
}

type Head = Omit<NonNullable<AvailableTools['toolsByServer']>[number], 'tools'>;

/** Every server with a listed tool has a head, however many there are. */
function withRows(fitting: readonly Head[], all: readonly Head[], rows: ReadonlyMap<string, AvailableTool[]>) {
  const told = new Set(fitting);
  const heads = all.filter((head) => told.has(head) || rows.has(head.serverName));
  return heads.map((head) => ({ ...head, tools: rows.get(head.serverName) ?? [] }));
}

function rowOf(tool: ToolDefinition, table: ToolTable, context: Context): AvailableTool {
  const { canonical, name, server, source } = tool;
  const names = namesOfEntry({ tool: canonical }, tool);
  const aliases = table.aliases ? shownAliases(names) : [];
  const [alias] = aliases;
  const description = shorten(tool.description);
  return {
    name,
    ...(description !== '' && { description }),
    namespacedName: canonical,
    serverName: server,
    refId: table.pinOf(canonical),
    wireName: table.aliases ? names.wireName : toWireName(canonical, name),
    ...(alias !== undefined && { alias }),
    aliases,
    state: source?.state === 'held' ? 'held' : 'ready',
    context,
  };
}

/** Enough to choose by; the toolset shows the full description. */
const maxToldDescription = 200;

export function shorten(text: string): string {
  return cutToLength(oneLine(text), maxToldDescription);
}
