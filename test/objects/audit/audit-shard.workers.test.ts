/** The audit over shards in the Workers runtime: one list, hash chains that show tampering, and a changed number of shards. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAudits } from '../../../src/objects/audit/client/audit-client.ts';
import { objectName } from '../../../src/storage/keys.ts';
import { auditContract, auditRow } from '../../contracts/audit.ts';
import { emptyWorkspace, testEnv } from '../../storage/workspace.ts';

async function emptyAudit(shards = 8) {
  const parts = await emptyWorkspace();
  const { workspace, bindings, catalog } = parts;
  const auditOf = (count: number) => createAudits(bindings, count, () => catalog)(workspace);
  const shard = async (index: number) =>
    testEnv.AUDIT_SHARD.get(testEnv.AUDIT_SHARD.idFromName(await objectName(workspace, 'audit-shard', String(index))));
  const sql = async (index: number, query: string, ...values: (string | number)[]) =>
    await runInDurableObject(await shard(index), (_instance, { storage }) => storage.sql.exec(query, ...values).toArray());
  /** Runs the alarm of a shard when its newest row is due to be signed. */
  const sign = async (index: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    await runDurableObjectAlarm(await shard(index));
    vi.useRealTimers();
  };
  return { ...parts, audit: auditOf(shards), auditOf, shard, sql, sign };
}

const add = async (audit: { append(rows: ReturnType<typeof auditRow>[]): Promise<void> }, from: number, through: number) => {
  for (let number = from; number <= through; number += 1) await audit.append([auditRow({ session: `s${number}`, callId: `c${number}` })]);
};

afterEach(() => void vi.useRealTimers());

describe('the audit over its shards', () => {
  auditContract(async () => (await emptyAudit()).audit);
});

describe('calls without a session', () => {
  it('write to shards, and nothing to the Catalog', async () => {
    const { audit, object, catalog } = await emptyAudit();
    await catalog.published('rules', '', false);
    const changes = () =>
      runInDurableObject(object, (_instance, { storage }) => storage.sql.exec<{ n: number }>('SELECT total_changes() AS n').one().n);
    const before = await changes();
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const own = { session: null, sequence: null, callId: `call_${index}` };
        await audit.append([auditRow({ ...own, verdict: 'outcome_unknown', code: 'outcome_unknown' })]);
        await audit.append([auditRow(own)]);
      }),
    );
    expect(await changes()).toBe(before);
    expect((await audit.list({ limit: 100 })).items).toHaveLength(50);
    expect(await audit.verify()).toMatchObject({ ok: true, checked: 100 });
  });

  it('write two rows for an entry of a call, its index included', async () => {
    const { audit, shard } = await emptyAudit(1);
    await audit.append([auditRow({ callId: 'first' })]);
    const insert = "INSERT INTO audit_log (number, at, call, entry, hash) VALUES (100, 1, 'c', '{}', '')";
    const written = await runInDurableObject(await shard(0), (_instance, { storage }) => storage.sql.exec(insert).rowsWritten);
    expect(written).toBe(2);
  });
});

describe('the number of shards', () => {
  it('can change without losing rows', async () => {
    const { audit, auditOf, sign } = await emptyAudit(8);
    await add(audit, 1, 24);
    for (let index = 0; index < 8; index += 1) await sign(index);
    for (const shards of [2, 16, 3]) {
      const changed = auditOf(shards);
      await changed.append([auditRow({ session: `of ${shards}` })]);
      expect((await changed.list({ limit: 100, session: `of ${shards}` })).items).toHaveLength(1);
      expect((await changed.list({ limit: 100, session: 's7' })).items).toHaveLength(1);
      expect((await changed.list({ limit: 100 })).items.length).toBeGreaterThan(24);
    }
    expect(await auditOf(3).verify()).toMatchObject({ ok: true, checked: 27 });
  });
});

describe('verification', () => {
  it.each([
    ['a changed entry', 'altered', "UPDATE audit_log SET entry = replace(entry, 'ran', 'refused') WHERE number = 4", 4],
    ['a changed time', 'altered', 'UPDATE audit_log SET at = at - 1 WHERE number = 4', 4],
    ['a call that would hide another row', 'altered', "UPDATE audit_log SET call = 's3:1' WHERE number = 4", 4],
    ['a removed row', 'missing', 'DELETE FROM audit_log WHERE number = 4', 4],
    ['rows removed at the start', 'missing', 'DELETE FROM audit_log WHERE number <= 3', 1],
    ['rows removed at the end', 'missing', 'DELETE FROM audit_log WHERE number > 7', 8],
    ['a head of another row', 'rewritten', 'UPDATE audit_heads SET number = 9', 1],
    ['a forged signature', 'signature', "UPDATE audit_heads SET mac = replace(mac, substr(mac, 1, 1), 'x')", 10],
  ])('finds %s, and names the first broken row', async (_what, reason, tamper, number) => {
    const { audit, sql, sign } = await emptyAudit(1);
    await add(audit, 1, 10);
    await sign(0);
    expect(await audit.verify()).toMatchObject({ ok: true, checked: 10, logs: [{ log: 'changes' }, { log: '0', signed: 10 }] });
    await sql(0, tamper);
    const { ok, broken } = await audit.verify();
    expect({ ok, ...broken }).toMatchObject(
      reason === 'rewritten' ? { ok: false, log: '0' } : { ok: false, log: '0', number, reason, id: `0.${number}` },
    );
  });

  it('finds rows that were removed at the end together with their head', async () => {
    const { audit, sql, sign } = await emptyAudit(1);
    await add(audit, 1, 10);
    await sign(0);
    await sql(0, 'DELETE FROM audit_log WHERE number > 7');
    await sql(0, 'DELETE FROM audit_heads');
    expect((await audit.verify()).broken).toMatchObject({ number: 8, through: 10, reason: 'missing' });
  });

  it('continues with its cursor', async () => {
    const { audit, sql } = await emptyAudit(1);
    await Promise.all(Array.from({ length: 40 }, (_, batch) => audit.append(rowsOf(batch, 150))));
    const first = await audit.verify();
    expect(first).toMatchObject({ ok: true, checked: 5_000 });
    expect(await audit.verify(first.nextCursor ?? '')).toMatchObject({ ok: true, checked: 1_000, nextCursor: null });
    await sql(0, "UPDATE audit_log SET entry = '{}' WHERE number = 5500");
    expect(await audit.verify()).toMatchObject({ ok: true });
    expect(await audit.verify(first.nextCursor ?? '')).toMatchObject({ ok: false, broken: { number: 5_500, reason: 'altered' } });
  });
});

function rowsOf(batch: number, count: number) {
  return Array.from({ length: count }, (_, index) => auditRow({ session: `b${batch}`, sequence: index + 1, callId: `c${batch}.${index}` }));
}

describe('retention', () => {
  it('exports old rows to R2 and deletes them, in shards and in the Catalog', async () => {
    const { audit, catalog, object, workspace, shard } = await emptyAudit(1);
    await catalog.put('secret', 'token', { value: 'v', hosts: ['api.example.com'] });
    await add(audit, 1, 10);
    for (const days of [2, 4, 95, 97]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 24 * 60 * 60_000 + 1000 });
      for (const stub of [object, await shard(0)]) await runDurableObjectAlarm(stub);
      vi.useRealTimers();
    }
    // The clock is followed by two days per run; a request with the clock of before would begin that again.
    const start = Date.now();
    let left = 1;
    for (let run = 0; run < 60 && left > 0; run += 1) {
      vi.useFakeTimers({ toFake: ['Date'], now: start + 100 * 24 * 60 * 60_000 + run * 60 * 60_000 });
      for (const stub of [object, await shard(0)]) await runDurableObjectAlarm(stub);
      left = (await audit.list({ limit: 20 })).items.length;
    }
    vi.useRealTimers();
    expect(left).toBe(0);
    const bucket = testEnv.AUDIT_EXPORT;
    const { objects = [] } = (await bucket?.list({ prefix: `audit/${workspace}/` })) ?? {};
    const texts = await Promise.all(objects.map(async ({ key }) => (await (await bucket?.get(key))?.text()) ?? ''));
    expect(objects.map(({ key }) => key.split('/')[2]).toSorted()).toEqual(['0', 'changes']);
    expect(texts.join('').match(/"session":"s\d+"/g)).toHaveLength(10);
    expect(await audit.verify()).toMatchObject({ ok: true, checked: 0 });
  });
});
