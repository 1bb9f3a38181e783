/** Toolsets for measurements: the recorded tools of public servers if they are beside the checkout, otherwise generated ones of their size. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fold } from '../src/core/names/fold.ts';
import type { CanonicalName } from '../src/core/names/names.ts';
import type { ToolDefinition } from '../src/core/tools/tool.ts';
import type { Toolset } from '../src/core/toolset/toolset.ts';

export type SampleTools = { source: string; tools: readonly ToolDefinition[] };

export function sampleTools(): SampleTools {
  const corpus = join(import.meta.dirname, '../../shared/fixtures/mcp-tools');
  return existsSync(corpus) ? { source: 'recorded', tools: recordedTools(corpus) } : { source: 'made up', tools: madeUpTools(1_472) };
}

/** A number of them, evenly chosen: servers differ in the size of their tools, and a sample should represent all. */
export function someOf(tools: readonly ToolDefinition[], count: number): ToolDefinition[] {
  return Array.from({ length: count }, (_, index) => tools[Math.floor((index * tools.length) / count)]).filter(
    (tool) => tool !== undefined,
  );
}

/** Each under one name and one alias; names that several servers use are prefixed with the server's name. */
export function documentOf(tools: readonly ToolDefinition[], more: Partial<Toolset> = {}): Toolset {
  const bearers = new Map<string, number>();
  for (const { name } of tools) bearers.set(fold(name), (bearers.get(fold(name)) ?? 0) + 1);
  const entries = tools.map(({ canonical, server, name }, index) => {
    const isShared = (bearers.get(fold(name)) ?? 0) > 1;
    const given = isShared ? { name: `${server}_${name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) } : { name: `given_${index}` };
    return { tool: canonical, ...given, aliases: [`alias-${index}`] };
  });
  return { announce: 'prompt', tools: entries, ...more };
}

function recordedTools(path: string): ToolDefinition[] {
  const files = readdirSync(path).filter((file) => file.endsWith('.json') && file !== 'index.json');
  return files.sort().flatMap((file) => {
    const listed = JSON.parse(readFileSync(join(path, file), 'utf8')) as Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>[];
    return listed.map((tool) => toDefinition(basename(file, '.json').replace(/^(?=\d)/, 's'), tool));
  });
}

function madeUpTools(count: number): ToolDefinition[] {
  return Array.from({ length: count }, (_, index) =>
    toDefinition(`server-${index % 97}`, {
      name: `do_thing_number_${index}`,
      description: `Reads rows of table ${index} and returns them as objects. `.repeat(3),
      inputSchema: {
        type: 'object',
        properties: { path: { type: 'string', description: 'Where to read from' }, limit: { type: 'integer', minimum: 1, maximum: 100 } },
        required: ['path'],
      },
    }),
  );
}

function toDefinition(
  server: string,
  { name, description = '', inputSchema }: Pick<ToolDefinition, 'name' | 'description' | 'inputSchema'>,
): ToolDefinition {
  // Built like our own.
  return { canonical: `${server}.${name}` as CanonicalName, server, name, kind: 'static', description, inputSchema, aliases: [] };
}
