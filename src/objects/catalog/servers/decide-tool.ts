/** An administrator's decisions about what a server lists for a tool: its definition and annotations, or another tool in its place. */
import type { DecidedBy } from '../../../core/servers/definition-review.ts';
import { rejectDefinition, undoDecision, type RejectRequest, type UndoRequest } from '../../../core/listing/decide-definition.ts';
import { acceptReplacement, acceptTool, rebindEntries, toolKind, type ToolAcceptance } from '../../../core/listing/decide-tool.ts';
import {
  canonicalOf,
  isRemembered,
  toolStateOf,
  toToolDefinition,
  toServerTool,
  type StoredTool,
} from '../../../core/listing/stored-tool.ts';
import { isInternalToolset } from '../../../core/made/made-toolset.ts';
import { firstWarnings, Problem, type Warning } from '../../../core/problem.ts';
import type { BulkDecision, DecidedTool, DecidedTools } from '../../../core/servers/server-tool.ts';
import type { Edition, EditionTool } from '../../../core/toolset/edition-tool.ts';
import type { Toolset } from '../../../core/toolset/toolset.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, replaceRow, requireRow, type DocumentRow } from '../documents/documents.ts';
import type { Prepared } from '../documents/write-document.ts';
import { recordChange } from '../records/audit.ts';
import { knownTools } from '../tools/known-tools.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { namedTools, readPointer } from '../toolsets/toolset-versions.ts';
import { prepareToolset, recompileWith, toolsetsWith } from '../toolsets/toolsets.ts';
import { dropDefinitions, serverOf } from './server-definitions.ts';
import { deleteServerTool, readTool, readTools, requireTool, writeTool } from './server-tools.ts';

/** A tool of a server, and the key that decides about it. */
type Deciding = { server: string; name: string; by: string };
type Action = 'accept' | 'reject' | 'undo';

export function acceptServerTool(context: CatalogContext, deciding: Deciding, acceptance: ToolAcceptance): Promise<DecidedTool> {
  return decide(context, deciding, 'accept', (tool, decided) => acceptTool(tool, acceptance, decided));
}

export function rejectServerTool(context: CatalogContext, deciding: Deciding, request: RejectRequest): Promise<DecidedTool> {
  return decide(context, deciding, 'reject', (tool, decided) => ({ ...tool, ...rejectDefinition(toolKind, tool, request, decided) }));
}

export function undoServerTool(context: CatalogContext, deciding: Deciding, request: UndoRequest): Promise<DecidedTool> {
  return decide(context, deciding, 'undo', (tool, decided) => ({ ...tool, ...undoDecision(toolKind, tool, request, decided) }));
}

/**
 * Accepts or rejects many held tools at once. `tools`: own names, or `*` for all that are held. Those that cannot be decided so are left, with
 * the reason: one with findings is accepted by itself.
 */
export async function decideServerTools(
  context: CatalogContext,
  { server, by }: Omit<Deciding, 'name'>,
  { action, tools }: BulkDecision,
): Promise<DecidedTools> {
  requireRow(context.sql, 'server', server);
  const decided = { by, at: context.now() };
  const chosen =
    tools === '*'
      ? readTools(context.sql, server).filter((tool) => toolStateOf(tool) === 'held')
      : [...new Set(tools)].map((name) => requireTool(context, server, name));
  const left: DecidedTools['left'] = [];
  const changed = chosen.flatMap((tool): StoredTool[] => {
    try {
      return [action === 'accept' ? acceptTool(tool, {}, decided) : { ...tool, ...rejectDefinition(toolKind, tool, {}, decided) }];
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      left.push({ name: tool.name, reason: error.detail });
      return [];
    }
  });
  const warnings = changed.length === 0 ? [] : await storeDecisions(context, { server, by }, action, changed);
  return { decided: changed.map(({ name }) => name), left, warnings: firstWarnings(warnings, 'toolsets') };
}

async function decide(
  context: CatalogContext,
  { server, name, by }: Deciding,
  action: Action,
  change: (tool: StoredTool, decided: DecidedBy) => StoredTool,
): Promise<DecidedTool> {
  const decided = change(requireTool(context, server, name), { by, at: context.now() });
  const warnings = await storeDecisions(context, { server, by }, action, [decided]);
  return { ...toServerTool(server, decided), warnings: firstWarnings(warnings, 'toolsets') };
}

/** Takes effect in every toolset that has one of the tools. */
async function storeDecisions(
  context: CatalogContext,
  { server, by }: Omit<Deciding, 'name'>,
  action: Action,
  decided: readonly StoredTool[],
): Promise<Warning[]> {
  const definitions = decided.flatMap((tool) => toToolDefinition(serverOf(context, server), tool) ?? []);
  const canonicals = definitions.map(({ canonical }) => canonical);
  const { warnings, commit } = await recompileWith(context, canonicals, knownTools(context, { tools: definitions }));
  for (const { message } of warnings) context.log.info('toolset not recompiled', { server, message });
  const named = namedTools(context.sql, server);
  context.transact(() => {
    for (const tool of decided) {
      const canonical = canonicalOf(server, tool.name);
      const isKept = toolStateOf(tool) !== 'missing' || isRemembered(tool, () => named.has(canonical));
      if (isKept) writeTool(context, server, tool);
      else deleteServerTool(context.sql, server, tool.name);
      recordChange(context, { by, action, resource: 'server-tool', name: canonical });
    }
    dropDefinitions(context, server);
    commit();
  });
  return warnings;
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
    moves.push({ row, prepared: await withToolsetInProblem(name, prepareToolset(context, name, toolset, known)) });
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

async function withToolsetInProblem<T>(toolset: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, `The toolset "${toolset}" cannot use the new tool: ${error.detail}`, { ...error.extra });
  }
}
