/** The run of a replay: what it does when limits refuse its cases, processes die, rights shrink, and recordings go away. */
import { expect, it } from 'vitest';
import type { Principal } from '../../../../src/core/people/principal.ts';
import { Problem } from '../../../../src/core/problem.ts';
import type { ReplayCaseStatus } from '../../../../src/core/replay/replay.ts';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { createPools } from '../../../../src/engine/fair-pool.ts';
import { noResult } from '../../../../src/engine/replay/run-case.ts';
import type { OpenSession } from '../../../../src/objects/session/object/open-session.ts';
import { lazySessionTables, sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { cancelReplay, continueReplay, driveReplay, type ReplayParts } from '../../../../src/objects/session/replay/replay-run.ts';
import { ReplayStore } from '../../../../src/objects/session/replay/replay-store.ts';
import { viewReplay } from '../../../../src/objects/session/replay/replay-view.ts';
import { withLazyTables } from '../../../../src/objects/shared/lazy-tables.ts';
import type { StartReplay } from '../../../../src/ports/replays.ts';
import { countedIds, fakeClock, keptLog } from '../../../fakes/runtime.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';

const principal: Principal = { workspace: 'w', keyId: 'k', scopes: ['chat'] };
const busy = new Problem('rate_limited', 'Too many turns.');
const isFull = async (): Promise<never> => await Promise.reject(busy);
const dayMs = 86_400_000;

type Given = {
  cases?: number;
  request?: Partial<StartReplay>;
  rights?: Partial<Principal>;
  read?(): Promise<never>;
  stored?: readonly string[];
};

/** A replay of turns of the sessions `s1`, `s2`, …, whose recordings are read with `read`. */
function makeReplay({ cases = 1, request = {}, rights = { scopes: ['chat'] }, read = isFull, stored = [] }: Given = {}) {
  const clock = fakeClock();
  const sql = withLazyTables(fakeSql(sessionMigrations, lazySessionTables), lazySessionTables);
  const seen = { reads: 0, events: [] as SessionEventBody[], timers: new Map<string, number>(), work: [] as Promise<unknown>[] };
  // The parts of each that a replay uses.
  const wiring = {
    ...{ clock, ids: countedIds(), log: keptLog(), pools: createPools(clock), settings: { aliases: true } },
    catalog: () => ({ originRights: async () => rights, knownSessions: async (ids: string[]) => ids.filter((id) => stored.includes(id)) }),
    usage: { withBodies: async (_workspace: string, ids: string[]) => ids.filter((id) => stored.includes(id)) },
    directory: {},
    sessions: {
      get: () => ({
        recordedTurn: async () => {
          seen.reads += 1;
          return await read();
        },
      }),
    },
  };
  const parts = {
    ...{ wiring, session: 'r', isDeleted: () => false },
    waitUntil: (work: Promise<unknown>) => void seen.work.push(work),
  } as unknown as ReplayParts;
  const openSession = {
    ...{ meta: { workspace: 'w', keyId: 'k', createdAt: clock.now(), setup: { listed: false, replay: true } } },
    log: { append: (event: SessionEventBody) => void seen.events.push(event) },
    timers: { set: (kind: string, due: number) => void seen.timers.set(kind, due) },
    summary: { noteChange: () => undefined },
    replay: { sql, run: null },
  } as unknown as OpenSession;
  const store = new ReplayStore(sql);
  const list = Array.from({ length: cases }, (_, index) => ({
    session: `s${index + 1}`,
    turn: 't',
    request: null,
    rules: [],
    reason: null,
  }));
  const given = { with: {}, unmatched: 'end', concurrency: 1, of: 'x', suite: null, rules: [], cases: list, left: 0 } as const;
  store.create(principal, { ...given, ...request });
  return {
    ...{ clock, seen, store, parts, openSession },
    view: () => viewReplay('r', openSession, store),
    begin: async () => {
      driveReplay(parts, openSession).begin();
      await settle(seen.work);
    },
    /** The alarm fires when it is due. */
    fire: async () => {
      await clock.advance(Math.max(0, (seen.timers.get('replay') ?? 0) - clock.now()));
      await continueReplay(parts, openSession);
      await settle(seen.work);
    },
    /** Another process opens the object. */
    die: () => {
      openSession.replay.run = null;
    },
    statuses: (): ReplayCaseStatus[] => store.cases({ limit: 100 }).items.map(({ status }) => status),
  };
}

async function settle(work: Promise<unknown>[]): Promise<void> {
  for (let done = 0; done < work.length; done += 1) await work[done];
}

it('tries a case that limits refuse once in five seconds, and stops after ten minutes', async () => {
  const replay = makeReplay({ cases: 3 });
  await replay.begin();
  expect(replay.seen.reads).toBe(1);
  for (let tries = 2; replay.view().status === 'running' && tries < 1_000; tries += 1) {
    await replay.fire();
    expect(replay.seen.reads).toBe(tries);
  }
  expect(replay.seen.reads).toBe(122);
  expect(replay.view()).toMatchObject({ status: 'stopped', reason: expect.stringContaining('10 minutes: Too many turns.'), uncounted: 0 });
  expect(replay.statuses()).toEqual(['skipped', 'skipped', 'skipped']);
});

it('counts and names the attempts that a process left, and gives up after three', async () => {
  const replay = makeReplay({ read: async () => await new Promise<never>(() => undefined) });
  for (let deaths = 0; deaths < 3; deaths += 1) {
    driveReplay(replay.parts, replay.openSession)[deaths === 0 ? 'begin' : 'fill']();
    await replay.clock.advance(0);
    expect(replay.statuses()).toEqual(['running']);
    replay.die();
  }
  driveReplay(replay.parts, replay.openSession).fill();
  expect(replay.view()).toMatchObject({ status: 'completed', uncounted: 3, cases: { failed: 1 } });
  const reason = 'It was interrupted 3 times. An attempt did not end: what it used is not counted.';
  expect(replay.store.cases({ limit: 1 }).items).toMatchObject([{ status: 'failed', reason }]);
  expect(replay.seen.events.map(({ type }) => type)).toEqual(['replay-case', 'replay-end']);
});

it('is cancelled also where no process drives it, once', async () => {
  const replay = makeReplay({ cases: 2 });
  await replay.begin();
  replay.die();
  cancelReplay(replay.parts, replay.openSession, 'The key was revoked.');
  cancelReplay(replay.parts, replay.openSession, 'Again.');
  expect(replay.view()).toMatchObject({ status: 'cancelled', reason: 'The key was revoked.', cases: { skipped: 2 } });
  expect(replay.openSession.replay.run).toBeNull();
  expect(replay.seen.events.filter(({ type }) => type === 'replay-end')).toHaveLength(1);
});

it('runs nothing before it was admitted, and is not cancelled before', async () => {
  const replay = makeReplay();
  await continueReplay(replay.parts, replay.openSession);
  cancelReplay(replay.parts, replay.openSession, 'It was cancelled.');
  await settle(replay.seen.work);
  expect([replay.seen.reads, replay.seen.events]).toEqual([0, []]);
});

it('ends when its key may not use it any more, or is gone', async () => {
  const bound = makeReplay({ request: { unmatched: 'run-safe' }, rights: { scopes: ['chat'], agents: ['clerk'] } });
  await bound.begin();
  await bound.clock.advance(60_000);
  await bound.fire();
  expect(bound.view()).toMatchObject({ status: 'failed', reason: expect.stringContaining('run-safe') });
  const revoked = makeReplay();
  await revoked.begin();
  Object.assign(revoked.parts.wiring, { catalog: () => ({ originRights: async () => null }) });
  await revoked.clock.advance(60_000);
  await revoked.fire();
  expect(revoked.view()).toMatchObject({ status: 'cancelled', reason: expect.stringContaining('not valid any more') });
});

it('erases the replayed turns of recordings that are gone within a day, of sessions and of requests', async () => {
  const request = (id: string) => ({ session: null, turn: null, request: id, rules: [], reason: null });
  const turn = (session: string) => ({ session, turn: 't', request: null, rules: [], reason: null });
  const cases = [turn('s1'), turn('s2'), request('q1'), request('q2')];
  const replay = makeReplay({ request: { cases }, stored: ['s1', 'q1'] });
  const { store } = replay;
  const detail = { side: { text: 'A canary.', calls: [] }, differences: [] };
  for (const number of [1, 2, 3, 4]) store.settle(number, { ...noResult, status: 'same', reason: null, detail }, 0);
  await replay.begin();
  expect(replay.view().status).toBe('completed');
  const due = (replay.seen.timers.get('replay') ?? 0) - replay.clock.now();
  expect(due).toBeLessThanOrEqual(dayMs);
  await replay.fire();
  expect([1, 2, 3, 4].map((number) => store.detail(number) !== null)).toEqual([true, false, true, false]);
  expect(replay.statuses()).toEqual(['same', 'same', 'same', 'same']);
});
