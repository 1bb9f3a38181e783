/** A stored toolset as the configuration tools tell of it: its tools with all their names, and what of it can be called. */
import { z } from 'zod';
import { ownWireNames } from '../alias-map.ts';
import type { Toolset, ToolsetEntry } from '../toolset.ts';
import { namesOfEntry, ownNameOf, shownAliases } from './entry-names.ts';
import { fitRows } from './fit.ts';
import type { ToolTable } from './tool-table.ts';

export const ToolInfo = z.object({
  namespacedName: z.string(),
  refId: z.string().meta({ description: 'Empty: the tool is not known now.' }),
  server: z.string(),
  active: z.boolean().meta({ description: 'It can be called as it stands.' }),
  wireName: z.string().meta({ description: 'What it is shown and called as.' }),
  alias: z.string().optional().meta({ description: 'The first of its aliases.' }),
  aliases: z.array(z.string()),
  state: z.enum(['ready', 'held', 'missing']),
  notes: z.array(z.string()).optional().meta({ description: 'Names of its notes.' }),
});
export type ToolInfo = z.infer<typeof ToolInfo>;

export const ToolsetInfo = z.object({
  name: z.string(),
  description: z.string().optional(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  toolCount: z.int(),
  active: z.boolean().meta({ description: 'It is equipped.' }),
  totalServers: z.int(),
  enabledServers: z.int().meta({ description: 'Those with a tool that can be called.' }),
  totalTools: z.int(),
  servers: z
    .array(z.object({ name: z.string(), enabled: z.boolean(), toolCount: z.int() }))
    .meta({ description: 'The first of them, where there is no room for all.' }),
  tools: z.array(ToolInfo),
  toolsLeftOut: z.int().optional().meta({ description: 'How many more there are: an answer has no room for them.' }),
});
export type ToolsetInfo = z.infer<typeof ToolsetInfo>;

/** As the Catalog keeps it; `body` was parsed when it was written. */
export type StoredToolset = {
  name: string;
  version: number;
  body: Readonly<Record<string, unknown>>;
  createdAt: string;
  updatedAt: string;
};

export function documentOf({ body }: Pick<StoredToolset, 'body'>): Toolset {
  // Bodies of toolsets were parsed by the schema when they were written.
  return body as Toolset;
}

/** `room`: bytes of JSON for its tools, and a quarter of that for its servers. */
export function toolsetInfo(stored: StoredToolset, table: ToolTable, equipped: string | null, room: number): ToolsetInfo {
  const { name, version, createdAt, updatedAt } = stored;
  const { description, tools } = documentOf(stored);
  const rows = toolInfos(tools, table);
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

/** With the names that they are called by, which without aliases depend on their neighbours. */
export function toolInfos(entries: readonly ToolsetEntry[], table: ToolTable): ToolInfo[] {
  const named = entries.map((entry) => ({ entry, names: namesOfEntry(entry, table.known.get(entry.tool ?? '')) }));
  if (table.aliases) return named.map(({ entry, names }) => toolInfo(entry, { ...names, aliases: shownAliases(names) }, table));
  const own = ownWireNames(
    named.map(({ entry, names }) => {
      return { ...ownNameOf(entry, table.known.get(entry.tool ?? '')), wireName: names.wireName };
    }),
  );
  return named.map(({ entry, names }, index) => toolInfo(entry, { wireName: own[index] ?? names.wireName, aliases: [] }, table));
}

function toolInfo(entry: ToolsetEntry, { wireName, aliases }: { wireName: string; aliases: string[] }, table: ToolTable): ToolInfo {
  const canonical = entry.tool ?? '';
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
export function tellTool({ wireName, namespacedName, aliases, state }: ToolInfo): string {
  const others = aliases.filter((alias) => alias !== wireName);
  const also = others.length === 0 ? '' : ` (aliases: ${others.join(', ')})`;
  return `${wireName} = ${namespacedName}${also}${state === 'ready' ? '' : `, ${state}: cannot be called`}`;
}

export function tellToolset(info: ToolsetInfo): string {
  const { name, description, version, active, toolCount, tools, toolsLeftOut } = info;
  const about = description === undefined ? '' : `: ${description}`;
  const head = `${name} (version ${version}, ${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}${active ? ', equipped' : ''})${about}`;
  const more = toolsLeftOut === undefined ? [] : [`- and ${toolsLeftOut} more`];
  return [head, ...tools.map((tool) => `- ${tellTool(tool)}`), ...more].join('\n');
}
