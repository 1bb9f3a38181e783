/** Workspaces over the real registry: they are created, entered by the root key, used with their own keys, and unknown ones create nothing. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { mintKey } from '../../../src/storage/keys/key-crypto.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { readSettings } from '../../../src/core/people/settings.ts';
import { objectName } from '../../../src/storage/keys.ts';
import { testEnv } from '../../storage/workspace.ts';
import { send } from './real-service.ts';

const inside = (workspace: string) => ({ 'x-moniker-workspace': workspace });
const json = async (response: Response) => (await response.json()) as Record<string, unknown>;
const keyOf = async (workspace: string, scopes: string[] = ['admin']) => {
  const created = await send('POST', '/v1/keys', { name: 'test', scopes }, inside(workspace));
  expect(created.status).toBe(201);
  return { authorization: `Bearer ${(await json(created)).key}` };
};

describe('a workspace', () => {
  it('is created by PUT, and has keys and documents of its own', async () => {
    expect((await send('PUT', '/v1/workspaces/acme', {})).status).toBe(201);
    expect((await send('PUT', '/v1/workspaces/acme', {})).status).toBe(200);
    const key = await keyOf('acme');
    expect(key.authorization).toMatch(/^Bearer mk_acme_/);
    expect(await json(await send('GET', '/v1/me', undefined, key))).toMatchObject({ workspace: 'acme' });
    expect((await send('PUT', '/v1/toolsets/own', { tools: [{ tool: 'builtin.bash' }] }, key)).status).toBe(201);
    expect((await send('GET', '/v1/toolsets/own', undefined, inside('acme'))).status).toBe(200);
    expect((await send('GET', '/v1/toolsets/own')).status).toBe(404);
    const { items } = await json(await send('GET', '/v1/workspaces'));
    expect(items).toMatchObject([
      { name: 'acme', status: 'active', version: 1 },
      { name: 'default', status: 'active', createdAt: null },
    ]);
    const audit = await json(await send('GET', '/v1/audit?kind=change'));
    expect(audit.items).toMatchObject([{ action: 'create', resource: 'workspace', name: 'acme', keyId: 'root' }]);
  });

  it('is entered only by the root key, and only if it exists', async () => {
    await send('PUT', '/v1/workspaces/other', {});
    const key = await keyOf('other');
    for (const name of ['default', 'nowhere', 'other2'])
      expect((await send('GET', '/v1/toolsets', undefined, { ...key, ...inside(name) })).status).toBe(403);
    expect((await send('GET', '/v1/toolsets', undefined, { ...key, ...inside('other') })).status).toBe(200);
    for (const name of ['nowhere', 'No_Name', '', 'a'.repeat(300)])
      expect([name, (await send('GET', '/v1/toolsets', undefined, inside(name))).status]).toEqual([name, 404]);
  });

  it('is refused with a name that no key could have, and with conditions that do not hold', async () => {
    for (const name of ['A', 'a_b', '-a', 'a'.repeat(51), 'a%3Ab'])
      expect([name, (await send('PUT', `/v1/workspaces/${name}`, {})).status]).toEqual([name, 422]);
    expect((await send('PUT', '/v1/workspaces/fresh', {}, { 'if-match': '"1"' })).status).toBe(412);
    expect((await send('PUT', '/v1/workspaces/fresh', { settings: { nope: 1 } })).status).toBe(422);
    expect((await send('GET', '/v1/workspaces/fresh')).status).toBe(404);
    expect((await send('DELETE', '/v1/workspaces/fresh')).status).toBe(404);
    expect((await send('DELETE', '/v1/workspaces/default')).status).toBe(409);
  });

  it('is not created by a key with a valid signature', async () => {
    const master = createMasterKey(readSettings(testEnv).masterKey);
    const { key } = await mintKey(master, 'ghost');
    const refused = await send('GET', '/v1/me', undefined, { authorization: `Bearer ${key}` });
    expect([refused.status, (await json(refused)).reason]).toEqual([401, 'unknown']);
    const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('ghost', 'catalog', '')));
    const tables = await runInDurableObject(object, (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});
