/** One message to somebody outside about a turn: its body (Standard Webhooks), its attempts and its end. */
import { z } from 'zod';
import { TriggerEvent } from './callback-settings.ts';

export const CallbackStatus = z.enum(['pending', 'delivered', 'dead']).meta({ id: 'CallbackStatus' });
export type CallbackStatus = z.infer<typeof CallbackStatus>;

export const CallbackTargetKind = z.enum(['webhook', 'schedule', 'subscription']);

/** To whom: the `callbackUrl` of a webhook or schedule, or a subscription. */
export const CallbackTarget = z.object({ kind: CallbackTargetKind, name: z.string() }).meta({ id: 'CallbackTarget' });
export type CallbackTarget = z.infer<typeof CallbackTarget>;

export const CallbackAttempt = z
  .object({
    at: z.iso.datetime(),
    status: z.int().nullable().meta({ description: 'Of the answer; null: there was none.' }),
    durationMs: z.int(),
    error: z.string().nullable().meta({ description: 'Why it does not count as delivered; null: it does.' }),
  })
  .meta({ id: 'CallbackAttempt' });
export type CallbackAttempt = z.infer<typeof CallbackAttempt>;

export const Callback = z
  .object({
    id: z.string().meta({ description: 'The same in every attempt: `webhook-id`.' }),
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
  body: z.unknown().meta({ description: 'What is sent. null: too much waited, and it was not kept.' }),
}).meta({
  id: 'CallbackWithBody',
});
export type CallbackWithBody = z.infer<typeof CallbackWithBody>;

/** One signed message of type `test`, sent to see whether it arrives. */
export const CallbackTest = z
  .object({ id: z.string().meta({ description: 'Of the message: `webhook-id`.' }), delivered: z.boolean(), ...CallbackAttempt.shape })
  .meta({ id: 'CallbackTest' });
export type CallbackTest = z.infer<typeof CallbackTest>;
