/** What documents say of messages to somebody outside: where they go, what signs them, and which there are. */
import { z } from 'zod';
import { limits } from '../../limits.ts';

/** Of any scheme; what it must be is the scheme's own word (`signatures/create-verifier.ts`). */
export const SigningSecret = z.string().min(1).max(limits.maxWebhookSecretLength);

/** Where signed messages go. The guard has its word when they are sent. */
export const CallbackUrl = z
  .url({ protocol: /^https?$/, error: 'must be a whole address that begins with https:// or http://' })
  .max(limits.maxUrlLength)
  .refine(
    (text) => {
      const url = URL.parse(text);
      return url === null || (url.username === '' && url.password === '');
    },
    { message: 'must not hold a user name or password: what is sent is signed instead' },
  );

/** Where answers go: to an address of its own, signed as Standard Webhooks are. The same for webhooks and schedules. */
export const CallbackShape = {
  callbackUrl: CallbackUrl.optional().meta({
    description: 'Is sent `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).',
  }),
  callbackSecret: SigningSecret.optional().meta({
    description: 'Write-only. Signs callbacks: `whsec_` and base64. Left out on a later PUT, the one before stays.',
  }),
};

export const TriggerEvent = z.enum(['turn.completed', 'turn.failed', 'approval.required']).meta({ id: 'TriggerEvent' });
export type TriggerEvent = z.infer<typeof TriggerEvent>;
