import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createChatHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await createChatHarness();
});

const path = '/v1/workspaces/default';

describe('the settings of a workspace', () => {
  it('have defaults until they are written, and keep those that are left out', async () => {
    const before = await h.send('GET', path);
    expect([before.headers.get('etag'), await bodyOf(before)]).toMatchObject([
      null,
      { name: 'default', version: 0, settings: { retention: { auditDays: 90, sessionDays: null }, requestLog: { bodies: false } } },
    ]);
    const written = await h.send('PUT', path, { settings: { retention: { auditDays: 7 } } });
    expect([written.status, (await bodyOf(written)).settings.retention]).toMatchObject([
      201,
      { auditDays: 7, requestDays: 30, versions: 100 },
    ]);
    const { items } = await bodyOf(await h.send('GET', '/v1/workspaces'));
    expect(items).toMatchObject([{ name: 'default', version: 1, settings: { retention: { auditDays: 7 } } }]);
    expect((await h.send('PUT', path, { settings: {} }, { 'if-match': '"9"' })).status).toBe(412);
  });

  it.each([
    [{ settings: { retention: { auditDays: 0 } } }, 'settings.retention.auditDays'],
    [{ settings: { retention: { sessionDays: 1.5 } } }, 'settings.retention.sessionDays'],
    [{ settings: { requestLog: { bodies: 'yes' } } }, 'settings.requestLog.bodies'],
    [{ settings: { nameMap: { x: '' } } }, 'settings.nameMap.x'],
    [{ settings: { unknown: 1 } }, 'settings.unknown'],
  ])('are refused if they are invalid: %j', async (body, at) => {
    const answer = await h.send('PUT', path, body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, at]);
  });

  it('belong to the root key, and to a workspace that exists', async () => {
    const headers = await h.key({ scopes: ['admin'] });
    for (const [method, at] of [
      ['GET', path],
      ['GET', '/v1/workspaces'],
      ['PUT', path],
    ] as const)
      expect((await h.send(method, at, method === 'PUT' ? { settings: {} } : undefined, headers)).status).toBe(403);
    expect((await h.send('GET', '/v1/workspaces/other')).status).toBe(404);
  });
});
