/**
 * What a workspace stores about one tool of a server: the accepted definition, the listed one, and their relation. This file has the views
 * of it, and an administrator's decisions; `apply-listing.ts` updates it from a listing, and the Catalog stores its rows.
 */
import { diffDefinitions } from './definition-diff.ts';
import { canonicalJson } from '../hash.ts';
import type { Hold } from './hold.ts';
import {
  acceptDefinition,
  rejectionOf,
  requireAcknowledged,
  requireListed,
  reviewStateOf,
  showDecisions,
  type AcceptRequest,
  type DecidedBy,
  type DefinitionKind,
  type Reviewed,
} from './definition-review.ts';
import { type CanonicalName, parseWireName, quote } from '../names/names.ts';
import type { Server, ServerAccess, ServerTool } from '../servers/server.ts';
import { bareDefinition, type BareDefinition, type ToolDefinition, type ToolSource, type ToolPresentation } from '../tools/tool.ts';
import { visibleJson } from '../text/visible-text.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import { Problem } from '../problem.ts';
import type { Toolset, ToolsetEntry } from '../toolset/toolset.ts';

/** The hold of one tool in an edition, which has one for each of a thousand tools; the server's tool list has the complete hold. */
export const maxEditionHoldCharacters = 4_000;

/** `definition`: as models receive it. `raw`: as listed, which the pin covers; absent: the same. `presentation`: for MCP clients. */
export type PinnedDefinition = { pin: string; definition: BareDefinition; raw?: BareDefinition; presentation?: ToolPresentation };

/** `annotationsAccepted`: an administrator accepted the annotations of exactly this definition. */
export type AcceptedDefinition = PinnedDefinition & { annotationsAccepted?: true };

export type StoredTool = Reviewed<AcceptedDefinition> & {
  listed: PinnedDefinition | null;
  /** The hash of a listed item that is not a valid definition. */
  refused: string | null;
  /** For a missing tool: the name of a new tool with an equal definition. */
  renamedTo: string | null;
};

/** What a server's document defines for all its tools. */
export type DefinitionSource = Pick<Server, 'kind' | 'instructions'> & { name: string; trusted: boolean };

export function toolStateOf(tool: Pick<StoredTool, 'refused' | 'listed' | 'reason' | 'decisions'>): ServerTool['state'] {
  return tool.refused === null ? reviewStateOf(tool) : 'refused';
}

/** Names are validated when they are read. A tool refused for its name has this canonical name too, but is never called. */
export function canonicalOf(server: string, ownName: string): CanonicalName {
  return `${server}.${ownName}` as CanonicalName;
}

/** null: neither held nor rejected. A new tool has nothing to compare with, so it has no changes. */
export function holdOf(tool: StoredTool): Hold | null {
  const { accepted, listed, findings } = tool;
  const reason = toolStateOf(tool) === 'rejected' ? 'rejected' : tool.reason;
  if (listed === null || reason === null) return null;
  return {
    reason,
    refId: listed.pin,
    changes: accepted === null ? [] : diffDefinitions(rawOf(accepted), rawOf(listed)),
    ...(findings.length > 0 && { findings: [...findings] }),
  };
}

export function rawOf({ definition, raw }: PinnedDefinition): BareDefinition {
  return raw ?? definition;
}

/** Equal for definitions that differ in their name only. */
export function definitionKey(pinned: PinnedDefinition): string {
  return canonicalJson({ ...rawOf(pinned), name: '' });
}

export function toServerTool(server: string, tool: StoredTool): ServerTool {
  const shown = shownDefinition(tool);
  const { description = '', inputSchema = {}, outputSchema, annotations, listedAliases } = shown?.definition ?? {};
  const held = holdOf(tool);
  return {
    name: tool.name,
    canonical: canonicalOf(server, tool.name),
    state: toolStateOf(tool),
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    ...(listedAliases !== undefined && { aliases: [...listedAliases] }),
    annotationsAccepted: tool.accepted?.annotationsAccepted === true,
    refId: shown?.pin ?? '',
    ...(held !== null && { held }),
    ...(tool.findings.length > 0 && { findings: [...tool.findings] }),
    ...(tool.decisions.length > 0 && { decisions: showDecisions(tool.decisions) }),
    ...(tool.renamedTo !== null && { renamedTo: canonicalOf(server, tool.renamedTo) }),
  };
}

/** Returns the definition for toolsets; null for a refused tool that never had a valid definition. */
export function toToolDefinition(server: DefinitionSource, tool: StoredTool): ToolDefinition | null {
  const shown = shownDefinition(tool);
  if (shown === null && tool.refused !== null) return null;
  const { description = '', inputSchema = { type: 'object' }, outputSchema, annotations } = shown?.definition ?? {};
  return {
    canonical: canonicalOf(server.name, tool.name),
    server: server.name,
    name: tool.name,
    kind: server.kind,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    aliases: shown?.definition.listedAliases ?? [],
    ...(shown?.presentation !== undefined && { presentation: shown.presentation }),
    source: sourceOf(server, tool, shown?.pin ?? ''),
  };
}

/** Returns the definition in force, or the listed one of a tool that was never accepted. */
export function shownDefinition({ accepted, listed }: StoredTool): PinnedDefinition | null {
  return accepted ?? listed;
}

/** `annotated`: the pins of definitions with accepted annotations; absent: none. */
export function acceptedAnnotationPins(tools: readonly StoredTool[]): Pick<ServerAccess, 'annotated'> {
  const annotated = tools.flatMap(({ accepted }) => (accepted?.annotationsAccepted === true ? [accepted.pin] : []));
  return annotated.length === 0 ? {} : { annotated };
}

/** Returns the definition without accepted annotations, for one that is accepted for the first time or again. */
export function withoutAnnotations<Pinned extends PinnedDefinition | null>(pinned: Pinned): Pinned {
  if (pinned === null || !('annotationsAccepted' in pinned)) return pinned;
  const { annotationsAccepted: _accepted, ...plain } = pinned as AcceptedDefinition;
  return plain as Pinned;
}

/** Bounds the size of a hold, because a server that changes everything at once would make editions too large. */
function shortened(hold: Hold): Hold {
  let left = maxEditionHoldCharacters;
  const fits = (part: unknown): boolean => {
    left -= JSON.stringify(part).length;
    return left >= 0;
  };
  const changes = hold.changes.filter(fits);
  const findings = hold.findings?.filter(fits);
  const rest = hold.changes.length - changes.length;
  return {
    ...hold,
    changes: rest === 0 ? changes : [...changes, { path: '', to: `${rest} more changes` }],
    ...(findings !== undefined && { findings }),
  };
}

function sourceOf(server: DefinitionSource, tool: StoredTool, pin: string): ToolSource {
  const state = toolStateOf(tool);
  const held = holdOf(tool);
  return {
    // Toolsets tell a rejected tool from a held one by the reason of its hold.
    state: state === 'refused' ? 'missing' : state === 'rejected' ? 'held' : state,
    trusted: server.trusted,
    ...(tool.accepted?.annotationsAccepted === true && { annotationsAccepted: true as const }),
    pin,
    ...(held !== null && { held: shortened(held) }),
    ...(tool.renamedTo !== null && { renamedTo: canonicalOf(server.name, tool.renamedTo) }),
    ...(server.trusted && server.instructions !== undefined && { instructions: server.instructions }),
  };
}

// An administrator's decisions about a listed tool: `definition-review.ts`, with its annotations; and letting it replace a missing one.

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
