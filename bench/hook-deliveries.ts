/** Deliveries as GitHub signs them, each with its own id, and what became of them. For `webhooks.ts`, the soak and the minimal receiver. */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './setup.ts';

export const hookSecret = 'bench-hook-secret-0123456789abcdef';

export type HookDelivery = { id: string; body: object; headers: Record<string, string> };

/** An issue of about 8 kB, like most payloads; `thread` is its session's name. */
export function hookDelivery(thread: string): HookDelivery {
  const id = randomUUID();
  const body = { action: 'opened', thread, issue: { number: 17, title: 'Crash at checkout', body: 'It crashes. '.repeat(650) } };
  const signature = createHmac('sha256', hookSecret).update(JSON.stringify(body)).digest('hex');
  return { id, body, headers: { 'x-github-event': 'issues', 'x-github-delivery': id, 'x-hub-signature-256': `sha256=${signature}` } };
}

export type DeliveryRow = { id: string; status: string; session: string | null; turn: string | null };

/** More than any of it takes: what has not ended by then is stuck. */
const drainMs = 180_000;

/** Waits until none is pending or running; returns all of them. */
export async function untilSettled(api: Api, webhook: string): Promise<DeliveryRow[]> {
  const deadline = performance.now() + drainMs;
  for (;;) {
    const open = await Promise.all(
      ['pending', 'running'].map((status) =>
        api.send<{ items: DeliveryRow[] }>('GET', `/v1/webhooks/${webhook}/deliveries?status=${status}&limit=1`),
      ),
    );
    if (open.every(({ items }) => items.length === 0)) return listAll(api, `/v1/webhooks/${webhook}/deliveries`);
    if (performance.now() > deadline) throw new Error(`deliveries of ${webhook} have not ended after ${drainMs / 1000} s`);
    await sleep(100);
  }
}

export async function countInputs(api: Api, sessions: ReadonlySet<string>): Promise<number> {
  let count = 0;
  for (const session of sessions) {
    const messages = await listAll<{ role: string }>(api, `/v1/sessions/${session}/messages`);
    count += messages.filter(({ role }) => role === 'user').length;
  }
  return count;
}

async function listAll<Item = DeliveryRow>(api: Api, path: string): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: Item[]; nextCursor: string | null } = await api.send('GET', `${path}?limit=100${more}`);
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}
