/** A workspace's tools as plain values: the input of the toolset compiler, without a catalog. */
import type { Edition } from '../../src/core/toolset/edition-tool.ts';
import { compileEdition } from '../../src/core/toolset/edition.ts';
import type { KnownTools } from '../../src/core/toolset/known-tools.ts';
import type { CanonicalName } from '../../src/core/names/names.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';

export function toolOf(server: string, name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    // A test's own names, built like ours.
    canonical: `${server}.${name}` as CanonicalName,
    server,
    name,
    kind: 'mcp',
    description: `Does ${name}.`,
    inputSchema: { type: 'object' },
    aliases: [],
    ...more,
  };
}

/** `downServers` are known and have never listed their tools. */
export function knownTools(tools: Iterable<ToolDefinition>, downServers: readonly string[] = []): KnownTools {
  const byName = new Map<string, ToolDefinition>();
  const servers = new Set(downServers);
  for (const tool of tools) {
    byName.set(tool.canonical, tool);
    servers.add(tool.server);
  }
  return { get: (canonical) => byName.get(canonical), all: () => byName.values(), hasServer: (server) => servers.has(server) };
}

/** Parses the document as a route does, then compiles it. */
export async function compile(document: unknown, known: KnownTools): Promise<{ edition: Edition; warnings: string[] }> {
  const toolset = Toolset.parse(document);
  const { edition, warnings } = await compileEdition({ workspace: 'default', name: 'test', toolset, known });
  return { edition, warnings: warnings.map(({ path, message }) => `${path}: ${message}`) };
}

/** Returns the problem that compiling fails with; throws when it succeeds. */
export async function refusalOf(document: unknown, known: KnownTools): Promise<Problem> {
  try {
    await compile(document, known);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('It compiled, but an error was expected.');
}
