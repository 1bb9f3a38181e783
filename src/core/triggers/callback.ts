/** One message to somebody outside about a turn: its body (Standard Webhooks), its attempts and its end. */
import { z } from 'zod';
import { TriggerEvent } from './webhook.ts';

export const CallbackStatus = z.enum(['pending', 'delivered', 'dead']).meta({ id: 'CallbackStatus' });
export type CallbackStatus = z.infer<typeof CallbackStatus>;

/** To whom: the `callbackUrl` of a webhook or schedule, or a subscription. */
export type CallbackTarget = { kind: 'webhook' | 'schedule' | 'subscription'; name: string };

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
    target: z.object({ kind: z.enum(['webhook', 'schedule', 'subscription']), name: z.string() }),
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

export const CallbackWithBody = Callback.extend({ body: z.unknown().meta({ description: 'What is sent.' }) }).meta({
  id: 'CallbackWithBody',
});
export type CallbackWithBody = z.infer<typeof CallbackWithBody>;
