/** What a clock that jumps deletes: nothing while it is in doubt, and what is too old when it is trusted. */
import { afterEach, describe, expect, it } from 'vitest';
import { untainted } from '../../src/core/policy/taint.ts';
import { keyHandlers } from '../../src/objects/catalog/handlers/keys.ts';
import { createCatalogSweep } from '../../src/objects/catalog/records/catalog-sweep.ts';
import { addTaintMarks } from '../../src/objects/catalog/records/taint-marks.ts';
import { acceptDelivery } from '../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { createDeliverySweep } from '../../src/objects/catalog/triggers/deliveries/delivery-sweep.ts';
import { addRefusals } from '../../src/objects/catalog/triggers/deliveries/refusals.ts';
import { CallStore } from '../../src/objects/session/direct/keyed-call-store.ts';
import { sessionMigrations } from '../../src/objects/session/object/schema.ts';
import { ApprovalLinks } from '../../src/objects/session/pending/approval-links.ts';
import { schemaSteps } from '../../src/objects/shared/migrate.ts';
import { appendCall, auditLogSchema } from '../../src/objects/shared/audit-log.ts';
import { sweepLog } from '../../src/objects/shared/audit-retention.ts';
import { isClockSettled, trustClockBy } from '../../src/platform/settled-clock.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import { auditRow } from '../contracts/audit.ts';
import { fakeSql, fakeTransactions } from '../fakes/sql-storage.ts';
import { openStorage, run } from './catalog/triggers/deliveries/deliveries-of.ts';

const hour = 3_600_000;
const day = 24 * hour;
const jumps = [-365 * day, -day, -hour, hour, day, 365 * day];

afterEach(() => trustClockBy(null));

/** `deletedBy`: the jump by which a trusted clock deletes it. */
type Case = { kept(): number; sweep(): unknown; advance(ms: number): void; deletedBy?: number };

const count = (sql: SqlStorage, table: string): number => sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${table}`).one().count;

function inCatalog(
  prepare: (storage: ReturnType<typeof openStorage>) => { table: string; sweep(): unknown; deletedBy?: number },
): () => Case {
  return () => {
    const storage = openStorage();
    const { table, ...rest } = prepare(storage);
    return { kept: () => count(storage.context.sql, table), advance: storage.advance, ...rest };
  };
}

function inSession(prepare: (sql: SqlStorage, now: () => number) => { table: string; sweep(): unknown }): () => Case {
  return () => {
    let now = Date.UTC(2026, 0, 1);
    const sql = fakeSql(sessionMigrations);
    const { table, sweep } = prepare(sql, () => now);
    return { kept: () => count(sql, table), sweep, advance: (ms) => (now += ms) };
  };
}

const needs = { kv: () => ({ delete: async () => undefined }), removeSession: async () => false };

const cases: Record<string, () => Case> = {
  'documents that were deleted': inCatalog(({ context }) => {
    const removed = 'INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES (?, ?, 2, 1, ?, ?, ?)';
    context.sql.exec(removed, 'server', 'gone', '{}', context.now(), context.now());
    return { table: 'documents', sweep: () => sweepCatalog(context, 300) };
  }),
  'grants and sign-ins': inCatalog(({ context }) => {
    const insert = 'INSERT INTO oauth_records (key, value, metadata, expires_at) VALUES (?, ?, NULL, ?)';
    context.sql.exec(insert, 'grant:a:b', '{}', context.now() + hour / 2);
    return { table: 'oauth_records', sweep: () => sweepCatalog(context, 1) };
  }),
  'files and batches of providers': inCatalog(({ context }) => {
    const insert = 'INSERT INTO provider_items (key_id, kind, provider, id, expires_at) VALUES (?, ?, ?, ?, ?)';
    context.sql.exec(insert, 'k', 'file', 'p', 'f', context.now() + hour / 2);
    return { table: 'provider_items', sweep: () => sweepCatalog(context, 1) };
  }),
  'ended deliveries': inCatalog(({ context }) => {
    acceptDelivery(context, run('1'));
    context.sql.exec("UPDATE deliveries SET status = 'completed', ended_at = ?", context.now());
    return { table: 'deliveries', sweep: () => createDeliverySweep(context).runDue() };
  }),
  'counts of refused requests': inCatalog(({ context }) => {
    context.sql.exec(
      "INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES ('webhook', 'hook', 1, 0, '{}', 0, 0)",
    );
    addRefusals(context, [{ webhook: 'hook', count: 1 }]);
    return { table: 'refused_deliveries', sweep: () => addRefusals(context, []), deletedBy: -365 * day };
  }),
  'used nonces': inCatalog(({ context }) => {
    const use = (nonce: string) => keyHandlers.consumeNonce?.({ context } as never, nonce, context.now() + hour / 2);
    use('one');
    return { table: "spent WHERE nonce = 'one'", sweep: () => use('two') };
  }),
  'marks of private data': inCatalog(({ context }) => {
    const add = (name: string) => addTaintMarks(context, { names: [name], taint: untainted, ttlMs: hour / 2 });
    add('one');
    return { table: "taint_marks WHERE name = 'one'", sweep: () => add('two') };
  }),
  'direct calls under a key': inSession((sql, now) => {
    const calls = new CallStore(sql, now);
    calls.begin('key', 'hash', 'call');
    return { table: 'calls', sweep: () => calls.find('other', 'hash') };
  }),
  'approval links': inSession((sql, now) => {
    const links = new ApprovalLinks(sql, now);
    const add = (nonce: string) => links.add(nonce, { callId: nonce, keyId: 'k', expiresAt: now() + hour / 2, round: 0 });
    add('one');
    return { table: "approval_links WHERE nonce_hash = 'one'", sweep: () => add('two') };
  }),
  'audit rows': () => {
    let now = Date.UTC(2026, 0, 1);
    const sql = fakeSql(schemaSteps(auditLogSchema));
    const log = { sql, workspace: 'default', name: '0', now: () => now, master: createMasterKey('a master key of at least 32 characters') };
    appendCall(log, auditRow({ at: new Date(now).toISOString() }));
    sql.exec('UPDATE audit_state SET swept_at = ?', now);
    const retention = {
      days: async () => 0,
      transact: (work: () => void) => void fakeTransactions(sql).transactionSync(work),
      ...{ bucket: null, isFull: () => false, logFault: (cause: string) => expect.unreachable(cause) },
    };
    return { kept: () => count(sql, 'audit_log'), sweep: () => sweepLog(log, retention), advance: (ms) => (now += ms) };
  },
};

/** Runs, since its last run of `times` allows it to follow the clock by two days at a time. */
async function sweepCatalog(context: Parameters<typeof createCatalogSweep>[0], times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    context.sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('sweep', '0')");
    await createCatalogSweep(context, needs).runDue();
  }
}

describe.each(Object.entries(cases))('%s', (_, open) => {
  it.each(jumps)('stay when the clock jumps by %d ms', async (ms) => {
    const { kept, sweep, advance } = open();
    expect(kept()).toBe(1);
    trustClockBy(async () => 'The clock moved.');
    await isClockSettled();
    advance(ms);
    await sweep();
    expect(kept()).toBe(1);
  });

  it('are deleted when the clock is trusted', async () => {
    const { kept, sweep, advance, deletedBy = 365 * day } = open();
    advance(deletedBy);
    await sweep();
    expect(kept()).toBe(0);
  });
});

describe('what is known about the clock', () => {
  it('is asked again when the clock moved since, and a launcher that does not answer is a doubt', async () => {
    let asked = 0;
    trustClockBy(async () => {
      asked += 1;
      if (asked > 2) throw new Error('no answer');
      return null;
    });
    expect([await isClockSettled(), await isClockSettled(), asked]).toEqual([true, true, 1]);
    const real = Date.now;
    try {
      Date.now = () => real() + hour;
      expect([await isClockSettled(), asked]).toEqual([true, 2]);
      Date.now = () => real() + 2 * hour;
      expect(await isClockSettled()).toBe(false);
    } finally {
      Date.now = real;
    }
  });

  it('trusts the clock without a launcher', async () => {
    expect(await isClockSettled()).toBe(true);
  });
});
