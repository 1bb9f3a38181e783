/** One outgoing message about a turn: its body (Standard Webhooks), attempts and final state. */
import { z } from 'zod';
import { TriggerEvent } from './callback-settings.ts';

export const CallbackStatus = z.enum(['pending', 'delivered', 'dead']).meta({ id: 'CallbackStatus' });
export type CallbackStatus = z.infer<typeof CallbackStatus>;

export const CallbackTargetKind = z.enum(['webhook', 'schedule', 'subscription']);

/** The receiver: the `callbackUrl` of a webhook or schedule, or a subscription. */
export const CallbackTarget = z.object({ kind: CallbackTargetKind, name: z.string() }).meta({ id: 'CallbackTarget' });
export type CallbackTarget = z.infer<typeof CallbackTarget>;

export const CallbackAttempt = z
  .object({
    at: z.iso.datetime(),
    status: z.int().nullable().meta({ description: 'The status of the response; null: no response.' }),
    durationMs: z.int(),
    error: z.string().nullable().meta({ description: 'Why the attempt failed; null: delivered.' }),
  })
  .meta({ id: 'CallbackAttempt' });
export type CallbackAttempt = z.infer<typeof CallbackAttempt>;

export const Callback = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id`, equal in all attempts.' }),
    type: TriggerEvent,
    target: CallbackTarget,
    delivery: z.string().nullable(),
    session: z.string(),
    turn: z.string().nullable(),
    status: CallbackStatus,
    createdAt: z.iso.datetime(),
    nextAttemptAt: z.iso.datetime().nullable(),
    attempts: z.array(CallbackAttempt),
  })
  .meta({ id: 'Callback' });
export type Callback = z.infer<typeof Callback>;

export const CallbackWithBody = Callback.extend({
  body: z.unknown().meta({ description: 'The message. null: it was dropped, because too many messages were waiting.' }),
}).meta({
  id: 'CallbackWithBody',
});
export type CallbackWithBody = z.infer<typeof CallbackWithBody>;

/** One signed message of type `test`, to check the connection. */
export const CallbackTest = z
  .object({ id: z.string().meta({ description: 'The `webhook-id` of the message.' }), delivered: z.boolean(), ...CallbackAttempt.shape })
  .meta({ id: 'CallbackTest' });
export type CallbackTest = z.infer<typeof CallbackTest>;
