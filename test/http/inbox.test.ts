/** `GET /v1/approvals` and the filters of `GET /v1/sessions`: what they show, to whom, and bad input. */
import { beforeEach, expect, it } from 'vitest';
import type { SessionStatus, SessionWait } from '../../src/core/turn/session-summary.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(async () => {
  h = createHarness();
  await session('s1', 'root', 'running', [ask('c1'), { ...ask('c2.1'), kind: 'client-tool', expiresAt: 5_000 }]);
  await session('s2', 'webhook:orders', 'waiting', [{ ...ask('c3'), kind: 'input' }]);
  await session('s3', 'other', 'completed', [{ ...ask('c4'), state: 'denied', decidedAt: 4_000, decidedBy: 'link' }]);
});

function ask(callId: string): SessionWait {
  return {
    ...{ callId, kind: 'approval', turn: 't1', canonical: 'builtin.bash', reason: 'It asks', round: 1, state: 'pending' },
    ...{ askedAt: 1_000, expiresAt: 9_000, decidedAt: null, decidedBy: null },
  };
}

async function session(id: string, keyId: string, status: SessionStatus, waits: readonly SessionWait[]): Promise<void> {
  const summary = { revision: 1, status, title: `Title of ${id}`, activeAt: 2_000, usage: { inputTokens: 3, outputTokens: 4 } };
  const open = { pendingQuestions: 0, queuedTurns: 0 };
  await h.catalog.updateSession({ id, keyId, agent: 'clerk', model: null, toolset: null, createdAt: 0, summary, waits, open });
}

async function list(path: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
  const answer = await h.send('GET', path, undefined, headers);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await bodyOf(answer)).items;
}
const calls = async (path: string, headers?: Record<string, string>) => (await list(path, headers)).map(({ callId }) => callId);

it('shows pending questions of all kinds with agent and trigger, and decided ones with their maker', async () => {
  expect(await list('/v1/approvals?kind=input')).toEqual([
    {
      ...{
        session: 's2',
        turn: 't1',
        callId: 'c3',
        kind: 'input',
        canonical: 'builtin.bash',
        reason: 'It asks',
        round: 1,
        state: 'pending',
      },
      ...{ agent: 'clerk', trigger: { kind: 'webhook', name: 'orders' }, askedAt: '1970-01-01T00:00:01.000Z' },
      ...{ expiresAt: '1970-01-01T00:00:09.000Z', decidedAt: null, decidedBy: null },
    },
  ]);
  expect(await calls('/v1/approvals')).toEqual(['c3', 'c2.1', 'c1']);
  expect(await list('/v1/approvals?kind=client-tool')).toMatchObject([{ parent: 'c2', expiresAt: null }]);
  expect(await list('/v1/approvals?state=decided')).toMatchObject([
    { callId: 'c4', state: 'denied', decidedBy: 'link', decidedAt: '1970-01-01T00:00:04.000Z' },
  ]);
  expect(await calls('/v1/approvals?session=s1')).toEqual(['c2.1', 'c1']);
  expect(await calls('/v1/approvals?agent=other')).toEqual([]);
});

it('shows a key what it may decide, and nothing of other keys', async () => {
  const approver = await h.key({ scopes: ['approve'] });
  expect(await calls('/v1/approvals', approver)).toEqual(['c3']);
  expect(await calls('/v1/approvals', await h.key({ scopes: ['approve'], agents: ['clerk'] }))).toEqual(['c3']);
  for (const rights of [
    { scopes: ['chat'] },
    { scopes: ['approve'], agents: ['another'] },
    { scopes: ['approve', 'admin'], toolsets: ['demo'] },
  ] as const)
    expect(await calls('/v1/approvals', await h.key(rights)), JSON.stringify(rights)).toEqual([]);
  expect((await h.send('GET', '/v1/approvals', undefined, await h.key({ scopes: ['tools'] }))).status).toBe(403);
});

it('lists sessions with title, status, usage and last activity, filtered', async () => {
  expect((await list('/v1/sessions'))[2]).toEqual({
    ...{ id: 's1', agent: 'clerk', createdAt: '1970-01-01T00:00:00.000Z', title: 'Title of s1', status: 'running' },
    ...{ lastActivityAt: '1970-01-01T00:00:02.000Z', usage: { inputTokens: 3, outputTokens: 4 } },
  });
  for (const [filter, ids] of [
    ['status=waiting', ['s2']],
    ['status=completed&agent=clerk', ['s3']],
    ['trigger=webhook:orders', ['s2']],
    ['trigger=webhook', ['s2']],
    ['trigger=schedule', []],
    ['agent=other', []],
  ] as const)
    expect(
      (await list(`/v1/sessions?${filter}`)).map(({ id }) => id),
      filter,
    ).toEqual(ids);
  expect(await list('/v1/sessions?trigger=webhook', await h.key({ scopes: ['chat'] }))).toEqual([]);
});

it('rejects unknown filters and cursors of other lists', async () => {
  const { nextCursor } = await bodyOf(await h.send('GET', '/v1/sessions?limit=1'));
  const pending = (await bodyOf(await h.send('GET', '/v1/approvals?limit=1'))).nextCursor;
  expect(await calls(`/v1/approvals?limit=1&cursor=${pending}`)).toEqual(['c2.1']);
  for (const query of [
    'approvals?state=open',
    'approvals?kind=all',
    'approvals?what=1',
    `approvals?cursor=${nextCursor}`,
    `approvals?state=decided&cursor=${pending}`,
    'approvals?limit=0',
    'sessions?status=done',
    'sessions?trigger=key:a',
    'sessions?trigger=webhook:a%20b',
    `sessions?cursor=${pending}`,
  ])
    expect((await h.send('GET', `/v1/${query}`)).status, query).toBe(422);
});
