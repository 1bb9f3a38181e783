/** The contract of the lists of sessions and of their questions, and of how many a key may have open. */
import { beforeEach, describe, expect, it } from 'vitest';
import { storedBounds } from '../../../src/core/limits/pools.ts';
import { type ListedReplay, maxRunningReplays, noFacts } from '../../../src/core/replay/replay.ts';
import type {
  OpenWorkRequest,
  SessionFilter,
  SessionSummary,
  SessionUpdate,
  SessionWait,
  WaitFilter,
} from '../../../src/core/turn/session-summary.ts';
import { pages, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function sessionsContract(make: MakeWorkspace): void {
  let catalog: CatalogParts['catalog'];
  beforeEach(async () => {
    ({ catalog } = await make());
  });

  const row = (id: string, keyId: string, agent: string | null = null) => ({
    ...{ id, keyId, agent, model: null, toolset: null, createdAt: 0 },
  });

  describe('the index of sessions', () => {
    it('lists newest first, for one key or for all', async () => {
      for (const [id, keyId] of [
        ['s1', 'a'],
        ['s2', 'b'],
        ['s3', 'a'],
      ] as const) {
        await catalog.indexSession(row(id, keyId));
      }
      await catalog.indexSession(row('s3', 'b'));
      expect((await pages((page) => catalog.sessions({ keyId: 'a' }, page), 1)).map(({ id }) => id)).toEqual(['s3', 's1']);
      await catalog.forgetSession('s3', null);
      expect((await pages((page) => catalog.sessions({ keyId: null }, page), 2)).map(({ id }) => id)).toEqual(['s2', 's1']);
    });
  });

  describe('the lists of sessions and questions', () => {
    const wait: SessionWait = {
      ...{ callId: 'c1', kind: 'approval', turn: 't1', canonical: 'builtin.bash', reason: 'It asks', round: 1, state: 'pending' },
      ...{ askedAt: 1_000, expiresAt: 9_000, decidedAt: null, decidedBy: null },
    };
    const update = (id: string, keyId: string, more: Partial<SessionSummary> = {}, waits: readonly SessionWait[] = []): SessionUpdate => ({
      ...{ id, keyId, agent: 'clerk', model: null, toolset: null, createdAt: 0, waits, open: { pendingQuestions: 0, queuedTurns: 0 } },
      summary: { revision: 1, status: 'running', title: 'Hello', activeAt: 2_000, usage: { inputTokens: 1, outputTokens: 2 }, ...more },
    });
    const idsOf = async (filter: SessionFilter) => (await pages((page) => catalog.sessions(filter, page), 1)).map(({ id }) => id);
    const inbox = async (filter: Partial<WaitFilter> = {}) =>
      await pages((page) => catalog.waits({ state: 'pending', of: null, ...filter }, page), 1);

    it('show a session’s newest state, and filter by it', async () => {
      await catalog.indexSession(row('s1', 'a', 'clerk'));
      await catalog.updateSession(update('s1', 'a', { revision: 3, status: 'completed' }));
      // A late update of an earlier state.
      await catalog.updateSession(update('s1', 'a', { revision: 2, status: 'running' }));
      await catalog.updateSession(update('s2', 'webhook:orders', { status: 'waiting' }));
      await catalog.indexSession(row('s2', 'webhook:orders', 'clerk'));
      await catalog.indexSession(row('s3', 'schedule:orders', 'other'));
      const { items } = await catalog.sessions({ keyId: 'a' }, { limit: 5 });
      expect(items).toEqual([
        {
          ...{ id: 's1', keyId: 'a', agent: 'clerk', createdAt: '1970-01-01T00:00:00.000Z', status: 'completed', title: 'Hello' },
          ...{ lastActivityAt: '1970-01-01T00:00:02.000Z', usage: { inputTokens: 1, outputTokens: 2 } },
        },
      ]);
      for (const [filter, ids] of [
        [{}, ['s3', 's2', 's1']],
        [{ status: 'waiting' }, ['s2']],
        [{ status: 'completed' }, ['s1']],
        [{ status: 'idle' }, ['s3']],
        [{ status: 'failed' }, []],
        [{ agent: 'clerk' }, ['s2', 's1']],
        [{ trigger: 'webhook' }, ['s2']],
        [{ trigger: 'schedule:orders' }, ['s3']],
        [{ trigger: 'webhook:order' }, []],
      ] as const)
        expect(await idsOf({ keyId: null, ...filter }), JSON.stringify(filter)).toEqual(ids);
      expect(await idsOf({ keyId: 'a', agent: 'clerk', status: 'waiting' })).toEqual([]);
    });

    it('show questions as pending, then as decided, to those who decide them', async () => {
      await catalog.updateSession(update('s1', 'a', {}, [wait, { ...wait, callId: 'c2', kind: 'input' }]));
      await catalog.updateSession(update('s2', 'webhook:orders', {}, [{ ...wait, callId: 'c3' }]));
      expect((await inbox()).map(({ callId, session }) => [callId, session])).toEqual([
        ['c3', 's2'],
        ['c2', 's1'],
        ['c1', 's1'],
      ]);
      for (const [of, ids] of [
        [{ keyId: 'a' }, ['c2', 'c1']],
        [{ keyId: 'b' }, []],
        [{ keyId: 'b', triggered: 'all' }, ['c3']],
        [{ keyId: 'b', triggered: ['clerk'] }, ['c3']],
        [{ keyId: 'b', triggered: ['other'] }, []],
      ] as const)
        expect(
          (await inbox({ of })).map(({ callId }) => callId),
          JSON.stringify(of),
        ).toEqual(ids);
      expect((await inbox({ kind: 'input' })).map(({ callId }) => callId)).toEqual(['c2']);
      expect(await inbox({ agent: 'other' })).toEqual([]);
      const decided: SessionWait = { ...wait, state: 'approved', decidedAt: 3_000, decidedBy: 'b' };
      for (let time = 0; time < 2; time += 1) await catalog.updateSession(update('s1', 'a', { revision: 2 }, [decided]));
      expect(await inbox({ state: 'decided' })).toEqual([{ ...decided, session: 's1', keyId: 'a', agent: 'clerk' }]);
      expect((await inbox({ session: 's1' })).map(({ callId }) => callId)).toEqual(['c2']);
      await catalog.forgetSession('s1', null);
      expect([...(await inbox({ state: 'decided' })), ...(await inbox({ session: 's1' }))]).toEqual([]);
    });

    it('have so many questions and queued turns of one key, and as many of another', async () => {
      const has = (pendingQuestions: number, queuedTurns = 0) => ({ pendingQuestions, queuedTurns });
      const admit = (session: string, keyId: string, own: Partial<OpenWorkRequest> = {}) =>
        catalog.admitOpenWork({ session, keyId, of: 'pendingQuestions', has: 0, more: 1, granted: {}, ...own });
      const { perKey, perWorkspace } = storedBounds.pendingQuestions;
      await catalog.updateSession({ ...update('s1', 'a'), open: has(perKey - 2) });
      await catalog.updateSession({ ...update('s2', 'a'), open: has(0, storedBounds.queuedTurns.perKey) });
      // Asked again, it is counted once.
      for (let time = 0; time < 2; time += 1) expect(await admit('s2', 'a')).toBeNull();
      const refused = { limit: 'pendingQuestions', of: 'key', name: 'a', max: perKey, used: perKey - 1 };
      expect(await admit('s3', 'a', { more: 2 })).toMatchObject(refused);
      expect(await admit('s3', 'b', { more: 2 })).toBeNull();
      expect(await admit('s3', 'a', { more: 2, granted: { key: perKey + 1 } })).toBeNull();
      expect(await admit('s1', 'a', { has: perKey - 2, more: 2 })).toMatchObject({ ...refused, used: perKey - 1 });
      expect(await admit('s3', 'a', { of: 'queuedTurns' })).toMatchObject({ limit: 'queuedTurns', of: 'key', used: perKey });
      // Neither was in the index, so nothing was counted.
      expect(await catalog.questionsByKey()).toEqual(new Map([['a', perKey - 1]]));
      await catalog.updateSession({ ...update('s1', 'a', { revision: 2 }), open: has(1) });
      expect(await admit('s2', 'a', { has: 1, more: perKey - 2 })).toBeNull();
      await catalog.forgetSession('s2', null);
      expect(await catalog.questionsByKey()).toEqual(new Map([['a', 1]]));
      // Keys that take what is there leave some for the next one.
      for (let key = 0; key < 5; key += 1) await catalog.updateSession({ ...update(`k${key}`, `k${key}`), open: has(1_900) });
      expect(await admit('k0', 'k0', { has: 1_900 })).toMatchObject({ of: 'workspace', max: perWorkspace, used: 9_501 });
      expect(await admit('new', 'new', { more: 100 })).toBeNull();
    });

    it('have so many running replays of one key, each counted once and until it has ended', async () => {
      const counts = { left: 0, done: 0, same: 0, different: 0, ended: 0, failed: 0, unreadable: 0, skipped: 0 };
      const replayOf = (id: string): ListedReplay => ({
        ...{ id, createdAt: new Date(0).toISOString(), endedAt: null, keyId: 'a', status: 'running', reason: null, suite: null, with: {} },
        ...{ unmatched: 'end', concurrency: 1, maxCost: null, cases: { total: 1, ...counts }, rules: { passed: 0, failed: 0 } },
        ...{ uncounted: 0, recorded: noFacts, replayed: noFacts },
      });
      const ids = Array.from({ length: 3 * maxRunningReplays }, (_, index) => `r${index}`);
      const admitted = await Promise.all(ids.map(async (id) => await catalog.admitReplay(replayOf(id))));
      const running = ids.filter((_, index) => admitted[index] === null);
      expect(running).toHaveLength(maxRunningReplays);
      // Requests that are sent at once may arrive in any order.
      const listed = (await catalog.replays({ keyId: null }, { limit: 100 })).items.map(({ id }) => id);
      expect(listed.toSorted()).toEqual(running.toSorted());
      const [newest = ''] = listed;
      expect([await catalog.admitReplay(replayOf(newest)), await catalog.admitReplay(replayOf('more'))]).toEqual([null, newest]);
      expect(await catalog.admitReplay(null)).toBe(newest);
      expect(await idsOf({ keyId: null })).toEqual([]);
      const ended = {
        ...update(running[0] ?? '', 'a', { revision: 2, status: 'completed' }),
        replay: JSON.stringify(replayOf(running[0] ?? '')),
      };
      await catalog.updateSession(ended);
      expect(await catalog.admitReplay(null)).toBeNull();
      expect([await catalog.admitReplay(replayOf('more')), await catalog.admitReplay(null)]).toEqual([null, 'more']);
    });

    it('accept only cursors of the same list', async () => {
      await catalog.updateSession(update('s1', 'a', {}, [wait, { ...wait, callId: 'c2' }]));
      await catalog.updateSession(update('s2', 'a'));
      const { nextCursor } = await catalog.sessions({ keyId: null }, { limit: 1 });
      const cursor = nextCursor ?? '';
      await expect(catalog.waits({ state: 'pending', of: null }, { limit: 1, cursor })).rejects.toMatchObject({ code: 'invalid_request' });
      const pending = await catalog.waits({ state: 'pending', of: null }, { limit: 1 });
      const other = { limit: 1, cursor: pending.nextCursor ?? '' };
      await expect(catalog.waits({ state: 'decided', of: null }, other)).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });
}
