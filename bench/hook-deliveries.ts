/** Deliveries as GitHub signs them, each with its own id, for `webhooks.ts` and the minimal receiver. */
import { createHmac, randomUUID } from 'node:crypto';

export const hookSecret = 'bench-hook-secret-0123456789abcdef';

export type HookDelivery = { id: string; body: object; headers: Record<string, string> };

/** An issue of about 8 kB, like most payloads; `thread` is its session's name. */
export function hookDelivery(thread: string): HookDelivery {
  const id = randomUUID();
  const body = { action: 'opened', thread, issue: { number: 17, title: 'Crash at checkout', body: 'It crashes. '.repeat(650) } };
  const signature = createHmac('sha256', hookSecret).update(JSON.stringify(body)).digest('hex');
  return { id, body, headers: { 'x-github-event': 'issues', 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${signature}` } };
}
