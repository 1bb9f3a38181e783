/**
 * The senders' own libraries as reference verifiers. Slack's follows its documentation
 * (api.slack.com/authentication/verifying-requests-from-slack). Also one signer per sender, which uses `node:crypto` and shares no code
 * with the tested code.
 */
import { createHmac } from 'node:crypto';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { vi } from 'vitest';
import type { VectorScheme } from '../webhook-vectors.ts';

/** `now`: seconds. Header names are lower-case. */
export type Sent = { secret: string; body: string; headers: Record<string, string>; now: number };

export type Signed = { secret: string; id: string; time: string; body: string };

/** The library's verdict. An exception is a rejection. */
export const references: Record<VectorScheme, (sent: Sent) => Promise<boolean>> = {
  async standard({ secret, body, headers, now }) {
    // The library reads the clock and accepts no other time.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now * 1000);
    try {
      return await agrees(() => new StandardWebhook(secret).verify(body, headers, { jsonParse: false }));
    } finally {
      clock.mockRestore();
    }
  },
  async github({ secret, body, headers }) {
    try {
      return await verifyGithub(secret, body, headers['x-hub-signature-256'] ?? '');
    } catch {
      // It throws if a part is missing.
      return false;
    }
  },
  async stripe({ secret, body, headers, now }) {
    const { signature } = Stripe.webhooks;
    if (signature === null) throw new Error('This build of the library verifies nothing.');
    return await agrees(() => signature.verifyHeader(body, headers['stripe-signature'] ?? '', secret, 300, undefined, now * 1000));
  },
  async slack({ secret, body, headers, now }) {
    const time = headers['x-slack-request-timestamp'];
    if (time === undefined || !(Math.abs(now - Number.parseFloat(time)) <= 300)) return false;
    return headers['x-slack-signature'] === senders.slack({ secret, id: '', time, body })['x-slack-signature'];
  },
};

async function agrees(verify: () => unknown): Promise<boolean> {
  try {
    verify();
    return true;
  } catch {
    // These libraries reject by throwing.
    return false;
  }
}

export const senders: Record<VectorScheme, (signed: Signed) => Record<string, string>> = {
  standard: ({ secret, id, time, body }) => ({
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${digest(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), `${id}.${time}.${body}`, 'base64')}`,
  }),
  github: ({ secret, body }) => ({ 'x-hub-signature-256': `sha256=${digest(secret, body, 'hex')}` }),
  stripe: ({ secret, time, body }) => ({ 'stripe-signature': `t=${time},v1=${digest(secret, `${time}.${body}`, 'hex')}` }),
  slack: ({ secret, time, body }) => ({
    'x-slack-request-timestamp': time,
    'x-slack-signature': `v0=${digest(secret, `v0:${time}:${body}`, 'hex')}`,
  }),
};

function digest(key: string | Buffer, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}
