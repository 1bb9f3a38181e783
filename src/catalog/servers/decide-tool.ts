/** An administrator's decisions about what a server lists for a tool: its definition and annotations, or another tool in its place. */
import { isRemembered } from '../../core/listing/apply-listing.ts';
import type { DecidedBy } from '../../core/listing/definition-review.ts';
import { rejectDefinition, undoDecision, type RejectRequest, type UndoRequest } from '../../core/listing/decide-definition.ts';
import { acceptReplacement, acceptTool, rebindEntries, toolKind, type ToolAcceptance } from '../../core/listing/decide-tool.ts';
import { canonicalOf, toolStateOf, toToolDefinition, toServerTool, type StoredTool } from '../../core/listing/stored-tool.ts';
import { isInternalToolset } from '../../core/made/made-toolset.ts';
import { Problem } from '../../core/problem.ts';
import type { DecidedTool } from '../../core/servers/server.ts';
import type { Edition, EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import { firstWarnings } from '../../core/warning.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, replaceRow, type DocumentRow } from '../documents/documents.ts';
import type { Prepared } from '../documents/write-document.ts';
import { recordChange } from '../records/audit.ts';
import { knownTools } from '../tools/known-tools.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { namedTools, readPointer } from '../toolsets/toolset-versions.ts';
import { prepareToolset, recompileWith, toolsetsWith } from '../toolsets/toolsets.ts';
import { dropDefinitions, serverOf } from './server-definitions.ts';
import { deleteServerTool, readTool, requireTool, writeTool } from './server-tools.ts';

/** A tool of a server, and the key that decides about it. */
type Deciding = { server: string; name: string; by: string };

export function acceptServerTool(context: CatalogContext, deciding: Deciding, acceptance: ToolAcceptance): Promise<DecidedTool> {
  return decide(context, deciding, 'accept', (tool, decided) => acceptTool(tool, acceptance, decided));
}

export function rejectServerTool(context: CatalogContext, deciding: Deciding, request: RejectRequest): Promise<DecidedTool> {
  return decide(context, deciding, 'reject', (tool, decided) => ({ ...tool, ...rejectDefinition(toolKind, tool, request, decided) }));
}

export function undoServerTool(context: CatalogContext, deciding: Deciding, request: UndoRequest): Promise<DecidedTool> {
  return decide(context, deciding, 'undo', (tool) => ({ ...tool, ...undoDecision(toolKind, tool, request) }));
}

/** `change`: returns the tool with the decision, which takes effect in every toolset that has the tool. */
async function decide(
  context: CatalogContext,
  { server, name, by }: Deciding,
  action: 'accept' | 'reject' | 'undo',
  change: (tool: StoredTool, decided: DecidedBy) => StoredTool,
): Promise<DecidedTool> {
  const decided = change(requireTool(context, server, name), { by, at: context.now() });
  const canonical = canonicalOf(server, name);
  const definition = toToolDefinition(serverOf(context, server), decided);
  const tools = definition === null ? [] : [definition];
  const { warnings, commit } = await recompileWith(
    context,
    tools.map((tool) => tool.canonical),
    knownTools(context, { tools }),
  );
  for (const { message } of warnings) context.log.info('toolset not recompiled', { server, tool: name, message });
  const named = namedTools(context.sql, server);
  const isKept = toolStateOf(decided) !== 'missing' || isRemembered(decided, () => named.has(canonical));
  context.transact(() => {
    if (isKept) writeTool(context, server, decided);
    else deleteServerTool(context.sql, server, name);
    recordChange(context, { by, action, resource: 'server-tool', name: canonical });
    dropDefinitions(context, server);
    commit();
  });
  return { ...toServerTool(server, decided), warnings: firstWarnings(warnings, 'toolsets') };
}

/**
 * Replaces a tool that its server no longer lists by another one in every toolset, under the same names: for upstreams that rename their
 * tools. The new tool is accepted at the same time, which is safe because the definitions differ only in the name.
 * Takes own names; `to` may be canonical. Changes all toolsets or none: `name_conflict` and similar errors name the one that failed.
 */
export async function rebindTool(
  context: CatalogContext,
  { server, from, to, by }: { server: string; from: string; to: string; by: string },
): Promise<{ toolsets: string[] }> {
  const gone = requireTool(context, server, from);
  const target = findTarget(context, server, to);
  const accepted = acceptReplacement(gone, target, { by, at: context.now() });
  const definition = toToolDefinition(serverOf(context, server), accepted);
  const known = knownTools(context, { tools: definition === null ? [] : [definition] });
  const [before, after] = [canonicalOf(server, from), canonicalOf(server, accepted.name)];

  // Names in code stay unchanged.
  const names = new Set([...toolsetsWith(context.sql, [before])].filter((name) => !isInternalToolset(name)));
  const moves: { row: DocumentRow; prepared: Prepared }[] = [];
  for (const name of [...names].sort()) {
    const row = findRow(context.sql, 'toolset', name);
    if (row === null) continue;
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
    others.commit();
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
