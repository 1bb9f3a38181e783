/**
 * Files of MCP clients: Claude Desktop, Claude Code (`.mcp.json`, `~/.claude.json`), Cursor, Windsurf, Kiro, Zed and VS Code. Each gives its
 * servers, and a toolset with all their tools, without prefixes.
 */
import type { Json } from '../json/wire-value.ts';
import { isRecord } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import { addMcpServer, type GivenServer } from './mcp-server.ts';
import type { Members } from './members.ts';
import { createVariables, type Variables } from './variables.ts';

const otherSettings = 'is a setting of the program itself: only its MCP servers are taken';

/** Adds the servers of a member `mcpServers`, and a toolset with their tools under the name `toolset`. */
export function readMcpServers(draft: ImportDraft, file: Members, toolset: string): void {
  const rows = [...file.entries('mcpServers', 'mcp_servers')];
  // `~/.claude.json` has servers for each project folder, too.
  for (const [, project] of file.entries('projects')) {
    rows.push(...project.entries('mcpServers'));
    project.skipOthers(otherSettings);
  }
  file.ignore('$schema');
  addServers(draft, rows, { variables: createVariables(), toolset });
  file.skipOthers(otherSettings);
}

/** `.vscode/mcp.json`, or `mcp` in `settings.json`. */
export function readVsCode(draft: ImportDraft, file: Members): void {
  const root = isRecord(file.peek('mcp')) && !file.has('servers') ? file.record('mcp') : file;
  if (root === null) return;
  const variables = createVariables({ inputs: root.items('inputs') });
  addServers(draft, root.entries('servers'), { variables, toolset: 'vscode' });
  file.skipOthers(otherSettings);
}

/** `context_servers` in the settings of Zed. */
export function readZed(draft: ImportDraft, file: Members): void {
  const rows = file.entries('context_servers').filter(([, entry]) => {
    const isExtension = !entry.has('command') && !entry.has('url') && (entry.peek('source') === 'extension' || entry.has('settings'));
    if (isExtension)
      entry.skipWhole('is installed by an extension of Zed, and its command is not in the file. Add the server with its command or url');
    return !isExtension;
  });
  addServers(draft, rows, { variables: createVariables(), toolset: 'zed' });
  file.skipOthers(otherSettings);
}

type ServersOptions = { variables: Variables; toolset: string; given?: (written: string) => GivenServer };

/** Adds the servers, and a toolset with the tools that the file offers. */
export function addServers(draft: ImportDraft, rows: readonly (readonly [string, Members])[], options: ServersOptions): void {
  const { variables, toolset, given = () => ({}) } = options;
  const tools = rows.flatMap(([written, entry]): Json[] => addMcpServer(draft, written, entry, variables, given(written))?.entries ?? []);
  if (tools.length > 0) draft.add('toolsets', toolset, { tools });
}
