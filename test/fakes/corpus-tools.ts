/** All tools of the corpus in one toolset, in the order of each server's list; names that several servers use are prefixed. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fold } from '../../src/core/names/fold.ts';
import type { CanonicalName } from '../../src/core/names/names.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { readJson } from '../fixtures.ts';
import { toolOf } from './known-tools.ts';

type Listed = Pick<ToolDefinition, 'name' | 'description' | 'inputSchema' | 'annotations'>;

/** `path`: of `mcp-tools`. */
export function corpusTools(path: string): ToolDefinition[] {
  const files = readdirSync(path).filter((file) => file.endsWith('.json') && file !== 'index.json');
  return files.sort().flatMap((file) => {
    // As an administrator would have to write it: a server's name begins with a letter.
    const server = basename(file, '.json').replace(/^(?=\d)/, 's');
    return readJson<Listed[]>(join(path, file)).map(({ name, description = '', inputSchema, annotations }) =>
      toolOf(server, name, { kind: 'static', description, inputSchema, ...(annotations !== undefined && { annotations }) }),
    );
  });
}

/** Entries of a document with these tools; names that several servers use are prefixed with the server's name. */
export function corpusEntries(tools: readonly ToolDefinition[]): { tool: CanonicalName; name?: string; aliases: [] }[] {
  const bearers = new Map<string, number>();
  for (const { name } of tools) bearers.set(fold(name), (bearers.get(fold(name)) ?? 0) + 1);
  return tools.map(({ canonical, server, name }) => {
    const isShared = (bearers.get(fold(name)) ?? 0) > 1;
    return { tool: canonical, ...(isShared && { name: `${server}_${name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) }), aliases: [] };
  });
}
