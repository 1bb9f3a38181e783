/**
 * The points between a delivery and its turn. The events come as GitHub sends them, to a webhook of the cell, whose callbacks are
 * counted at the upstream. The payload of each is the tag of its script, which is also the agent's input.
 */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Failpoint } from '../../src/core/failpoint.ts';
import type { Answer } from '../e2e/service.ts';
import { cellOf, poll, tagOf, terminalMs, type Cell } from './cell.ts';
import { saidOnce } from './expectations.ts';
import { checkInvariants } from './invariants.ts';
import type { Lane } from './lane.ts';
import type { Reply } from './scripted-model.ts';

const secret = 'the secret of the crash tests';
const done = { text: 'That is all there is to say.' };

type Hook = {
  cell: Cell;
  /** Sends an event with the replies of the model to it; null when its response was lost. */
  send(id: string, replies: Reply[]): Promise<Answer | null>;
  again(id: string): Promise<Answer>;
  /** The delivery as the list of deliveries shows it. */
  delivery(id: string): Promise<Answer['json']>;
  /** Ids of the callbacks that arrived. */
  told(): (string | null)[];
};

/** Dies where a delivery is `object`'s: the Catalog's or its session's. Whatever the response, there is one turn and one callback. */
export function diesUnderDelivery(point: Failpoint, object: 'catalog' | 'session'): (lane: Lane) => Promise<void> {
  return async (lane) => {
    const hook = await openHook(lane, point);
    const { cell } = hook;
    const death = cell.arm(point, object === 'catalog' ? { object } : {});
    // When the Catalog dies, the turn stops after its first words in the meantime.
    const pause = object === 'catalog' ? { pause: death.over } : {};
    const answered = hook.send('event', [{ calls: [cell.post('a')], ...pause }, done]);
    await death.strike();
    const answer = await answered;
    // 504 tells the sender to send the event again.
    expect([null, 202, 504], answer?.text).toContain(answer?.status ?? null);
    const first = answer?.status === 202 ? answer : null;
    // What is stored is delivered without a request. The sender, which may not know, sends it again afterwards.
    await cell.ended({ turns: point === 'turn-ended-before-noted' ? 0 : 1 });
    await hasEndedWell(hook, 'event');
    const repeated = await hook.again('event');
    expect(repeated.json).toMatchObject({ session: cell.session, status: 'completed', repeated: true });
    expect(repeated.json.turn).toBe((await hook.delivery('event')).turn);
    if (first !== null) expect(first.json).toMatchObject({ session: cell.session, turn: repeated.json.turn });
    await isQuiet(hook);
    await checkInvariants(cell);
  };
}

async function hasEndedWell({ cell, delivery, told }: Hook, id: string): Promise<void> {
  await poll(async () => (await delivery(id)).status === 'completed', Date.now() + terminalMs);
  cell.said.push({ name: id, text: `#${cell.tag}.${id}#`, turn: (await delivery(id)).turn });
  expect(cell.effects('a')).toBe(1);
  // One more step when the first was interrupted.
  expect([2, 3]).toContain(cell.requests(id).length);
  await poll(async () => new Set(told()).size === cell.said.length, Date.now() + terminalMs);
}

/** Nothing is left that would start the turn again or repeat its callback. */
async function isQuiet({ cell, told, delivery }: Hook): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(new Set(told()).size, 'one callback for each turn').toBe(cell.said.length);
  expect(cell.effects('a')).toBe(1);
  expect(await delivery('event')).toMatchObject({ status: 'completed', run: 1 });
}

/** The first event creates the session; later ones go to it. */
async function openHook(lane: Lane, point: Failpoint): Promise<Hook> {
  const tag = tagOf(point);
  const name = `hook-${tag.slice(-8)}`;
  const callback = `told ${tag}`;
  const put = await lane.call('PUT', `/v1/webhooks/${name}`, {
    agent: 'doer',
    scheme: 'github',
    secret,
    session: 'the one',
    input: '{{tag}}',
    callbackUrl: lane.upstream.urlOf(callback),
  });
  expect(put.status, put.text).toBe(201);
  const post = (id: string): Promise<Answer> => {
    const body = JSON.stringify({ tag: `#${tag}.${id}#` });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push', 'x-github-delivery': `${tag}.${id}` };
    return lane.call('POST', `/hooks/default/${name}`, body, headers);
  };
  const delivery = async (id: string): Promise<Answer['json']> =>
    (await lane.call('GET', `/v1/webhooks/${name}/deliveries/${encodeURIComponent(`${tag}.${id}`)}`)).json;

  lane.model.script(`${tag}.first`, [done]);
  const first = await post('first');
  expect(first.status, first.text).toBe(202);
  const cell = cellOf(lane, tag, first.json.session);
  cell.said.push({ name: 'first', text: `#${tag}.first#`, turn: first.json.turn });
  await poll(async () => (await delivery('first')).status === 'completed', Date.now() + terminalMs);
  await saidOnce(cell, done.text);
  const told = (): (string | null)[] => lane.upstream.effects(callback).map(({ key }) => key);
  await poll(async () => told().length === 1, Date.now() + terminalMs);
  return {
    cell,
    delivery,
    told,
    again: post,
    send: (id, replies) => {
      lane.model.script(`${tag}.${id}`, replies);
      return post(id).catch(() => null);
    },
  };
}
