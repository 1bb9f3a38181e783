/** What the contracts of a Catalog are given, and what they share: a workspace, two tools, and readers of pages and refusals. */
import { expect } from 'vitest';
import { CanonicalName } from '../../../src/core/names/names.ts';
import type { Problem } from '../../../src/core/problem.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import type { CatalogPort, Page, PageRequest } from '../../../src/ports/catalog.ts';
import type { Directory } from '../../../src/ports/directory.ts';

export type CatalogParts = { workspace: string; catalog: CatalogPort; directory: Directory; rootKey: string };

/** Returns an empty workspace. */
export type MakeWorkspace = () => Promise<CatalogParts>;

/** Two tools, the first with a default alias: enough for all contracts. */
export const contractTools: readonly ToolDefinition[] = [tool('bash', ['shell']), tool('read_file', [])];

function tool(name: string, aliases: string[]): ToolDefinition {
  const inputSchema = { type: 'object', properties: { command: { type: 'string' } } };
  return {
    canonical: CanonicalName.parse(`builtin.${name}`),
    server: 'builtin',
    name,
    kind: 'builtin',
    description: `Does ${name}.`,
    inputSchema,
    aliases,
  };
}

export function shell(name: string): Record<string, unknown> {
  return { tools: [{ tool: 'builtin.bash', name, aliases: [] }] };
}

/** Returns every item, page by page. */
export async function pages<T>(list: (page: PageRequest) => Promise<Page<T>>, limit: number): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await list({ limit, ...(cursor !== undefined && { cursor }) });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    cursor = page.nextCursor;
  }
}

/** Returns the problem that a promise rejects with. */
export async function refusal(work: Promise<unknown>): Promise<Problem> {
  return work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error as Problem,
  );
}

/** A toolset with one name for two tools. */
export function clash(): Record<string, unknown> {
  return {
    tools: [
      { tool: 'builtin.bash', aliases: ['same'] },
      { tool: 'builtin.read_file', aliases: ['same'] },
    ],
  };
}
