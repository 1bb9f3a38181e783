/** The retention of an audit log: what is deleted when, the checkpoint, exports that fail, interruptions and wrong clocks. */
import { describe, expect, it } from 'vitest';
import { checkLog, signHead } from '../../../src/objects/shared/audit-chain.ts';
import { schemaSteps } from '../../../src/objects/shared/migrate.ts';
import { appendCall, auditLogSchema, readLog } from '../../../src/objects/shared/audit-log.ts';
import { createAuditKeeper } from '../../../src/objects/shared/audit-keeper.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { auditRow } from '../../contracts/audit.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { fakeSql, fakeTransactions } from '../../fakes/sql-storage.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

function openLog({ days = 90, hasBucket = true } = {}) {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const sql = fakeSql(schemaSteps(auditLogSchema));
  const log = { sql, workspace: 'default', name: '0', now: clock.now, master: createMasterKey('a master key of at least 32 characters') };
  const stored = new Map<string, string>();
  const state = { isDown: false, dies: false, maxRows: Number.POSITIVE_INFINITY };
  const faults: string[] = [];
  const bucket = {
    put: async (name: string, text: string) => {
      if (state.isDown) throw new Error('R2 is down');
      stored.set(name, text);
    },
  };
  const retention = {
    days: async () => days,
    transact: (work: () => void) => {
      if (state.dies) throw new Error('the process dies');
      fakeTransactions(sql).transactionSync(work);
    },
    // Only `put` with a text is used.
    bucket: hasBucket ? (bucket as unknown as R2Bucket) : null,
    isFull: () => numbers().length > state.maxRows,
    logFault: (cause: string) => void faults.push(cause),
  };
  const keeper = () => createAuditKeeper(log, retention, async () => undefined);
  let keeping = keeper();
  /** Lets the time pass, with an alarm whenever one is due. */
  const pass = async (ms: number): Promise<void> => {
    const end = clock.now() + ms;
    for (let alarms = 0; alarms < 5_000; alarms += 1) {
      const due = keeping.nextDue();
      if (due === null || due > end) break;
      clock.advance(Math.max(0, due - clock.now()));
      await keeping.runDue();
    }
    clock.advance(end - clock.now());
  };
  let count = 0;
  const add = (rows: number): void => {
    for (let row = 0; row < rows; row += 1) {
      count += 1;
      appendCall(log, auditRow({ session: `s${count}`, at: new Date(clock.now()).toISOString() }));
    }
  };
  const numbers = () =>
    sql
      .exec<{ number: number }>('SELECT number FROM audit_log ORDER BY number')
      .toArray()
      .map(({ number }) => number);
  const lines = () =>
    [...stored.values()].flatMap((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  return { clock, sql, log, stored, state, faults, pass, add, numbers, lines, restart: () => (keeping = keeper()) };
}

describe('the retention of an audit log', () => {
  it('exports and deletes old rows, and the rest stays provable', async () => {
    const { log, add, pass, numbers, lines, sql } = openLog();
    add(10);
    await pass(60 * dayMs);
    add(5);
    await pass(40 * dayMs);
    expect(numbers()).toEqual([11, 12, 13, 14, 15]);
    expect(lines().map(({ number, head }) => number ?? head.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
    expect(lines()[0].entry).toMatchObject({ session: 's1', verdict: 'ran' });
    expect(await checkLog(log, { limit: 100 })).toMatchObject({ from: 11, through: 15, fault: null, retentionFault: null });
    add(1);
    expect(numbers().at(-1)).toBe(16);
    await pass(200 * dayMs);
    expect(numbers()).toEqual([]);
    add(1);
    expect(numbers()).toEqual([17]);
    expect(await checkLog(log, { limit: 100 })).toMatchObject({ from: 17, through: 17, fault: null });
    expect(sql.exec('SELECT number FROM audit_heads').toArray().length).toBeLessThan(3);
  });

  it('finds a forged checkpoint', async () => {
    const { log, add, pass, sql } = openLog();
    add(3);
    await pass(60 * dayMs);
    add(3);
    await pass(40 * dayMs);
    sql.exec('UPDATE audit_heads SET number = 4, hash = (SELECT hash FROM audit_log WHERE number = 4) WHERE is_checkpoint = 1');
    sql.exec('DELETE FROM audit_log WHERE number = 4');
    expect((await checkLog(log, { limit: 100 })).fault).toMatchObject({ number: 4, reason: 'signature' });
  });

  it('keeps rows while the export fails, says so, and deletes them later', async () => {
    const { log, add, pass, numbers, state, faults, stored } = openLog();
    add(10);
    state.isDown = true;
    await pass(100 * dayMs);
    expect(numbers()).toHaveLength(10);
    expect(faults[0]).toContain('R2 is down');
    expect((await checkLog(log, { limit: 100 })).retentionFault).toContain('R2 is down');
    state.isDown = false;
    await pass(dayMs);
    expect(numbers()).toEqual([]);
    expect(stored.size).toBe(1);
    expect((await checkLog(log, { limit: 100 })).retentionFault).toBeNull();
  });

  it('repeats a run that died between the export and the deletion, under the same name', async () => {
    const { add, pass, numbers, state, stored, restart, lines } = openLog();
    add(10);
    state.dies = true;
    await pass(92 * dayMs);
    expect(numbers()).toHaveLength(10);
    state.dies = false;
    restart();
    await pass(dayMs);
    expect(numbers()).toEqual([]);
    expect([...stored.keys()]).toEqual(['audit/default/0/2026-01-01-000000000001.ndjson']);
    expect(lines()).toHaveLength(11);
  });

  it('keeps rows that were changed, and all later ones', async () => {
    const { log, add, pass, numbers, sql, faults } = openLog({ hasBucket: false });
    add(10);
    await signHead(log);
    sql.exec("UPDATE audit_log SET entry = replace(entry, 'ran', 'refused') WHERE number = 4");
    await pass(100 * dayMs);
    expect(numbers()).toHaveLength(10);
    expect(faults[0]).toContain('row 0.4 is broken (altered)');
  });

  it('deletes little while the clock is far ahead, and goes on when it is right again', async () => {
    const { clock, add, pass, numbers } = openLog({ hasBucket: false });
    add(10);
    await pass(3 * dayMs);
    const right = clock.now();
    clock.advance(3_650 * dayMs);
    await pass(12 * 60 * 60_000);
    expect(numbers()).toHaveLength(10);
    clock.advance(right - clock.now());
    add(1);
    await pass(80 * dayMs);
    expect(numbers()).toHaveLength(11);
    await pass(15 * dayMs);
    expect(numbers()).toEqual([]);
  });

  it('deletes the oldest rows of a full log early, exported and provable, and says so', async () => {
    const { log, add, pass, numbers, faults, lines, state } = openLog();
    state.maxRows = 3_000;
    add(12_000);
    await pass(2 * hourMs);
    expect(numbers()).toHaveLength(2_000);
    expect(lines().filter(({ entry }) => entry !== undefined)).toHaveLength(10_000);
    expect(faults).toEqual([expect.stringContaining('the log is full')]);
    expect(await checkLog(log, { limit: 5_000 })).toMatchObject({
      ...{ from: 10_001, through: 12_000, fault: null },
      retentionFault: expect.stringContaining('full'),
    });
    add(500);
    await pass(2 * dayMs);
    expect(numbers()).toHaveLength(2_500);
    expect((await checkLog(log, { limit: 5_000 })).retentionFault).toBeNull();
  });

  it('keeps the rows of a full log while they cannot be exported, and does not retry without pause', async () => {
    const { add, pass, numbers, faults, state } = openLog();
    Object.assign(state, { maxRows: 3_000, isDown: true });
    add(5_000);
    await pass(3 * hourMs);
    expect(numbers()).toHaveLength(5_000);
    expect(faults.length).toBeLessThan(6);
  });

  it('returns to its size after 10,000 rows', async () => {
    const { add, pass, numbers, sql } = openLog({ days: 30, hasBucket: false });
    const pages = () => sql.exec<{ n: number }>('SELECT count(*) AS n FROM audit_log').one().n;
    add(10_000);
    expect(pages()).toBe(10_000);
    await pass(35 * dayMs);
    expect([pages(), numbers()]).toEqual([0, []]);
  });
});

describe('a list of an audit log', () => {
  it('finds rows by time that were stored long after it', async () => {
    const { log, clock } = openLog();
    appendCall(log, auditRow({ session: 'early', at: new Date(clock.now()).toISOString() }));
    clock.advance(10 * dayMs);
    appendCall(log, auditRow({ session: 'late', at: '2026-01-02T00:00:00.000Z' }));
    clock.advance(60 * dayMs);
    appendCall(log, auditRow({ session: 'now', at: new Date(clock.now()).toISOString() }));
    const found = readLog(log, { limit: 10, to: '2026-01-03T00:00:00.000Z' }).entries.map(({ text }) => JSON.parse(text).session);
    expect(found).toEqual(['late', 'early']);
  });
});
