/**
 * Writing a made tool in the name of a key, over REST or by `create_tool`: who is bound to toolsets makes tools of what these have, and never finds
 * others by it. Replacing one is for keys of the whole workspace, since any toolset may have it.
 */
import { readUses } from '../core/made/read-uses.ts';
import { createLookup } from '../core/made/tool-lookup.ts';
import type { MadeTool } from '../core/made-tool.ts';
import type { Principal } from '../core/principal.ts';
import { invalidRequest, orNull, Problem, quoted } from '../core/problem.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { Catalog, PutAnswer, WriteOptions } from '../ports/catalog.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import { definitionsOf, toolsOfToolsets } from './tools-of-key.ts';

/** The syntax of its code, which the Catalog does not look at. Throws `invalid_request`. */
export async function requireCompiles(sandbox: Pick<Sandbox, 'check'>, implementation: string): Promise<void> {
  const fault = await sandbox.check(implementation);
  if (fault === null) return;
  const where = fault.line === null ? '' : `line ${fault.line}: `;
  throw invalidRequest([{ path: 'implementation', message: `is no JavaScript: ${where}${fault.message}` }]);
}

export type MadeToolWrite = { canonical: string; tool: MadeTool; options: WriteOptions };

export async function writeMadeTool(
  catalog: Catalog,
  { toolsets }: Pick<Principal, 'toolsets'>,
  { canonical, tool, options }: MadeToolWrite,
): Promise<PutAnswer> {
  if (toolsets === undefined) return await catalog.put('made-tool', canonical, tool, options);
  if ((await orNull(catalog.get('made-tool', canonical))) !== null)
    throw new Problem(
      'forbidden',
      `${quoted(canonical)} is there already, and this key is bound to a part of the workspace: take another name.`,
    );
  const reached = readUses(tool, createLookup(byName(await definitionsOf(catalog, await toolsOfToolsets(catalog, toolsets)))));
  if (reached.issues.length > 0) throw invalidRequest(reached.issues);
  const { uses, names } = reached;
  return await catalog.put('made-tool', canonical, { ...tool, uses, names }, { ...options, ifNoneMatch: true });
}

function byName(tools: readonly ToolDefinition[]) {
  const table = new Map<string, ToolDefinition>(tools.map((tool) => [tool.canonical, tool]));
  return { get: (canonical: string) => table.get(canonical), all: () => tools };
}
