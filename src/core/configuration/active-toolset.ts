/** The result of `get-active-toolset`: the equipped toolset, the tools that can be called now, and why the others cannot. */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { ServerHealth } from '../servers/server-state.ts';
import { shorten, type ServerStates } from './available-tools.ts';
import { fitRows } from './fit-rows.ts';
import { Context, contextOf, definitionTokens } from './token-estimate.ts';
import { documentOf, ToolInfo, toolInfos, ToolsetInfo, toolsetInfo, type StoredToolset } from './toolset-info.ts';
import type { ToolTable } from './tool-table.ts';

export const ActiveToolset = z.object({
  success: z.boolean(),
  error: z.string().optional(),
  equipped: z.boolean(),
  mode: z.enum(['configuration', 'normal']).optional(),
  toolset: ToolsetInfo.optional(),
  serverStatus: z
    .object({ totalConfigured: z.int(), enabled: z.int(), available: z.int(), unavailable: z.int() })
    .optional()
    .meta({ description: 'Status of the servers whose tools are in the toolset.' }),
  toolSummary: z.object({ currentlyExposed: z.int(), totalDiscovered: z.int(), filteredOut: z.int() }).optional(),
  exposedTools: z.array(z.object({ server: z.string(), tools: z.array(ToolInfo) })).optional(),
  unavailableServers: z
    .array(z.object({ name: z.string(), status: ServerHealth.shape.status.optional(), reason: z.string().optional() }))
    .optional(),
  warnings: z.array(z.string()).optional(),
  context: Context.optional(),
});
export type ActiveToolset = z.infer<typeof ActiveToolset>;

export function describeActive(
  stored: StoredToolset | null,
  mode: 'configuration' | 'normal',
  table: ToolTable,
  standings: ServerStates,
): ActiveToolset {
  if (stored === null) return { success: true, equipped: false, mode };
  const toolset = toolsetInfo(stored, table, stored.name, limits.maxConfigurationAnswerBytes / 3);
  const rows = toolInfos(documentOf(stored).tools, table);
  const exposed = rows.filter(({ active }) => active);
  const shown = fitRows(exposed, limits.maxConfigurationAnswerBytes / 3);
  const bad = serversOf(rows).flatMap(({ name, isListing }) => {
    const { status, reason } = standings.get(name) ?? {};
    if (status === 'failing' || status === 'unauthorized') return [{ name, status, ...(reason && { reason: shorten(reason) }) }];
    return isListing ? [] : [{ name }];
  });
  const there = table.tools.filter(({ source }) => source?.state !== 'missing');
  const costs = new Map(there.map((tool) => [tool.canonical as string, definitionTokens(tool)]));
  const tokens = exposed.reduce((sum, { namespacedName }) => sum + (costs.get(namespacedName) ?? 0), 0);
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  const distinct = new Set(exposed.map(({ namespacedName }) => namespacedName)).size;
  return {
    success: true,
    equipped: true,
    mode,
    toolset,
    serverStatus: {
      totalConfigured: toolset.totalServers,
      enabled: toolset.enabledServers,
      available: toolset.totalServers - bad.length,
      unavailable: bad.length,
    },
    toolSummary: { currentlyExposed: exposed.length, totalDiscovered: there.length, filteredOut: there.length - distinct },
    exposedTools: [...Map.groupBy(shown.rows, ({ server }) => server)].map(([server, tools]) => ({ server, tools })),
    unavailableServers: fitRows(bad, limits.maxConfigurationAnswerBytes / 4).rows,
    warnings: [
      ...rows
        .filter(({ state }) => state !== 'ready')
        .slice(0, limits.maxReportedWarnings)
        .map(({ wireName, namespacedName, state }) => {
          const why = state === 'held' ? 'its definition has changed and an administrator has to accept it' : 'its server does not list it';
          return `${wireName} (${namespacedName}) cannot be called: ${why}`;
        }),
      ...(shown.leftOut > 0 ? [`${shown.leftOut} more tools are exposed than are listed here`] : []),
    ],
    context: contextOf(tokens, total),
  };
}

/** A held tool is listed by its server, so nothing is wrong with the server. */
function serversOf(rows: readonly ToolInfo[]): { name: string; isListing: boolean }[] {
  const byServer = Map.groupBy(rows, ({ server }) => server);
  return [...byServer].map(([name, tools]) => ({ name, isListing: tools.some(({ state }) => state !== 'missing') }));
}
