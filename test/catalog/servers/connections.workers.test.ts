import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { createMasterKey } from '../../../src/storage/master-key.ts';
import { openValue } from '../../../src/storage/secret-box.ts';
import { emptyWorkspace } from '../../storage/workspace.ts';

const document = { kind: 'mcp', url: 'https://mcp.example.com/mcp', oauth: { per: 'user' } };
const tokens = { value: '{"accessToken":"a token of ada"}', isConnected: true };

async function connected(...keys: string[]) {
  const workspace = await emptyWorkspace();
  const { catalog } = workspace;
  await catalog.put('server', 'docs', document);
  for (const key of keys) expect(await catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, key)).toBe(true);
  const rows = () =>
    runInDurableObject(workspace.object, (_instance, { storage }) =>
      storage.sql.exec<{ key_id: string; sealed: string }>('SELECT key_id, sealed FROM connections ORDER BY key_id').toArray(),
    );
  return { ...workspace, rows };
}

describe('connections of users', () => {
  it('are sealed for the user and the server, and listed without their content', async () => {
    const { catalog, settings, workspace, rows } = await connected('user-ada');
    const [{ sealed } = { sealed: '' }] = await rows();
    expect(sealed).not.toContain('token');
    const master = createMasterKey(settings.masterKey);
    const place = { workspace, kind: 'connection', name: 'docs user-ada' } as const;
    expect(await openValue(master, place, sealed)).toBe(tokens.value);
    for (const other of [
      { ...place, name: 'docs user-bob' },
      { ...place, name: 'other user-ada' },
      { ...place, workspace: 'other' },
      { ...place, kind: 'grant' as const, name: 'docs' },
    ]) {
      await expect(openValue(master, other, sealed)).rejects.toMatchObject({ code: 'internal' });
    }
    expect(await catalog.connections('docs', { limit: 10 })).toEqual({
      items: [{ keyId: 'user-ada', connectedAt: expect.any(String) }],
      nextCursor: null,
    });
    expect(await catalog.serverGrant('docs', 'user-bob')).toEqual({ value: null, revision: 0 });
    expect(await catalog.serverGrant('docs')).toEqual({ value: null, revision: 0 });
  });

  it('are written by one of several concurrent writers, and never by one that read an ended connection', async () => {
    const { catalog } = await connected();
    const writers = Array.from({ length: 10 }, (_, index) =>
      catalog.saveServerGrant('docs', { value: `of ${index}`, revision: 0, isConnected: true }, 'k1'),
    );
    expect((await Promise.all(writers)).filter((one) => one)).toHaveLength(1);
    const { revision } = await catalog.serverGrant('docs', 'k1');
    expect(await catalog.saveServerGrant('docs', { value: null, revision }, 'k1')).toBe(true);
    expect(await catalog.serverGrant('docs', 'k1')).toEqual({ value: null, revision: 0 });
    expect(await catalog.saveServerGrant('docs', { ...tokens, revision }, 'k1')).toBe(false);
    expect(await catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, 'k1')).toBe(true);
    expect((await catalog.serverGrant('docs', 'k1')).revision).toBeGreaterThan(1_000_000);
  });

  it('are paged by key', async () => {
    const { catalog } = await connected('a', 'b', 'c');
    const first = await catalog.connections('docs', { limit: 2 });
    expect(first.items.map(({ keyId }) => keyId)).toEqual(['a', 'b']);
    const next = await catalog.connections('docs', { limit: 2, cursor: first.nextCursor ?? '' });
    expect([next.items.map(({ keyId }) => keyId), next.nextCursor]).toEqual([['c'], null]);
  });

  it('end with their key, and with the server, its URL or its client', async () => {
    const { catalog, rows } = await connected('user-ada');
    const { record } = await catalog.createKey({ name: 'app', scopes: ['chat'] });
    await catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, record.id);
    await catalog.revokeKey(record.id);
    expect((await rows()).map(({ key_id }) => key_id)).toEqual(['user-ada']);
    await catalog.put('server', 'docs', { ...document, trusted: true });
    expect(await rows()).toHaveLength(1);
    await catalog.put('server', 'docs', { ...document, url: 'https://other.example.com/mcp' });
    expect(await rows()).toEqual([]);
    await catalog.saveServerGrant('docs', { ...tokens, revision: 0 }, 'user-ada');
    await catalog.remove('server', 'docs');
    expect(await rows()).toEqual([]);
  });
});
