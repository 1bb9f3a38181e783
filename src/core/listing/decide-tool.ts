/**
 * An administrator's decisions about a listed tool: those of `decide-definition.ts`, with its annotations, and letting it replace a missing one.
 */
import { visibleJson } from '../text/visible-text.ts';
import { parseWireName, quote } from '../names/names.ts';
import { Problem } from '../problem.ts';
import { bareDefinition } from '../tools/tool.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';
import { acceptDefinition, requireAcknowledged, requireListed, type AcceptRequest, type DefinitionKind } from './decide-definition.ts';
import { rejectionOf, type DecidedBy } from '../servers/definition-review.ts';
import {
  definitionKey,
  rawOf,
  toolStateOf,
  withoutAnnotations,
  type AcceptedDefinition,
  type PinnedDefinition,
  type StoredTool,
} from './stored-tool.ts';
import { rebound, toolOf } from '../toolset/entries/entry-targets.ts';

export const toolKind: DefinitionKind<PinnedDefinition> = {
  noun: 'tool',
  textOf: (listed) => visibleJson(bareDefinition(rawOf(listed))),
};

/** `annotations`: whether its annotations count; absent: annotations of a held definition do not. */
export type ToolAcceptance = AcceptRequest & { annotations?: boolean | undefined };

/** Puts a held definition into force, or accepts or withdraws the annotations of the one in force. Throws as `acceptDefinition` does. */
export function acceptTool(tool: StoredTool, { annotations, ...request }: ToolAcceptance, decided: DecidedBy): StoredTool {
  // Withdrawing annotations puts nothing into force and needs no acknowledgement.
  if (annotations === false && tool.accepted !== null) return { ...tool, accepted: withoutAnnotations(tool.accepted) };
  if (toolStateOf(tool) !== 'ready') {
    // Undoing it does not bring back annotations, which may have been accepted for another URL.
    const review = acceptDefinition(toolKind, { ...tool, accepted: withoutAnnotations(tool.accepted) }, request, decided);
    return { ...tool, ...review, accepted: endorsed(review.accepted, annotations) };
  }
  if (annotations !== true) {
    const hint = 'To accept its annotations, send {"annotations": true}.';
    throw new Problem('conflict', `${quote(tool.name)} is not held, so there is nothing to accept. ${hint}`);
  }
  requireListed(toolKind, tool, request.refId);
  requireAcknowledged(toolKind, tool, request);
  return { ...tool, accepted: endorsed(tool.accepted, annotations) };
}

function endorsed(accepted: AcceptedDefinition | null, annotations: boolean | undefined): AcceptedDefinition | null {
  return accepted === null ? null : { ...withoutAnnotations(accepted), ...(annotations === true && { annotationsAccepted: true }) };
}

/**
 * Accepts `to` as the replacement of `from`. Throws `conflict` if `from` is not missing, or if `to` is rejected, or held with a definition
 * that differs or has findings, which no administrator has reviewed.
 */
export function acceptReplacement(from: StoredTool, to: StoredTool, decided: DecidedBy): StoredTool {
  const state = toolStateOf(to);
  if (toolStateOf(from) !== 'missing')
    throw new Problem('conflict', `${quote(from.name)} is still listed by its server. Only a missing tool can be rebound.`);
  if (to.listed === null) throw new Problem('conflict', `${quote(to.name)} is not listed by its server. Choose a listed tool.`);
  if (state === 'rejected' || (from.accepted !== null && rejectionOf(from.decisions, from.accepted.pin) !== null))
    throw new Problem('conflict', `The definition of ${quote(state === 'rejected' ? to.name : from.name)} was rejected. Undo that first.`);
  if (state !== 'held') return { ...to, accepted: withoutAnnotations(to.listed) };
  if (from.accepted === null || definitionKey(from.accepted) !== definitionKey(to.listed))
    throw new Problem(
      'conflict',
      `${quote(to.name)} is held and its definition differs from that of ${quote(from.name)}. Accept it first.`,
    );
  if (to.findings.length > 0) throw new Problem('conflict', `${quote(to.name)} is held and its definition has findings. Accept it first.`);
  return acceptTool(to, {}, decided);
}

/**
 * Returns the document with `to` in place of `from` (canonical names). The entry's names from the edition are written into the document,
 * since the other tool would derive different ones. `compiled`: the edition's tools, in the order of the entries.
 */
export function rebindEntries(toolset: Toolset, compiled: readonly EditionTool[], from: string, to: string): Toolset {
  const tools = toolset.tools.map((entry, index): ToolsetEntry => {
    if (toolOf(entry) !== from) return { ...entry, ...rebound(entry, from, to) };
    const aliases = entry.aliases ?? inheritedAliases(compiled[index]);
    // An alias cannot be a single letter, so such a name cannot be written into the entry.
    const wireName = parseWireName(compiled[index]?.wireName ?? '');
    return {
      ...entry,
      ...rebound(entry, from, to),
      ...(wireName.ok && { name: wireName.wireName }),
      ...(aliases !== undefined && { aliases }),
    };
  });
  return { ...toolset, tools };
}

function inheritedAliases(compiled: EditionTool | undefined): ToolsetEntry['aliases'] {
  return compiled === undefined || compiled.aliases.length === 0 ? undefined : compiled.aliases;
}
