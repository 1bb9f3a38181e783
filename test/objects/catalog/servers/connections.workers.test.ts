import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { userIdOf } from '../../../../src/core/people/person.ts';
import { keyIdOfUser } from '../../../../src/core/people/principal.ts';
import { createMasterKey } from '../../../../src/storage/keys/master-key.ts';
import { openValue } from '../../../../src/storage/keys/secret-box.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';

const document = { kind: 'mcp', url: 'https://mcp.example.com/mcp', oauth: { per: 'user' } };
const tokens = { value: '{"accessToken":"a token of ada"}', isConnected: true };

async function connected() {
  const workspace = await emptyWorkspace();
  const { catalog } = workspace;
  await catalog.put('server', 'docs', document);
  await catalog.put('member', 'ada', { email: 'ada@example.com', role: 'user' });
  const ada = keyIdOfUser(await userIdOf('ada@example.com'));
  const rows = () =>
    runInDurableObject(workspace.object, (_instance, { storage }) =>
      storage.sql.exec<{ key_id: string; sealed: string }>('SELECT key_id, sealed FROM connections ORDER BY key_id').toArray(),
    );
  const newKey = async (): Promise<string> => (await catalog.createKey({ name: 'app', scopes: ['chat'] })).record.id;
  const connect = async (...keys: string[]): Promise<void> => {
    for (const key of keys) expect(await catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, key)).toBe(true);
  };
  return { ...workspace, rows, ada, newKey, connect };
}

describe('connections of users', () => {
  it('are sealed for the user and the server, and listed without their content', async () => {
    const { catalog, settings, workspace, rows, ada, connect } = await connected();
    await connect(ada);
    const [{ sealed } = { sealed: '' }] = await rows();
    expect(sealed).not.toContain('token');
    const master = createMasterKey(settings.masterKey);
    const place = { workspace, kind: 'connection', name: `docs ${ada}` } as const;
    expect(await openValue(master, place, sealed)).toBe(tokens.value);
    for (const other of [
      { ...place, name: 'docs user-bob' },
      { ...place, name: `other ${ada}` },
      { ...place, workspace: 'other' },
      { ...place, kind: 'grant' as const, name: 'docs' },
    ]) {
      await expect(openValue(master, other, sealed)).rejects.toMatchObject({ code: 'internal' });
    }
    expect(await catalog.connections('docs', { limit: 10 })).toEqual({
      items: [{ keyId: ada, connectedAt: expect.any(String) }],
      nextCursor: null,
    });
    expect(await catalog.serverGrant('docs', 'user-bob')).toEqual({ value: null, revision: 0 });
    expect(await catalog.serverGrant('docs')).toEqual({ value: null, revision: 0 });
  });

  it('are written by one of several concurrent writers, and never by one that read an ended connection', async () => {
    const { catalog, newKey } = await connected();
    const k1 = await newKey();
    const writers = Array.from({ length: 10 }, (_, index) =>
      catalog.saveServerGrant('docs', { value: `of ${index}`, revision: 0, isConnected: true }, k1),
    );
    expect((await Promise.all(writers)).filter((one) => one)).toHaveLength(1);
    const { revision } = await catalog.serverGrant('docs', k1);
    expect(await catalog.saveServerGrant('docs', { value: null, revision }, k1)).toBe(true);
    expect(await catalog.serverGrant('docs', k1)).toEqual({ value: null, revision: 0 });
    expect(await catalog.saveServerGrant('docs', { ...tokens, revision }, k1)).toBe(false);
    expect(await catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, k1)).toBe(true);
    expect((await catalog.serverGrant('docs', k1)).revision).toBeGreaterThan(1_000_000);
  });

  it('are paged by key', async () => {
    const { catalog, newKey, connect } = await connected();
    const [a, b, c] = [await newKey(), await newKey(), await newKey()].sort() as [string, string, string];
    await connect(a, b, c);
    const first = await catalog.connections('docs', { limit: 2 });
    expect(first.items.map(({ keyId }) => keyId)).toEqual([a, b]);
    const next = await catalog.connections('docs', { limit: 2, cursor: first.nextCursor ?? '' });
    expect([next.items.map(({ keyId }) => keyId), next.nextCursor]).toEqual([[c], null]);
  });

  it('end with their key, and with the server, its URL or its client', async () => {
    const { catalog, rows, ada, newKey, connect } = await connected();
    const key = await newKey();
    await connect(ada, key);
    await catalog.revokeKey(key);
    expect((await rows()).map(({ key_id }) => key_id)).toEqual([ada]);
    await catalog.put('server', 'docs', { ...document, trusted: true });
    expect(await rows()).toHaveLength(1);
    await catalog.put('server', 'docs', { ...document, url: 'https://other.example.com/mcp' });
    expect(await rows()).toEqual([]);
    await connect(ada);
    await catalog.remove('server', 'docs');
    expect(await rows()).toEqual([]);
  });

  it('end with the membership of the person, or its email, and cannot begin afterwards', async () => {
    const { catalog, rows, ada, connect } = await connected();
    await connect(ada);
    await catalog.put('member', 'ada', { email: 'ada@example.com', role: 'editor' });
    expect(await rows()).toHaveLength(1);
    await catalog.put('member', 'ada', { email: 'lovelace@example.com', role: 'user' });
    expect(await rows()).toEqual([]);
    const late = catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, ada);
    await expect(late).rejects.toMatchObject({ code: 'forbidden' });
    const lovelace = keyIdOfUser(await userIdOf('lovelace@example.com'));
    await connect(lovelace);
    await catalog.remove('member', 'ada');
    expect(await rows()).toEqual([]);
  });
});
