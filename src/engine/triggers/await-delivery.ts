/** `respond: "sync"`: how the turn of a delivery ended, for a sender that waits, as long as it may be made to. A repeat is told the same. */
import { limits } from '../../core/limits.ts';
import { orNull } from '../../core/problem.ts';
import { isSettled } from '../../core/triggers/delivery.ts';
import type { DeliveryStatus, Trigger } from '../../core/triggers/delivery.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { Sessions } from '../../ports/session.ts';
import type { AcceptedDelivery, Triggers } from '../../ports/triggers.ts';

export type AwaitDeps = { triggers(workspace: string): Pick<Triggers, 'untilTaken'>; sessions: Pick<Sessions, 'get'>; clock: Clock };

/** `ended` false: it goes on, or waits for somebody. */
export type AwaitedDelivery = { ended: boolean; status: DeliveryStatus; text: string; reason: string | null };

export async function awaitDelivery(
  deps: AwaitDeps,
  at: { workspace: string; trigger: Trigger; agent: string },
  accepted: AcceptedDelivery,
): Promise<AwaitedDelivery> {
  const deadline = deps.clock.now() + limits.syncRespondMs;
  const { session, turn } = accepted;
  if (session === null || turn === null) return { ended: true, status: accepted.status, text: '', reason: accepted.reason };
  const taken =
    accepted.status === 'pending'
      ? await deps.triggers(at.workspace).untilTaken(at.trigger, accepted.id, deadline - deps.clock.now())
      : accepted;
  // It failed before there was a turn, or is still on its way.
  const known = { ended: isSettled(taken.status), status: taken.status, text: '', reason: taken.reason };
  if (taken.status === 'pending') return known;
  const principal = triggerPrincipal(at.workspace, at.trigger, at.agent);
  const asked = orNull(deps.sessions.get(session).answer(principal, turn));
  const answer = await within(deps.clock, asked, deadline - deps.clock.now());
  if (answer === null) return known;
  const status = answer.status === 'interrupted' ? 'failed' : answer.status;
  return { ended: isSettled(status), status, text: answer.text, reason: answer.reason };
}

/** null where it takes longer; what comes later is nobody's. */
async function within<T>(clock: Clock, work: Promise<T>, ms: number): Promise<T | null> {
  let disarm = (): void => undefined;
  const late = new Promise<null>((resolve) => {
    disarm = clock.after(Math.max(ms, 0), () => resolve(null));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    disarm();
  }
}
