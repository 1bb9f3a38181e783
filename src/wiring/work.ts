/** The work: plans turns, makes direct calls, and provides sessions and the Catalog with what turns and deliveries need. */
import { once } from '../core/memoize.ts';
import type { AuditRow } from '../core/records/audit.ts';
import type { Principal } from '../core/people/principal.ts';
import type { HeldImpact, HeldTool } from '../core/triggers/callbacks/held-notice.ts';
import type { Plan } from '../core/turn/plan.ts';
import { callOutsideSession, dryRunCall, explainDirectCall, type DirectCall, type ExplainedCall } from '../engine/call/direct-call.ts';
import { readTurnNames } from '../engine/plan/plan-names.ts';
import { readPlanSkills } from '../engine/plan/plan-skills.ts';
import { planTurn, type PlanRequest } from '../engine/plan/plan-turn.ts';
import { dispatchRun, type TriggeredRun } from '../engine/triggers/dispatch-run.ts';
import { createSendCallback } from '../engine/triggers/send-callback.ts';
import type { TurnDeps } from '../engine/turn/run-turn.ts';
import type { TurnStorage } from '../engine/turn/memory-turn.ts';
import { createMemoryFiles } from '../storage/files/memory-files.ts';
import type { ModelParts } from './models.ts';
import type { ObjectParts } from './objects.ts';
import type { RuntimeParts } from './runtime.ts';
import type { ServerParts } from './servers.ts';
import type { ToolParts } from './tools.ts';

export function buildWork(parts: RuntimeParts & ObjectParts & ServerParts & ToolParts & ModelParts) {
  const { runtime, settings, directory, sessions, limiter, model, callDeps, audit, marks, outbound, catalog } = parts;
  const { clock, ids, telemetry } = runtime;
  const { aliases } = settings;
  const plan = (principal: Principal, request: PlanRequest): Promise<Plan> =>
    planTurn({ directory, aliases, telemetry }, principal, request);
  /** Calls without a session: on scratch files, audited before they return. */
  const directDeps = ({ workspace }: Principal) => ({
    ...{ directory, ids, aliases, marks },
    call: callDeps(workspace),
    scratchFiles: () => createMemoryFiles(clock.now),
    audit: (rows: AuditRow[]) => audit(workspace).append(rows),
  });
  return {
    planTurn: plan,
    /** Makes a call. */
    callTool: (principal: Principal, call: DirectCall) =>
      callOutsideSession(directDeps(principal), principal, call, new AbortController().signal),
    /** Resolves, authorizes and checks a call without running it. Also for calls with a session. */
    dryRunCall: (principal: Principal, call: DirectCall) => dryRunCall(directDeps(principal), principal, call),
    /** Evaluates the policy for a call without making it. */
    explainCall: (principal: Principal, call: ExplainedCall) => explainDirectCall(directDeps(principal), principal, call),
    turnDeps: (workspace: string): TurnDeps => ({ ...runtime, ...callDeps(workspace), directory, model, limiter }),
    /** `keyId`: the key of the session. */
    namesFor: (workspace: string, planned: Plan, keyId: string) => readTurnNames(directory, workspace, planned, keyId),
    rules: (workspace: string) => directory.rules(workspace),
    /** Returns the bodies of a plan's skills that still exist. */
    skillsFor: (workspace: string, planned: Plan) => readPlanSkills(directory, workspace, planned),
    /** For a turn in memory. */
    turnStorage: async (): Promise<TurnStorage> => (await loadTurnStorage()).createTurnStorage(clock.now),
    /** For the Catalog: starts the turn of a delivery. */
    dispatchRun: (run: TriggeredRun): Promise<void> => dispatchRun({ planTurn: plan, sessions, limiter, ids }, run),
    /** For the Catalog: sends a callback. */
    sendCallback: createSendCallback({ outbound, now: clock.now }),
    /** For the Catalog: what accepting a held definition would have done. */
    impactOfHeld: async (workspace: string, server: string, tool: HeldTool): Promise<HeldImpact | null> => {
      const { heldImpact } = await import('../engine/servers/held-impact.ts');
      const deps = { ...runtime, sessions, aliases, audit: audit(workspace), catalog: catalog(workspace) };
      return await heldImpact(deps, workspace, server, tool);
    },
  };
}

/** Turns of sessions have their own. */
const loadTurnStorage = once(() => import('../storage/turn-storage.ts'));
