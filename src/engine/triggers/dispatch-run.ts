/**
 * Begins the turn of one delivery in its session: planned as any other, named beforehand, and begun once however often this is
 * called. Used by the Catalog's dispatcher, which knows when.
 */
import type { Plan } from '../../core/plan.ts';
import type { Principal } from '../../core/principal.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { TurnTrigger } from '../../core/triggers/delivery.ts';
import { untainted } from '../../core/taint.ts';
import type { Sessions } from '../../ports/session.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';

export type TriggeredRun = { workspace: string; trigger: TurnTrigger; agent: string; sessionKey: string; turn: string; input: string };

export type DispatchDeps = {
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
  sessions: Pick<Sessions, 'create' | 'get'>;
};

/** Throws the `Problem` that keeps the turn from beginning. */
export async function dispatchRun(deps: DispatchDeps, run: TriggeredRun): Promise<void> {
  const { workspace, trigger, agent, turn } = run;
  const principal = triggerPrincipal(workspace, trigger, agent);
  const plan = { ...(await deps.planTurn(principal, { agent })), trigger };
  const { id } = await deps.sessions.create(principal, { agent, listed: true }, run.sessionKey);
  await deps.sessions.get(id).submit(principal, {
    plan,
    input: [{ type: 'text', text: run.input }],
    turn,
    idempotencyKey: `${trigger.kind}:${trigger.name}:${trigger.run}:${trigger.delivery}`,
    bodyHash: '',
    ...(trigger.kind === 'webhook' && { taint: { ...untainted, untrusted: `what the webhook ${trigger.name} was sent` } }),
  });
}
