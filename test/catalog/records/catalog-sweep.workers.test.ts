/** What a workspace accumulates is deleted again: versions, editions in the Catalog and in KV, deleted documents, keys and sessions. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/core/limits.ts';
import { workspaceDocument } from '../../../src/ports/catalog.ts';
import { kvKeys } from '../../../src/storage/keys.ts';
import { wire } from '../../../src/wiring.ts';
import { emptyWorkspace, testEnv } from '../../storage/workspace.ts';

const dayMs = 24 * 60 * 60_000;
const many = 10_000;

async function open() {
  const parts = await emptyWorkspace();
  const { object, catalog } = parts;
  const sql = (query: string, ...values: (string | number)[]) =>
    runInDurableObject(object, (_instance, { storage }) => storage.sql.exec<Record<string, string | number>>(query, ...values).toArray());
  const count = async (table: string): Promise<number> => Number((await sql(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
  /** Runs the sweep as often as it is due at this time. */
  const sweepAt = async (time: number): Promise<void> => {
    for (let run = 0; run < 80; run += 1) {
      await sql("INSERT OR REPLACE INTO meta (key, value) VALUES ('sweep', '0')");
      vi.useFakeTimers({ toFake: ['Date'], now: time });
      await runDurableObjectAlarm(object);
      vi.useRealTimers();
      const due = await sql("SELECT value FROM meta WHERE key = 'sweep'");
      if (Number(due[0]?.value) > time + limits.publishIntervalMs * 60) return;
    }
  };
  const putToolset = (name: string, index: number) =>
    catalog.put('toolset', name, { tools: [{ tool: 'builtin.bash', name: `run_${index}`, aliases: [] }] });
  return { ...parts, sql, count, sweepAt, putToolset };
}

afterEach(() => void vi.useRealTimers());

describe('the sweep of a workspace', () => {
  it('keeps the newest versions and named ones, and deletes editions 30 days later, also in KV', async () => {
    const { workspace, catalog, count, sweepAt, putToolset, sql } = await open();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 3 } } });
    for (let index = 1; index <= 12; index += 1) await putToolset('daily', index);
    await catalog.put('agent', 'pinned', { model: 'rehearsal/default', instructions: 'Help.', toolset: 'daily@2' });
    const hashes = (await sql('SELECT version, hash FROM toolset_versions ORDER BY version')).map(({ hash }) => String(hash));
    await Promise.all(hashes.map((hash) => testEnv.KV.put(kvKeys.edition(workspace, hash), '{}')));
    const now = Date.now();
    await sweepAt(now);
    expect((await catalog.versions('daily', { limit: 50 })).items.map(({ version }) => version)).toEqual([12, 11, 10, 2]);
    expect(await count('editions')).toBe(12);
    await sweepAt(now + 29 * dayMs);
    expect(await count('editions')).toBe(12);
    await sweepAt(now + 31 * dayMs);
    expect([await count('editions'), await count('edition_chunks')]).toEqual([4, 4]);
    const left = await Promise.all(hashes.map(async (hash) => (await testEnv.KV.get(kvKeys.edition(workspace, hash))) !== null));
    expect(left).toEqual([false, true, ...Array.from({ length: 7 }, () => false), true, true, true]);
    expect((await catalog.pointer('daily', 2, false)).hash).toBe(hashes[1]);
  });

  it('keeps an edition that a version has again', async () => {
    const { count, sweepAt, putToolset, catalog } = await open();
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
    const { sql, count, sweepAt, catalog } = await open();
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

  it('deletes sessions that nobody used for as long as the workspace keeps them, and never without the setting', async () => {
    const { workspace, catalog, count, sweepAt } = await open();
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
    expect((await sessions.get(ids[3] ?? '').view(owner)).id).toBe(ids[3]);
    await expect(sessions.get(ids[0] ?? '').view(owner)).rejects.toMatchObject({ code: 'not_found' });
    await sweepAt(now + 60 * dayMs);
    expect(await count('sessions')).toBe(0);
  });

  it('deletes the edition of private tools with their key, also in KV', async () => {
    const { workspace, catalog, count, sweepAt, sql } = await open();
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

  it('continues after a KV that fails', async () => {
    const { catalog, count, sweepAt, putToolset, object } = await open();
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { versions: 2 } } });
    for (const index of [1, 2, 3, 4]) await putToolset('daily', index);
    const now = Date.now();
    await sweepAt(now);
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    await runInDurableObject(object, (instance) => {
      // `env` is protected outside of the object.
      const opened = instance as unknown as { env: typeof testEnv };
      opened.env = { ...opened.env, KV: { delete: () => Promise.reject(new Error('KV is down')) } as unknown as KVNamespace };
    });
    await sweepAt(now + 31 * dayMs);
    expect(await count('editions')).toBe(4);
    log.mockRestore();
    await runInDurableObject(object, (instance) => {
      const opened = instance as unknown as { env: typeof testEnv };
      opened.env = { ...opened.env, KV: testEnv.KV };
    });
    await sweepAt(now + 33 * dayMs);
    expect(await count('editions')).toBe(2);
  });
});
