import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { shareService } from './shared-service.ts';

type Run = { id: string; status: string; receivedAt: string; turn: string | null };

/** Oldest first. */
async function runsOf(service: Pick<RunningService, 'call'>, name: string): Promise<Run[]> {
  const { json } = await service.call('GET', `/v1/schedules/${name}/runs?limit=100`);
  return (json?.items ?? []).toReversed();
}

async function completedRuns(service: RunningService, name: string, count: number): Promise<Run[]> {
  return eventually(`${count} runs of ${name}`, async () => {
    const runs = await runsOf(service, name);
    return runs.filter(({ status }) => status === 'completed').length >= count ? runs : undefined;
  });
}

it('runs a schedule on time, and runs once for all times missed during a kill, without any request', async () => {
  const dataDir = makeDataDir();
  let service = await startService(dataDir);
  try {
    const interval = 1_000;
    const made = await service.call('PUT', '/v1/schedules/tick', {
      agent: 'demo',
      interval: '1s',
      session: '{{@schedule}}',
      input: 'hello',
    });
    expect([made.status, made.json.lastRun]).toEqual([201, null]);
    const first = Date.parse(made.json.nextRunAt);
    const before = await completedRuns(service, 'tick', 2);
    expect(Date.parse(before[0]?.id ?? '')).toBe(first);

    await service.stop('SIGKILL');
    const diedAt = Date.now();
    await sleep(3 * interval);
    service = await startService(dataDir);
    await sleep(2 * interval);
    const askedAt = Date.now();
    const runs = await completedRuns(service, 'tick', before.length + 2);

    const asleep = runs.filter(({ receivedAt }) => Date.parse(receivedAt) > diedAt);
    const lastBefore = runs[runs.length - asleep.length - 1];
    const madeUp = asleep[0];
    // Started by the alarm before any request, for the newest missed time; the two or more earlier missed times did not run.
    expect(Date.parse(madeUp?.receivedAt ?? '')).toBeLessThan(askedAt);
    expect(Date.parse(madeUp?.id ?? '')).toBeLessThanOrEqual(Date.parse(madeUp?.receivedAt ?? ''));
    expect(Date.parse(madeUp?.id ?? '') - Date.parse(lastBefore?.id ?? '')).toBeGreaterThan(2 * interval);

    // Each time once, in order, at its scheduled time and never early; each in a separate turn.
    const times = runs.map(({ id }) => (Date.parse(id) - first) / interval);
    expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
    expect(times.every((time) => Number.isInteger(time))).toBe(true);
    for (const { id, receivedAt } of runs) expect(Date.parse(receivedAt)).toBeGreaterThanOrEqual(Date.parse(id));
    const turns = runs.map(({ turn }) => turn).filter((turn) => turn !== null);
    expect(new Set(turns).size).toBe(turns.length);
  } finally {
    await service.stop();
    removeDataDir(dataDir);
  }
});

describe('schedules over HTTP', () => {
  const service = shareService();

  it('are created, shown, previewed, run manually and deleted, with complete errors', async () => {
    const put = (body: Record<string, unknown>) => service.call('PUT', '/v1/schedules/morning', { agent: 'demo', input: 'hello', ...body });
    const made = await put({ cron: '30 2 * * *', timeZone: 'America/New_York', session: '{{@schedule}}' });
    expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/schedules/morning']);
    const { json: shown } = await service.call('GET', '/v1/schedules/morning');
    expect(shown).toEqual({
      ...{ name: 'morning', agent: 'demo', input: 'hello', cron: '30 2 * * *', timeZone: 'America/New_York' },
      ...{ session: '{{@schedule}}', overlap: 'skip', hasCallbackSecret: false, nextRunAt: expect.any(String), lastRun: null },
    });
    expect((await service.call('PUT', '/v1/schedules/morning', shown)).headers.get('etag')).toBe('"1"');
    const { json: next } = await service.call('GET', '/v1/schedules/morning/next?count=400');
    expect(next.code).toBe('invalid_request');
    const { times } = (await service.call('GET', '/v1/schedules/morning/next?count=3')).json;
    expect(times).toHaveLength(3);
    expect(times[0]).toBe(shown.nextRunAt);

    const ran = await service.call('POST', '/v1/schedules/morning/run');
    expect([ran.status, ran.json.delivery, ran.headers.get('location')]).toEqual([
      202,
      `manual-${ran.json.turn}`,
      `/v1/sessions/${ran.json.session}`,
    ]);
    const run = await eventually('the run to end', async () => {
      const { json } = await service.call('GET', `/v1/schedules/morning/runs/${ran.json.delivery}`);
      return json.status === 'completed' ? json : undefined;
    });
    expect(run).toMatchObject({ id: ran.json.delivery, session: ran.json.session, turn: ran.json.turn, sessionKey: 'morning' });
    expect(run).not.toHaveProperty('payload');
    expect((await service.call('GET', '/v1/schedules')).json.items.find(({ name }: { name: string }) => name === 'morning')).toMatchObject({
      lastRun: { id: run.id, status: 'completed' },
    });

    for (const [body, path, part] of [
      [{ cron: '0 0 31 2 *' }, 'cron', 'never occurs'],
      [{ cron: '61 * * * *' }, 'cron', 'minute'],
      [{ cron: '* * * * * *' }, 'cron', 'five are required'],
      [{ cron: '0 0 * * *', timeZone: 'Mars/Olympus' }, 'timeZone', 'IANA'],
      [{ interval: '0s' }, 'interval', 'at least 1s'],
      [{ interval: '400d' }, 'interval', 'at most 366d'],
      [{ interval: '1.5h' }, 'interval', '1h30m'],
      [{ at: '2020-01-01T00:00:00Z' }, 'at', 'in the past'],
      [{ at: 'tomorrow' }, 'at', 'with its time and offset'],
      [{ at: '2099-12-24T18:00:00' }, 'at', 'with its time and offset'],
      [{ session: '{{user.id}}', at: '2099-12-24T18:00:00Z' }, 'session', 'a schedule has none'],
      [{}, 'cron', 'give exactly one of'],
      [{ cron: '@daily', interval: '1h' }, 'cron', 'give exactly one of'],
      [{ interval: '1h', timeZone: 'UTC' }, 'timeZone', 'is only valid with cron'],
      [{ interval: '1h', input: '{{#each}}' }, 'input', ''],
      [{ interval: '1h', callbackUrl: 'https://example.com' }, 'callbackSecret', 'is required'],
      [{ interval: '1h', every: 'day' }, 'every', 'unknown field'],
    ] as const) {
      const refused = await put(body);
      expect([refused.status, refused.json.code], JSON.stringify(body)).toEqual([422, 'invalid_request']);
      expect(refused.json.issues, JSON.stringify(body)).toContainEqual({ path, message: expect.stringContaining(part) });
    }

    expect((await service.call('DELETE', '/v1/schedules/morning')).status).toBe(204);
    expect((await service.call('GET', '/v1/schedules/morning')).status).toBe(404);
    expect((await service.call('POST', '/v1/schedules/morning/run')).status).toBe(404);
    expect((await service.call('GET', '/v1/schedules/nobody/runs')).status).toBe(404);
    expect((await service.call('GET', '/v1/schedules/morning/runs')).status).toBe(404);
  });
});
