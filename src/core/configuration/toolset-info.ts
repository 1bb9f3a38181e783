/** A stored toolset as shown by the configuration tools: its tools with all their names, and which of them can be called. */
import * as z from 'zod';
import { ownWireNames } from '../names/names.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';
import { shownAliases, fitRows, type ToolTable, Context, contextOf, tokenCosts } from './tool-table.ts';
import { ownNameOf } from '../toolset/named-entry.ts';
import { namesOfEntries } from '../toolset/settle-names.ts';
import { limits } from '../limits/limits.ts';
import { ServerHealth } from '../servers/server-state.ts';
import { shorten, type ServerStates } from './available-tools.ts';
import { toolOf } from '../toolset/entries/entry-targets.ts';

const ToolInfo = z.object({
  namespacedName: z.string(),
  refId: z.string().meta({ description: 'Empty: the tool is currently unknown.' }),
  server: z.string(),
  active: z.boolean().meta({ description: 'Whether it can currently be called.' }),
  wireName: z.string().meta({ description: 'The name under which it is shown and called.' }),
  alias: z.string().optional().meta({ description: 'The first alias.' }),
  aliases: z.array(z.string()),
  state: z.enum(['ready', 'held', 'missing']),
  notes: z.array(z.string()).optional().meta({ description: 'Names of its notes.' }),
});
type ToolInfo = z.infer<typeof ToolInfo>;

export const ToolsetInfo = z.object({
  name: z.string(),
  description: z.string().optional(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  toolCount: z.int(),
  active: z.boolean().meta({ description: 'Whether the toolset is equipped.' }),
  totalServers: z.int(),
  enabledServers: z.int().meta({ description: 'Number of servers with a tool that can be called.' }),
  totalTools: z.int(),
  servers: z
    .array(z.object({ name: z.string(), enabled: z.boolean(), toolCount: z.int() }))
    .meta({ description: 'The tools, or the first ones if not all fit.' }),
  tools: z.array(ToolInfo),
  toolsLeftOut: z.int().optional().meta({ description: 'Number of further tools that do not fit in the result.' }),
});
export type ToolsetInfo = z.infer<typeof ToolsetInfo>;

/** The Catalog's row; `body` was parsed when it was written. */
type StoredToolset = {
  name: string;
  version: number;
  body: Readonly<Record<string, unknown>>;
  createdAt: string;
  updatedAt: string;
};

export function documentOf({ body }: Pick<StoredToolset, 'body'>): Toolset {
  // Toolset bodies were parsed with the schema when they were written.
  return body as Toolset;
}

/** `room`: bytes of JSON for the tools, and a quarter of that for the servers. */
export function toolsetInfo(stored: StoredToolset, table: ToolTable, equipped: string | null, room: number): ToolsetInfo {
  const { name, version, createdAt, updatedAt } = stored;
  const document = documentOf(stored);
  const { description } = document;
  const rows = toolInfos(document, table);
  const byServer = Map.groupBy(rows, ({ server }) => server);
  const servers = [...byServer].map(([server, ofServer]) => ({
    name: server,
    enabled: ofServer.some(({ active }) => active),
    toolCount: ofServer.length,
  }));
  const shown = fitRows(rows, room);
  return {
    name,
    ...(description !== undefined && { description }),
    version,
    createdAt,
    updatedAt,
    toolCount: rows.length,
    active: name === equipped,
    totalServers: servers.length,
    enabledServers: servers.filter(({ enabled }) => enabled).length,
    totalTools: rows.length,
    servers: fitRows(servers, room / 4).rows,
    tools: shown.rows,
    ...(shown.leftOut > 0 && { toolsLeftOut: shown.leftOut }),
  };
}

/** Includes the names under which tools are called, which without aliases depend on the other tools. */
function toolInfos(document: Toolset, table: ToolTable): ToolInfo[] {
  const named = namesOfEntries(document, table.known).flatMap((names, index) => {
    const entry = document.tools[index];
    return entry === undefined ? [] : [{ entry, names }];
  });
  if (table.aliases) return named.map(({ entry, names }) => toolInfo(entry, { ...names, aliases: shownAliases(names) }, table));
  const own = ownWireNames(
    named.map(({ entry, names }) => {
      return { ...ownNameOf(entry, table.known.get(toolOf(entry) ?? '')), wireName: names.wireName };
    }),
  );
  return named.map(({ entry, names }, index) => toolInfo(entry, { wireName: own[index] ?? names.wireName, aliases: [] }, table));
}

function toolInfo(entry: ToolsetEntry, { wireName, aliases }: { wireName: string; aliases: string[] }, table: ToolTable): ToolInfo {
  const canonical = toolOf(entry) ?? '';
  const definition = table.known.get(canonical);
  const [alias] = aliases;
  const state = definition === undefined ? 'missing' : (definition.source?.state ?? 'ready');
  const notes = (entry.notes ?? []).map(({ name }) => name);
  return {
    namespacedName: canonical,
    refId: table.pinOf(canonical),
    server: definition?.server ?? canonical.slice(0, Math.max(0, canonical.indexOf('.'))),
    active: state === 'ready' && definition?.kind !== 'ui',
    wireName,
    ...(alias !== undefined && { alias }),
    aliases,
    state,
    ...(notes.length > 0 && { notes }),
  };
}

/** `gs = git.status (aliases: st)` */
function describeToolInfo({ wireName, namespacedName, aliases, state }: ToolInfo): string {
  const others = aliases.filter((alias) => alias !== wireName);
  const also = others.length === 0 ? '' : ` (aliases: ${others.join(', ')})`;
  return `${wireName} = ${namespacedName}${also}${state === 'ready' ? '' : `, ${state}: cannot be called`}`;
}

export function describeToolset(info: ToolsetInfo): string {
  const { name, description, version, active, toolCount, tools, toolsLeftOut } = info;
  const about = description === undefined ? '' : `: ${description}`;
  const head = `${name} (version ${version}, ${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}${active ? ', equipped' : ''})${about}`;
  const more = toolsLeftOut === undefined ? [] : [`- and ${toolsLeftOut} more`];
  return [head, ...tools.map((tool) => `- ${describeToolInfo(tool)}`), ...more].join('\n');
}

// The result of `get-active-toolset`: the equipped toolset, the tools that can be called now, and why the others cannot.

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
  const rows = toolInfos(documentOf(stored), table);
  const exposed = rows.filter(({ active }) => active);
  const shown = fitRows(exposed, limits.maxConfigurationAnswerBytes / 3);
  const bad = serversOf(rows).flatMap(({ name, isListing }) => {
    const { status, reason } = standings.get(name) ?? {};
    if (status === 'failing' || status === 'unauthorized') return [{ name, status, ...(reason && { reason: shorten(reason) }) }];
    return isListing ? [] : [{ name }];
  });
  const { there, tokensOf, total } = tokenCosts(table);
  const tokens = tokensOf(exposed.map(({ namespacedName }) => ({ canonical: namespacedName })));
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
