/** Senders of events for tests: their signatures, implemented independently of the product's own signing. */
import { createHmac } from 'node:crypto';
import type { Harness } from './harness.ts';

export const gitHubSecret = 'a secret that GitHub was given';

export const opened = {
  action: 'opened',
  issue: { number: 7, title: 'It breaks', body: 'Every time.' },
  repository: { full_name: 'acme/shop' },
};

/** A webhook `triage` for issues, unless changed. */
export async function putWebhook(harness: Harness, changes: Record<string, unknown> = {}, name = 'triage'): Promise<Response> {
  return await harness.send('PUT', `/v1/webhooks/${name}`, {
    agent: 'plain',
    scheme: 'github',
    secret: gitHubSecret,
    session: '{{repository.full_name}}#{{issue.number}}',
    input: 'Issue {{issue.number}}: {{issue.title}}',
    ...changes,
  });
}

export type Sent = { body: string; headers: Record<string, string> };

export function asGitHub(payload: unknown, { id = 'd-1', event = 'issues', secret = gitHubSecret } = {}): Sent {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    },
  };
}

export function asSlack(body: string, secret: string, seconds: number, contentType = 'application/json'): Sent {
  const signature = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex');
  const headers = { 'content-type': contentType, 'x-slack-request-timestamp': String(seconds), 'x-slack-signature': `v0=${signature}` };
  return { body, headers };
}

/** Sends without a key, as senders do. */
export async function deliver(harness: Harness, { body, headers }: Sent, path = '/hooks/default/triage'): Promise<Response> {
  return await harness.send('POST', path, body, { authorization: undefined, 'content-type': undefined, ...headers });
}
