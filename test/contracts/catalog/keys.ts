/** The contract of keys: their rights until they are revoked, their list, and the root key. */
import { beforeEach, describe, expect, it } from 'vitest';
import { pages, refusal, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function keysContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  let rootKey: CatalogParts['rootKey'];
  beforeEach(async () => {
    ({ workspace, catalog, directory, rootKey } = await make());
  });

  describe('keys', () => {
    it('have the rights they were created with, until they are revoked', async () => {
      const { key, record } = await catalog.createKey({ name: 'ci', scopes: ['tools'], toolsets: ['support'] });
      expect(key).toMatch(/^mk_[a-z0-9-]+_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}$/);
      expect(key.startsWith(`mk_${workspace}_`)).toBe(true);
      expect(record).toMatchObject({ name: 'ci', scopes: ['tools'], toolsets: ['support'], revokedAt: null, expiresAt: null });
      expect(await directory.principal(key)).toEqual({ workspace, keyId: record.id, scopes: ['tools'], toolsets: ['support'] });
      await catalog.revokeKey(record.id);
      const refused = await refusal(directory.principal(key));
      expect(refused).toMatchObject({ code: 'unauthenticated', extra: { reason: 'revoked' } });
      await expect(catalog.revokeKey('nothing')).rejects.toMatchObject({ code: 'not_found' });
      await expect(catalog.revokeKey('root')).rejects.toMatchObject({ code: 'conflict' });
    });

    it('give what was made with them their rights, until they are revoked; what the root key made needs its proof', async () => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const { record } = await catalog.createKey({ name: 'phone', scopes: ['chat', 'approve'], expiresAt });
      const { record: admin } = await catalog.createKey({ name: 'boss', scopes: ['admin'] });
      const at = Date.now();
      expect(await catalog.originRights({ keyId: record.id, at })).toEqual({ scopes: ['chat', 'approve'] });
      expect(await catalog.originRights({ keyId: admin.id, at })).toEqual({ scopes: ['admin'] });
      await catalog.revokeKey(record.id);
      expect(await catalog.originRights({ keyId: record.id, at })).toBeNull();
      expect(await catalog.originRights({ keyId: 'nothing', at })).toBeNull();
      for (const keyId of ['root', 'user-root'])
        for (const forged of [{}, { rootProof: '' }, { rootProof: 'forged' }])
          expect(await catalog.originRights({ keyId, at, ...forged })).toBeNull();
    });

    it('have the rights that they were created with, until they are revoked; the root key has all', async () => {
      const { record } = await catalog.createKey({ name: 'shop', scopes: ['toolsets'], toolsets: ['shop'], agents: ['clerk'] });
      expect(await catalog.keyRights(record.id)).toEqual({ scopes: ['toolsets'], toolsets: ['shop'], agents: ['clerk'] });
      await catalog.revokeKey(record.id);
      expect(await catalog.keyRights(record.id)).toBeNull();
      expect(await catalog.keyRights('nothing')).toBeNull();
      expect((await catalog.keyRights('root'))?.scopes).toContain('admin');
      expect(await catalog.keyRights('root')).not.toHaveProperty('toolsets');
    });

    it('are listed newest first, without the keys', async () => {
      const made: string[] = [];
      for (const name of ['one', 'two', 'three']) made.push((await catalog.createKey({ name, scopes: ['chat'] })).key);
      const listed = await pages((page) => catalog.keys(page), 2);
      expect(listed.map(({ name }) => name)).toEqual(['three', 'two', 'one']);
      for (const key of made) expect(JSON.stringify(listed)).not.toContain(key);
    });

    it('may not have expired when created, nor have unknown scopes', async () => {
      await expect(catalog.createKey({ name: 'late', scopes: ['chat'], expiresAt: '2001-01-01T00:00:00Z' })).rejects.toMatchObject({
        code: 'invalid_request',
      });
      // A caller of the port may pass on unvalidated input.
      const body = JSON.parse('{"name": "x", "scopes": ["owner"], "workspace": "other"}');
      const problem = await refusal(catalog.createKey(body));
      expect(problem.extra.issues).toEqual(
        expect.arrayContaining([expect.objectContaining({ path: 'scopes[0]' }), expect.objectContaining({ path: 'workspace' })]),
      );
    });

    it('include the root key, with every right', async () => {
      expect(await directory.principal(rootKey)).toMatchObject({
        workspace: 'default',
        keyId: 'root',
        scopes: expect.arrayContaining(['admin']),
      });
      await expect(directory.principal('')).rejects.toMatchObject({ code: 'unauthenticated', extra: { reason: 'missing' } });
      await expect(directory.principal(`${rootKey.slice(0, -1)}!`)).rejects.toMatchObject({ code: 'unauthenticated' });
    });
  });
}
