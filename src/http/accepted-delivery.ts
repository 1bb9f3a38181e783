/** How a stored delivery is answered: 202 with the names of its session and turn. Of hooks, replays and runs of schedules. */
import { z } from 'zod';
import { DeliveryStatus } from '../core/triggers/delivery.ts';
import type { AcceptedDelivery } from '../ports/triggers.ts';
import type { AppContext } from './context.ts';

export const Accepted = z
  .object({
    delivery: z.string().meta({ description: 'As the sender named it. The same id again starts nothing, and is answered with the same.' }),
    status: DeliveryStatus,
    session: z.string().nullable().meta({ description: 'Where its turn is. null: none was meant.' }),
    turn: z.string().nullable(),
    run: z.int().meta({ description: '1, and one more for each replay.' }),
    reason: z.string().nullable().meta({ description: 'Why it was ignored or failed, or how the turn ended; else null.' }),
    repeated: z.literal(true).optional().meta({ description: 'It had come before.' }),
  })
  .meta({ id: 'AcceptedDelivery' });

/** 202: it is stored. Also of replays. */
export function acceptedResponse(c: AppContext, accepted: AcceptedDelivery): Response {
  return c.json(toAcceptedBody(accepted), 202, acceptedHeaders(accepted));
}

export function toAcceptedBody({ id, status, session, turn, run, reason, isRepeat }: AcceptedDelivery): z.infer<typeof Accepted> {
  return { delivery: id, status, session, turn, run, reason, ...(isRepeat && { repeated: true as const }) };
}

export function acceptedHeaders({ session }: AcceptedDelivery): Record<string, string> {
  return session === null ? {} : { location: `/v1/sessions/${session}` };
}
