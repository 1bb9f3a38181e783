/**
 * One event that came in, or one run of a schedule that was due: what is known of it from the moment it is stored to the end of
 * its turn. The two are kept alike; a run of a schedule has no payload.
 */
import { z } from 'zod';
import { limits } from '../limits.ts';

export type TriggerKind = 'webhook' | 'schedule';

/** Whose delivery it is. */
export type Trigger = { kind: TriggerKind; name: string };

/** What began a turn, as its plan carries it. `run` counts replays from 1. */
export type TurnTrigger = Trigger & { delivery: string; run: number };

export const DeliveryStatus = z.enum(['ignored', 'skipped', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled']).meta({
  id: 'DeliveryStatus',
  description:
    '`ignored`: the filter was not true of it, or the webhook is paused. `skipped`: the run before it had not ended. `pending`: on its way to its session. `running`: there, and perhaps behind the turn of another. `waiting`: for somebody’s word.',
});
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** Nothing more comes of it unless it is replayed. */
export function isSettled(status: DeliveryStatus): boolean {
  return status !== 'pending' && status !== 'running' && status !== 'waiting';
}

export const Delivery = z
  .object({
    id: z.string().meta({ description: 'As the sender named it; of a schedule the time when it was due.' }),
    event: z.string().nullable().meta({ description: 'The type of the event, where the payload or a header names it.' }),
    status: DeliveryStatus,
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it was ignored, skipped or failed, or what limit its turn ended at; else null.' }),
    session: z.string().nullable().meta({ description: 'Id of its session; null: none was meant.' }),
    sessionKey: z.string().nullable().meta({ description: 'What the template of the session made of it.' }),
    turn: z.string().nullable(),
    receivedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
    repeats: z.int().meta({ description: 'How often it came again.' }),
    run: z.int().meta({ description: '1, and one more for each replay.' }),
    warnings: z.array(z.string()).meta({ description: 'What the templates asked for and the payload did not have.' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof Delivery>;

/** With what came. Payloads are kept for `limits.deliveryPayloadTtlMs`. */
export const DeliveryWithPayload = Delivery.extend({
  payload: z.unknown().meta({
    description: `As it came: JSON as its value, all else as text. null once it is older than ${limits.deliveryPayloadTtlMs / 86_400_000} days.`,
  }),
}).meta({ id: 'DeliveryWithPayload' });
export type DeliveryWithPayload = z.infer<typeof DeliveryWithPayload>;

/** What the templates of a trigger made of an event. */
export type Rendered = {
  sessionKey: string;
  /** What the agent is told. */
  input: string;
  /** Paths that named nothing, each once. */
  warnings: string[];
};
