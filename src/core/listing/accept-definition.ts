/**
 * An administrator's decisions about a listed tool: put a held definition into force, or let it replace a missing one. The Catalog stores
 * the result and recompiles the toolsets.
 */
import type { EditionTool } from '../toolset/edition-tool.ts';
import { holdOf, definitionKey, toolStateOf, withoutAnnotations } from './stored-tool.ts';
import type { StoredTool } from './stored-tool.ts';
import { parseWireName, quote } from '../names/names.ts';
import { Problem } from '../problem.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';

/** `refId`: the reviewed definition. `annotations`: whether its annotations count; absent: annotations of a held definition do not. */
export type ToolAcceptance = { refId?: string | undefined; annotations?: boolean | undefined };

/** Puts the listed definition into force. Throws `conflict` if it is not the reviewed definition, or if nothing would change. */
export function acceptListedDefinition(tool: StoredTool, { refId, annotations }: ToolAcceptance): StoredTool {
  if (tool.listed === null || (tool.reason === null && annotations === undefined))
    throw new Problem(
      'conflict',
      `${quote(tool.name)} is not held, so there is nothing to accept. To accept its annotations, send {"annotations": true}.`,
    );
  if (refId !== undefined && refId !== tool.listed.pin) {
    throw new Problem('conflict', `${quote(tool.name)} has changed since the review. Read the definition again.`, {
      refId: tool.listed.pin,
    });
  }
  return {
    ...tool,
    accepted: { ...withoutAnnotations(tool.listed), ...(annotations === true && { annotationsAccepted: true }) },
    reason: null,
  };
}

/**
 * Accepts `to` as the replacement of `from`. Throws `conflict` if `from` is not missing, or if `to` is held with a different definition,
 * which no administrator has reviewed.
 */
export function acceptReplacement(from: StoredTool, to: StoredTool): StoredTool {
  if (toolStateOf(from) !== 'missing')
    throw new Problem('conflict', `${quote(from.name)} is still listed by its server. Only a missing tool can be rebound.`);
  if (to.listed === null) throw new Problem('conflict', `${quote(to.name)} is not listed by its server. Choose a listed tool.`);
  if (holdOf(to) !== null && (from.accepted === null || definitionKey(from.accepted) !== definitionKey(to.listed))) {
    throw new Problem(
      'conflict',
      `${quote(to.name)} is held and its definition differs from that of ${quote(from.name)}. Accept it first.`,
    );
  }
  return { ...to, accepted: withoutAnnotations(to.listed), reason: null };
}

/**
 * Returns the document with `to` in place of `from` (canonical names). The entry's names from the edition are written into the document,
 * since the other tool would derive different ones. `compiled`: the edition's tools, in the order of the entries.
 */
export function rebindEntries(toolset: Toolset, compiled: readonly EditionTool[], from: string, to: string): Toolset {
  const tools = toolset.tools.map((entry, index): ToolsetEntry => {
    if (entry.tool !== from) return entry;
    const aliases = entry.aliases ?? inheritedAliases(compiled[index]);
    // An alias cannot be a single letter, so such a name cannot be written into the entry.
    const wireName = parseWireName(compiled[index]?.wireName ?? '');
    return { ...entry, tool: to, ...(wireName.ok && { name: wireName.wireName }), ...(aliases !== undefined && { aliases }) };
  });
  return { ...toolset, tools };
}

function inheritedAliases(compiled: EditionTool | undefined): ToolsetEntry['aliases'] {
  return compiled === undefined || compiled.aliases.length === 0 ? undefined : compiled.aliases;
}
