import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { base62 } from '../../../src/core/people/key.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Problem } from '../../../src/core/problem.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import { refusal } from '../../contracts/catalog/workspace.ts';
import { createDirectory } from '../../../src/storage/published/directory.ts';
import { kvKeys } from '../../../src/storage/keys.ts';
import { publishedFormat, type PublishedValue } from '../../../src/storage/published-values.ts';
import { reverifyKeyMs } from '../../../src/storage/published/principals.ts';
import { emptyWorkspace, testEnv } from '../workspace.ts';
import { keyUseIntervalMs } from '../../../src/objects/catalog/keys/keys.ts';

/** Any call to the Catalog is a failure. */
const noCatalog = {
  CATALOG: {
    idFromName: () => {
      throw new Error('the Catalog was called');
    },
  } as unknown as DurableObjectNamespace,
};

describe('a key', () => {
  it('that was changed, cut, invented or created under another master key is refused without I/O for each', async () => {
    const none: PublishedValue<'retired-keys'> = { format: publishedFormat, version: 0, 'retired-keys': { sealed: null } };
    await testEnv.KV.put(kvKeys.published('retired-keys', 'default', ''), JSON.stringify(none));
    const { catalog, settings } = await emptyWorkspace();
    const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    const { directory } = await emptyWorkspace({ env: noCatalog, settings });
    const changed = [...key].map((character, index) => `${key.slice(0, index)}${character === 'x' ? 'y' : 'x'}${key.slice(index + 1)}`);
    const wrong = [
      ...changed,
      key.toUpperCase(),
      key.slice(0, 12),
      `${key}x`,
      ` ${key}`,
      key.replace(/_w/, '_x'),
      `mk_default_${'a'.repeat(12)}_${'b'.repeat(32)}`,
      "' OR '1'='1",
      "x'); DROP TABLE keys; --",
      'ключ',
      'null',
      'undefined',
      '__proto__',
      'x'.repeat(8000),
    ];
    for (const text of wrong) {
      const problem = await refusal(directory.principal(text));
      expect(problem).toMatchObject({ code: 'unauthenticated', status: 401 });
      expect(['malformed', 'forged']).toContain(problem.extra.reason);
    }
    const other = await emptyWorkspace({ env: noCatalog, settings: { masterKey: 'another-master-key-0123456789abcdef' } });
    expect(await refusal(other.directory.principal(key))).toMatchObject({ code: 'unauthenticated', extra: { reason: 'forged' } });
  });

  it('has at least 128 random bits', async () => {
    const { catalog } = await emptyWorkspace();
    const secrets = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
      secrets.add(key.split('_')[3]?.slice(0, 24) ?? '');
    }
    expect(secrets.size).toBe(20);
    expect(24 * Math.log2(base62.length)).toBeGreaterThanOrEqual(128);
  });

  it('is nowhere in storage: neither the key, nor its secret, nor an unkeyed hash of it', async () => {
    const { catalog, object } = await emptyWorkspace();
    const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    const dump = await runInDurableObject(object, (_instance, { storage }) =>
      JSON.stringify(storage.sql.exec('SELECT * FROM keys').toArray()),
    );
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
    const plainHash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    for (const secret of [key, key.split('_')[3] ?? '', key.slice(-32, -8), plainHash]) expect(dump).not.toContain(secret);
  });

  it('stops working when it expires, to the second, also where it was cached', async () => {
    const { catalog, directory, clock, object } = await emptyWorkspace();
    const { key, record } = await catalog.createKey({
      name: 'ci',
      scopes: ['chat'],
      expiresAt: new Date(clock.now() + 5_000).toISOString(),
    });
    await directory.principal(key);
    await clock.advance(4_999);
    await directory.principal(key);
    // The object has another clock, so its row is aged instead.
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec('UPDATE keys SET expires_at = 1 WHERE id = ?', record.id);
    });
    await clock.advance(1);
    expect(await refusal(directory.principal(key))).toMatchObject({ code: 'unauthenticated', extra: { reason: 'expired' } });
  });

  it('that was revoked is refused at once in that isolate, and elsewhere within the documented time', async () => {
    const { catalog, directory, isolate, clock } = await emptyWorkspace();
    const elsewhere = isolate();
    const { key, record } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    await directory.principal(key);
    await elsewhere.principal(key);
    await catalog.revokeKey(record.id);
    expect(await refusal(directory.principal(key))).toMatchObject({ code: 'unauthenticated', extra: { reason: 'revoked' } });
    expect(await refusal(isolate().principal(key))).toMatchObject({ code: 'unauthenticated' });
    await clock.advance(limits.principalTtlMs - 1);
    expect(await elsewhere.principal(key)).toMatchObject({ keyId: record.id });
    await clock.advance(1);
    expect(await refusal(elsewhere.principal(key))).toMatchObject({ code: 'unauthenticated', extra: { reason: 'revoked' } });
  });

  it('in use is verified again in the background, and refused at its end if it was revoked', async () => {
    const { catalog, settings, bindings, clock } = await emptyWorkspace();
    const work: Promise<unknown>[] = [];
    const elsewhere = createDirectory({ env: bindings, settings, clock, background: (started) => void work.push(started) });
    const { key, record } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    await elsewhere.principal(key);
    await clock.advance(reverifyKeyMs - 1);
    await elsewhere.principal(key);
    expect(work).toHaveLength(0);
    await clock.advance(1);
    await Promise.all([elsewhere.principal(key), elsewhere.principal(key)]);
    expect(work).toHaveLength(1);
    await Promise.all(work);
    const { CATALOG } = bindings;
    Object.assign(bindings, noCatalog);
    await clock.advance(reverifyKeyMs - 1);
    expect(await elsewhere.principal(key), 'more than 30 seconds after the first check').toMatchObject({ keyId: record.id });
    // A check that fails changes nothing: the verdict stays for its own time.
    await clock.advance(1);
    expect(await elsewhere.principal(key)).toMatchObject({ keyId: record.id });
    await Promise.all(work);
    bindings.CATALOG = CATALOG;
    await catalog.revokeKey(record.id);
    expect(await elsewhere.principal(key)).toMatchObject({ keyId: record.id });
    await Promise.all(work);
    expect(await refusal(elsewhere.principal(key))).toMatchObject({ code: 'unauthenticated', extra: { reason: 'revoked' } });
  });

  it('stores when it was last used, at most once a minute', async () => {
    const { catalog, isolate, object } = await emptyWorkspace();
    const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    const lastUsed = async () => (await catalog.keys({ limit: 1 })).items[0]?.lastUsedAt ?? null;
    expect(await lastUsed()).toBeNull();
    await isolate().principal(key);
    const first = await lastUsed();
    expect(first).not.toBeNull();
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec('UPDATE keys SET last_used_at = last_used_at - ?', keyUseIntervalMs - 30_000);
    });
    const aged = await lastUsed();
    await isolate().principal(key);
    expect(await lastUsed()).toBe(aged);
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec('UPDATE keys SET last_used_at = last_used_at - 30000');
    });
    await isolate().principal(key);
    expect(await lastUsed()).not.toBe(aged);
  });

  it('of another workspace belongs to that workspace and opens nothing here', async () => {
    const one = await emptyWorkspace();
    const two = await emptyWorkspace();
    const { key } = await one.catalog.createKey({ name: 'ci', scopes: ['admin'] });
    expect((await two.directory.principal(key)).workspace).toBe(one.workspace);
    const moved = key.replace(`mk_${one.workspace}_`, `mk_${two.workspace}_`);
    expect(await refusal(two.directory.principal(moved))).toMatchObject({ extra: { reason: 'forged' } });
  });
});

describe('the root key', () => {
  it('must be set, or every request is refused', async () => {
    const { catalog, directory } = await emptyWorkspace({ settings: { rootKey: null } });
    const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    for (const text of ['', 'anything', key]) {
      expect(await refusal(directory.principal(text))).toMatchObject({
        code: 'not_configured',
        detail: expect.stringContaining('MONIKER_ROOT_KEY'),
      });
    }
  });

  it('is compared whole, needs no Catalog, and may have any length', async () => {
    const rootKey = 'r'.repeat(2000);
    const { directory } = await emptyWorkspace({ env: noCatalog, settings: { rootKey } });
    expect(await directory.principal(rootKey)).toMatchObject({ workspace: 'default', keyId: 'root' });
    for (const text of [rootKey.slice(1), `${rootKey}r`, rootKey.toUpperCase()]) {
      expect(await why(directory, text)).toMatchObject({ code: 'unauthenticated' });
    }
  });
});

async function why(directory: Directory, key: string): Promise<Problem> {
  const problem = await refusal(directory.principal(key));
  expect(problem.detail).not.toContain(key.slice(0, 20));
  return problem;
}
