/**
 * What a direct call with a session (`direct-calls.ts`) works with: the open session, the names and rules of the workspace, and how
 * the call resolves with them.
 */
import { resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { AuditRow } from '../../core/audit.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { Skill } from '../../core/skills/skill.ts';
import { sentArguments } from '../../engine/call/entry-call.ts';
import { createMarkStore, type MarkStore } from '../../engine/policy/direct-marks.ts';
import type { CallDeps, CallScope, ToolCallAnswer, ToolCallRequest } from '../../engine/call/tool-call.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { SessionCall, SessionCallRequest } from '../../ports/session.ts';
import { createMemoryFiles } from '../../storage/memory-files.ts';
import type { Wiring } from '../../wiring.ts';
import type { OpenSession } from '../object/open-session.ts';

export type DirectCallContext = {
  openSession: OpenSession;
  session: string;
  keyId: string;
  deps: CallDeps;
  ids: Ids;
  names: AliasMap | null;
  rules: CallScope['rules'];
  /** Skills of the session's agent. */
  skills: readonly Skill[];
  /** Calls with an idempotency key that are in flight, by key. */
  inFlight: Map<string, Promise<SessionCall>>;
  scratchFiles(): FileSystem;
  /** The taint marks of the key's calls without a session, with this toolset. */
  directMarks(toolset: string | null): MarkStore;
  /** True once the session was deleted. */
  isDeleted(): boolean;
  /** As in `CallScope`. Absent when nothing is run. */
  auditIntent?(row: Omit<AuditRow, 'sequence'>): void;
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

/** Builds the context. `own` comes from the object. Loads names and rules, so the session may be deleted before it returns. */
export async function createDirectCallContext(
  wiring: Wiring,
  room: OpenSession,
  plan: Plan,
  own: Pick<DirectCallContext, 'session' | 'keyId' | 'inFlight' | 'isDeleted' | 'auditIntent' | 'audit'>,
): Promise<DirectCallContext> {
  const { clock, ids } = wiring;
  const { workspace } = room.meta;
  const [names, rules, skills] = await Promise.all([
    wiring.namesFor(workspace, plan, own.keyId),
    wiring.rules(workspace),
    plan.skills === undefined ? [] : wiring.skillsFor(workspace, plan),
  ]);
  return {
    ...{ ...own, openSession: room, names, rules, skills, ids },
    deps: wiring.callDeps(workspace),
    scratchFiles: () => createMemoryFiles(clock.now),
    directMarks: (toolset) => createMarkStore(wiring.catalog(workspace), own.keyId, toolset),
  };
}

export function toCall(request: SessionCallRequest, callId: string): ToolCallRequest {
  return { callId, requested: request.name, arguments: request.arguments };
}

/** Returns the arguments as the tool receives them, with secrets by name. These are approved, shown and hashed. */
export function mappedArguments(
  { names }: DirectCallContext,
  { plan, name, arguments: args }: SessionCallRequest,
): Record<string, unknown> {
  const meant = names === null ? null : resolveName(names, name);
  return meant?.ok ? sentArguments(meant.tool, args, plan.caller) : args;
}

/** Returns how the name resolves, for a call that is refused before `callTool`. */
export function resolvedNames(
  { names }: DirectCallContext,
  { name }: SessionCallRequest,
): Pick<ToolCallAnswer, 'requested' | 'canonical' | 'via'> {
  const meant = names === null ? null : resolveName(names, name);
  return meant?.ok ? { requested: name, canonical: meant.canonical, via: meant.via } : { requested: name, canonical: null, via: null };
}

export function toSessionCall({ requested, canonical, via, result, durationMs }: ToolCallAnswer): SessionCall {
  return { requested, canonical, via, result, durationMs };
}
