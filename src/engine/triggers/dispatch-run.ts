/**
 * Starts the turn of one delivery in its session: planned like any other, with a predefined id, and started once however often this is
 * called. The Catalog's dispatcher decides when to call it.
 */
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { Principal } from '../../core/people/principal.ts';
import { markedDataNote } from '../../core/triggers/templates/marked-data.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { TurnTrigger } from '../../core/turn/turn-trigger.ts';
import { untainted } from '../../core/policy/taint.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { Sessions, SubmitTurn } from '../../ports/session.ts';
import { submitWithinLimits } from '../plan/turn-limits.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';

/** `isRepeat`: an earlier attempt was made, so the session may already have the turn. */
export type TriggeredRun = {
  workspace: string;
  trigger: TurnTrigger;
  agent: string;
  sessionKey: string;
  turn: string;
  input: string;
  isRetry: boolean;
};

export type DispatchDeps = {
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
  sessions: Pick<Sessions, 'create' | 'get' | 'idOf'>;
  limiter: Limiter;
  ids: Ids;
};

/** Throws the `Problem` that prevents the turn from starting; `internal` if its session was deleted meanwhile, so that a retry can create another. */
export async function dispatchRun(deps: DispatchDeps, run: TriggeredRun): Promise<void> {
  const { workspace, trigger, agent, turn } = run;
  const principal = triggerPrincipal(workspace, trigger, agent);
  if (run.isRetry && (await wasTaken(deps, principal, run))) return;
  // The input of a schedule contains no external data.
  const instructions = trigger.kind === 'webhook' ? markedDataNote : undefined;
  const plan = { ...(await deps.planTurn(principal, { agent, instructions })), trigger };
  const { id } = await deps.sessions.create(principal, { agent, listed: true }, run.sessionKey);
  const request: SubmitTurn = {
    plan,
    input: [{ type: 'text', text: run.input }],
    turn,
    ...(trigger.kind === 'webhook' && { taint: { ...untainted, untrusted: `a delivery to the webhook ${trigger.name}` } }),
  };
  const submitted = submitWithinLimits(deps, principal, request, (given) => deps.sessions.get(id).submit(principal, given));
  if ((await nullIfNotFound(submitted)) === null)
    throw new Problem('internal', 'The session was deleted while its turn was being started.');
}

/** Checked for a retry: a turn that has started must not fail because its agent was removed since. */
async function wasTaken({ sessions }: DispatchDeps, principal: Principal, { sessionKey, turn }: TriggeredRun): Promise<boolean> {
  const session = sessions.get(await sessions.idOf(principal, sessionKey));
  return (await nullIfNotFound(session.hasTurn(principal, turn))) === true;
}
