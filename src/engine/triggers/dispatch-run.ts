/**
 * Begins the turn of one delivery in its session: planned as any other, named beforehand, and begun once however often this is
 * called. Used by the Catalog's dispatcher, which knows when.
 */
import { orNull } from '../../core/problem.ts';
import type { Plan } from '../../core/plan.ts';
import type { Principal } from '../../core/principal.ts';
import { markedDataNote } from '../../core/triggers/marked-data.ts';
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

/** Throws the `Problem` that keeps the turn from beginning. */
export async function dispatchRun(deps: DispatchDeps, run: TriggeredRun): Promise<void> {
  const { workspace, trigger, agent, turn } = run;
  const principal = triggerPrincipal(workspace, trigger, agent);
  const idempotencyKey = `${trigger.kind}:${trigger.name}:${trigger.run}:${trigger.delivery}`;
  if (run.isRepeat && (await wasTaken(deps, principal, run.sessionKey, idempotencyKey))) return;
  // A schedule tells its agent nothing that comes from outside.
  const instructions = trigger.kind === 'webhook' ? markedDataNote : undefined;
  const plan = { ...(await deps.planTurn(principal, { agent, instructions })), trigger };
  const { id } = await deps.sessions.create(principal, { agent, listed: true }, run.sessionKey);
  await deps.sessions.get(id).submit(principal, {
    plan,
    input: [{ type: 'text', text: run.input }],
    turn,
    idempotencyKey,
    bodyHash: '',
    ...(trigger.kind === 'webhook' && { taint: { ...untainted, untrusted: `what the webhook ${trigger.name} was sent` } }),
  });
}

/** Its answer may have been lost: what has begun is not to fail because its agent was removed since. */
async function wasTaken({ sessions }: DispatchDeps, principal: Principal, sessionKey: string, idempotencyKey: string): Promise<boolean> {
  const session = sessions.get(await sessions.idOf(principal, sessionKey));
  return (await orNull(session.repeated(principal, idempotencyKey, ''))) !== null;
}
