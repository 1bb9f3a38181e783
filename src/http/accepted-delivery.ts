/** The response to a stored delivery: 202 with the ids of its session and turn. Used for hooks, replays and schedule runs. */
import { z } from 'zod';
import { DeliveryStatus } from '../core/triggers/delivery.ts';
import type { AcceptedDelivery } from '../ports/triggers.ts';
import type { AppContext } from './middleware/request-context.ts';

export const Accepted = z
  .object({
    delivery: z.string().meta({ description: 'The sender’s id. A repeated id starts nothing and returns the same response.' }),
    status: DeliveryStatus,
    session: z.string().nullable().meta({ description: 'Session of the turn. null: no turn was started.' }),
    turn: z.string().nullable(),
    run: z.int().meta({ description: 'Number of the run: 1 for the first, and one more for each replay.' }),
    reason: z.string().nullable().meta({ description: 'Why it was ignored or failed, or how the turn ended; otherwise null.' }),
    repeated: z.literal(true).optional().meta({ description: 'Present if the delivery was received before.' }),
  })
  .meta({ id: 'AcceptedDelivery' });

/** Returns 202 for a stored delivery or replay. */
export function acceptedResponse(c: AppContext, accepted: AcceptedDelivery): Response {
  return c.json(toAcceptedBody(accepted), 202, acceptedHeaders(accepted));
}

export function toAcceptedBody({ id, status, session, turn, run, reason, isRepeat }: AcceptedDelivery): z.infer<typeof Accepted> {
  return { delivery: id, status, session, turn, run, reason, ...(isRepeat && { repeated: true as const }) };
}

export function acceptedHeaders({ session }: AcceptedDelivery): Record<string, string> {
  return session === null ? {} : { location: `/v1/sessions/${session}` };
}
