/**
 * What a person decides of a listed tool: to take a held definition into force, or to let it stand in the place of one that is gone.
 * Storing it, and compiling the toolsets anew, is the Catalog's.
 */
import type { EditionTool } from '../edition-tool.ts';
import { holdOf, shapeOf, stateOf, withoutAnnotations } from './kept-tool.ts';
import type { KeptTool } from './kept-tool.ts';
import { parseWireName, quote } from '../names.ts';
import { Problem } from '../problem.ts';
import type { Toolset, ToolsetEntry } from '../toolset.ts';

/** `refId`: the definition that was reviewed. `annotations`: whether its annotations count; absent: not those of a definition that was held. */
export type Acceptance = { refId?: string | undefined; annotations?: boolean | undefined };

/** Takes what is listed into force. Throws `conflict` when it is not the definition that was reviewed, or when nothing would change. */
export function acceptListed(tool: KeptTool, { refId, annotations }: Acceptance): KeptTool {
  if (tool.listed === null || (tool.reason === null && annotations === undefined))
    throw new Problem(
      'conflict',
      `${quote(tool.name)} is not held: there is nothing to accept. To accept its annotations, send {"annotations": true}.`,
    );
  if (refId !== undefined && refId !== tool.listed.pin) {
    throw new Problem('conflict', `${quote(tool.name)} has changed since it was reviewed: read it again.`, {
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
 * `to`, accepted, to stand in the place of `from`. `conflict` when `from` is not missing, or `to` is held and not the same definition,
 * which nobody would have seen.
 */
export function acceptInPlaceOf(from: KeptTool, to: KeptTool): KeptTool {
  if (stateOf(from) !== 'missing')
    throw new Problem('conflict', `${quote(from.name)} is listed by its server: only one that is missing can be rebound.`);
  if (to.listed === null) throw new Problem('conflict', `${quote(to.name)} is not listed by its server either.`);
  if (holdOf(to) !== null && (from.accepted === null || shapeOf(from.accepted) !== shapeOf(to.listed))) {
    throw new Problem('conflict', `${quote(to.name)} is held, and its definition is not the one of ${quote(from.name)}: accept it first.`);
  }
  return { ...to, accepted: withoutAnnotations(to.listed), reason: null };
}

/**
 * The document with `to` for `from` (canonical names), under the names that its edition has: those that came from the tool itself stand
 * in the entry now, since the other tool would bring others. `compiled`: the edition's tools, which are in the order of the entries.
 */
export function rebindEntries(toolset: Toolset, compiled: readonly EditionTool[], from: string, to: string): Toolset {
  const tools = toolset.tools.map((entry, index): ToolsetEntry => {
    if (entry.tool !== from) return entry;
    const aliases = entry.aliases ?? inheritedAliases(compiled[index]);
    // One of a single letter cannot be given; there is no other way to such a name than to have it.
    const wireName = parseWireName(compiled[index]?.wireName ?? '');
    return { ...entry, tool: to, ...(wireName.ok && { name: wireName.wireName }), ...(aliases !== undefined && { aliases }) };
  });
  return { ...toolset, tools };
}

function inheritedAliases(compiled: EditionTool | undefined): ToolsetEntry['aliases'] {
  return compiled === undefined || compiled.aliases.length === 0 ? undefined : compiled.aliases;
}
