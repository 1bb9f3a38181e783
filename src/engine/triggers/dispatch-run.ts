/**
 * Begins the turn of one delivery in its session: planned as any other, named beforehand, and begun once however often this is
 * called. Used by the Catalog's dispatcher, which knows when.
 */
import { orNull, Problem } from '../../core/problem.ts';
import type { Plan } from '../../core/plan.ts';
import type { Principal } from '../../core/principal.ts';
import { markedDataNote } from '../../core/triggers/templates/marked-data.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { TurnTrigger } from '../../core/triggers/delivery.ts';
import { untainted } from '../../core/taint.ts';
import type { Sessions } from '../../ports/session.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';

/** `isRepeat`: it was tried before, and its session may have it already. */
export type TriggeredRun = {
  workspace: string;
  trigger: TurnTrigger;
  agent: string;
  sessionKey: string;
  turn: string;
  input: string;
  isRepeat: boolean;
};

export type DispatchDeps = {
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
  sessions: Pick<Sessions, 'create' | 'get' | 'idOf'>;
};

/** Throws the `Problem` that keeps the turn from beginning; `internal` where its session was deleted meanwhile, and another can be made. */
export async function dispatchRun(deps: DispatchDeps, run: TriggeredRun): Promise<void> {
  const { workspace, trigger, agent, turn } = run;
  const principal = triggerPrincipal(workspace, trigger, agent);
  if (run.isRepeat && (await wasTaken(deps, principal, run))) return;
  // A schedule tells its agent nothing that comes from outside.
  const instructions = trigger.kind === 'webhook' ? markedDataNote : undefined;
  const plan = { ...(await deps.planTurn(principal, { agent, instructions })), trigger };
  const { id } = await deps.sessions.create(principal, { agent, listed: true }, run.sessionKey);
  const submitted = deps.sessions.get(id).submit(principal, {
    plan,
    input: [{ type: 'text', text: run.input }],
    turn,
    ...(trigger.kind === 'webhook' && { taint: { ...untainted, untrusted: `what the webhook ${trigger.name} was sent` } }),
  });
  if ((await orNull(submitted)) === null) throw new Problem('internal', 'The session was deleted when its turn was to begin.');
}

/** Its answer may have been lost: what has begun is not to fail because its agent was removed since. */
async function wasTaken({ sessions }: DispatchDeps, principal: Principal, { sessionKey, turn }: TriggeredRun): Promise<boolean> {
  const session = sessions.get(await sessions.idOf(principal, sessionKey));
  return (await orNull(session.hasTurn(principal, turn))) === true;
}
