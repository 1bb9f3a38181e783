/** What a workspace accumulates is deleted again: versions, editions in the Catalog and in KV, deleted documents, keys and sessions. */
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { workspaceDocument } from '../../../../src/ports/catalog.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { wire } from '../../../../src/wiring/wire.ts';
import { changeEnv, testEnv } from '../../../storage/workspace.ts';
import { dayMs, openForSweeps } from './sweep-room.ts';
import { takeErrors } from '../../../service-errors.ts';

const many = 10_000;

afterEach(() => void vi.useRealTimers());

describe('the sweep of a workspace', () => {
  it('keeps the newest versions and named ones, and deletes editions 30 days later, also in KV', async () => {
    const { workspace, catalog, count, sweepAt, putToolset, sql } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 3 } } });
    for (let index = 1; index <= 12; index += 1) await putToolset('daily', index);
    await catalog.put('agent', 'pinned', { model: 'rehearsal/default', instructions: 'Help.', toolset: 'daily@2' });
    await catalog.createKey({ name: 'bound', scopes: ['chat'], toolsets: ['daily@4', 'daily'] });
    const { record: revoked } = await catalog.createKey({ name: 'revoked', scopes: ['chat'], toolsets: ['daily@5'] });
    await catalog.revokeKey(revoked.id);
    await catalog.put('member', 'ana', { email: 'ana@example.com', role: 'user', toolsets: ['daily@6'] });
    const hashes = (await sql('SELECT version, hash FROM toolset_versions ORDER BY version')).map(({ hash }) => String(hash));
    await Promise.all(hashes.map((hash) => testEnv.KV.put(kvKeys.edition(workspace, hash), '{}')));
    const now = Date.now();
    await sweepAt(now);
    expect((await catalog.versions('toolset', 'daily', { limit: 50 })).items.map(({ version }) => version)).toEqual([12, 11, 10, 6, 4, 2]);
    expect(await count('editions')).toBe(12);
    await sweepAt(now + 29 * dayMs);
    expect(await count('editions')).toBe(12);
    await sweepAt(now + 31 * dayMs);
    expect([await count('editions'), await count('edition_chunks')]).toEqual([6, 6]);
    const left = await Promise.all(hashes.map(async (hash) => (await testEnv.KV.get(kvKeys.edition(workspace, hash))) !== null));
    expect(left.flatMap((isLeft, index) => (isLeft ? [index + 1] : []))).toEqual([2, 4, 6, 10, 11, 12]);
    expect((await catalog.pointer('daily', 2, false)).hash).toBe(hashes[1]);
  });

  it('keeps the newest versions of other documents', async () => {
    const { catalog, count, sweepAt } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 3 } } });
    const put = (index: number) => catalog.put('agent', 'daily', { model: 'rehearsal/default', instructions: `Help ${index}.` });
    for (let index = 1; index <= 8; index += 1) await put(index);
    await catalog.put('policy', 'workspace', { rules: [] });
    await catalog.put('policy', 'workspace', { rules: [{ decision: 'deny', tool: 'builtin.bash' }] });
    await sweepAt(Date.now());
    expect((await catalog.versions('agent', 'daily', { limit: 50 })).items.map(({ version }) => version)).toEqual([8, 7, 6]);
    expect((await catalog.versions('policy', 'workspace', { limit: 50 })).items).toHaveLength(2);
    expect((await catalog.get('agent', 'daily', 6)).body.instructions).toBe('Help 6.');
    expect(await count('document_versions')).toBe(3);
    await catalog.remove('agent', 'daily');
    expect(await count('document_versions')).toBe(1);
  });

  it('keeps an edition that a version has again', async () => {
    const { count, sweepAt, putToolset, catalog } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 2 } } });
    for (const index of [1, 2, 3]) await putToolset('daily', index);
    const now = Date.now();
    await sweepAt(now);
    await putToolset('daily', 1);
    await sweepAt(now + 31 * dayMs);
    const { hash } = await catalog.pointer('daily', undefined, false);
    expect(await catalog.editionText(hash)).toContain('run_1');
    expect(await count('editions')).toBeLessThanOrEqual(3);
  });

  it('deletes deleted documents and ended keys after their time, of thousands', async () => {
    const { sql, count, sweepAt, catalog } = await openForSweeps();
    await catalog.put('secret', 'kept', { value: 'v', hosts: ['api.example.com'] });
    const { record } = await catalog.createKey({ name: 'kept', scopes: ['chat'] });
    const before = [await count('documents'), await count('keys')];
    const now = Date.now();
    const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
    await sql(
      `${numbers} INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at) SELECT 'secret', 'gone-' || i, 2, 1, '{}', ?, ? FROM n`,
      many,
      now,
      now,
    );
    await sql(
      `${numbers} INSERT INTO keys (id, name, hash, scopes, created_at, revoked_at) SELECT 'gone-' || i, 'gone', '', '[]', ?, ? FROM n`,
      many,
      now,
      now,
    );
    await sweepAt(now + 80 * dayMs);
    expect([await count('documents'), await count('keys')]).toEqual(before.map((rows) => rows + many));
    await sweepAt(now + 100 * dayMs);
    expect([await count('documents'), await count('keys')]).toEqual(before);
    expect(await catalog.get('secret', 'kept')).toMatchObject({ version: 1 });
    expect((await catalog.key(record.id)).revokedAt).toBeNull();
  });

  it('deletes what keys made at providers when it expires, and with the key', async () => {
    const { catalog, count, sweepAt, sql } = await openForSweeps();
    const now = Date.now();
    const item = { kind: 'file', provider: 'p' } as const;
    await catalog.noteProviderItems([
      { ...item, id: 'a' },
      { ...item, id: 'b', expiresAt: now + dayMs },
      { ...item, id: 'c', state: 'deleted' },
    ]);
    const { record } = await catalog.createKey({ name: 'gone', scopes: ['chat'] });
    await sql("UPDATE provider_items SET key_id = ? WHERE id = 'a'", record.id);
    await sweepAt(now);
    expect(await count('provider_items')).toBe(3);
    await sweepAt(now + 2 * dayMs);
    expect(await sql('SELECT id FROM provider_items')).toEqual([{ id: 'a' }]);
    await catalog.revokeKey(record.id);
    await sweepAt(now + 100 * dayMs);
    expect(await count('provider_items')).toBe(0);
  });

  it('deletes sessions that were not used for as long as the workspace keeps them, and never without the setting', async () => {
    const { workspace, catalog, count, sweepAt, sql } = await openForSweeps();
    const owner = { workspace, keyId: 'k1', scopes: ['chat' as const] };
    const { sessions } = wire(testEnv);
    const ids: string[] = [];
    for (let index = 0; index < 25; index += 1) ids.push((await sessions.create(owner, { model: 'rehearsal/default', listed: true })).id);
    const now = Date.now();
    await sweepAt(now + 400 * dayMs);
    expect(await count('sessions')).toBe(25);
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { sessionDays: 30 } } });
    await sweepAt(now + 20 * dayMs);
    expect(await count('sessions')).toBe(25);
    vi.useFakeTimers({ toFake: ['Date'], now: now + 25 * dayMs });
    await sessions.get(ids[3] ?? '').writeFile(owner, 'notes.txt', new TextEncoder().encode('used'));
    vi.useRealTimers();
    await sweepAt(now + 31 * dayMs);
    expect(await count('sessions')).toBe(1);
    const entries = (await sql('SELECT entry FROM audit_log')).map(({ entry }) => JSON.parse(String(entry)));
    const deleted = entries.filter(({ resource }) => resource === 'session');
    expect(deleted.map(({ name, keyId }) => `${name} ${keyId}`).sort()).toEqual(
      ids
        .filter((_, index) => index !== 3)
        .map((id) => `${id} system`)
        .sort(),
    );
    expect((await sessions.get(ids[3] ?? '').view(owner)).id).toBe(ids[3]);
    await expect(sessions.get(ids[0] ?? '').view(owner)).rejects.toMatchObject({ code: 'not_found' });
    await sweepAt(now + 60 * dayMs);
    expect(await count('sessions')).toBe(0);
  });

  it('deletes the edition of private tools with their key, also in KV', async () => {
    const { workspace, catalog, count, sweepAt, sql } = await openForSweeps();
    const { record } = await catalog.createKey({ name: 'maker', scopes: ['tools', 'toolsets'] });
    const made = { description: 'Adds.', parameters: [], implementation: 'return 1;' };
    await catalog.put('private-tool', `${record.id}/made.sum`, made);
    const [edition] = await sql('SELECT hash FROM editions');
    const key = kvKeys.edition(workspace, String(edition?.hash));
    await testEnv.KV.put(key, '{}');
    await catalog.revokeKey(record.id);
    await sweepAt(Date.now());
    expect([await count('editions'), await count('edition_chunks'), await testEnv.KV.get(key)]).toEqual([0, 0, null]);
  });

  it('follows a wrong clock by two days per run, and deletes nothing early when the clock went back', async () => {
    const { catalog, count, sweepOnce, sweepAt, putToolset, sql } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 2, sessionDays: 30 } } });
    for (const index of [1, 2, 3]) await putToolset('daily', index);
    await catalog.put('secret', 'gone', { value: 'v', hosts: ['api.example.com'] });
    await catalog.remove('secret', 'gone');
    const { record } = await catalog.createKey({ name: 'gone', scopes: ['chat'] });
    await catalog.revokeKey(record.id);
    const sizes = async () => [await count('editions'), await count('documents'), await count('keys')];
    const now = Date.now();
    await sweepAt(now);
    const before = await sizes();
    const wrong = now + 4_000 * dayMs;
    for (let run = 0; run < 5; run += 1) await sweepOnce(wrong);
    expect(await sizes()).toEqual(before);
    await sql('UPDATE editions SET unused_since = ? WHERE unused_since IS NOT NULL', wrong);
    await sweepOnce(now + dayMs);
    expect(await sizes()).toEqual(before);
    await sweepAt(now + 33 * dayMs);
    expect(await sizes()).toEqual([2, before[1], before[2]]);
    await sweepAt(now + 92 * dayMs);
    expect(await sizes()).toEqual([2, (before[1] ?? 0) - 1, (before[2] ?? 0) - 1]);
  });

  it('keeps deleted toolsets while audit rows or agents name their versions', async () => {
    const { catalog, sweepAt, putToolset } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { auditDays: 200 } } });
    for (const name of ['audited', 'named']) await putToolset(name, 1);
    await catalog.put('agent', 'pinned', { model: 'rehearsal/default', instructions: 'Help.', toolset: 'named@1' });
    for (const name of ['audited', 'named']) await catalog.remove('toolset', name);
    const now = Date.now();
    await sweepAt(now + 199 * dayMs);
    expect((await catalog.versions('toolset', 'audited', { limit: 5 })).items).toHaveLength(2);
    await sweepAt(now + 201 * dayMs);
    await expect(catalog.versions('toolset', 'audited', { limit: 5 })).rejects.toMatchObject({ code: 'not_found' });
    expect((await catalog.versions('toolset', 'named', { limit: 5 })).items).toHaveLength(2);
    expect(await putToolset('named', 2)).toMatchObject({ document: { version: 3 } });
  });

  it('continues after the object died in the middle of a run', async () => {
    const { workspace, catalog, count, sweepOnce, sweepAt, setMeta, putToolset, object, sql } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 2 } } });
    for (let index = 1; index <= 12; index += 1) await putToolset('daily', index);
    const hashes = (await sql('SELECT hash FROM toolset_versions ORDER BY version')).map(({ hash }) => String(hash));
    await Promise.all(hashes.map((hash) => testEnv.KV.put(kvKeys.edition(workspace, hash), '{}')));
    const now = Date.now();
    await sweepAt(now);
    for (const died of [3, 4]) {
      let deletions = 0;
      const remove = async (key: string): Promise<void> => {
        deletions += 1;
        if (deletions === died) await new Promise(() => undefined);
        await testEnv.KV.delete(key);
      };
      await changeEnv(object(), { KV: { put: () => Promise.resolve(), delete: remove } as unknown as KVNamespace });
      await setMeta('sweep-time', now + 30 * dayMs);
      await sweepOnce(now + 31 * dayMs);
      expect(deletions).toBe(died);
      await runInDurableObject(object(), (_instance, state) => state.abort('the process dies')).catch(() => undefined);
    }
    const left = await count('editions');
    expect(left).toBe(12 - 2 - 3);
    await sweepAt(now + 33 * dayMs);
    expect(await count('editions')).toBe(2);
    const published = await Promise.all(hashes.map(async (hash) => (await testEnv.KV.get(kvKeys.edition(workspace, hash))) !== null));
    expect(published).toEqual([...Array.from({ length: 10 }, () => false), true, true]);
    const { hash } = await catalog.pointer('daily', undefined, false);
    expect(await catalog.editionText(hash)).toContain('run_12');
  });

  it('continues after a KV that fails', async () => {
    const { catalog, count, sweepAt, putToolset, object } = await openForSweeps();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 2 } } });
    for (const index of [1, 2, 3, 4]) await putToolset('daily', index);
    const now = Date.now();
    await sweepAt(now);
    await changeEnv(object(), {
      KV: { put: () => Promise.resolve(), delete: () => Promise.reject(new Error('KV is down')) } as unknown as KVNamespace,
    });
    await sweepAt(now + 31 * dayMs);
    expect(await count('editions')).toBe(4);
    expect(takeErrors().every(({ cause }) => String(cause).includes('KV is down'))).toBe(true);
    await changeEnv(object(), { KV: testEnv.KV });
    await sweepAt(now + 33 * dayMs);
    expect(await count('editions')).toBe(2);
  });
});
