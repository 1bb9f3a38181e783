/**
 * What a workspace knows of one tool of a server: the definition that was accepted, the one that is listed now, and how the two
 * stand to each other. Here are its views; how it changes with a listing is `take-listing.ts`, its rows are the Catalog's.
 */
import { diffDefinitions } from './definition-diff.ts';
import { canonicalJson } from '../hash.ts';
import type { Finding, Hold } from './hold.ts';
import { limits } from '../limits.ts';
import type { CanonicalName } from '../names.ts';
import type { Server, ServerAccess, ServerTool } from '../servers/server.ts';
import type { BareDefinition, ToolDefinition, ToolSource } from '../tool.ts';

/** `definition`: as models are given it. `raw`: as it came, which is what the pin covers; absent: the same. */
export type PinnedDefinition = { pin: string; definition: BareDefinition; raw?: BareDefinition };

/** `annotationsAccepted`: by an administrator, for exactly this definition. */
export type AcceptedDefinition = PinnedDefinition & { annotationsAccepted?: true };

export type KeptTool = {
  /** The tool's own name. */
  name: string;
  /** In force; null: none was ever accepted. */
  accepted: AcceptedDefinition | null;
  /** As the server lists it; null: it does not, or what it lists is no definition. */
  listed: PinnedDefinition | null;
  /** Of something listed that is no definition: the hash of it. */
  refused: string | null;
  /** Why `listed` is not in force; null: it is, or there is none. */
  reason: Hold['reason'] | null;
  /** In what is listed. */
  findings: readonly Finding[];
  /** Of one that is not listed: the own name of a tool that came with its definition. */
  renamedTo: string | null;
};

/** What a server's document says for all of its tools. */
export type ServerOfTools = Pick<Server, 'kind' | 'instructions'> & { name: string; trusted: boolean };

export function stateOf({ refused, listed, reason }: KeptTool): ServerTool['state'] {
  if (refused !== null) return 'refused';
  if (listed === null) return 'missing';
  return reason === null ? 'ready' : 'held';
}

/** Own names are legal when they are read; one that was refused for its name is known by it, and never called. */
export function canonicalOf(server: string, ownName: string): CanonicalName {
  return `${server}.${ownName}` as CanonicalName;
}

/** null: not held. A new tool differs from nothing, so it has no changes. */
export function holdOf(tool: KeptTool): Hold | null {
  const { accepted, listed, reason, findings } = tool;
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

/** Equal where two definitions are, but for the name. */
export function shapeOf(pinned: PinnedDefinition): string {
  return canonicalJson({ ...rawOf(pinned), name: '' });
}

export function toServerTool(server: string, tool: KeptTool): ServerTool {
  const shown = shownDefinition(tool);
  const { description = '', inputSchema = {}, outputSchema, annotations } = shown?.definition ?? {};
  const held = holdOf(tool);
  return {
    name: tool.name,
    canonical: canonicalOf(server, tool.name),
    state: stateOf(tool),
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    annotationsAccepted: tool.accepted?.annotationsAccepted === true,
    refId: shown?.pin ?? '',
    ...(held !== null && { held }),
    ...(tool.findings.length > 0 && { findings: [...tool.findings] }),
    ...(tool.renamedTo !== null && { renamedTo: canonicalOf(server, tool.renamedTo) }),
  };
}

/** As toolsets know it; null: a refused one that never was anything else. */
export function toDefinition(server: ServerOfTools, tool: KeptTool): ToolDefinition | null {
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
    aliases: [],
    source: sourceOf(server, tool, shown?.pin ?? ''),
  };
}

/** The definition in force; of a tool without one, what would be. */
export function shownDefinition({ accepted, listed }: KeptTool): PinnedDefinition | null {
  return accepted ?? listed;
}

/** `annotated`: of the definitions whose annotations were accepted; absent: of none. */
export function annotatedPins(tools: readonly KeptTool[]): Pick<ServerAccess, 'annotated'> {
  const annotated = tools.flatMap(({ accepted }) => (accepted?.annotationsAccepted === true ? [accepted.pin] : []));
  return annotated.length === 0 ? {} : { annotated };
}

/** As a definition that is accepted for the first time, or anew: its annotations are not. */
export function withoutAnnotations<Pinned extends PinnedDefinition | null>(pinned: Pinned): Pinned {
  if (pinned === null || !('annotationsAccepted' in pinned)) return pinned;
  const { annotationsAccepted: _accepted, ...plain } = pinned as AcceptedDefinition;
  return plain as Pinned;
}

/** So that a server that changes everything at once cannot make editions too large to tell of it. */
function shortened(hold: Hold): Hold {
  let left = limits.maxEditionHoldCharacters;
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

function sourceOf(server: ServerOfTools, tool: KeptTool, pin: string): ToolSource {
  const state = stateOf(tool);
  const held = holdOf(tool);
  return {
    state: state === 'refused' ? 'missing' : state,
    trusted: server.trusted,
    ...(tool.accepted?.annotationsAccepted === true && { annotationsAccepted: true as const }),
    pin,
    ...(held !== null && { held: shortened(held) }),
    ...(tool.renamedTo !== null && { renamedTo: canonicalOf(server.name, tool.renamedTo) }),
    ...(server.trusted && server.instructions !== undefined && { instructions: server.instructions }),
  };
}
