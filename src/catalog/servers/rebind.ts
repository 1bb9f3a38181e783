/**
 * Replaces a tool that its server no longer lists by another one in every toolset, under the same names: for upstreams that rename their
 * tools. The new tool is accepted at the same time, which is safe because the definitions differ only in the name.
 */
import { acceptReplacement, rebindEntries } from '../../core/listing/accept-definition.ts';
import type { Edition, EditionTool } from '../../core/toolset/edition-tool.ts';
import { isInternalToolset } from '../../core/made/made-toolset.ts';
import { canonicalOf, toToolDefinition } from '../../core/listing/stored-tool.ts';
import type { StoredTool } from '../../core/listing/stored-tool.ts';
import { Problem } from '../../core/problem.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import { requireTool } from '../tools/accept-tool.ts';
import { recordChange } from '../records/audit.ts';
import type { CatalogContext } from '../context.ts';
import { readRow, replaceRow } from '../documents/documents.ts';
import type { DocumentRow } from '../documents/documents.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { knownTools } from '../tools/known-tools.ts';
import { dropDefinitions, serverOf } from './server-definitions.ts';
import { readTool, writeTool } from './server-tools.ts';
import { readPointer } from '../toolsets/toolset-versions.ts';
import type { Prepared } from '../documents/write-document.ts';
import { prepareToolset, recompileWith, revise, toolsetsWith } from '../toolsets/toolsets.ts';

/** Takes own names; `to` may be canonical. Changes all toolsets or none: `name_conflict` and similar errors name the one that failed. */
export async function rebindTool(
  context: CatalogContext,
  { server, from, to, by }: { server: string; from: string; to: string; by: string },
): Promise<{ toolsets: string[] }> {
  const gone = requireTool(context, server, from);
  const target = findTarget(context, server, to);
  const accepted = acceptReplacement(gone, target);
  const definition = toToolDefinition(serverOf(context, server), accepted);
  const known = knownTools(context, { tools: definition === null ? [] : [definition] });
  const [before, after] = [canonicalOf(server, from), canonicalOf(server, accepted.name)];

  // Names in code stay unchanged.
  const names = new Set([...toolsetsWith(context.sql, [before])].filter((name) => !isInternalToolset(name)));
  const moves: { row: DocumentRow; prepared: Prepared }[] = [];
  for (const name of [...names].sort()) {
    const row = readRow(context.sql, 'toolset', name);
    if (row === null || row.deleted) continue;
    // Toolset bodies were parsed by the schema when they were written.
    const toolset = rebindEntries(row.body as Toolset, compiledTools(context, name), before, after);
    moves.push({ row, prepared: await orNamed(name, prepareToolset(context, name, toolset, known)) });
  }
  // Toolsets that already have the new tool, held.
  const others = await recompileWith(context, [after], known, names);
  const now = context.now();
  context.transact(() => {
    writeTool(context, server, accepted);
    recordChange(context, { by, action: 'accept', resource: 'server-tool', name: after });
    dropDefinitions(context, server);
    for (const revision of others.revisions) revise(context, revision);
    for (const { row, prepared } of moves) {
      const next: DocumentRow = { ...row, version: row.version + 1, body: prepared.body, updatedAt: now };
      replaceRow(context, next, { by, action: 'update' });
      prepared.commit?.(next, true);
    }
  });
  return { toolsets: moves.map(({ row }) => row.name) };
}

function findTarget(context: CatalogContext, server: string, to: string): StoredTool {
  const prefix = `${server}.`;
  const asOwn = readTool(context.sql, server, to);
  return asOwn === null && to.startsWith(prefix) ? requireTool(context, server, to.slice(prefix.length)) : requireTool(context, server, to);
}

/** Returns the tools of the newest edition, in the order of the document's entries. */
function compiledTools(context: CatalogContext, toolset: string): readonly EditionTool[] {
  const { hash } = readPointer(context.sql, toolset, undefined);
  // Editions are written only by our own code.
  return (JSON.parse(readEditionText(context.sql, hash)) as Edition).tools;
}

async function orNamed<T>(toolset: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, `The toolset "${toolset}" cannot use the new tool: ${error.detail}`, { ...error.extra });
  }
}
