import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../../../src/core/triggers/delivery.ts';
import { triggerPrincipal } from '../../../../../src/core/triggers/trigger-principal.ts';
import { wire } from '../../../../../src/wiring/wire.ts';
import { changeEnv, emptyWorkspace, testEnv } from '../../../../storage/workspace.ts';
import { waitUntil } from '../../../../wait-for.ts';
import { takeErrors } from '../../../../service-errors.ts';

async function open() {
  const place = await emptyWorkspace();
  // In the same isolate as the objects, where a write is visible immediately.
  const { sessions, triggers, storedWork, catalog } = wire(testEnv);
  const { workspace, object } = place;
  await place.catalog.published('rules', '', false);
  // Without audit rows, only schedules and publications set the alarm.
  await runInDurableObject(object, (_instance, { storage }) => {
    storage.sql.exec(
      "CREATE TRIGGER unaudited AFTER INSERT ON audit_log BEGIN DELETE FROM audit_log; DELETE FROM meta WHERE key = 'sweep'; END",
    );
  });
  await place.catalog.put('agent', 'doer', { model: 'rehearsal/default' });
  const put = (name: string, body: Record<string, unknown>) =>
    catalog(workspace).put('schedule', name, { agent: 'doer', input: 'say hello', ...body });
  const runs = async (name: string): Promise<Delivery[]> =>
    (await triggers(workspace).deliveries({ kind: 'schedule', name }, { limit: 50 })).items.toReversed();
  const alarm = () => runInDurableObject(object, (_instance, { storage }) => storage.getAlarm());
  /** Makes it due now. */
  const makeDue = (name: string, at: string) =>
    runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec('UPDATE schedule_state SET due_at = ? WHERE schedule = ?', Date.parse(at), name);
    });
  return {
    ...place,
    sessions,
    triggers: triggers(workspace),
    storedWork: storedWork({ workspace, keyId: 'root' }),
    catalog: catalog(workspace),
    put,
    runs,
    alarm,
    makeDue,
  };
}

describe('the alarm', () => {
  it('fires on time for each run, and each run is a turn', async () => {
    const { put, runs, sessions, workspace } = await open();
    await put('often', { interval: '1s', session: '{{@schedule}}', overlap: 'queue' });
    await waitUntil(async () => (await runs('often')).filter(({ status }) => status === 'completed').length >= 3);
    const made = (await runs('often')).slice(0, 3);
    const dues = made.map(({ id }) => Date.parse(id));
    expect([(dues[1] ?? 0) - (dues[0] ?? 0), (dues[2] ?? 0) - (dues[1] ?? 0)]).toEqual([1_000, 1_000]);
    // Never before it was due.
    for (const { id, receivedAt } of made) expect(Date.parse(receivedAt)).toBeGreaterThanOrEqual(Date.parse(id));
    const owner = triggerPrincipal(workspace, { kind: 'schedule', name: 'often' }, 'doer');
    const session = await sessions.getByKey(owner, 'often');
    const turns = (await session.messages(owner)).items.filter(({ role }) => role === 'user').map(({ turn }) => turn);
    expect(turns.slice(0, 3)).toEqual(made.map(({ turn }) => turn));
  });

  it('is set to the next due time, also after other due work has failed', async () => {
    const { put, alarm, object } = await open();
    await put('later', { interval: '20s' });
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec(`INSERT INTO deliveries (kind, name, id, status, run, repeats, warnings, is_json, bytes, received_at, run_at, ended_at, attempts, held)
        VALUES ('webhook', 'hook', 'old', 'ignored', 1, 0, '[]', 0, 0, 0, 0, 1, 0, 0)`);
      storage.sql.exec("CREATE TRIGGER unswept BEFORE DELETE ON deliveries BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END");
    });
    await runDurableObjectAlarm(object);
    expect((await alarm()) ?? 0).toBeLessThanOrEqual(Date.now() + 20_000);
    expect(takeErrors()).toMatchObject([
      { message: 'a background job failed; it will be retried', cause: expect.stringContaining('disk I/O error') },
    ]);
    await runInDurableObject(object, (_instance, { storage }) => storage.sql.exec('DROP TRIGGER unswept'));
  });

  it('moves to earlier due times, stays for later ones, and is removed with the last', async () => {
    const { put, alarm, catalog } = await open();
    const inDays = (days: number): string => new Date(Math.floor(Date.now() / 1_000) * 1_000 + days * 86_400_000 + 250).toISOString();
    const [later, earlier, last] = [inDays(20), inDays(10), inDays(30)];
    await put('later', { at: later });
    expect(await alarm()).toBe(Date.parse(later));
    await put('earlier', { at: earlier });
    expect(await alarm()).toBe(Date.parse(earlier));
    await put('last', { at: last });
    expect(await alarm()).toBe(Date.parse(earlier));
    await put('earlier', { at: earlier, paused: true });
    for (const name of ['later', 'earlier', 'last']) await catalog.remove('schedule', name);
    await waitUntil(async () => (await alarm()) === null);
  });

  it('is set within the platform’s limit for far dates', async () => {
    const { put, alarm, catalog } = await open();
    await put('far', { at: '9999-12-31T23:59:59Z' });
    const ahead = ((await alarm()) ?? 0) - Date.now();
    expect(ahead).toBeGreaterThan(360 * 86_400_000);
    expect(ahead).toBeLessThanOrEqual(366 * 86_400_000);
    expect((await catalog.get('schedule', 'far')).body.nextRunAt).toBe('9999-12-31T23:59:59.000Z');
  });

  it('wakes an evicted object, which runs once for all missed times', async () => {
    const { put, runs, object, makeDue, catalog } = await open();
    await put('hourly', { cron: '0 * * * *' });
    const twoHoursAgo = new Date(Math.floor(Date.now() / 3_600_000 - 2) * 3_600_000).toISOString();
    await makeDue('hourly', twoHoursAgo);
    await evictDurableObject(object);
    await runDurableObjectAlarm(object);
    const made = await runs('hourly');
    expect(made).toHaveLength(1);
    const age = Date.now() - Date.parse(made[0]?.id ?? '');
    expect(age).toBeLessThan(3_600_000);
    const { body } = await catalog.get('schedule', 'hourly');
    expect(Date.parse(String(body.nextRunAt))).toBeGreaterThan(Date.now());
    expect(body.lastRun).toMatchObject({ id: made[0]?.id });
  });

  it('is not delayed by a publish that never returns', async () => {
    const { put, runs, object, catalog, makeDue } = await open();
    await put('often', { at: '2999-01-01T00:00:00Z' });
    const KV = { put: () => new Promise(() => undefined) } as unknown as (typeof testEnv)['KV'];
    await changeEnv(object, { KV });
    await catalog.put('agent', 'other', { model: 'rehearsal/default' });
    await makeDue('often', '2026-01-01T00:00:00Z');
    await runDurableObjectAlarm(object);
    expect(await runs('often')).toMatchObject([{ id: '2026-01-01T00:00:00.000Z' }]);
    await put('second', { interval: '1s' });
    await waitUntil(async () => (await runs('second')).length > 1);
  });
});

describe('a schedule as it is shown', () => {
  it('has its next run and last result, alone and in lists, and never its secret', async () => {
    const { put, catalog, triggers, storedWork } = await open();
    // Rejected by the guard: this test sends no request.
    const callbackUrl = 'http://169.254.169.254/';
    const answer = await put('told', { at: '2999-01-01T00:00:00Z', callbackUrl, callbackSecret: 'shh-callback' });
    expect(answer.warnings).toEqual([{ path: 'callbackUrl', message: expect.stringContaining('Callbacks cannot be sent to this URL') }]);
    const shown = { nextRunAt: '2999-01-01T00:00:00.000Z', lastRun: null, hasCallbackSecret: true };
    expect(answer.document.body).toMatchObject(shown);
    const accepted = await storedWork.runSchedule('told');
    await waitUntil(async () => (await triggers.delivery({ kind: 'schedule', name: 'told' }, accepted.id)).status === 'completed');
    const after = { ...shown, lastRun: { id: accepted.id, status: 'completed', turn: accepted.turn } };
    expect((await catalog.get('schedule', 'told')).body).toMatchObject(after);
    const { items } = await catalog.list('schedule', { limit: 10 });
    expect(items.map(({ body }) => body)).toMatchObject([after]);
    expect(JSON.stringify([answer, items])).not.toContain('shh-callback');
  });

  it('signs callbacks with the previous secret until it is replaced, and requires one', async () => {
    const { put, object } = await open();
    const sealed = () =>
      runInDurableObject(object, (_instance, { storage }) =>
        storage.sql.exec<{ sealed: string | null }>("SELECT sealed FROM documents WHERE kind = 'schedule'").one(),
      );
    const callbackUrl = 'https://example.com/';
    await expect(put('signed', { interval: '1h', callbackUrl })).rejects.toThrow('callbackSecret: is required');
    const made = await put('signed', { interval: '1h', callbackUrl, callbackSecret: 'one' });
    const first = await sealed();
    const same = await put('signed', { interval: '1h', callbackUrl });
    expect([made.document.version, same.document.version, same.changed]).toEqual([1, 1, false]);
    expect(await sealed()).toEqual(first);
    const other = await put('signed', { interval: '1h', callbackUrl, callbackSecret: 'two' });
    expect([other.document.version, other.changed]).toEqual([2, true]);
    expect(await sealed()).not.toEqual(first);
    await put('signed', { interval: '1h' });
    expect(await sealed()).toEqual({ sealed: null });
  });
});
