import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/core/people/principal.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { RequestEntry } from '../../../src/core/records/usage.ts';
import { encodeCursor } from '../../../src/core/json/cursor.ts';
import type { SelectedCase } from '../../../src/core/replay/suite.ts';
import { Suite } from '../../../src/core/replay/suite.ts';
import type { SessionEvent } from '../../../src/core/turn/session-event.ts';
import { selectCases } from '../../../src/engine/replay/select-cases.ts';
import type { SessionPort } from '../../../src/ports/session.ts';
import type { RequestQuery } from '../../../src/ports/usage.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const dayMs = 86_400_000;
const admin: Principal = { workspace: 'w', keyId: 'root', scopes: ['admin'] };
const bound: Principal = { workspace: 'w', keyId: 'one', scopes: ['admin'], agents: ['helper'] };

const row = (number: number, more: Partial<RequestEntry> = {}): RequestEntry => ({
  ...{ id: `turn_${number}`, kind: 'turn', at: new Date(now - number * 1_000).toISOString(), requestId: null, keyId: 'one' },
  ...{ agent: 'helper', session: `s${number}`, turn: `turn_${number}`, dialect: null, toolset: 'desk', model: 'a/small', provider: 'a' },
  ...{ models: ['a/small'], status: 'completed', code: null, durationMs: 1, firstTokenMs: null, modelCalls: 1, toolCalls: 1 },
  ...{ usage: null, cost: null, unpricedCalls: 0 },
  ...more,
});

/** The log of a session with these turns, each with one call of its tool. `reads` counts pages of rows and of events. */
function records(rows: readonly RequestEntry[], logs: Readonly<Record<string, readonly string[]>> = {}, emptyPages = 0) {
  const reads = { rows: 0, events: 0 };
  const sorted = rows.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  const requests = async (_workspace: string, { limit, cursor, from = 0, to = Number.MAX_VALUE, where }: RequestQuery) => {
    reads.rows += 1;
    const start = cursor === undefined ? 0 : Number(cursor);
    const fits = (one: RequestEntry): boolean =>
      Date.parse(one.at) >= from &&
      Date.parse(one.at) < to &&
      Object.entries(where).every(([name, value]) => (name === 'key' ? one.keyId : one[name as 'agent']) === value);
    if (start < emptyPages) return { items: [], nextCursor: String(start + 1) };
    const items = sorted.filter(fits).slice(start - emptyPages, start - emptyPages + limit);
    const end = start + items.length;
    return { items, nextCursor: end - emptyPages < sorted.filter(fits).length ? String(end) : null };
  };
  const get = (id: string) => ({
    eventPage: async (_caller: Principal, { after = 0, limit }: { after?: number; limit: number }) => {
      reads.events += 1;
      const tools = logs[id];
      if (tools === undefined) throw new Problem('not_found', 'There is no such session.');
      const events = tools.flatMap((tool, index) => turnEvents(id, index, tool)).map((event, index) => ({ ...event, id: index + 1 }));
      return { items: events.slice(after, after + limit) as SessionEvent[], lastEvent: events.length };
    },
  });
  return { reads, deps: { usage: { requests }, sessions: { get: (id: string) => get(id) as unknown as SessionPort } } };
}

function turnEvents(session: string, index: number, tool: string): object[] {
  const turn = session.startsWith('s') && index === 0 ? `turn_${session.slice(1)}` : `turn_${session}_${index}`;
  const of = { turn, step: 1, callId: `c${index}`, at: now };
  const call = { ...of, name: 'x', canonical: tool, via: 'wire' };
  return [
    { ...of, type: 'turn-start', input: [], model: 'a/small', agent: 'helper' },
    { ...call, type: 'tool-result', isError: false, content: [] },
    ...(tool === 'open.turn' ? [] : [{ ...of, type: 'turn-end' }]),
  ];
}

/** Reads all pages. */
async function all(source: unknown, { deps }: ReturnType<typeof records>, { limit = 50, principal = admin } = {}) {
  const suite = Suite.parse(source);
  const cases: SelectedCase[] = [];
  let pages = 0;
  let [left, cursor]: [number, string | null] = [0, null];
  do {
    const page = await selectCases(deps, principal, suite, { limit, now: now + pages, ...(cursor !== null && { cursor }) });
    expect(page.cases.length).toBeLessThanOrEqual(limit);
    cases.push(...page.cases);
    [left, cursor] = [page.left, page.nextCursor];
    pages += 1;
  } while (cursor !== null);
  return { ids: cases.map(({ turn, request }) => request ?? turn), cases, left, pages };
}

describe('the cases that a suite selects', () => {
  const rows = [
    row(1),
    row(2, { agent: 'other' }),
    row(3, { status: 'failed' }),
    row(4, { status: 'waiting' }),
    row(5, { keyId: 'two' }),
    row(6, { toolset: 'files' }),
    row(7, { model: 'a/large' }),
    row(8, { kind: 'request', id: 'req_8', session: null, turn: null, toolset: null }),
    row(9, { at: '2026-11-20T00:00:00.000Z' }),
    row(10, { at: '2026-10-01T00:00:00.000Z' }),
  ];
  const turns = (...numbers: number[]): string[] => numbers.map((number) => `turn_${number}`);

  it.each<[string, object, (string | null)[]]>([
    ['all turns that have ended, of 30 days', {}, turns(1, 2, 3, 5, 6, 7, 9)],
    ['an agent', { agent: 'other' }, turns(2)],
    ['a status', { status: 'failed' }, turns(3)],
    ['a key', { key: 'two' }, turns(5)],
    ['a toolset', { toolset: 'files' }, turns(6)],
    ['a model', { model: 'a/large' }, turns(7)],
    ['requests', { kind: 'request' }, ['req_8']],
    ['today', { days: 1 }, turns(1, 2, 3, 5, 6, 7)],
    ['days of the calendar', { from: '2026-10-01', to: '2026-11-20' }, turns(9, 10)],
    ['everything since a day', { from: '2026-09-01' }, turns(1, 2, 3, 5, 6, 7, 9, 10)],
    ['the newest ones', { limit: 2 }, turns(1, 2)],
  ])('are, for %s, the newest first', async (_title, select, expected) => {
    for (const limit of [1, 2, 50]) expect((await all({ select }, records(rows), { limit })).ids).toEqual(expected);
  });

  it('are those of the key itself, if it sees no other', async () => {
    expect((await all({ select: {} }, records(rows), { principal: bound })).ids).toEqual(turns(1, 2, 3, 6, 7, 9));
    expect((await all({ select: { key: 'one' } }, records(rows), { principal: bound })).left).toBe(0);
    await expect(all({ select: { key: 'two' } }, records(rows), { principal: bound })).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('are those that called a tool, as the sessions recorded it; what cannot be read is counted', async () => {
    const logs = { s1: ['github.find'], s2: ['desk.find'], s3: ['github.read'], s5: ['x.github.find'], s6: ['github.find'] };
    const found = await all({ select: { tools: ['github.*'] } }, records(rows, logs), { limit: 2 });
    expect(found.ids).toEqual(turns(1, 3, 6));
    // The sessions of turns 7 and 9 are gone.
    expect(found.left).toBe(2);
    expect((await all({ select: { tools: ['github.read', 'desk.*d'] } }, records(rows, logs))).ids).toEqual(turns(2, 3));
  });

  const many = Array.from({ length: 3_000 }, (_, index) => row(index + 1));

  it('are at most the limit of the suite; more are counted, up to a thousand', async () => {
    expect(await all({ select: {} }, records(many))).toMatchObject({ left: 1_000, pages: 2 });
    expect(await all({ select: { limit: 1_000 } }, records(many), { limit: 200 })).toMatchObject({ left: 1_000, pages: 5 });
    expect((await all({ select: { limit: 40 } }, records(many.slice(0, 100)))).left).toBe(60);
    expect((await all({ select: { limit: 100 } }, records(many.slice(0, 100)))).left).toBe(0);
  });

  it('are read with a limited number of rows and sessions for each page', async () => {
    const sparse = records([row(1)], {}, 35);
    expect(await all({ select: {} }, sparse)).toMatchObject({ ids: turns(1), pages: 4 });
    expect(sparse.reads.rows).toBe(36);
    const called = records(many, Object.fromEntries(many.map(({ session }) => [session, ['other.tool']])));
    const page = await selectCases(called.deps, admin, { select: { tools: ['github.*'] } }, { limit: 200, now });
    expect(page).toMatchObject({ cases: [], left: 0, nextCursor: expect.any(String) });
    expect(called.reads).toEqual({ rows: 1, events: 50 });
  });

  it('do not change while they are read in pages', async () => {
    const { deps } = records(rows);
    const first = await selectCases(deps, admin, { select: {} }, { limit: 2, now });
    const later = records([...rows, row(-5)]);
    // The row at the cursor is one further now.
    const next = await selectCases(later.deps, admin, { select: {} }, { limit: 2, now: now + dayMs, cursor: first.nextCursor ?? '' });
    expect(next.cases.map(({ turn }) => turn)).toEqual(turns(3, 5));
  });

  it.each([encodeCursor('requests', [1, 'x']), encodeCursor('selected cases', ['1', -1, 0, 0]), 'x'])(
    'refuse the cursor %s of another list',
    async (cursor) => {
      for (const source of [{ select: {} }, { cases: [{ session: 's1' }] }])
        await expect(selectCases(records(rows).deps, admin, source, { limit: 2, now, cursor })).rejects.toMatchObject({
          code: 'invalid_request',
        });
    },
  );
});

describe('the cases that a suite lists', () => {
  const logs = { a: ['desk.find', 'desk.read', 'open.turn'], b: [], c: ['desk.find'] };

  it.each([1, 2, 50])('are turns, all turns of a session, and requests, in pages of %i', async (limit) => {
    const cases = [
      { session: 'c', turn: 'turn_x', rules: [{ maxCalls: 1 }] },
      { session: 'a', rules: [{ calls: 'same' }] },
      { request: 'req_1' },
      { session: 'b' },
      { session: 'gone' },
    ];
    const found = await all({ cases }, records([], logs), { limit });
    expect(found.left).toBe(0);
    expect(found.cases.map(({ session, turn, request, reason }) => [session, turn, request, reason])).toEqual([
      ['c', 'turn_x', null, null],
      ['a', 'turn_a_0', null, null],
      ['a', 'turn_a_1', null, null],
      ['a', 'turn_a_2', null, 'The turn has not ended.'],
      [null, null, 'req_1', null],
      ['b', null, null, 'The session has no turns.'],
      ['gone', null, null, 'The session is gone, or belongs to another key.'],
    ]);
    expect(found.cases.map(({ rules }) => rules.length)).toEqual([1, 1, 1, 1, 0, 0, 0]);
    expect(found.cases[1]).toMatchObject({ agent: 'helper', model: 'a/small', at: '2026-11-30T12:00:00.000Z' });
  });

  it('are at most a thousand, of which each page reads at most twenty sessions', async () => {
    const sessions = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`a${index}`, ['x.y', 'x.y']]));
    const cases = Object.keys(sessions).map((session) => ({ session }));
    const found = await all({ cases }, records([], sessions), { limit: 200 });
    expect(found.cases).toHaveLength(1_000);
    expect(found.left).toBe(500);
    const one = records([], sessions);
    await selectCases(one.deps, admin, Suite.parse({ cases }), { limit: 200, now });
    expect(one.reads.events).toBe(20);
  });

  it('say which turns of a session are in a log that is too long', async () => {
    const long = { long: Array.from({ length: 2_000 }, () => 'x.y') };
    const found = await all({ cases: [{ session: 'long' }] }, records([], long), { limit: 200 });
    // Three events each, of which 5,000 are read.
    expect(found.cases).toHaveLength(1_000);
    expect(found.left).toBe(1);
  });
});
