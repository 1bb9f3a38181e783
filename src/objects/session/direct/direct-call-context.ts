/**
 * What a direct call with a session (`direct-calls.ts`) works with: the open session, the names and rules of the workspace, and the
 * prepared call. Also explains what the policy would decide about such a call.
 */
import { type AliasMap, extendAliasMap } from '../../../core/toolset/alias-map.ts';
import type { AuditRow } from '../../../core/records/audit.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import { clientBounds } from '../../../core/toolset/result-bound.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import type { PolicyAnswer } from '../../../core/policy/explain.ts';
import { createCallScope, type CallDeps, type CallScope } from '../../../engine/call/call-scope.ts';
import { countPreparation } from '../../../engine/call/compute-meter.ts';
import { requireResolvedTool } from '../../../engine/call/direct-call.ts';
import { prepareCall, type PreparedCall } from '../../../engine/call/prepare-call.ts';
import { withFetchResult } from '../../../engine/plan/plan-names.ts';
import { createSkillReader, joinSkills } from '../../../engine/plan/plan-skills.ts';
import type { MarkStore } from '../../../engine/policy/direct-marks.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { Ids } from '../../../ports/runtime.ts';
import type { SessionCall, SessionCallRequest, SessionExplainRequest } from '../../../ports/session.ts';
import { withSkillFiles } from '../../../storage/files/skill-files.ts';
import { createMemoryFiles } from '../../../storage/files/memory-files.ts';
import type { SessionNeeds } from '../object/session-needs.ts';
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
  /** True once its deletion has begun. */
  isEnding(): boolean;
  /** As in `CallScope`. Absent when nothing is run. */
  auditIntent?(row: Omit<AuditRow, 'sequence'>): void;
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

/** Builds the context. `own` comes from the object. Loads names and rules, so the session may be deleted before it returns. */
export async function createDirectCallContext(
  wiring: SessionNeeds,
  openSession: OpenSession,
  plan: Plan,
  own: Pick<DirectCallContext, 'session' | 'keyId' | 'inFlight' | 'isDeleted' | 'isEnding' | 'auditIntent' | 'audit'>,
): Promise<DirectCallContext> {
  const { clock, ids } = wiring;
  const { workspace } = openSession.meta;
  const [names, rules, stored] = await Promise.all([
    wiring.namesFor(workspace, plan, own.keyId),
    wiring.rules(workspace),
    plan.skills === undefined ? [] : wiring.skillsFor(workspace, plan),
  ]);
  return {
    ...own,
    ...{ openSession, names, rules: openSession.remembered.after(rules), skills: joinSkills(stored, plan, names), ids },
    deps: wiring.callDeps(workspace),
    scratchFiles: () => createMemoryFiles(clock.now),
    directMarks: (toolset) => wiring.marks({ workspace, keyId: own.keyId }, toolset),
  };
}

/** One direct call: its request, resolved and mapped once, and what it runs with. */
export type OpenDirectCall = { context: DirectCallContext; request: SessionCallRequest; scope: CallScope; call: PreparedCall };

export function openDirectCall(context: DirectCallContext, request: SessionCallRequest, callId: string): OpenDirectCall {
  const scope = createScope(context, request);
  const asked = { callId, requested: request.name, arguments: request.arguments };
  return { context, request, scope, call: countPreparation(context.deps, scope, () => prepareCall(scope, asked)) };
}

function createScope(context: DirectCallContext, { plan, scratch = false, offer }: SessionCallRequest): CallScope {
  const { openSession, names, skills } = context;
  const offered = offer === undefined ? null : extendAliasMap(null, [offer]);
  const results = scratch ? null : openSession.results;
  return createCallScope(plan, {
    keyId: context.keyId,
    session: context.session,
    turn: null,
    names: () => offered ?? withFetchResult(names, results),
    rules: context.rules,
    taint: openSession.taint,
    // Scratch files are gone after the call, so it cannot wait.
    canWait: !scratch,
    journal: scratch ? undefined : openSession.journals.open(null),
    results,
    resultBounds: clientBounds,
    files: withSkillFiles(scratch ? context.scratchFiles() : openSession.files, skills),
    skills: createSkillReader(skills, () => names),
    begin: context.auditIntent,
    audit: context.audit,
  });
}

/** Evaluates the policy for a direct call on the session's files, with the session's taint marks. Changes nothing in the session. */
export async function explainInSession(
  { openSession, deps, names, rules: stored, skills, keyId }: DirectCallContext,
  { plan, name, arguments: args, agent, key = keyId, rules = stored }: SessionExplainRequest,
): Promise<PolicyAnswer> {
  const files = withSkillFiles(openSession.files, skills);
  const scope = { rules, keyId: key, taint: openSession.taint, taintRule: plan.taint, caller: plan.caller, agent, files, names };
  // Not part of the eager start: few requests ask.
  const { explainCall } = await import('../../../engine/policy/explain-policy.ts');
  return await explainCall(deps, scope, requireResolvedTool(names, name), args, new AbortController().signal);
}
