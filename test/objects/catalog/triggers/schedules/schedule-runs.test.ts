import { limits } from '../../../../../src/core/limits/limits.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTimeRule } from '../../../../../src/core/triggers/schedules/next-run.ts';
import { scheduleStates } from '../../../../../src/objects/catalog/triggers/schedules/schedule-runs.ts';
import { scheduleRoom, type ScheduleRoom } from './schedule-room.ts';
import { maxSessionKeyLength } from '../../../../../src/core/triggers/templates/render-template.ts';
import { maxBacklogShare } from '../../../../../src/objects/catalog/triggers/fair-backlog.ts';
import { maxQueuedScheduleRuns } from '../../../../../src/objects/catalog/triggers/schedules/schedule-runs.ts';
import { runs } from '../../../../selection.ts';

const ids = (room: ScheduleRoom, name: string): string[] => room.runs(name).map(({ id }) => id);
const standing = (room: ScheduleRoom, name: string): string[] => room.runs(name).map(({ id, status }) => `${id.slice(11, 16)} ${status}`);

/** Records every later SQL statement. */
function watch({ context }: ScheduleRoom): string[] {
  const statements: string[] = [];
  const { exec } = context.sql;
  const watched = (query: string, ...bindings: never[]) => {
    statements.push(query);
    return exec(query, ...bindings);
  };
  Object.assign(context.sql, { exec: watched });
  return statements;
}

const stateOf = ({ context }: Pick<ScheduleRoom, 'context'>, schedule: string) => scheduleStates(context, [schedule]).get(schedule);

describe('on time', () => {
  it('runs stay on time across the change to summer time and back in New York, Berlin and Lord Howe', async () => {
    const room = scheduleRoom('2026-03-07T00:00:00Z');
    await room.put('new-york', { cron: '30 2 * * *', timeZone: 'America/New_York' });
    await room.put('berlin', { cron: '30 2 * * *', timeZone: 'Europe/Berlin' });
    await room.put('lord-howe', { cron: '45 1 * * *', timeZone: 'Australia/Lord_Howe' });
    await room.runUntil('2026-11-03T00:00:00Z');
    const around = (name: string, day: string): string[] => {
      const from = Date.parse(day) - 86_400_000;
      return ids(room, name).filter((id) => Date.parse(id) >= from && Date.parse(id) < from + 3 * 86_400_000);
    };

    expect(around('new-york', '2026-03-08')).toEqual(['2026-03-07T07:30:00.000Z', '2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z']);
    expect(around('new-york', '2026-11-01')).toEqual(['2026-10-31T06:30:00.000Z', '2026-11-01T07:30:00.000Z', '2026-11-02T07:30:00.000Z']);
    expect(around('berlin', '2026-03-29')).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(around('berlin', '2026-10-25')).toEqual(['2026-10-24T00:30:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']);
    expect(around('lord-howe', '2026-04-04')).toEqual(['2026-04-03T14:45:00.000Z', '2026-04-04T14:45:00.000Z', '2026-04-05T15:15:00.000Z']);
    expect(around('lord-howe', '2026-10-03')).toEqual(['2026-10-02T15:15:00.000Z', '2026-10-03T15:15:00.000Z', '2026-10-04T14:45:00.000Z']);
    for (const name of ['new-york', 'berlin', 'lord-howe']) for (const { id, received } of room.runs(name)) expect(received).toBe(id);
  });

  it('an interval keeps to its grid, starting at the write, over days of any length', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00.250Z');
    await room.put('often', { interval: '1h30m' });
    await room.runUntil('2026-03-09T10:00:00Z');
    const runs = ids(room, 'often').map((id) => Date.parse(id));
    expect(runs).toHaveLength(31);
    expect(runs.every((at, index) => at === Date.parse('2026-03-07T10:00:00.250Z') + (index + 1) * 5_400_000)).toBe(true);
  });

  it('a single date runs once', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('once', { at: '2026-03-08T09:30:00+01:00' });
    expect(room.due()).toBe('2026-03-08T08:30:00.000Z');
    await room.runUntil('2027-01-01T00:00:00Z');
    expect(ids(room, 'once')).toEqual(['2026-03-08T08:30:00.000Z']);
    expect(room.due()).toBeNull();
  });

  it('a run receives its schedule, its due time and its id', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('told', { cron: '0 * * * *', session: '{{@schedule}} {{@time}} {{@delivery}}' });
    await room.ring('2026-03-07T11:00:07Z');
    const [run] = room.runs('told');
    expect(run).toMatchObject({ status: 'pending', session_key: 'told 2026-03-07T11:00:00.000Z 2026-03-07T11:00:00.000Z' });
  });

  it('nothing runs before its time', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('later', { cron: '0 * * * *' });
    await room.ring('2026-03-07T10:59:59.999Z');
    expect(ids(room, 'later')).toEqual([]);
    await room.ring('2026-03-07T11:00:00Z');
    expect(ids(room, 'later')).toHaveLength(1);
  });
});

describe('after downtime', () => {
  it('missed times become one run, of the newest time, and the next run is on time', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('hourly', { cron: '0 * * * *' });
    await room.put('minutes', { interval: '7m' });
    await room.ring('2026-03-07T12:30:00Z');
    expect(ids(room, 'hourly')).toEqual(['2026-03-07T12:00:00.000Z']);
    expect(ids(room, 'minutes')).toEqual(['2026-03-07T12:27:00.000Z']);
    expect(stateOf(room, 'hourly')?.nextRunAt).toBe('2026-03-07T13:00:00.000Z');
    expect(stateOf(room, 'minutes')?.nextRunAt).toBe('2026-03-07T12:34:00.000Z');
  });

  it('two concurrent alarms start one run', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('hourly', { cron: '0 * * * *' });
    room.at('2026-03-07T11:00:00Z');
    await Promise.all([room.scheduler.runDue(), room.scheduler.runDue(), room.scheduler.runDue()]);
    expect(room.runs('hourly')).toHaveLength(1);
    expect(room.due()).toBe('2026-03-07T12:00:00.000Z');
  });

  it('a process that died before the next time was stored runs the same time once', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('hourly', { cron: '0 * * * *' });
    await room.ring('2026-03-07T11:00:00Z');
    room.context.sql.exec('UPDATE schedule_state SET due_at = ?', Date.parse('2026-03-07T11:00:00Z'));
    await room.scheduler.runDue();
    expect(room.runs('hourly')).toHaveLength(1);
  });

  const rules: { cron?: string; timeZone?: string; interval?: string; at?: string }[] = [
    { interval: '1m1s' },
    { interval: '7m' },
    { interval: '1d1s' },
    { cron: '*/10 * * * *', timeZone: 'America/New_York' },
    { cron: '30 2 * * *', timeZone: 'America/New_York' },
    { cron: '30 1 * * *', timeZone: 'America/New_York' },
    { cron: '15 1,2 * * *', timeZone: 'Australia/Lord_Howe' },
    { at: '2026-11-01T06:30:00Z' },
  ];

  it('for any rule and any downtime: each due time is run or covered exactly once, none early, all in order', async () => {
    const sleeps = fc.array(fc.integer({ min: 0, max: 9 * 3_600_000 }), { minLength: 1, maxLength: 12 });
    const begin = fc.constantFrom('2026-03-07T20:00:00Z', '2026-10-31T20:00:00Z', '2026-04-04T08:00:00Z', '2026-10-03T08:00:00Z');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...rules), begin, sleeps, async (when, start, pauses) => {
        fc.pre(when.at === undefined || Date.parse(when.at) > Date.parse(start));
        const room = scheduleRoom(start);
        await room.put('any', when);
        const read = readTimeRule(when);
        if ('issue' in read) throw new Error(read.issue.message);
        // Computed independently of the scheduler: every time of the rule, in order.
        let coming = read.rule.first(room.now);
        for (const pause of pauses) {
          room.now += pause;
          const dueNow: number[] = [];
          while (coming !== null && coming <= room.now) {
            dueNow.push(coming);
            coming = read.rule.since(coming, coming).next;
          }
          const before = room.runs('any').length;
          await room.scheduler.runDue();
          const made = room.runs('any').slice(before);
          expect(made.map(({ id }) => Date.parse(id))).toEqual(dueNow.length === 0 ? [] : [dueNow.at(-1)]);
          for (const { id } of made) room.move('any', id, 'completed');
          expect(room.scheduler.nextDue()).toBe(coming);
        }
      }),
      { numRuns: runs(120) },
    );
  });
});

describe('a run that is due before the previous one has ended', () => {
  const overlapping = async (overlap: 'skip' | 'queue'): Promise<ScheduleRoom> => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('slow', { cron: '0 * * * *', overlap });
    await room.ring('2026-03-07T11:00:00Z');
    room.move('slow', '2026-03-07T11:00:00.000Z', 'running');
    await room.ring('2026-03-07T12:00:00Z');
    return room;
  };

  it('is skipped visibly, and names the run in progress', async () => {
    const room = await overlapping('skip');
    expect(standing(room, 'slow')).toEqual(['11:00 running', '12:00 skipped']);
    expect(room.runs('slow')[1]?.reason).toBe('the run 2026-03-07T11:00:00.000Z has not ended: it is running');
    expect(stateOf(room, 'slow')).toMatchObject({
      nextRunAt: '2026-03-07T13:00:00.000Z',
      lastRun: { id: '2026-03-07T11:00:00.000Z' },
    });
    room.move('slow', '2026-03-07T11:00:00.000Z', 'completed');
    await room.ring('2026-03-07T13:00:00Z');
    expect(standing(room, 'slow')).toEqual(['11:00 completed', '12:00 skipped', '13:00 pending']);
  });

  it('is skipped while the previous run waits for approval', async () => {
    const room = await overlapping('skip');
    room.move('slow', '2026-03-07T11:00:00.000Z', 'waiting');
    await room.ring('2026-03-07T13:00:00Z');
    expect(room.runs('slow').at(-1)).toMatchObject({
      status: 'skipped',
      reason: expect.stringMatching(/^the run 2026-03-07T11:00:00\.000Z has not ended: it is waiting in its session \S/),
    });
  });

  it('waits with `queue`, and starts when the previous run ends', async () => {
    const room = await overlapping('queue');
    expect(room.runs('slow')[1]).toMatchObject({ status: 'pending', held: 1, due_at: null });
    room.move('slow', '2026-03-07T11:00:00.000Z', 'completed');
    expect(room.runs('slow')[1]).toMatchObject({ status: 'pending', held: 0, due_at: room.now });
  });

  it('queues a limited number of runs, and skips the rest', async () => {
    const room = await overlapping('queue');
    await room.put('slow', { cron: '0 * * * *', overlap: 'queue', description: 'the same' });
    for (let hour = 13; hour < 24; hour += 1) await room.ring(`2026-03-07T${hour}:00:00Z`);
    const runs = room.runs('slow');
    expect(runs.filter(({ held }) => held === 1)).toHaveLength(maxQueuedScheduleRuns);
    expect(runs.at(-1)).toMatchObject({ status: 'skipped', reason: expect.stringContaining('10 runs are already waiting') });
    // One after the other, in the order of their times.
    for (const { id, status } of runs) if (status !== 'skipped') room.move('slow', id, 'completed');
    expect(room.runs('slow').filter(({ status }) => status === 'pending')).toEqual([]);
  });

  it.each(['{{@schedule}}', '{{@delivery}}'])('does not start after its schedule is paused or removed, in session %s', async (session) => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    const slow = { cron: '0 * * * *', overlap: 'queue', session };
    await room.put('slow', slow);
    for (const hour of [11, 12, 13]) await room.ring(`2026-03-07T${hour}:00:00Z`);
    await room.put('slow', { ...slow, paused: true });
    const [, ...held] = room.runs('slow');
    const paused = { status: 'skipped', held: 0, due_at: null, reason: expect.stringContaining('was paused while this run was waiting') };
    expect(held).toMatchObject([paused, paused]);
    room.move('slow', '2026-03-07T11:00:00.000Z', 'completed');
    expect(standing(room, 'slow')).toEqual(['11:00 completed', '12:00 skipped', '13:00 skipped']);

    await room.put('slow', slow);
    for (const hour of [14, 15]) await room.ring(`2026-03-07T${hour}:00:00Z`);
    await room.remove('slow');
    expect(standing(room, 'slow')).toEqual(['14:00 cancelled', '15:00 cancelled']);
  });

  it('does not wait for a manual run that is queued behind it in the same session', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('slow', { cron: '0 * * * *', overlap: 'queue', session: '{{@schedule}}' });
    await room.ring('2026-03-07T11:00:00Z');
    room.move('slow', '2026-03-07T11:00:00.000Z', 'running');
    await room.ring('2026-03-07T12:00:00Z');
    await room.scheduler.runNow('slow');
    room.move('slow', '2026-03-07T11:00:00.000Z', 'completed');
    expect(room.runs('slow').slice(1)).toMatchObject([{ held: 0, due_at: room.now }, { due_at: null }]);
    room.move('slow', '2026-03-07T12:00:00.000Z', 'completed');
    expect(room.runs('slow')[2]).toMatchObject({ status: 'pending', due_at: room.now });
  });
});

it('checks whether the previous run has ended without scanning ended runs', async () => {
  const room = scheduleRoom('2026-03-07T10:00:00Z');
  await room.put('hourly', { cron: '0 * * * *' });
  await room.runUntil('2026-03-07T15:30:00Z');
  const statements = watch(room);
  await room.ring('2026-03-07T16:00:00Z');
  const walks = [...statements].filter((query) =>
    room.context.sql
      .exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`)
      .toArray()
      .some(({ detail }) => /^(SCAN|SEARCH) deliveries USING.*\(kind=\? AND name=\?\)$/.test(detail)),
  );
  // More deliveries than are retained, once in two hundred runs.
  expect(walks.filter((query) => !query.includes('OFFSET'))).toEqual([]);
  expect(ids(room, 'hourly')).toHaveLength(6);
});

describe('a write of a schedule', () => {
  it('pausing skips the times that pass, and resuming starts anew', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('pausing', { interval: '1h' });
    room.at('2026-03-07T10:30:00Z');
    await room.put('pausing', { interval: '1h', paused: true });
    expect(stateOf(room, 'pausing')?.nextRunAt).toBeNull();
    await room.ring('2026-03-08T10:45:00Z');
    await room.put('pausing', { interval: '1h' });
    expect(room.due()).toBe('2026-03-08T11:45:00.000Z');
    expect(ids(room, 'pausing')).toEqual([]);
  });

  it('keeps the next run if other fields change, and recomputes it if the times change', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('often', { interval: '1h' });
    room.at('2026-03-07T10:59:00Z');
    await room.put('often', { interval: '60m', input: 'something else' });
    await room.put('often', { interval: '60m', input: 'something else' });
    expect(room.due()).toBe('2026-03-07T11:00:00.000Z');
    await room.put('often', { interval: '2h' });
    expect(room.due()).toBe('2026-03-07T12:59:00.000Z');
    await room.put('often', { cron: '0 0 * * *', timeZone: 'Europe/Berlin' });
    expect(room.due()).toBe('2026-03-07T23:00:00.000Z');
    await room.put('often', { cron: '0 0 * * *' });
    expect(room.due()).toBe('2026-03-08T00:00:00.000Z');
  });

  it('stops a removed schedule, and a new one with its name starts anew', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('gone', { interval: '1h' });
    await room.remove('gone');
    expect(room.due()).toBeNull();
    await room.ring('2026-03-07T12:00:00Z');
    expect(ids(room, 'gone')).toEqual([]);
    await room.put('gone', { interval: '1h' });
    expect(room.due()).toBe('2026-03-07T13:00:00.000Z');
  });

  it('does not run a schedule that is removed or paused during its alarm', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const room = scheduleRoom('2026-03-07T10:00:00Z', { sessionId: () => held.then(() => 'session') });
    await room.put('gone', { interval: '1h' });
    await room.put('paused', { interval: '1h' });
    room.at('2026-03-07T11:00:00Z');
    const tended = room.scheduler.runDue();
    await room.remove('gone');
    await room.put('paused', { interval: '1h', paused: true });
    letGo();
    await tended;
    expect([...ids(room, 'gone'), ...ids(room, 'paused')]).toEqual([]);
    expect(room.due()).toBeNull();
  });

  it('accepts an unchanged past date, and rejects a new one', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('once', { at: '2026-03-07T11:00:00Z' });
    await room.runUntil('2026-03-07T12:00:00Z');
    const again = await room.put('once', { at: '2026-03-07T12:00:00+01:00', input: 'something else' });
    expect(again.warnings.filter(({ path }) => path === 'at')).toMatchObject([{ message: expect.stringContaining('will not run again') }]);
    expect(room.due()).toBeNull();
    await expect(room.put('once', { at: '2026-03-07T11:59:59Z' })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(room.put('other', { at: '2026-03-07T11:00:00Z' })).rejects.toThrow('at: is in the past (now: 2026-03-07T12:00:00.000Z)');
  });

  it('a dry run changes nothing', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('dry', { interval: '1h' }, { dryRun: true });
    expect(room.due()).toBeNull();
  });
});

describe('manual runs', () => {
  it('start outside of the times, also if the schedule is paused', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('hand', { interval: '1h', paused: true, session: '{{@time}}' });
    const accepted = await room.scheduler.runNow('hand');
    expect(accepted).toEqual({
      id: 'manual-turn_1',
      status: 'pending',
      reason: null,
      session: 'session of hand, demo, 2026-03-07T10:00:00.000Z',
      turn: 'turn_1',
      run: 1,
      isRepeat: false,
    });
    expect(stateOf(room, 'hand')).toMatchObject({ nextRunAt: null, lastRun: { id: 'manual-turn_1' } });
    await expect(room.scheduler.runNow('nobody')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('errors', () => {
  it('a template error fails visibly, and the next run stays scheduled', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('broken', { cron: '0 * * * *', session: `{{@schedule}}${'-'.repeat(maxSessionKeyLength)}` });
    await room.put('sound', { cron: '0 * * * *' });
    await room.ring('2026-03-07T11:00:00Z');
    expect(room.runs('broken')).toMatchObject([{ status: 'failed', reason: expect.stringContaining('is longer than 512 characters') }]);
    expect(room.runs('sound')).toMatchObject([{ status: 'pending' }]);
    expect(stateOf(room, 'broken')).toMatchObject({ nextRunAt: '2026-03-07T12:00:00.000Z', lastRun: { status: 'failed' } });
  });

  it('an unexpected error is retried later, and delays neither other schedules nor the alarm', async () => {
    const sessionId = async (schedule: string): Promise<string> => {
      if (schedule === 'broken') throw new Error('something else');
      return 'session';
    };
    const room = scheduleRoom('2026-03-07T10:00:00Z', { sessionId });
    await room.put('broken', { cron: '0 * * * *' });
    await room.put('sound', { cron: '0 * * * *' });
    await room.ring('2026-03-07T11:00:00Z');
    expect(standing(room, 'sound')).toEqual(['11:00 pending']);
    expect(room.errors).toEqual([expect.stringContaining('something else')]);
    expect(room.due()).toBe('2026-03-07T11:01:00.000Z');
  });

  it('a retried run keeps its due time, and later runs are on time', async () => {
    let isBroken = true;
    const sessionId = async (): Promise<string> => {
      if (isBroken) throw new Error('something else');
      return 'session';
    };
    const room = scheduleRoom('2026-03-07T10:00:00Z', { sessionId });
    await room.put('mended', { interval: '1h' });
    await room.ring('2026-03-07T11:00:00Z');
    await room.ring('2026-03-07T11:01:00Z');
    expect(ids(room, 'mended')).toEqual([]);
    isBroken = false;
    await room.ring('2026-03-07T11:02:00Z');
    expect(ids(room, 'mended')).toEqual(['2026-03-07T11:00:00.000Z']);
    expect(room.due()).toBe('2026-03-07T12:00:00.000Z');
  });

  /** Adds this number of pending deliveries. */
  const fill = ({ context }: ScheduleRoom, kind: string, name: string, count: number): void => {
    context.sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO deliveries (kind, name, id, status, run, repeats, warnings, is_json, bytes, received_at, run_at, attempts, held)
       SELECT ?, ?, i, 'pending', 1, 0, '[]', 0, 0, 0, 0, 0, 0 FROM n`,
      count,
      kind,
      name,
    );
  };

  it('a run stays due while the backlog is full', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    await room.put('patient', { cron: '0 * * * *' });
    for (let count = 0; count < 3; count += 1) await room.put(`other-${count}`, { cron: '0 * * * *' });
    fill(room, 'webhook', 'busy', limits.maxPendingDeliveries);
    const statements = watch(room);
    await room.ring('2026-03-07T11:00:00Z');
    expect(ids(room, 'patient')).toEqual([]);
    // The backlog is checked once, not once for each schedule.
    expect(statements.filter((query) => query.includes('FROM deliveries INDEXED BY'))).toHaveLength(1);
    expect(room.due()).toBe('2026-03-07T11:00:00.000Z');
    expect(room.errors).toEqual([]);
  });

  it('a schedule with a full backlog delays no other', async () => {
    const room = scheduleRoom('2026-03-07T10:00:00Z');
    for (const name of ['full', 'other']) await room.put(name, { cron: '0 * * * *' });
    fill(room, 'schedule', 'full', limits.maxPendingDeliveries * maxBacklogShare);
    await room.ring('2026-03-07T11:00:00Z');
    expect(ids(room, 'other')).toEqual(['2026-03-07T11:00:00.000Z']);
    expect(ids(room, 'full')).not.toContain('2026-03-07T11:00:00.000Z');
    expect(room.due()).toBe('2026-03-07T11:00:00.000Z');
  });
});
