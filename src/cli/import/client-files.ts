/**
 * Where programs keep the files that `moniker import` reads, for the user and in a folder. Those of `moniker install` are in
 * `install/clients.ts`; the others are as documented by each program, as of November 2026.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mcpClients, type McpClient, homeFolder, settingsFolder } from '../install/clients.ts';

/** `inHome`: below the folder of the user; `inSettings`: of applications; `inFolder`: of a project. */
type Places = { title: string; inHome?: readonly string[]; inSettings?: readonly string[]; inFolder?: readonly string[] };

const extensions = 'Code/User/globalStorage';

const others: readonly Places[] = [
  { title: 'Windsurf', inHome: ['.codeium/windsurf/mcp_config.json'] },
  { title: 'Gemini CLI', inHome: ['.gemini/settings.json'], inFolder: ['.gemini/settings.json'] },
  { title: 'Kiro', inHome: ['.kiro/settings/mcp.json'], inFolder: ['.kiro/settings/mcp.json'] },
  { title: 'LM Studio', inHome: ['.lmstudio/mcp.json'] },
  {
    title: 'opencode',
    inHome: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    inFolder: ['opencode.json', 'opencode.jsonc'],
  },
  { title: 'Cline', inSettings: [`${extensions}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`] },
  {
    title: 'Roo Code',
    inSettings: [`${extensions}/rooveterinaryinc.roo-cline/settings/mcp_settings.json`],
    inFolder: ['.roo/mcp.json'],
  },
  // Its folder of Windows is named after the company.
  { title: 'Goose', inHome: ['.config/goose/config.yaml'], inSettings: ['Block/goose/config/config.yaml'] },
  { title: 'Continue', inHome: ['.continue/config.yaml', '.continue/config.json'] },
  { title: 'Amp', inHome: ['.config/amp/settings.json'], inFolder: ['.amp/settings.json'] },
];

/** `file`: absolute. */
export type ClientFile = { title: string; file: string };

/** Returns the files that exist: those of the user, then those of the folder. Each is listed once. */
export function findClientFiles(folder: string, environment: NodeJS.ProcessEnv): ClientFile[] {
  const clients: readonly McpClient[] = Object.values(mcpClients);
  const of = (title: string, base: string, paths: readonly string[] = []): ClientFile[] =>
    paths.map((path) => ({ title, file: resolve(base, ...path.split('/')) }));
  const all = [
    ...clients.map(({ title, userFile }) => ({ title, file: resolve(userFile(environment)) })),
    ...others.flatMap(({ title, inHome, inSettings }) => [
      ...of(title, homeFolder(environment), inHome),
      ...of(title, settingsFolder(environment), inSettings),
    ]),
    ...clients.flatMap(({ title, projectFile }) => of(title, folder, projectFile === null ? [] : [projectFile])),
    ...others.flatMap(({ title, inFolder }) => of(title, folder, inFolder)),
  ];
  return [...new Map(all.map((one) => [one.file, one])).values()].filter(({ file }) => existsSync(file));
}

/** Returns the path as the shell of this system reads one argument. `~` stands for the folder of the user. */
export function shellPath(file: string, environment: NodeJS.ProcessEnv, isWindows = process.platform === 'win32'): string {
  if (isWindows) return /^[\w.:\\/-]+$/.test(file) ? file : `"${file}"`;
  const home = join(homeFolder(environment), '/');
  const [start, rest] = file.startsWith(home) ? ['~/', file.slice(home.length)] : ['', file];
  return start + (/^[\w./@+-]+$/.test(rest) ? rest : `'${rest.replaceAll("'", String.raw`'\''`)}'`);
}
