/** The answer to a stored delivery: 202 with the ids of its session and turn. For hooks, replays and schedule runs. */
import * as z from 'zod';
import { DeliveryStatus } from '../../../core/triggers/delivery.ts';
import type { AcceptedDelivery } from '../../../ports/triggers.ts';

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

export const acceptedAnswer = {
  description: 'Stored. The turn starts, and is retried after a crash.',
  schema: Accepted,
  headers: { location: 'URL of the session, if any.' },
} as const;

export function toAcceptedBody({ id, status, session, turn, run, reason, isRepeat }: AcceptedDelivery): z.infer<typeof Accepted> {
  return { delivery: id, status, session, turn, run, reason, ...(isRepeat && { repeated: true as const }) };
}

export function acceptedHeaders({ session }: AcceptedDelivery): { location?: string } {
  return session === null ? {} : { location: `/v1/sessions/${session}` };
}
