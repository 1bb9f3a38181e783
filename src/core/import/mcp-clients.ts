/**
 * Files of MCP clients: Claude Desktop, Claude Code (`.mcp.json`, `~/.claude.json`), Cursor, Windsurf, Kiro, Zed and VS Code. Each gives its
 * servers, and a toolset with all their tools, without prefixes.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import { addMcpServer } from './mcp-server.ts';
import { createVariables, type Variables } from './variables.ts';

/** Adds the servers of a member `mcpServers`, and a toolset with their tools under the name `toolset`. */
export function readMcpServers(draft: ImportDraft, value: Json, toolset: string): void {
  const rows = [...Object.entries(recordOf(value.mcpServers ?? value.mcp_servers)), ...serversOfProjects(value)];
  addServers(draft, rows, createVariables(), toolset);
}

/** `~/.claude.json` has servers for each project folder, too. */
function serversOfProjects({ projects }: Json): [string, unknown][] {
  return Object.values(recordOf(projects)).flatMap((project) => Object.entries(recordOf(recordOf(project).mcpServers)));
}

/** `.vscode/mcp.json`, or `mcp` in `settings.json`. */
export function readVsCode(draft: ImportDraft, value: Json): void {
  const { servers, inputs } = isRecord(value.mcp) ? value.mcp : value;
  const sandboxed = Object.entries(recordOf(servers));
  addServers(draft, sandboxed, createVariables(inputs), 'vscode');
}

/** `context_servers` in the settings of Zed. */
export function readZed(draft: ImportDraft, value: Json): void {
  const rows: [string, unknown][] = [];
  for (const [name, entry] of Object.entries(recordOf(value.context_servers))) {
    const { command, url, source, settings } = recordOf(entry);
    if (command === undefined && url === undefined && (source === 'extension' || settings !== undefined))
      draft.skip(name, 'is installed by an extension of Zed, and its command is not in the file. Add the server with its command or url');
    else rows.push([name, entry]);
  }
  addServers(draft, rows, createVariables(), 'zed');
}

/** The tools of one server that a toolset takes: all but `except`; those in `unasked` need no approval. */
type Taken = { server: string; except: string[]; unasked: string[] };

function addServers(draft: ImportDraft, rows: readonly (readonly [string, unknown])[], variables: Variables, toolset: string): void {
  const taken = rows.flatMap(([written, entry]): Taken[] => {
    const server = addMcpServer(draft, written, entry, variables);
    if (server === null) return [];
    const { disabledTools, excludeTools, autoApprove, alwaysAllow } = recordOf(entry);
    return [{ server, except: names(disabledTools ?? excludeTools), unasked: names(autoApprove ?? alwaysAllow) }];
  });
  if (taken.length > 0) draft.add('toolsets', toolset, { tools: taken.flatMap(entriesOf) });
}

/** The server's wildcard does not include tools that have an entry. */
function entriesOf({ server, except, unasked }: Taken): Json[] {
  const all = unasked.includes('*');
  const single = all ? [] : unasked.filter((name) => !except.includes(name) && !name.includes('*'));
  return [
    { tool: `${server}.*`, ...(except.length > 0 && { except }), ...(all && { approval: 'never' }) },
    ...single.map((name) => ({ tool: `${server}.${name}`, approval: 'never' })),
  ];
}

function names(value: unknown): string[] {
  return [...new Set(listOf(value).map(stringOf))].filter((name) => name !== '' && name.length <= 128);
}
