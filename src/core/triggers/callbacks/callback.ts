/**
 * Outgoing messages (Standard Webhooks) about turns and held definitions: the document fields that request them, their attempts and final
 * state, the delay of a retry, and the keys that sign them. `turn-notice.ts` and `held-notice.ts` have their bodies.
 */
import { CallbackUrl } from '../../text/http-url.ts';
import * as z from 'zod';
import { ResourceName } from '../../turn/agent.ts';
import { limits } from '../../limits/limits.ts';
import { boundedText } from '../../text/bounded-text.ts';
import { fromBase64 } from '../../text/bytes.ts';
import { delayOrAsked } from '../../limits/backoff.ts';

export const TriggerEvent = z.enum(['turn.completed', 'turn.failed', 'approval.required', 'definition.held']).meta({ id: 'TriggerEvent' });
export type TriggerEvent = z.infer<typeof TriggerEvent>;
export type TurnEvent = Exclude<TriggerEvent, 'definition.held'>;

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
    session: z.string().nullable().meta({ description: 'null: the message is about no turn.' }),
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

const maxWebhookSecretLength = 1_000;

/** A secret of any scheme; the scheme validates it (`signatures/create-verifier.ts`). */
export const SigningSecret = z.string().min(1).max(maxWebhookSecretLength);

/** Fields of webhooks, schedules and subscriptions. */
export const TriggerShape = {
  name: ResourceName.optional().meta({ description: 'If given, equals the name in the path.' }),
  description: boundedText(limits.maxDescriptionBytes).optional(),
};

/** The callback of webhooks and schedules: results are sent to its URL, signed as in Standard Webhooks. */
export const CallbackShape = {
  callbackUrl: CallbackUrl.optional().meta({
    description: 'Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).',
  }),
  callbackSecret: SigningSecret.optional().meta({
    description: 'Write-only. Signs the callbacks; `whsec_` and base64. If absent in a later PUT, the current one stays.',
  }),
};

/**
 * Returns the milliseconds from the end of attempt number `attempt` (from 1) to the next; null: that was the last. A receiver's Retry-After
 * is followed up to the delay of the step after this one. `dice`: as in `DelayHints`.
 */
export function nextAttemptMs(attempt: number, retryAfterMs: number | null, dice: number): number | null {
  const steps: readonly number[] = limits.callbackRetriesMs;
  const step = steps[attempt - 1];
  if (step === undefined) return null;
  return delayOrAsked(step, { askedMs: retryAfterMs, maxAskedMs: steps[attempt] ?? step, dice });
}

const base64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Returns the keys that a Standard Webhooks secret signs with. `whsec_` and base64 is one key, as specified. Any other text, such as the
 * secret of another scheme, is a key by its bytes. If it is also valid base64, the reference libraries decode it (standardwebhooks: `new
 * Webhook('MfKQ…')`), so messages are signed with both keys: `webhook-signature` holds a list.
 */
export function signingKeys(secret: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(secret);
  if (secret.startsWith('whsec_')) return [base64Key(secret.slice('whsec_'.length)) ?? bytes];
  const decoded = base64Key(secret);
  return decoded === null ? [bytes] : [decoded, bytes];
}

function base64Key(text: string): Uint8Array | null {
  return base64.test(text) ? fromBase64(text) : null;
}

/** A subscription to notifications: of all turns of the workspace or of some agents, however they were started, and of held definitions. */
export const Subscription = z
  .strictObject({
    ...TriggerShape,
    url: CallbackUrl,
    secret: CallbackShape.callbackSecret.meta({
      description: 'Write-only. Signs the messages; `whsec_` and base64. Required at creation; if absent later, the current one stays.',
    }),
    events: z.array(TriggerEvent).min(1).optional().meta({ description: 'Absent: all events.' }),
    agents: z
      .array(ResourceName)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Only turns of these agents, and no messages about other things. Absent: all.' }),
    paused: z.boolean().optional().meta({ description: 'No new messages are sent.' }),
  })
  .meta({ id: 'Subscription', example: { url: 'https://example.com/moniker', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } });
export type Subscription = z.infer<typeof Subscription>;

/** The stored document; the secret is stored separately and encrypted. */
export type SubscriptionDocument = Omit<Subscription, 'secret'>;

/** What a session needs to decide whether to send a notification. */
export type SubscriptionHead = Pick<Subscription, 'events' | 'agents'>;

/**
 * Whether a subscription matches an event. Sessions check this before they send a notification, and the Catalog when it delivers it. `agent`
 * undefined: a turn without an agent, or another event; both match only subscriptions without an agent filter.
 */
export function matchesSubscription({ events, agents }: SubscriptionHead, type: TriggerEvent, agent: string | undefined): boolean {
  if (events !== undefined && !events.includes(type)) return false;
  return agents === undefined || (agent !== undefined && agents.includes(agent));
}
