/**
 * Whether a changed or added definition of a server is in force without a review (contract §4, pins). Findings and another identity of the
 * server always take one, and so does a definition that was rejected.
 */
import { sameJson } from '../schema/schema-parts.ts';
import { acceptsAll } from '../schema/schema-accepts.ts';
import type { UpdatePolicy } from '../servers/server.ts';
import type { BareDefinition, ToolAnnotations } from '../tools/tool.ts';
import {
  definitionKey,
  rawOf,
  withoutAnnotations,
  type AcceptedDefinition,
  type PinnedDefinition,
  type StoredTool,
} from './stored-tool.ts';

/** Returns the definition to put into force; null: it is held. Annotations stay accepted while they promise no less. */
export function takenUpdate(
  policy: UpdatePolicy,
  accepted: AcceptedDefinition | null,
  listed: PinnedDefinition,
): AcceptedDefinition | null {
  const [from, to] = [accepted === null ? null : rawOf(accepted), rawOf(listed)];
  const isTaken = policy === 'accept' || (policy === 'compatible' && (from === null ? !isDestructive(to) : isCompatible(from, to)));
  if (!isTaken) return null;
  const isEndorsed = accepted?.annotationsAccepted === true && from !== null && promisesNoLess(from.annotations, to.annotations);
  return isEndorsed ? { ...listed, annotationsAccepted: true } : withoutAnnotations(listed);
}

/**
 * Returns whether a changed tool has the definition that another tool had: names that are exchanged would give callers of the one tool the other
 * one.
 */
export function createIsOfOther(kept: readonly Pick<StoredTool, 'name' | 'accepted'>[]): IsOfOther {
  let owners: ReadonlyMap<string, string> | null = null;
  return (accepted, listed) => {
    if (accepted === null) return false;
    owners ??= new Map(kept.flatMap(({ name, accepted: own }) => (own === null ? [] : [[definitionKey(own), name] as const])));
    return (owners.get(definitionKey(listed)) ?? listed.definition.name) !== listed.definition.name;
  };
}

export type IsOfOther = (accepted: AcceptedDefinition | null, listed: PinnedDefinition) => boolean;

/** Callers of the one definition can call the other one, which does no more than the first one said. Texts may differ. */
function isCompatible(from: BareDefinition, to: BareDefinition): boolean {
  const [result, before] = [to.outputSchema, from.outputSchema];
  // A tool that only reads does no harm if it ignores an argument that it had.
  const reads = from.annotations?.readOnlyHint === true && to.annotations?.readOnlyHint === true;
  return (
    acceptsAll(to.inputSchema, from.inputSchema, reads ? 'ignored' : 'missed') &&
    (before === undefined || (result !== undefined && acceptsAll(before, result, 'ignored'))) &&
    promisesNoLess(from.annotations, to.annotations) &&
    sameJson(from.listedAliases ?? [], to.listedAliases ?? []) &&
    sameJson(placeOf(from), placeOf(to))
  );
}

/** An operation that moved may do something else. */
function placeOf({ operation }: BareDefinition): unknown[] {
  return [operation?.method, operation?.path, operation?.baseUrl];
}

function isDestructive({ annotations }: BareDefinition): boolean {
  return annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
}

/** The defaults of hints are those of MCP: not read-only, destructive, not idempotent, of an open world. */
function promisesNoLess(from: ToolAnnotations = {}, to: ToolAnnotations = {}): boolean {
  const reads = to.readOnlyHint === true;
  return (
    (reads || from.readOnlyHint !== true) &&
    (reads || from.destructiveHint !== false || to.destructiveHint === false) &&
    (reads || from.destructiveHint === true || to.destructiveHint !== true) &&
    (to.idempotentHint === true || from.idempotentHint !== true) &&
    (to.openWorldHint === false || from.openWorldHint !== false)
  );
}
