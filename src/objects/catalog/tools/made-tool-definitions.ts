/**
 * Made tools of a workspace as tool definitions. `made-tools.ts` writes them. Stored rows are verified once in an object's lifetime, before
 * use: a row that was changed outside the writer is held (SEC-48).
 */
import { readStored, type StoredMadeTool } from '../../../core/tools/made-tool.ts';
import { toMissing } from '../../../core/tools/code-tools.ts';
import { readPrivateToolName, toHeldMade, toMadeDefinition } from '../../../core/made/made-toolset.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import type { CatalogContext } from '../context.ts';
import { namedTools } from '../toolsets/toolset-versions.ts';
import { allRows, ownedRows } from '../documents/documents.ts';

/** The shared ones; a workspace may have hundreds, with their code. Deleted tools that are still named are included as missing. */
export function madeToolDefinitions(context: CatalogContext): readonly ToolDefinition[] {
  return context.untilWrite(readDefinitions);
}

/** The private ones of a key or a trigger, sorted by canonical name. */
export function privateDefinitions(context: CatalogContext, owner: string): ToolDefinition[] {
  const held = heldVersions.get(context);
  return ownedRows(context.sql, owner).map(({ name, version, body }) => {
    const { canonical } = readPrivateToolName(name);
    // All other bodies were parsed by the schema when they were written, or verified when they were loaded.
    return held?.get(name) === version ? toHeldMade(canonical, '') : toMadeDefinition(canonical, body as StoredMadeTool, owner);
  });
}

/** Returns all owners of private tools. */
export function privateOwners({ sql }: CatalogContext): Set<string> {
  const rows = sql.exec<{ name: string }>("SELECT name FROM documents WHERE kind = 'private-tool' AND deleted = 0");
  return new Set(rows.toArray().map(({ name }) => readPrivateToolName(name).owner));
}

/** Verifies all made tools, and returns the document names of those, shared and private, that are now held. */
export async function holdEditedTools(context: CatalogContext): Promise<string[]> {
  const { sql } = context;
  // One invalid definition must not hide the others.
  sql.exec("UPDATE documents SET body = '{}' WHERE kind IN ('made-tool', 'private-tool') AND deleted = 0 AND NOT json_valid(body)");
  const held = new Map<string, number>();
  for (const { name, version, body } of [...allRows(sql, 'made-tool'), ...allRows(sql, 'private-tool')]) {
    if ((await readStored(name, body)) === null) held.set(name, version);
  }
  context.transact(() => heldVersions.set(context, held));
  return [...held.keys()];
}

function readDefinitions(context: CatalogContext): ToolDefinition[] {
  const held = heldVersions.get(context);
  const there = allRows(context.sql, 'made-tool').map(({ name, version, body }) =>
    // All other bodies were parsed by the schema when they were written, or verified when they were loaded.
    held?.get(name) === version ? toHeldMade(name, '') : toMadeDefinition(name, body as StoredMadeTool),
  );
  return [...there, ...missingTools(context.sql, 'made', there)];
}

/** Returns the tools of a kind that are gone and that toolsets still name; without them, those toolsets could not be compiled again. */
export function missingTools(
  sql: SqlStorage,
  kind: 'builtin' | 'local' | 'made' | 'ui',
  there: readonly ToolDefinition[],
): ToolDefinition[] {
  const names = new Set<string>(there.map(({ canonical }) => canonical));
  return [...namedTools(sql, kind)].filter((tool) => !names.has(tool)).map((tool) => toMissing(kind, tool));
}

/** By document name, the version that failed the check; a later version is valid. */
const heldVersions = new WeakMap<CatalogContext, ReadonlyMap<string, number>>();
