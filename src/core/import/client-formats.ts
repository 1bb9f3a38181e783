/** The rows of `formats.ts` for files of MCP clients and of gateways that serve their users as one. */
import { isRecord, recordOf } from '../json/wire-value.ts';
import { readAmp } from './clients/amp.ts';
import { isDockerMcp, readDockerMcp } from './clients/docker-mcp.ts';
import type { ImportDraft } from './draft.ts';
import { isKiroAgent, readKiroAgent } from './clients/kiro.ts';
import {
  type ClientOptions,
  hasMcpServers,
  isCodex,
  isGoose,
  readCodex,
  readGoose,
  readMcpServers,
  readVsCode,
  readZed,
} from './mcp-clients.ts';
import { isMcpHub, readMcpHub } from './clients/mcphub.ts';
import { isRegistryServer, readRegistryServer } from './clients/mcp-registry.ts';
import type { Members } from './members.ts';
import { isOpenCode, readOpenCode } from './clients/opencode.ts';

export type Format = {
  title: string;
  /** What the file has, for the error when it does not. */
  expects: string;
  /** `file`: the lower-case path of the file, or ''. */
  detects(value: unknown, file: string): boolean;
  /** Whether the value can be read when the format was named. Absent: as `detects`. */
  accepts?(value: unknown): boolean;
  /** `name`: for what has no name in the file. */
  read(draft: ImportDraft, value: unknown, name: string): void;
};

const hasObject = (value: unknown, ...members: string[]): boolean => members.some((member) => isRecord(recordOf(value)[member]));

export const clientFormats = {
  codex: {
    title: 'config.toml of Codex',
    expects: 'tables `mcp_servers.NAME`',
    detects: isCodex,
    accepts: (value) => hasObject(value, 'mcp_servers'),
    read: overMembers(readCodex),
  },
  'docker-mcp': {
    title: 'a catalog, profile or server of the MCP gateway of Docker',
    expects: '`registry`, or `servers` with images',
    detects: isDockerMcp,
    read: overMembers(readDockerMcp),
  },
  'mcp-registry': {
    title: 'server.json of the MCP registry',
    expects: '`packages` or `remotes`',
    detects: isRegistryServer,
    read: overMembers(readRegistryServer),
  },
  opencode: {
    title: 'opencode.json',
    expects: 'an object `mcp`',
    detects: isOpenCode,
    accepts: (value) => hasObject(value, 'mcp'),
    read: overMembers(readOpenCode),
  },
  vscode: {
    title: 'mcp.json of VS Code',
    expects: 'an object `servers`',
    detects: (value) => hasObject(value, 'servers') || hasObject(recordOf(value).mcp, 'servers'),
    read: overMembers(readVsCode),
  },
  zed: {
    title: 'settings of Zed',
    expects: 'an object `context_servers`',
    detects: (value) => hasObject(value, 'context_servers'),
    read: overMembers(readZed),
  },
  amp: {
    title: 'settings of Amp',
    expects: 'an object `amp.mcpServers`',
    detects: (value) => hasObject(value, 'amp.mcpServers'),
    read: overMembers(readAmp),
  },
  goose: {
    title: 'config.yaml of Goose',
    expects: '`extensions` with a type',
    detects: isGoose,
    accepts: (value) => hasObject(value, 'extensions'),
    read: overMembers(readGoose),
  },
  kiro: {
    title: 'an agent or mcp.json of Kiro',
    expects: 'an object `mcpServers`, or the tools of an agent',
    detects: (value, file) => isKiroAgent(value) || (hasMcpServers(value) && file.includes('.kiro')),
    accepts: (value) => isKiroAgent(value) || hasMcpServers(value),
    read: (draft, value) => {
      const file = draft.open(recordOf(value));
      if (isKiroAgent(value)) readKiroAgent(draft, file);
      else readMcpServers(draft, file, { toolset: 'kiro' });
    },
  },
  mcphub: {
    title: 'mcp_settings.json of mcphub',
    expects: 'an object `mcpServers`',
    detects: isMcpHub,
    accepts: (value) => hasObject(value, 'mcpServers'),
    read: overMembers(readMcpHub),
  },
  gemini: mcpClient(
    'settings.json of Gemini CLI',
    { toolset: 'gemini', hasBare: true },
    (value, file) => /gemini/.test(file) || hasEntryWith(value, 'httpUrl'),
  ),
  copilot: mcpClient('mcp-config.json of Copilot CLI', { toolset: 'copilot', hasBare: true }, (_value, file) =>
    /copilot|mcp-config\.json$/.test(file),
  ),
  continue: mcpClient(
    'config.yaml of Continue',
    { toolset: 'continue' },
    (value, file) => /continue/.test(file) || Array.isArray(recordOf(value).mcpServers),
  ),
  cline: mcpClient('MCP settings of Cline or Roo Code', { toolset: 'cline', isInSeconds: true }, (_value, file) =>
    /cline|roo|claude-dev/.test(file),
  ),
  cursor: mcpClient('mcp.json of Cursor', { toolset: 'cursor' }, (_value, file) => file.includes('cursor')),
  windsurf: mcpClient(
    'mcp_config.json of Windsurf',
    { toolset: 'windsurf' },
    (value, file) => file.includes('windsurf') || hasEntryWith(value, 'serverUrl'),
  ),
  claude: mcpClient('the MCP servers of Claude Desktop, Claude Code or another client', { toolset: 'claude' }, () => true),
} satisfies Record<string, Format>;

function mcpClient(title: string, options: ClientOptions, isOf: (value: unknown, file: string) => boolean): Format {
  return {
    title,
    expects: 'an object `mcpServers`',
    detects: (value, file) => hasMcpServers(value) && isOf(value, file),
    accepts: hasMcpServers,
    read: overMembers((draft, file) => readMcpServers(draft, file, options)),
  };
}

function hasEntryWith(value: unknown, member: string): boolean {
  return Object.values(recordOf(recordOf(value).mcpServers)).some((entry) => member in recordOf(entry));
}

function overMembers(read: (draft: ImportDraft, file: Members) => void): Format['read'] {
  return (draft, value) => read(draft, draft.open(recordOf(value)));
}
