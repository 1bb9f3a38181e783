/**
 * What a direct call with a session (`direct-calls.ts`) is made with: the session's parts, the names and rules of the workspace, and what the call
 * means by them.
 */
import { resolveName, type AliasMap } from '../core/alias-map.ts';
import type { AuditRow } from '../core/audit.ts';
import type { Plan } from '../core/plan.ts';
import type { Skill } from '../core/skills/skill.ts';
import { sentArguments } from '../engine/entry-call.ts';
import { createMarkStore, type MarkStore } from '../engine/policy/direct-marks.ts';
import type { CallDeps, CallScope, ToolCallAnswer, ToolCallRequest } from '../engine/tool-call.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { Ids } from '../ports/runtime.ts';
import type { SessionCall, SessionCallRequest } from '../ports/session.ts';
import { createMemoryFiles } from '../storage/memory-files.ts';
import type { Wiring } from '../wiring.ts';
import type { Room } from './room.ts';

export type DirectCallDoor = {
  room: Room;
  session: string;
  keyId: string;
  deps: CallDeps;
  ids: Ids;
  names: AliasMap | null;
  rules: CallScope['rules'];
  /** Of the session's agent. */
  skills: readonly Skill[];
  /** Calls with an idempotency key that are under way, by key. */
  underWay: Map<string, Promise<SessionCall>>;
  scratchFiles(): FileSystem;
  /** Of the key's calls without a session, with this toolset. */
  directMarks(toolset: string | null): MarkStore;
  /** True once the session was deleted. */
  gone(): boolean;
  /** As in `CallScope`. Absent: nothing is run. */
  begin?(row: Omit<AuditRow, 'sequence'>): void;
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

/** `own` is the object's. Reads names and rules, which may take a while: the session may be gone after it. */
export async function openCalls(
  wiring: Wiring,
  room: Room,
  plan: Plan,
  own: Pick<DirectCallDoor, 'session' | 'keyId' | 'underWay' | 'gone' | 'begin' | 'audit'>,
): Promise<DirectCallDoor> {
  const { clock, ids } = wiring;
  const { workspace } = room.meta;
  const [names, rules, skills] = await Promise.all([
    wiring.namesFor(workspace, plan, own.keyId),
    wiring.rules(workspace),
    plan.skills === undefined ? [] : wiring.skillsFor(workspace, plan),
  ]);
  return {
    ...{ ...own, room, names, rules, skills, ids },
    deps: wiring.callDeps(workspace),
    scratchFiles: () => createMemoryFiles(clock.now),
    directMarks: (toolset) => createMarkStore(wiring.catalog(workspace), own.keyId, toolset),
  };
}

export function toCall(request: SessionCallRequest, callId: string): ToolCallRequest {
  return { callId, requested: request.name, arguments: request.arguments };
}

/** What the tool is sent, secrets as names: that is what is approved, shown and hashed. */
export function ownArguments({ names }: DirectCallDoor, { plan, name, arguments: args }: SessionCallRequest): Record<string, unknown> {
  const meant = names === null ? null : resolveName(names, name);
  return meant?.ok ? sentArguments(meant.tool, args, plan.caller) : args;
}

/** What the name means, for a call that does not come to the door to the tools. */
export function namedBy({ names }: DirectCallDoor, { name }: SessionCallRequest): Pick<ToolCallAnswer, 'requested' | 'canonical' | 'via'> {
  const meant = names === null ? null : resolveName(names, name);
  return meant?.ok ? { requested: name, canonical: meant.canonical, via: meant.via } : { requested: name, canonical: null, via: null };
}

export function toSessionCall({ requested, canonical, via, result, durationMs }: ToolCallAnswer): SessionCall {
  return { requested, canonical, via, result, durationMs };
}
