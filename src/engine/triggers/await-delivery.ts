/** `respond: "sync"`: waits, up to a limit, for the turn of a delivery and returns how it ended. A repeated delivery gets the same answer. */
import { limits } from '../../core/limits/limits.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import { isSettled } from '../../core/triggers/delivery.ts';
import type { DeliveryStatus } from '../../core/triggers/delivery.ts';
import type { Trigger } from '../../core/turn/turn-trigger.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import type { AcceptedDelivery, Triggers } from '../../ports/triggers.ts';
import { withTimeout } from '../timeout.ts';

export type AwaitDeliveryDeps = {
  triggers(workspace: string): Pick<Triggers, 'waitUntilDispatched'>;
  sessions: Pick<Sessions, 'get'>;
  clock: Clock;
};

/** `ended` false: the turn is still running or waits for an external answer. */
export type AwaitedDelivery = { ended: boolean; status: DeliveryStatus; text: string; reason: string | null };

export async function awaitDelivery(
  deps: AwaitDeliveryDeps,
  at: { workspace: string; trigger: Trigger; agent: string },
  accepted: AcceptedDelivery,
): Promise<AwaitedDelivery> {
  const deadline = deps.clock.now() + limits.syncRespondMs;
  const { session, turn } = accepted;
  if (session === null || turn === null) return { ended: true, status: accepted.status, text: '', reason: accepted.reason };
  const taken =
    accepted.status === 'pending'
      ? await deps.triggers(at.workspace).waitUntilDispatched(at.trigger, accepted.id, deadline - deps.clock.now())
      : accepted;
  // It failed before its turn started, or is still pending.
  const known = { ended: isSettled(taken.status), status: taken.status, text: '', reason: taken.reason };
  if (taken.status === 'pending') return known;
  const principal = triggerPrincipal(at.workspace, at.trigger, at.agent);
  const asked = nullIfNotFound(deps.sessions.get(session).waitForAnswer(principal, turn));
  const answer = await withTimeout(deps.clock, asked, Math.max(deadline - deps.clock.now(), 0), () => null);
  if (answer === null) return known;
  const status = answer.status === 'interrupted' ? 'failed' : answer.status;
  return { ended: isSettled(status), status, text: answer.text, reason: answer.reason };
}
