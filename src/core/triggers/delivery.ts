/**
 * One incoming event, or one due run of a schedule: its state from storage to the end of its turn. Both are stored alike; a run has no
 * payload.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';

export const DeliveryStatus = z.enum(['ignored', 'skipped', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled']).meta({
  id: 'DeliveryStatus',
  description:
    '`ignored`: the filter did not match, or the webhook is paused. `skipped`: the previous run had not ended. `pending`: not in its session yet. `running`: in its session, possibly queued behind another turn. `waiting`: waiting for an approval or for input.',
});
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** A settled delivery does not change unless it is replayed. */
export function isSettled(status: DeliveryStatus): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'waiting';
}

export const Delivery = z
  .object({
    id: z.string().meta({ description: 'The sender’s id; for a schedule the time when the run was due.' }),
    event: z.string().nullable().meta({ description: 'The type of the event, if the payload or a header contains it.' }),
    status: DeliveryStatus,
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it was ignored, skipped or failed, or which limit ended its turn; otherwise null.' }),
    session: z.string().nullable().meta({ description: 'The id of its session; null: no session.' }),
    sessionKey: z.string().nullable().meta({ description: 'The rendered session key.' }),
    turn: z.string().nullable(),
    receivedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    repeats: z.int().meta({ description: 'The number of redeliveries.' }),
    run: z.int().meta({ description: 'Starts at 1; each replay adds 1.' }),
    warnings: z.array(z.string()).meta({ description: 'Paths in the templates that the payload does not have.' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof Delivery>;

/** With the payload, which is retained for `limits.deliveryPayloadTtlMs`. */
export const DeliveryWithPayload = Delivery.extend({
  payload: z.unknown().meta({
    description: `The payload as received: JSON as its value, otherwise text. null once it is older than ${limits.deliveryPayloadTtlMs / 86_400_000} days.`,
  }),
}).meta({ id: 'DeliveryWithPayload' });
export type DeliveryWithPayload = z.infer<typeof DeliveryWithPayload>;

/** In the list over all webhooks. */
export const WebhookDelivery = Delivery.extend({ webhook: z.string() }).meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const RefusedDeliveries = z
  .object({
    webhook: z.string(),
    day: z.iso.date().meta({ description: 'In UTC.' }),
    count: z
      .int()
      .meta({ description: 'Requests without a valid signature. They are counted in the background, and not all if a location stops.' }),
    lastAt: z.iso.datetime().meta({ description: 'When the last ones were counted.' }),
  })
  .meta({ id: 'RefusedDeliveries', example: { webhook: 'triage', day: '2026-01-01', count: 3, lastAt: '2026-01-01T12:00:00.000Z' } });
export type RefusedDeliveries = z.infer<typeof RefusedDeliveries>;

/** The output of a trigger's templates for an event. */
export type Rendered = {
  sessionKey: string;
  /** The agent's input. */
  input: string;
  /** Paths without a value, without duplicates. */
  warnings: string[];
};
