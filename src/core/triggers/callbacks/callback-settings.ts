/** The callback fields of documents: URL, signing secret and events. */
import { z } from 'zod';
import { limits } from '../../limits.ts';

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

/** The callback of webhooks and schedules: results are sent to its URL, signed as in Standard Webhooks. */
export const CallbackShape = {
  callbackUrl: CallbackUrl.optional().meta({
    description: 'Receives `turn.completed`, `turn.failed` and `approval.required` (Standard Webhooks).',
  }),
  callbackSecret: SigningSecret.optional().meta({
    description: 'Write-only. Signs the callbacks; `whsec_` and base64. If absent in a later PUT, the current one stays.',
  }),
};

export const TriggerEvent = z.enum(['turn.completed', 'turn.failed', 'approval.required']).meta({ id: 'TriggerEvent' });
export type TriggerEvent = z.infer<typeof TriggerEvent>;
