/**
 * The MCP clients that `moniker install` configures: the file of each, and the form of its entries. Each form is that of the client's
 * documentation, as of November 2026:
 * Claude Code https://code.claude.com/docs/en/mcp (`mcpServers` of `~/.claude.json` for the user, `.mcp.json` for a project);
 * Claude Desktop https://modelcontextprotocol.io/docs/develop/connect-local-servers (commands only);
 * Cursor https://cursor.com/docs/context/mcp; VS Code https://code.visualstudio.com/docs/copilot/reference/mcp-configuration;
 * Codex https://developers.openai.com/codex/mcp (`http_headers`; a key itself is refused in `bearer_token`); Zed https://zed.dev/docs/ai/mcp.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { editJsonc, readJsonc } from './edit-jsonc.ts';
import { editToml, readToml } from './edit-toml.ts';

/** How the client reaches a toolset: by URL with a header, or by the command that serves it over stdio. */
export type Entry = { url: string; key: string } | { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };

export type McpClient = {
  title: string;
  /** Of the user; `environment`: of this process. */
  userFile(environment: NodeJS.ProcessEnv): string;
  /** In a folder; null: the client has none. */
  projectFile: string | null;
  /** It starts commands only. */
  isStdioOnly?: true;
  /** `entry` null: takes it out. Returns the text unchanged if there is nothing to do. */
  edit(text: string, name: string, entry: Entry | null): string;
  /** The text of the entry; null: there is none. */
  read(text: string, name: string): string | null;
  /** What the user does for the client to use it. */
  next: string;
};

export const mcpClients = {
  claude: {
    title: 'Claude Code',
    userFile: (environment) => join(homeFolder(environment), '.claude.json'),
    projectFile: '.mcp.json',
    ...jsonForm('mcpServers', (entry) => ({ type: 'url' in entry ? 'http' : 'stdio', ...withHeaders(entry) })),
    next: 'Start Claude Code again; /mcp shows the server.',
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    userFile: (environment) => join(settingsFolder(environment), 'Claude', 'claude_desktop_config.json'),
    projectFile: null,
    isStdioOnly: true,
    ...jsonForm('mcpServers', withHeaders),
    next: 'Quit Claude Desktop and start it again.',
  },
  cursor: {
    title: 'Cursor',
    userFile: (environment) => join(homeFolder(environment), '.cursor', 'mcp.json'),
    projectFile: '.cursor/mcp.json',
    ...jsonForm('mcpServers', withHeaders),
    next: 'Cursor lists the server in its settings, under MCP.',
  },
  vscode: {
    title: 'VS Code',
    userFile: (environment) => join(settingsFolder(environment), 'Code', 'User', 'mcp.json'),
    projectFile: '.vscode/mcp.json',
    ...jsonForm('servers', (entry) => ({ type: 'url' in entry ? 'http' : 'stdio', ...withHeaders(entry) })),
    next: 'The command "MCP: List Servers" starts the server.',
  },
  codex: {
    title: 'Codex',
    userFile: (environment) => join(environment.CODEX_HOME || join(homeFolder(environment), '.codex'), 'config.toml'),
    projectFile: '.codex/config.toml',
    edit: (text, name, entry) => editToml(text, name, entry === null ? null : tomlBody(entry)),
    read: readToml,
    next: 'Start Codex again; /mcp shows the server.',
  },
  zed: {
    title: 'Zed',
    userFile: (environment) =>
      process.platform === 'darwin'
        ? join(homeFolder(environment), '.config', 'zed', 'settings.json')
        : join(settingsFolder(environment), process.platform === 'win32' ? 'Zed' : 'zed', 'settings.json'),
    projectFile: '.zed/settings.json',
    ...jsonForm('context_servers', withHeaders),
    next: 'Zed lists the server in the settings of its agent.',
  },
} as const satisfies Record<string, McpClient>;

export type McpClientName = keyof typeof mcpClients;

/** Of applications of Electron. */
export function settingsFolder(environment: NodeJS.ProcessEnv): string {
  const home = homeFolder(environment);
  if (process.platform === 'win32') return environment.APPDATA ?? join(home, 'AppData', 'Roaming');
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  return environment.XDG_CONFIG_HOME || join(home, '.config');
}

/** Windows has no HOME. */
export function homeFolder({ HOME }: NodeJS.ProcessEnv): string {
  return (process.platform !== 'win32' && HOME) || homedir();
}

function jsonForm(section: string, toValue: (entry: Entry) => Record<string, unknown>): Pick<McpClient, 'edit' | 'read'> {
  return {
    edit: (text, name, entry) => editJsonc(text, [section, name], entry === null ? undefined : toValue(entry)),
    read: (text, name) => {
      const value = readJsonc(text, [section, name]);
      return value === undefined ? null : JSON.stringify(value, null, 2);
    },
  };
}

function withHeaders(entry: Entry): Record<string, unknown> {
  return 'url' in entry ? { url: entry.url, headers: { Authorization: `Bearer ${entry.key}` } } : { ...entry };
}

function tomlBody(entry: Entry): string {
  // A JSON text is a basic string of TOML.
  const table = (values: Readonly<Record<string, string>>): string =>
    `{ ${Object.entries(values)
      .map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`)
      .join(', ')} }`;
  if ('url' in entry) return `url = ${JSON.stringify(entry.url)}\nhttp_headers = ${table({ Authorization: `Bearer ${entry.key}` })}`;
  const args = entry.args.map((arg) => JSON.stringify(arg)).join(', ');
  return `command = ${JSON.stringify(entry.command)}\nargs = [${args}]\nenv = ${table(entry.env)}`;
}
