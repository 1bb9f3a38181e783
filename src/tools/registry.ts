/**
 * All tools that are defined in code. To add your own tool, write `src/tools/<name>.ts` with `defineTool` and add it to `localTools`; every
 * workspace can then use it as `local.<name>`.
 */
import { CanonicalName } from '../core/names/names.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import { bash } from './bash.ts';
import { calculate } from './calculate.ts';
import { configurationToolset } from './configuration/configuration-tools.ts';
import { createTool } from './create-tool.ts';
import { currentTime } from './current-time.ts';
import type { DefinedTool } from './define-tool.ts';
import { deleteFileTool, editFileTool, listDirectory, readFileTool, writeFileTool } from './file-tools.ts';
import { httpRequest } from './http-request.ts';
import { fetchResult, findTools, useSkill } from './injected-tools.ts';
import { runCodeBuiltin } from './run-code.ts';

const builtinTools: readonly DefinedTool[] = [
  bash,
  readFileTool,
  writeFileTool,
  editFileTool,
  listDirectory,
  deleteFileTool,
  httpRequest,
  fetchResult,
  findTools,
  useSkill,
  createTool,
  runCodeBuiltin,
  ...configurationToolset,
];
const localTools: readonly DefinedTool[] = [currentTime, calculate];

/** A tool with the server that it belongs to, as the executor needs it. */
export type CodeTool = { canonical: CanonicalName; server: 'builtin' | 'local'; tool: DefinedTool };

export function codeTools(): readonly CodeTool[] {
  return registered;
}

/** Returns the same tools as definitions, for toolsets and editions, sorted by canonical name. */
export function toolDefinitions(): ToolDefinition[] {
  return registered
    .map(({ canonical, server, tool }): ToolDefinition => {
      const { name, description, inputSchema, outputSchema, annotations, aliases, renamed } = tool;
      return {
        canonical,
        server,
        name,
        kind: server,
        description,
        inputSchema,
        aliases,
        ...(outputSchema && { outputSchema }),
        ...(annotations && { annotations }),
        ...(renamed && { renamed }),
      };
    })
    .sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
}

/**
 * Throws if two tools have the same canonical name. Other names may repeat: only tools of the same toolset can clash, and a toolset
 * leaves out default aliases that clash (`core/toolset/settle-names.ts`).
 */
export function register(builtin: readonly DefinedTool[], local: readonly DefinedTool[]): CodeTool[] {
  const tools = [...builtin.map((tool) => toCodeTool('builtin', tool)), ...local.map((tool) => toCodeTool('local', tool))];
  const seen = new Set<string>();
  for (const { canonical } of tools) {
    if (seen.has(canonical)) throw new Error(`Two tools are called ${canonical}. Give one of them another name in src/tools/.`);
    seen.add(canonical);
  }
  return tools;
}

function toCodeTool(server: CodeTool['server'], tool: DefinedTool): CodeTool {
  return { canonical: CanonicalName.parse(`${server}.${tool.name}`), server, tool };
}

const registered: readonly CodeTool[] = register(builtinTools, localTools);
