/**
 * What a workspace stores about one tool of a server: the accepted definition, the listed one, and their relation. This file has the views
 * of it, and an administrator's decisions; `apply-listing.ts` updates it from a listing, and the Catalog stores its rows.
 */
import { diffDefinitions } from '../toolset/definition-diff.ts';
import { canonicalJson } from '../hash.ts';
import { Problem, quoted } from '../problem.ts';
import type { Hold } from '../tools/hold.ts';
import { hasRejections, reviewStateOf, showDecisions, type Reviewed } from '../servers/definition-review.ts';
import type { CanonicalName } from '../names/names.ts';
import type { Server, ServerAccess } from '../servers/server.ts';
import type { ServerTool } from '../servers/server-tool.ts';
import type { BareDefinition, ToolDefinition, ToolSource, ToolPresentation } from '../tools/tool.ts';

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

/** Equal for definitions that differ in their names only: their own, and the aliases that the server gives. */
export function definitionKey(pinned: PinnedDefinition): string {
  const { listedAliases: _aliases, ...definition } = rawOf(pinned);
  return canonicalJson({ ...definition, name: '' });
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

/** The definition that was accepted, as before it was held, and the listed one, as if it were accepted. null: none was accepted. */
export type ReviewedDefinitions = { accepted: ToolDefinition | null; listed: ToolDefinition };

/** Throws `conflict` if the server lists no valid definition of the tool. */
export function reviewedDefinitions(server: DefinitionSource, tool: StoredTool): ReviewedDefinitions {
  const asAccepted = (accepted: AcceptedDefinition | null): ToolDefinition | null =>
    accepted && toToolDefinition(server, { ...tool, accepted, listed: accepted, refused: null, reason: null, findings: [], decisions: [] });
  const listed = asAccepted(tool.listed);
  if (listed !== null) return { accepted: asAccepted(tool.accepted), listed };
  const detail = `The server ${quoted(server.name)} lists no valid definition of ${quoted(tool.name)}, so there is none to compare with.`;
  throw new Problem('conflict', `${detail} Refresh the server.`);
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

/** Whether a tool stays known while its server does not list it. */
export function isRemembered({ name, decisions }: StoredTool, isNamed: (name: string) => boolean): boolean {
  return isNamed(name) || hasRejections(decisions);
}

/**
 * Returns the tool as missing, because its server no longer lists it or was deleted. The accepted definition and the decisions remain for
 * comparison with a later tool of that name.
 */
export function missingTool({ name, accepted, decisions, renamedTo }: StoredTool): StoredTool {
  return { name, accepted: withoutAnnotations(accepted), listed: null, refused: null, reason: null, findings: [], decisions, renamedTo };
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
