import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { createCatalogClient } from '../../../../src/objects/catalog/client/catalog-client.ts';
import { createMasterKey } from '../../../../src/storage/keys/master-key.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { changeEnv, emptyWorkspace, testEnv } from '../../../storage/workspace.ts';
import { waitUntil } from '../../../wait-for.ts';

const next = 'the-next-master-key-0123456789abcdef';
const before = String(testEnv.MONIKER_MASTER_KEY);

/** A workspace with 60 secrets, which are more than one step, and its Catalog restarted with these keys. */
async function rotated(keys: Partial<typeof testEnv>) {
  const workspace = await emptyWorkspace();
  const { catalog, object, bindings } = workspace;
  for (let index = 0; index < 60; index += 1)
    await catalog.put('secret', `S${index}`, { value: `value ${index}`, hosts: ['api.example.com'] });
  await evictDurableObject(object);
  await changeEnv(object, keys);
  return { ...workspace, master: createCatalogClient(bindings, workspace.workspace) };
}

const sealedBy = async (object: DurableObjectStub): Promise<string[]> =>
  await runInDurableObject(object, (_instance, { storage }) =>
    storage.sql
      .exec<{ id: string }>('SELECT DISTINCT substr(sealed, 3, 8) AS id FROM documents WHERE sealed IS NOT NULL ORDER BY id')
      .toArray()
      .map(({ id }) => id),
  );

it('seals everything again, also in KV, and may be interrupted after any step', async () => {
  const { master, object, workspace, catalog } = await rotated({ MONIKER_MASTER_KEY: next, MONIKER_MASTER_KEY_PREVIOUS: before });
  const [oldId, newId] = await Promise.all([createMasterKey(before).id(), createMasterKey(next).id()]);
  expect(await sealedBy(object)).toEqual([oldId]);
  // A step whose result was lost is repeated.
  const first = await master.resealSome({ step: 0, after: '' });
  expect(first).toMatchObject({ done: 50, left: 10, unreadable: [] });
  expect(await master.resealSome({ step: 0, after: '' })).toMatchObject({ done: 0, left: 10, next: first.next });
  expect((await sealedBy(object)).sort()).toEqual([oldId, newId].sort());
  await master.startReseal();
  // The process dies, and starts with the same settings.
  await evictDurableObject(object);
  await changeEnv(object, { MONIKER_MASTER_KEY: next, MONIKER_MASTER_KEY_PREVIOUS: before });
  const state = await waitUntil(async () => {
    await runDurableObjectAlarm(object);
    const current = await master.masterKeyState();
    return current.reseal.status === 'running' ? null : current;
  });
  expect(state).toMatchObject({ current: newId, previous: oldId, retired: [oldId], reseal: { status: 'done', left: 0 } });
  expect(await sealedBy(object)).toEqual([newId]);
  expect(await testEnv.KV.get(kvKeys.published('secret', workspace, 'S7'))).toContain(`1.${newId}.`);
  expect((await catalog.get('secret', 'S7')).version).toBe(1);
});

it('keeps a value that was written meanwhile, and names those that no key opens', async () => {
  const { master, object, catalog } = await rotated({
    MONIKER_MASTER_KEY: next,
    MONIKER_MASTER_KEY_PREVIOUS: 'not-the-key-before-0123456789abcdef',
  });
  await catalog.put('secret', 'S0', { value: 'written again', hosts: ['api.example.com'] });
  const step = await master.resealSome({ step: 0, after: '' });
  expect(step).toMatchObject({ done: 0, left: 59 });
  expect(step.unreadable).toHaveLength(49);
  expect(step.unreadable).not.toContainEqual({ kind: 'secret', name: 'S0' });
  await master.startReseal();
  const state = await waitUntil(async () => {
    await runDurableObjectAlarm(object);
    const current = await master.masterKeyState();
    return current.reseal.status === 'running' ? null : current;
  });
  expect(state.reseal).toMatchObject({ status: 'failed', removableAt: null, left: 59 });
  expect(state.reseal.workspaces[0]?.unreadable).toHaveLength(20);
});
