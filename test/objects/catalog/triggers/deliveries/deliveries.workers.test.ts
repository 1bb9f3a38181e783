import { evictDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { Rendered } from '../../../../../src/core/triggers/delivery.ts';
import { triggerPrincipal } from '../../../../../src/core/triggers/trigger-principal.ts';
import type { NewDelivery } from '../../../../../src/ports/triggers.ts';
import { wire } from '../../../../../src/wiring/wire.ts';
import { emptyWorkspace, testEnv } from '../../../../storage/workspace.ts';
import { waitUntil } from '../../../../wait-for.ts';
import { takeErrors } from '../../../../service-errors.ts';

const hook = { kind: 'webhook', name: 'hook' } as const;

async function open() {
  const place = await emptyWorkspace();
  // In the same isolate as the objects, where a write is visible immediately.
  const { sessions, triggers, storedWork, catalog } = wire(testEnv);
  await place.catalog.put('agent', 'doer', { model: 'rehearsal/default' });
  await place.catalog.put('webhook', 'hook', { agent: 'doer', scheme: 'github', secret: 'shh', input: 'x' });
  const owner = triggerPrincipal(place.workspace, hook, 'doer');
  const delivery = async (id: string, sessionKey: string, agent = 'doer', turn = `turn-${id}`): Promise<NewDelivery> => {
    const rendered: Rendered = { sessionKey, input: `say ${id}`, warnings: [] };
    const session = await sessions.idOf(owner, sessionKey);
    return {
      trigger: hook,
      id,
      event: 'issues',
      payload: { text: '{"a":[1]}', isJson: true, headers: {} },
      verdict: { become: 'run', agent, session, turn, rendered },
    };
  };
  const own = storedWork({ workspace: place.workspace, keyId: 'root' });
  return { ...place, owner, sessions, triggers: triggers(place.workspace), storedWork: own, catalog: catalog(place.workspace), delivery };
}

it('a delivery becomes a turn of the announced session and id, and is followed to its end', async () => {
  const { triggers, delivery, sessions, owner } = await open();
  const accepted = await triggers.acceptDelivery(await delivery('1', 'key'));
  expect(accepted).toMatchObject({ status: 'pending', turn: 'turn-1', isRepeat: false });
  expect((await triggers.waitUntilDispatched(hook, '1', 5_000)).status).not.toBe('pending');
  const session = sessions.get(accepted.session ?? '');
  expect(await session.waitForAnswer(owner, 'turn-1')).toMatchObject({ status: 'completed', turn: 'turn-1' });
  await waitUntil(async () => (await triggers.delivery(hook, '1')).status === 'completed');
  expect(await triggers.acceptDelivery(await delivery('1', 'other key', 'doer', 'turn-of-repeat'))).toMatchObject({
    status: 'completed',
    session: accepted.session,
    turn: 'turn-1',
    isRepeat: true,
  });
  expect((await triggers.deliveries(hook, { limit: 5 })).items).toMatchObject([{ id: '1', repeats: 1, payload: { a: [1] } }]);
});

it('many concurrent deliveries with repeats become one turn each, in the order they were stored', async () => {
  const { triggers, delivery, sessions, owner } = await open();
  const all = await Promise.all(
    Array.from({ length: 60 }, (_, index) => delivery(String(index % 30), `session ${index % 3}`, 'doer', `turn-${index}`)),
  );
  const answers = await Promise.all(all.map((one) => triggers.acceptDelivery(one)));
  expect(answers.filter(({ isRepeat }) => !isRepeat)).toHaveLength(30);
  await waitUntil(async () => (await triggers.deliveries(hook, { limit: 50, status: 'completed' })).items.length === 30);
  const taken = (await triggers.deliveries(hook, { limit: 50 })).items.toReversed();
  for (const rest of [0, 1, 2]) {
    const session = await sessions.getByKey(owner, `session ${rest}`);
    const turns = (await session.messages(owner)).items.filter(({ role }) => role === 'user').map(({ turn }) => turn);
    expect(turns).toEqual(taken.filter(({ sessionKey }) => sessionKey === `session ${rest}`).map(({ turn }) => turn));
  }
});

it('a stored delivery is dispatched by the next object after eviction', async () => {
  const { triggers, delivery, object } = await open();
  await triggers.acceptDelivery(await delivery('1', 'key'));
  await evictDurableObject(object);
  await waitUntil(async () => (await triggers.delivery(hook, '1')).status === 'completed');
});

it('a missing agent is a failed delivery, which can be replayed after the agent is created', async () => {
  const { triggers, storedWork, delivery, catalog } = await open();
  const missing = await delivery('1', 'key', 'nobody');
  await triggers.acceptDelivery(missing);
  const failed = await triggers.waitUntilDispatched(hook, '1', 5_000);
  expect(failed).toMatchObject({ status: 'failed', reason: expect.stringContaining('nobody') });
  expect(takeErrors()).toMatchObject([{ message: 'the turn of a delivery could not start' }]);
  await catalog.put('agent', 'nobody', { model: 'rehearsal/default' });
  expect(await storedWork.replayDelivery(hook, '1', missing.verdict)).toMatchObject({ run: 2, status: 'pending' });
  await waitUntil(async () => (await triggers.delivery(hook, '1')).status === 'completed');
});

it('a trigger may use the agent of its document, and nothing after it is removed', async () => {
  const { catalog } = await open();
  expect(await catalog.keyRights('webhook:hook')).toEqual({ scopes: ['chat', 'tools'], agents: ['doer'] });
  await catalog.remove('webhook', 'hook');
  for (const id of ['webhook:hook', 'webhook:other', 'schedule:hook', 'webhook:', 'webhook', 'other:hook', 'webhook:hook:more'])
    expect(await catalog.keyRights(id), id).toBeNull();
});
