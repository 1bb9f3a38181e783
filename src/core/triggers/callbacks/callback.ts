/**
 * Outgoing messages about turns (Standard Webhooks): the document fields that request them, their attempts and final state, the delay of a
 * retry, and the keys that sign them. `turn-notice.ts` has their bodies.
 */
import { z } from 'zod';
import { ResourceName } from '../../agent.ts';
import { limits } from '../../limits.ts';
import { boundedText } from '../../text/bounded-text.ts';
import { fromBase64 } from '../../text/bytes.ts';

export const TriggerEvent = z.enum(['turn.completed', 'turn.failed', 'approval.required']).meta({ id: 'TriggerEvent' });
export type TriggerEvent = z.infer<typeof TriggerEvent>;

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

const maxWebhookSecretLength = 1_000;

/** A secret of any scheme; the scheme validates it (`signatures/create-verifier.ts`). */
export const SigningSecret = z.string().min(1).max(maxWebhookSecretLength);

/** The URL of signed messages. The guard checks it when they are sent. */
export const CallbackUrl = z
  .url({ protocol: /^https?$/, error: 'must be an absolute URL that begins with https:// or http://' })
  .max(limits.maxUrlLength)
  .refine(
    (text) => {
      const url = URL.parse(text);
      return url === null || (url.username === '' && url.password === '');
    },
    { message: 'must not contain a user name or password: messages are signed instead' },
  );

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
 * is followed up to the delay of the step after this one, so that it can neither postpone a message forever nor bring it forward. `dice`:
 * from 0 to 1, spreads retries by up to a tenth.
 */
export function nextAttemptMs(attempt: number, retryAfterMs: number | null, dice: number): number | null {
  const steps: readonly number[] = limits.callbackRetriesMs;
  const step = steps[attempt - 1];
  if (step === undefined) return null;
  const asked = Math.min(retryAfterMs ?? 0, steps[attempt] ?? step);
  return Math.round(Math.max(step, asked) * (1 + dice / 10));
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
