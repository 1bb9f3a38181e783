/**
 * Writes shared made tools (private ones: `private-tools.ts`). Everything is checked here except the syntax of their code, which the
 * sandbox has checked before. Toolsets with these tools, or with tools that use them, are recompiled.
 */
import { pinned, MadeToolName, readStored, type StoredMadeTool, WrittenMadeTool } from '../../../core/tools/made-tool.ts';
import { toMissing } from '../../../core/tools/code-tools.ts';
import { madeToolset, readPrivateToolName, toMadeDefinition } from '../../../core/made/made-toolset.ts';
import { canonicalJson } from '../../../core/hash.ts';
import type { KnownTools } from '../../../core/toolset/known-tools.ts';
import { invalidRequest, type Warning, parseInput } from '../../../core/problem.ts';
import type { ToolDefinition } from '../../../core/tools/tool.ts';
import type { CatalogContext } from '../context.ts';
import { requireCapacity, requireRow, type DocumentRow } from '../documents/documents.ts';
import { knownTools } from './known-tools.ts';
import { holdEditedTools, privateDefinitions } from './made-tool-definitions.ts';
import { prepareMadeToolset, preparePrivateToolset } from './made-toolset.ts';
import { sweepPrivateTools } from './private-tools.ts';
import { recompileWith } from '../toolsets/toolsets.ts';
import type { DocumentWriter } from '../documents/write-document.ts';

/** Shared tools of a workspace, and private tools of one key. */
const maxMadeTools = 500;

export const madeToolWriter: DocumentWriter = {
  nameFault: (_context, name) => MadeToolName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const document = parseInput(WrittenMadeTool, body);
    if (previous === null) requireCapacity(context.sql, 'made-tool', maxMadeTools, 'shared made tools');
    const { checkMadeTool } = await import('../../../core/made/check-made-tool.ts');
    // Null also for a row that was changed since it was checked.
    const before = previous && (await readStored(name, previous.body));
    const { tool, issues, warnings } = checkMadeTool(name, document, knownTools(context), before);
    if (issues.length > 0) throw invalidRequest(issues);
    const stored = await pinned(name, sameWriter(tool, previous));
    const change = await prepareChange(context, toMadeDefinition(name, stored));
    return { body: stored, warnings: [...warnings, ...change.warnings], commit: change.commit };
  },

  prepareRemoval: async (context, name) => {
    const { warnings, commit } = await prepareChange(context, toMissing('made', requireRow(context.sql, 'made-tool', name).name));
    for (const { message } of warnings) context.log.info('toolset not recompiled', { tool: name, message });
    return commit;
  },
};

/** An identical text keeps its first writer; one without a known writer gets the sender. */
function sameWriter(tool: Omit<StoredMadeTool, 'pin'>, previous: DocumentRow | null): Omit<StoredMadeTool, 'pin'> {
  const { pin: _pin, by, ...before } = previous?.body ?? {};
  const { by: _by, ...text } = tool;
  return typeof by === 'string' && canonicalJson(before) === canonicalJson(text) ? { ...tool, by } : tool;
}

/**
 * Runs when the object starts, before anything else. Returns whether tools are held now. Never throws: toolsets that fail to compile here
 * are held at their next compilation.
 */
export async function checkStoredMadeTools(context: CatalogContext): Promise<boolean> {
  try {
    sweepPrivateTools(context);
    const held = await holdEditedTools(context);
    if (held.length === 0) return false;
    context.log.error('made tools are held: stored rows do not match their checksums', { tools: held });
    const known = knownTools(context);
    const shared = held.filter((name) => MadeToolName.safeParse(name).success);
    const owners = new Set(held.flatMap((name) => (shared.includes(name) ? [] : [readPrivateToolName(name).owner])));
    const change = await prepareFor(context, shared, known);
    const own = await Promise.all(
      [...owners].map((owner) => preparePrivateToolset(context, owner, privateDefinitions(context, owner), known)),
    );
    context.transact(() => {
      change.commit();
      for (const publish of own) publish();
    });
    return true;
  } catch (error) {
    context.log.error('made tools could not be verified', { cause: String(error) });
    return false;
  }
}

/** Prepares all toolsets with the tool in its new form, and the toolset of all made tools. */
function prepareChange(context: CatalogContext, definition: ToolDefinition): Promise<Change> {
  return prepareFor(context, [definition.canonical], knownTools(context, { tools: [definition] }));
}

type Change = { warnings: Warning[]; commit: () => void };

async function prepareFor(context: CatalogContext, canonicals: readonly string[], known: KnownTools): Promise<Change> {
  const publish = await prepareMadeToolset(context, known);
  const { warnings, commit } = await recompileWith(context, canonicals, known, new Set([madeToolset]));
  return {
    warnings,
    commit: () => {
      publish();
      commit();
    },
  };
}
