/**
 * Many concurrent events to many sessions, with redeliveries: accepted events run once and in order, others are rejected with a
 * `Retry-After`.
 */
import { expect, it } from 'vitest';
import { selection } from '../selection.ts';
import { eventually } from './eventually.ts';
import { shareService } from './shared-service.ts';
import { deliver, signGitHub, type HookAnswer, type SignedDelivery } from './webhook-payloads.ts';

const secret = 'the secret of the burst';
const count = selection === 'all' ? 500 : 100;
const sessionCount = count / 10;
const service = shareService({});

type Listed = { id: string; status: string; session: string; turn: string; repeats: number };
type Message = { role: string; turn: string; parts: { text?: string }[] };

/** Sends as a webhook sender does: retries after the given `Retry-After`. */
async function sendUntilTaken(delivery: SignedDelivery): Promise<HookAnswer> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const answer = await deliver(service, 'burst', delivery);
    if (answer.status !== 429) return answer;
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds, 'Retry-After').toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
  throw new Error('rejected with 429 after 20 attempts');
}

async function readAll<T>(path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, json, text } = await service.call('GET', `${path}?limit=100${query}`);
    expect(status, text).toBe(200);
    items.push(...json.items);
    cursor = json.nextCursor;
  } while (cursor !== null);
  return items;
}

it('loses and duplicates none, and each session receives them in the order in which they were accepted', async () => {
  await service.call('PUT', '/v1/agents/burst', { model: 'rehearsal/default' });
  const hook = { agent: 'burst', scheme: 'github', secret, session: 'room {{room}}', input: '{{event}}' };
  const put = await service.call('PUT', '/v1/webhooks/burst', hook);
  expect(put.status, put.text).toBe(201);

  const deliveries = Array.from({ length: count }, (_, index) =>
    signGitHub(secret, 'push', { room: index % sessionCount, event: `event-${index}` }, `delivery-${index}`),
  );
  // Every fifth event is sent twice at the same time.
  const sent = deliveries.flatMap((delivery, index) => (index % 5 === 0 ? [delivery, delivery] : [delivery]));
  const answers = await Promise.all(sent.map(sendUntilTaken));
  expect(answers.filter(({ status }) => status !== 202).map(({ status, text }) => `${status} ${text}`)).toEqual([]);
  expect(answers.filter(({ json }) => json.repeated !== true)).toHaveLength(count);
  const named = new Map(answers.map(({ json }) => [json.delivery, `${json.session} ${json.turn}`]));
  expect(named.size).toBe(count);
  for (const { json } of answers)
    expect(`${json.session} ${json.turn}`, 'a redelivery gets the same response').toBe(named.get(json.delivery));

  for (const status of ['pending', 'running']) {
    await eventually(`nothing is ${status}`, async () => {
      const { json } = await service.call('GET', `/v1/webhooks/burst/deliveries?limit=1&status=${status}`);
      return json.items.length === 0 ? true : undefined;
    });
  }
  const ended = await readAll<Listed>('/v1/webhooks/burst/deliveries');
  expect(ended).toHaveLength(count);
  expect(ended.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(ended.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(sent.length - count);

  const bySession = Map.groupBy(ended.toReversed(), ({ session }) => session);
  expect(bySession.size).toBe(sessionCount);
  for (const [session, taken] of bySession) {
    const messages = await readAll<Message>(`/v1/sessions/${session}/messages`);
    const heard = messages.filter(({ role }) => role === 'user').map(({ turn, parts }) => `${turn} ${parts[0]?.text}`);
    expect(heard).toEqual(taken.map(({ turn, id }) => `${turn} ${id.replace('delivery', 'event')}`));
  }
});
