/** Due work: rows are claimed before their work, a few at a time, and are due again after failures; one alarm drives all jobs. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AlarmDriver } from '../../../src/objects/shared/alarm-driver.ts';
import { type DueJob, dueJob, DueRows } from '../../../src/objects/shared/due-job.ts';
import { keptLog } from '../../fakes/runtime.ts';

type Row = { id: number; due: number | null; attempts: number };

function makeRows({ count, ...own }: { count: number; atOnce: number; perRun: number | 'all' }) {
  const table = Array.from({ length: count }, (_, id): Row => ({ id, due: 0, attempts: 0 }));
  const held = new Map<number, PromiseWithResolvers<void>>();
  const begun: string[] = [];
  const ended: number[] = [];
  const log = keptLog();
  const at = (id: number): Row => table[id] ?? { id, due: null, attempts: 0 };
  const rows = new DueRows<Row>({
    ...own,
    log,
    nextDue: () => table.reduce<number | null>((least, { due }) => (due === null ? least : Math.min(due, least ?? due)), null),
    due: (limit) => table.filter(({ due }) => due === 0).slice(0, limit),
    id: ({ id }) => id,
    claim: (row) => {
      Object.assign(at(row.id), { due: 100, attempts: row.attempts + 1 });
      return { ...at(row.id) };
    },
    work: async ({ id, attempts }) => {
      begun.push(`${id}.${attempts}`);
      const hold = Promise.withResolvers<void>();
      held.set(id, hold);
      await hold.promise;
      at(id).due = null;
    },
    failed: ({ id }) => {
      at(id).due = 50;
    },
    ended: ({ id }) => void ended.push(id),
  });
  const pass = async (): Promise<void> => {
    for (let tick = 0; tick < 10; tick += 1) await Promise.resolve();
  };
  const end = async (id: number, error?: Error): Promise<void> => {
    if (error === undefined) held.get(id)?.resolve();
    else held.get(id)?.reject(error);
    await pass();
  };
  return { rows, table, begun, ended, log, pass, end };
}

describe('due rows', () => {
  it.each([
    ['all, at most a few at once', { count: 3, atOnce: 2, perRun: 'all' as const }, ['0.1', '1.1'], ['0.1', '1.1', '2.1']],
    ['one run of one', { count: 3, atOnce: 1, perRun: 1 }, ['0.1'], ['0.1']],
    ['one after the other, up to a number', { count: 3, atOnce: 1, perRun: 2 }, ['0.1'], ['0.1', '1.1']],
  ])('are started: %s', async (_what, own, first, next) => {
    const { rows, begun, pass, end } = makeRows(own);
    rows.start();
    await pass();
    expect(begun).toEqual(first);
    await end(0);
    expect(begun).toEqual(next);
  });

  it('are claimed before their work, and are not started twice', async () => {
    const { rows, table, begun, pass } = makeRows({ count: 1, atOnce: 4, perRun: 'all' });
    rows.start();
    expect(table).toEqual([{ id: 0, due: 100, attempts: 1 }]);
    Object.assign(table[0] ?? {}, { due: 0 });
    rows.start();
    await pass();
    expect(begun).toEqual(['0.1']);
  });

  it('that fail are due again, and do not stop the others', async () => {
    const { rows, table, begun, ended, pass, end } = makeRows({ count: 2, atOnce: 1, perRun: 'all' });
    const run = rows.runDue();
    await pass();
    await end(0, new Error('it failed'));
    await end(1);
    await run;
    expect([table.map(({ due }) => due), begun, ended]).toEqual([
      [50, null],
      ['0.1', '1.1'],
      [0, 1],
    ]);
    expect(rows.nextDue()).toBe(50);
  });

  it('that cannot be read are left to the alarm', () => {
    const log = keptLog();
    const broken = (): never => {
      throw new Error('disk I/O error');
    };
    const none = { id: () => 0, work: async () => undefined, failed: () => undefined };
    new DueRows<Row>({ ...none, log, nextDue: () => 0, due: broken, atOnce: 1, perRun: 'all' }).start();
    expect(JSON.stringify(log.lines)).toContain('could not be started; it will be retried');
  });
});

it('a job has one run at a time', async () => {
  const hold = Promise.withResolvers<void>();
  const run = vi.fn(() => hold.promise);
  const job = dueJob({ nextDue: () => null, run });
  const both = [job.runDue(), job.runDue()];
  expect(run).toHaveBeenCalledTimes(1);
  hold.resolve();
  await Promise.all(both);
  await job.runDue();
  expect(run).toHaveBeenCalledTimes(2);
});

describe('the alarm of an object', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 10_000 }));
  afterEach(() => void vi.useRealTimers());

  const open = (jobs: readonly DueJob[]) => {
    const alarms: (number | null)[] = [];
    const log = keptLog();
    const storage = { setAlarm: async (at: number) => void alarms.push(at), deleteAlarm: async () => void alarms.push(null) };
    const parts = { log, jobs: () => jobs, retryMs: 5_000, overdueMs: 1_000, maxRunMs: 200 };
    const driver = new AlarmDriver({ ...parts, storage: storage as unknown as DurableObjectStorage });
    return { driver, alarms, log };
  };
  const job = (due: number | null, runDue = async (): Promise<void> => undefined): DueJob => ({ nextDue: () => due, runDue });

  it.each<[string, (number | null)[], number | null]>([
    ['the earliest time', [30_000, null, 20_000], 20_000],
    ['a little later if work is overdue', [9_000, 20_000], 11_000],
    ['nothing without work', [null], null],
  ])('is set to %s', async (_what, dues, expected) => {
    const { driver, alarms } = open(dues.map((due) => job(due)));
    await driver.arm();
    expect(alarms).toEqual([expected]);
  });

  it('is kept if it is earlier', async () => {
    const dues = { at: 20_000 };
    const { driver, alarms } = open([{ nextDue: () => dues.at, runDue: async () => undefined }]);
    await driver.arm();
    dues.at = 30_000;
    await driver.arm();
    dues.at = 15_000;
    await driver.arm();
    expect(alarms).toEqual([20_000, 15_000]);
  });

  it('is set before the jobs run, runs all of them, and does not wait for a slow one', async () => {
    const ran: string[] = [];
    const { driver, alarms, log } = open([
      job(10_000, () => Promise.reject(new Error('it failed'))),
      job(20_000, () => new Promise(() => undefined)),
      job(30_000, async () => void ran.push(`after ${alarms.join()}`)),
    ]);
    const run = driver.run();
    await vi.advanceTimersByTimeAsync(200);
    await run;
    expect([ran, alarms]).toEqual([['after 15000'], [15_000, 11_200]]);
    expect(JSON.stringify(log.lines)).toContain('it failed');
  });
});
