/**
 * An agent of Kiro (`.kiro/agents/<name>.json`, formerly Amazon Q): servers, the tools it has, their aliases and those that need no approval.
 * Kiro, "Agent configuration reference". Its `mcp.json` has the form that all clients share.
 */
import { isRecord, type Json, listOf, recordOf } from '../../json/wire-value.ts';
import type { ImportDraft } from '../draft.ts';
import { addMcpServer } from '../mcp-server.ts';
import { type OfferedTools, toolEntries, wholeFilter } from '../mcp-tools.ts';
import type { Members } from '../members.ts';
import { createVariables } from '../variables.ts';

export function isKiroAgent(value: unknown): boolean {
  const { toolAliases, allowedTools, prompt, tools, mcpServers } = recordOf(value);
  const isAgent =
    isRecord(toolAliases) || Array.isArray(allowedTools) || (typeof prompt === 'string' && (Array.isArray(tools) || isRecord(mcpServers)));
  return (
    isAgent &&
    (mcpServers === undefined || isRecord(mcpServers)) &&
    (isRecord(mcpServers) || listOf(tools).every((tool) => typeof tool === 'string'))
  );
}

export function readKiroAgent(draft: ImportDraft, file: Members): void {
  const name = file.text('name') || 'kiro';
  const filters = readFilters(draft, file, name);
  const own = new Set<string>();
  const tools: Json[] = [];
  for (const [written, entry] of file.entries('mcpServers')) {
    own.add(written);
    const filter = filters.servers.get(written) ?? { include: filters.isAll ? null : [] };
    tools.push(...(addMcpServer(draft, written, entry, createVariables(), { filter })?.entries ?? []));
  }
  // Those of the servers in other files.
  for (const [written, filter] of filters.servers)
    if (!own.has(written)) tools.push(...toolEntries(draft.nameOf('servers', written), { ...wholeFilter, ...filter }, file));
  const description = file.text('description') ?? '';
  const described = description === '' ? {} : { description: description.slice(0, 500) };
  const toolset = tools.length === 0 ? null : draft.add('toolsets', name, { ...described, tools });
  addAgent(draft, file, { name, toolset, described });
  file.skip(['hooks', 'resources', 'toolsSettings'], 'has no counterpart: rules of the policy and skills do similar things');
  file.skip(['includeMcpJson', 'useLegacyMcpJson'], 'refers to another file: import its mcp.json, too');
  file.skip(['keyboardShortcut', 'welcomeMessage'], 'is a setting of the program itself');
  file.ignore('$schema');
}

/** By server as the file names it. `isAll`: the agent has all tools of all servers. */
type Filters = { servers: Map<string, Partial<OfferedTools>>; isAll: boolean };

function readFilters(draft: ImportDraft, file: Members, agent: string): Filters {
  const listed = file.texts('tools') ?? (file.has('tools') ? [] : ['*']);
  const isAll = listed.includes('*');
  const servers = new Map<string, Partial<OfferedTools>>();
  /** Returns the rules of a server, and the tool of `@server/tool`; null and a skipped row for what is not a server's. */
  const find = (reference: string, path: string): { filter: Partial<OfferedTools>; tool: string } | null => {
    const [, written = '', tool = '*'] = /^@([^/]+)(?:\/(.+))?$/.exec(reference) ?? [];
    if (written === '' || written === 'builtin') {
      draft.skip(
        path,
        'names a tool that Kiro itself brings, which does not exist here. builtin.bash, builtin.read_file and others do the same',
      );
      return null;
    }
    const filter = servers.get(written) ?? { include: isAll ? null : [] };
    servers.set(written, filter);
    return { filter, tool };
  };
  for (const [index, reference] of listed.entries()) {
    const found = reference === '*' || reference === '' ? null : find(reference, `tools[${index}]`);
    if (found !== null) found.filter.include = found.filter.include === null ? null : [...(found.filter.include ?? []), found.tool];
  }
  const aliases = file.record('toolAliases');
  for (const reference of aliases?.names() ?? []) {
    const path = aliases?.pathOf(reference) ?? reference;
    const found = find(reference, path);
    const alias = found === null ? null : draft.alias({ skipped: path, warned: `toolsets.${agent}` }, aliases?.take(reference));
    if (found === null || alias === null) aliases?.ignore(reference);
    else if (found.tool.includes('*')) draft.skip(path, 'is for several tools: an alias is for one');
    else found.filter.aliases = new Map([...(found.filter.aliases ?? []), [found.tool, [alias]]]);
  }
  for (const [index, reference] of (file.texts('allowedTools') ?? []).entries()) {
    const found = reference === '' ? null : find(reference, `allowedTools[${index}]`);
    if (found !== null) found.filter.unasked = [...(found.filter.unasked ?? []), found.tool];
  }
  return { servers, isAll };
}

function addAgent(
  draft: ImportDraft,
  file: Members,
  { name, toolset, described }: { name: string; toolset: string | null; described: Json },
): void {
  const model = file.text('model');
  const prompt = file.text('prompt') ?? '';
  if (prompt === '' || toolset === null) return;
  if (prompt.startsWith('file://')) {
    file.fault('prompt', `is in ${prompt.slice(0, 200)}, which is not part of the file. Create the agent with the text as instructions`);
    return;
  }
  const agent = draft.add('agents', name, { ...described, model: 'rehearsal/default', instructions: prompt, toolset });
  if (agent !== null)
    file.change(
      'model',
      `is ${model === null ? 'not set' : `a model of Kiro (${JSON.stringify(model)})`}: the agent ${agent} uses the rehearsal model. Set another model`,
    );
}
