/** What was accepted when its trigger, subscription or agent is deleted: it is counted, listed and not run. */
import { describe, expect, it } from 'vitest';
import { createErasures } from '../../../../src/objects/catalog/records/erasure.ts';
import { removeDocument } from '../../../../src/objects/catalog/documents/write-document.ts';
import { agentWriter } from '../../../../src/objects/catalog/documents/agents.ts';
import { acceptDelivery } from '../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { listDeliveries, listWebhookDeliveries } from '../../../../src/objects/catalog/triggers/deliveries/delivery-list.ts';
import { openCallbacks, refused, secret } from '../triggers/callbacks/callbacks-of.ts';
import { hook, nightly, openLife, run, storeDocument } from '../triggers/deliveries/deliveries-of.ts';

const webhook = { agent: 'doer', scheme: 'bearer', secret: 'a secret of a webhook 0123', input: 'go' };

function changes({ context }: ReturnType<typeof openCallbacks>): unknown[] {
  const rows = context.sql.exec<{ entry: string }>('SELECT entry FROM audit_log ORDER BY number').toArray();
  return rows.map(({ entry }) => JSON.parse(entry)).filter(({ action }) => action === 'delete');
}

async function openWebhook() {
  const room = openCallbacks();
  await room.put('webhook', 'hook', webhook);
  const storage = { context: room.context, advance: () => 0 };
  return { room, storage };
}

describe('a deleted webhook', () => {
  it('cancels and lists every delivery that had not begun, says so, and erases their payloads', async () => {
    const { room, storage } = await openWebhook();
    const { context } = room;
    for (let index = 0; index < 164; index += 1) acceptDelivery(context, run(`d${index}`, 'one', { text: '{"canary":1}' }));
    const warnings = await room.remove('webhook', 'hook');
    expect(warnings).toContainEqual({ path: 'deliveries', message: expect.stringContaining('164 accepted and not begun') });
    expect(changes(room)).toMatchObject([{ resource: 'webhook', name: 'hook', dropped: { deliveries: 164, callbacks: 0 } }]);
    for (const erasures = createErasures(context); erasures.nextDue() !== null; ) await erasures.runDue();
    const { items } = listWebhookDeliveries(context, { limit: 200 });
    expect(items).toHaveLength(164);
    for (const item of items)
      expect(item).toMatchObject({ status: 'cancelled', reason: expect.stringContaining('deleted'), sessionKey: null });
    expect(context.sql.exec('SELECT 1 FROM delivery_parts').toArray()).toEqual([]);
    const life = openLife(storage);
    life.dispatcher.kick();
    await life.quiet();
    expect(life.tried).toEqual([]);
    expect(life.dispatcher.nextDue()).toBeNull();
  });

  it('says that a delivery may have begun which was on its way to its session', async () => {
    const { room } = await openWebhook();
    acceptDelivery(room.context, run('1'));
    room.context.sql.exec('UPDATE deliveries SET attempts = 1');
    await room.remove('webhook', 'hook');
    expect(listWebhookDeliveries(room.context, { limit: 5 }).items[0]?.reason).toContain('may have begun');
  });

  it('names the turns that go on, and erases what had ended', async () => {
    const { room } = await openWebhook();
    for (const id of ['ended', 'running']) acceptDelivery(room.context, run(id));
    room.context.sql.exec("UPDATE deliveries SET status = 'completed', ended_at = 1, due_at = NULL WHERE id = 'ended'");
    room.context.sql.exec("UPDATE deliveries SET status = 'running', due_at = NULL WHERE id = 'running'");
    expect(await room.remove('webhook', 'hook')).toEqual([{ path: 'turns', message: expect.stringMatching(/^1 begun by it/) }]);
    expect(changes(room)[0]).not.toHaveProperty('dropped');
    expect(listWebhookDeliveries(room.context, { limit: 5 }).items).toEqual([]);
  });

  it('runs a delivery that is sent again to a new webhook of the name', async () => {
    const { room, storage } = await openWebhook();
    acceptDelivery(room.context, run('1'));
    await room.remove('webhook', 'hook');
    await room.put('webhook', 'hook', webhook);
    expect(acceptDelivery(room.context, run('1', '1', { turn: 'another' }))).toMatchObject({ status: 'pending', isRepeat: false });
    expect(acceptDelivery(room.context, run('1', '1', { turn: 'third' }))).toMatchObject({ isRepeat: true });
    expect(listDeliveries(room.context, hook, { limit: 5 }).items).toHaveLength(1);
    const life = openLife(storage);
    life.dispatcher.kick();
    await life.quiet();
    expect(life.begun.map(({ turn }) => turn)).toEqual(['another']);
  });
});

it('a deleted schedule names its runs that wait', async () => {
  const room = openCallbacks();
  await room.put('schedule', 'nightly', { agent: 'doer', input: 'go', interval: '1h' });
  for (const id of ['1', '2']) acceptDelivery(room.context, run(id, 'one', { trigger: nightly, isQueued: true }));
  expect(await room.remove('schedule', 'nightly')).toContainEqual({ path: 'deliveries', message: expect.stringMatching(/^2 accepted/) });
  expect(changes(room)).toMatchObject([{ dropped: { deliveries: 2, callbacks: 0 } }]);
});

it('a deleted subscription names the messages that are not delivered', async () => {
  const room = openCallbacks();
  await room.subscribe('one');
  room.outcomes = [refused, refused];
  for (const _message of [1, 2]) room.tell();
  await room.untilSent(2);
  await room.quiet();
  expect(await room.remove('subscription', 'one')).toEqual([{ path: 'callbacks', message: expect.stringMatching(/^2 not delivered yet/) }]);
  expect(changes(room)).toMatchObject([{ dropped: { deliveries: 0, callbacks: 2 } }]);
});

it('a deleted agent names the deliveries that fail without it', async () => {
  const { room, storage } = await openWebhook();
  storeDocument(storage, 'agent', 'doer', { model: 'a/b' }, 0);
  acceptDelivery(room.context, run('1'));
  const warnings = await removeDocument(room.context, agentWriter, { kind: 'agent', name: 'doer', options: {}, by: 'root' });
  expect(warnings).toContainEqual({ path: 'deliveries', message: expect.stringMatching(/^1 accepted and not begun fail/) });
});

it('a deletion of what nothing was accepted for says nothing', async () => {
  const room = openCallbacks();
  await room.subscribe('one');
  await room.put('webhook', 'hook', { ...webhook, callbackUrl: 'https://a.example.net', callbackSecret: secret });
  expect([await room.remove('subscription', 'one'), await room.remove('webhook', 'hook')]).toEqual([[], []]);
  for (const change of changes(room)) expect(change).not.toHaveProperty('dropped');
});
