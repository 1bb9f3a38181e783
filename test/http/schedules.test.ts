import { describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness, problemIn } from './harness.ts';

const morning = { agent: 'plain', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', input: 'good morning' };

describe('/v1/schedules', () => {
  it('accepts its own output, and never shows its secret', async () => {
    const harness = await createChatHarness();
    const given = { ...morning, callbackUrl: 'https://example.com/hook', callbackSecret: 'whsec_c2VjcmV0' };
    const made = await harness.send('PUT', '/v1/schedules/morning', given);
    expect([made.status, made.headers.get('location')]).toEqual([201, '/v1/schedules/morning']);
    const shown = await bodyOf(await harness.send('GET', '/v1/schedules/morning'));
    expect(shown).toMatchObject({ ...morning, name: 'morning', hasCallbackSecret: true, overlap: 'skip', session: '{{@delivery}}' });
    expect(JSON.stringify([await bodyOf(made), shown])).not.toContain('whsec_');
    const again = await harness.send('PUT', '/v1/schedules/morning', { ...shown, lastRun: { id: 'anything' } }, { 'if-match': '"1"' });
    expect([again.status, again.headers.get('etag')]).toEqual([200, '"1"']);
    expect(await problemIn(await harness.send('PUT', '/v1/schedules/other', shown))).toBe('422 invalid_request at name');
  });

  it('requires an unbound key with scope admin', async () => {
    const harness = await createChatHarness();
    await harness.send('PUT', '/v1/schedules/morning', morning);
    const lesser = await harness.key({ scopes: ['chat', 'tools', 'toolsets', 'approve'] });
    const bound = await harness.key({ scopes: ['admin'], agents: ['plain'] });
    const asked: [method: string, path: string, body?: unknown][] = [
      ['GET', '/v1/schedules/morning'],
      ['PUT', '/v1/schedules/morning', morning],
      ['DELETE', '/v1/schedules/morning'],
      ['GET', '/v1/schedules/morning/next'],
      ['POST', '/v1/schedules/morning/run'],
      ['GET', '/v1/schedules/morning/runs'],
      ['GET', '/v1/schedules/morning/runs/2026-03-09T08:00:00.000Z'],
    ];
    expect((await harness.send('GET', '/v1/schedules', undefined, lesser)).status).toBe(403);
    expect((await harness.send('GET', '/v1/schedules', undefined, bound)).status).toBe(403);
    for (const [method, path, body] of asked)
      for (const key of [lesser, bound]) expect((await harness.send(method, path, body, key)).status, `${method} ${path}`).toBe(403);
  });

  it('lists the next times; of a paused one, as if it were resumed now', async () => {
    const harness = await createChatHarness();
    await harness.send('PUT', '/v1/schedules/morning', { ...morning, paused: true });
    const { times } = await bodyOf(await harness.send('GET', '/v1/schedules/morning/next?count=7'));
    expect(times).toHaveLength(7);
    expect(times).toEqual(times.toSorted());
    const weekdays = times.map((time: string) => new Date(time).getUTCDay());
    expect(weekdays.every((day: number) => day >= 1 && day <= 5)).toBe(true);
    for (const count of ['0', '101', 'many']) {
      const refused = await harness.send('GET', `/v1/schedules/morning/next?count=${count}`);
      expect(refused.status).toBe(422);
    }
    expect((await harness.send('GET', '/v1/schedules/nobody/next')).status).toBe(404);
  });

  it('lists the next times of a draft, and says what is wrong with it', async () => {
    const harness = await createChatHarness();
    const next = async (draft: object, more = {}) =>
      await bodyOf(await harness.send('POST', '/v1/schedules/unsaved/next', { draft: { agent: 'demo', input: 'x', ...draft }, ...more }));
    expect((await next({ cron: '0 9 * * *' })).times).toHaveLength(5);
    const [first, second] = (await next({ interval: '90m', paused: true }, { count: 2 })).times.map(Date.parse);
    expect(second - first).toBe(90 * 60_000);
    expect((await next({ at: '2020-01-01T00:00:00Z' })).times).toEqual([]);
    const issuesOf = async (draft: object) => (await next(draft)).issues.map(({ path }: { path: string }) => path);
    expect(await issuesOf({ cron: '99 9 * * *' })).toEqual(['cron']);
    expect(await issuesOf({ interval: 'soon' })).toEqual(['draft.interval']);
    expect((await harness.send('GET', '/v1/schedules/unsaved')).status).toBe(404);
  });
});
