/**
 * Files of MCP clients: Claude Desktop, Claude Code (`.mcp.json`, `~/.claude.json`), Cursor, Windsurf, Kiro, Zed, VS Code, Gemini CLI, Copilot
 * CLI, Continue, Codex and Goose. Each gives its servers, and a toolset with the tools that it offers, without prefixes.
 */
import { isRecord, type Json, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import { plainServerName, readServerLists, ToolRules } from './mcp-permissions.ts';
import { addMcpServer, type AddedServer, type GivenServer } from './mcp-server.ts';
import type { Members } from './members.ts';
import { createVariables, type Variables } from './variables.ts';

export const otherSettings = 'is a setting of the program itself: only its MCP servers are taken';

/** Whether a value has MCP servers as most clients write them: a map, or the list of Continue. */
export function hasMcpServers(value: unknown): boolean {
  const { mcpServers, projects } = recordOf(value);
  const isList = Array.isArray(mcpServers) && mcpServers.some(isRecord);
  if (mcpServers === undefined && projects === undefined) return isBareMap(value);
  return isRecord(mcpServers) || isList || Object.values(recordOf(projects)).some((one) => isRecord(recordOf(one).mcpServers));
}

/** Plugins of Claude Code, and copied parts of files, have the map of servers without `mcpServers`. */
function isBareMap(value: unknown): boolean {
  const entries = Object.values(recordOf(value));
  const isServer = (entry: unknown): boolean =>
    ['command', 'url', 'httpUrl', 'serverUrl'].some((name) => typeof recordOf(entry)[name] === 'string');
  return entries.length > 0 && entries.every(isServer);
}

export type ClientOptions = {
  /** The name of the toolset. */
  toolset: string;
  /** `$NAME` is a variable within texts, too. */
  hasBare?: boolean;
  isInSeconds?: boolean;
};

/** Adds the servers of a member `mcpServers`, and a toolset with their tools. */
export function readMcpServers(draft: ImportDraft, file: Members, { toolset, hasBare = false, isInSeconds = false }: ClientOptions): void {
  const variables = createVariables({ hasBare, inputs: file.items('inputs') });
  file.ignore('$schema');
  const mcp = isRecord(file.peek('mcp')) ? file.record('mcp') : null;
  const isOff = readServerLists([mcp, file]);
  mcp?.skipOthers(otherSettings);
  const rules = new ToolRules();
  rules.addPermissions(isRecord(file.peek('permissions')) ? file.record('permissions') : null);
  const own = namedServers(file);
  const filters = rules.filtersFor(own.map(([name]) => name));
  const given = (written: string): GivenServer => ({ filter: filters.get(written) ?? {}, off: isOff(written), isInSeconds });
  const tools = addServers(draft, own, { variables, given });
  const projects = file.entries('projects').flatMap(([, project]) => readProject(draft, project, variables));
  addToolset(draft, toolset, [...tools, ...projects]);
  file.skipOthers(otherSettings);
}

/** `~/.claude.json` has servers for each project folder, too, with rules that hold only there. */
function readProject(draft: ImportDraft, project: Members, variables: Variables): AddedServer[] {
  const rows = namedServers(project);
  const rules = new ToolRules();
  rules.addList(project, 'allowedTools', 'allow');
  rules.addPermissions(isRecord(project.peek('permissions')) ? project.record('permissions') : null);
  project.skip(['enabledMcpjsonServers', 'disabledMcpjsonServers'], 'is about the .mcp.json of the project: import that file');
  const isOff = readServerLists([project], ['disabledMcpServers']);
  const filters = rules.filtersFor(rows.map(([name]) => name));
  const given = (written: string): GivenServer => ({ filter: filters.get(written) ?? {}, off: isOff(written) });
  const added = addServers(draft, rows, { variables, given });
  project.skipOthers(otherSettings);
  return added;
}

/** Continue has a list of servers with names. */
function namedServers(members: Members): (readonly [string, Members])[] {
  if (!['mcpServers', 'mcp_servers', 'projects'].some((one) => members.has(one)))
    return members.names().flatMap((one) => {
      const entry = isRecord(members.peek(one)) ? members.record(one) : null;
      return entry === null ? [] : [[one, entry] as const];
    });
  const name = members.has('mcpServers') ? 'mcpServers' : 'mcp_servers';
  if (!Array.isArray(members.peek(name))) return members.entries(name);
  return members.items(name).map((item, index) => [item.text('name') || `server-${index + 1}`, item] as const);
}

/** `.vscode/mcp.json`, or `mcp` in `settings.json`. */
export function readVsCode(draft: ImportDraft, file: Members): void {
  const root = isRecord(file.peek('mcp')) && !file.has('servers') ? file.record('mcp') : file;
  if (root === null) return;
  const variables = createVariables({ inputs: root.items('inputs') });
  addClient(draft, file, { toolset: 'vscode', rows: root.entries('servers'), variables });
}

/** `context_servers` in the settings of Zed. */
export function readZed(draft: ImportDraft, file: Members): void {
  const rows = file.entries('context_servers').filter(([, entry]) => {
    const isExtension = !entry.has('command') && !entry.has('url') && (entry.peek('source') === 'extension' || entry.has('settings'));
    if (isExtension)
      entry.skipWhole('is installed by an extension of Zed, and its command is not in the file. Add the server with its command or url');
    return !isExtension;
  });
  const filters = readZedRules(file).filtersFor(rows.map(([name]) => name));
  addClient(draft, file, { toolset: 'zed', rows, given: (written) => ({ filter: filters.get(written) ?? {} }) });
}

/** `agent.tool_permissions.tools`: `{"mcp:server:tool": {"default": "deny"}}`. Zed, "Tool Permissions". */
function readZedRules(file: Members): ToolRules {
  const rules = new ToolRules();
  const agent = isRecord(file.peek('agent')) ? file.record('agent') : null;
  const permissions = isRecord(agent?.peek('tool_permissions')) ? (agent?.record('tool_permissions') ?? null) : null;
  for (const [name, rule] of permissions?.entries('tools') ?? []) {
    const [, server = '', tool = ''] = /^mcp:([^:]+):(.+)$/.exec(name) ?? [];
    const mode = rule.text('default');
    if (tool !== '' && (mode !== 'allow' || rule.has('always_deny') || rule.has('always_confirm'))) {
      const effect = mode === 'deny' || rule.has('always_deny') ? 'deny' : 'ask';
      rules.add({ pattern: `mcp__${plainServerName(server)}__${tool}`, effect, say: (reason) => rule.fault('', reason) });
      rule.skipOthers('is not compared with arguments: the strictest rule for the tool is for all of its calls');
    } else rule.skipWhole(otherSettings);
  }
  const general = permissions?.text('default') ?? '';
  if (/^(deny|confirm)$/.test(general)) rules.add({ pattern: 'mcp__*', effect: general === 'deny' ? 'deny' : 'ask', say: () => undefined });
  permissions?.skipOthers(otherSettings);
  agent?.skipOthers(otherSettings);
  return rules;
}

/** `[mcp_servers.NAME]` in `config.toml` of Codex. */
export function readCodex(draft: ImportDraft, file: Members): void {
  addClient(draft, file, { toolset: 'codex', rows: file.entries('mcp_servers') });
}

/** Whether `mcp_servers` are those of Codex, not of LiteLLM. */
export function isCodex(value: unknown, file: string): boolean {
  const root = recordOf(value);
  if (!isRecord(root.mcp_servers) || ['model_list', 'litellm_settings', 'router_settings', 'general_settings'].some((name) => name in root))
    return false;
  if (/\.toml$|codex/.test(file)) return true;
  const marks = [
    'enabled_tools',
    'disabled_tools',
    'bearer_token_env_var',
    'http_headers',
    'env_http_headers',
    'startup_timeout_sec',
    'env_vars',
  ];
  return Object.values(root.mcp_servers).some((entry) => {
    const server = recordOf(entry);
    return marks.some((name) => name in server) || (typeof server.command === 'string' && server.transport === undefined);
  });
}

/** Whether `extensions` are those of Goose, of which those over stdio and HTTP are MCP servers. */
export function isGoose(value: unknown): boolean {
  const { extensions } = recordOf(value);
  return (
    isRecord(extensions) &&
    Object.values(extensions).some((one) => /^(stdio|sse|streamable_http|builtin|platform)$/.test(stringOf(recordOf(one).type)))
  );
}

/** `extensions` in `config.yaml`. Goose documentation, "Configuration files". */
export function readGoose(draft: ImportDraft, file: Members): void {
  const rows = file.entries('extensions').filter(([, entry]) => {
    const isOwn = /^(builtin|platform|frontend|inline_python)$/.test(stringOf(entry.peek('type')));
    if (isOwn) entry.skipWhole('is a part of Goose itself, not an MCP server with a command or url');
    return !isOwn;
  });
  addClient(draft, file, { toolset: 'goose', rows, given: () => ({ isInSeconds: true, isEmptyListAll: true }) });
}

type Rows = readonly (readonly [string, Members])[];
type ServersOptions = { variables?: Variables; given?: (written: string) => GivenServer };

/** Adds the servers of a file, and a toolset with their tools. The rest of the file is settings of its program. */
export function addClient(
  draft: ImportDraft,
  file: Members,
  { toolset, rows, ...options }: ServersOptions & { toolset: string; rows: Rows },
): void {
  addToolset(draft, toolset, addServers(draft, rows, options));
  file.skipOthers(otherSettings);
}

export function addServers(draft: ImportDraft, rows: Rows, { variables = createVariables(), given }: ServersOptions): AddedServer[] {
  draft.reserve(
    'servers',
    rows.map(([written]) => written),
  );
  return rows.flatMap(([written, entry]) => addMcpServer(draft, written, entry, variables, given?.(written)) ?? []);
}

/** Adds a toolset with the tools that the file offers. */
export function addToolset(draft: ImportDraft, name: string, added: readonly AddedServer[]): void {
  const tools: Json[] = added.flatMap(({ entries }) => entries);
  if (tools.length > 0) draft.add('toolsets', name, { tools });
}
