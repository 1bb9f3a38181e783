/** Places that keys and workspaces share: what one of them can take, who is next, and what is lost and found again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PoolBounds } from '../../src/core/limits/pools.ts';
import type { ShareOwner, ShareShortage } from '../../src/core/limits/fair-share.ts';
import { createFairPool, createPools, isShortage, type Place, shortageProblem } from '../../src/engine/fair-pool.ts';
import { fakeClock } from '../fakes/runtime.ts';
import { runs } from '../selection.ts';

const bounds: PoolBounds = {
  limit: 'things',
  what: 'things',
  perKey: 10,
  perWorkspace: 20,
  total: 80,
  holdMs: 60_000,
  waitMs: 1_000,
  maxWaiting: 5,
};
const owner = (workspace: string, keyId: string): ShareOwner => ({ workspace, keyId });

function poolOf(more: Partial<PoolBounds> = {}) {
  const clock = fakeClock();
  const pool = createFairPool({ ...bounds, ...more }, clock);
  /** Takes as many as it gets, at most `count`. */
  const fill = (of: ShareOwner, count = 1_000): Place[] => {
    const taken: Place[] = [];
    while (taken.length < count) {
      const place = pool.take(of);
      if (isShortage(place)) break;
      taken.push(place);
    }
    return taken;
  };
  return { clock, pool, fill };
}

describe('a flood by one key', () => {
  it('ends at the bound of the key, and leaves the other keys and workspaces theirs', () => {
    const { pool, fill } = poolOf();
    expect(fill(owner('a', 'one'))).toHaveLength(10);
    expect(pool.take(owner('a', 'one'))).toEqual({ limit: 'things', what: 'things', of: 'key', name: 'one', max: 10, used: 10 });
    expect(fill(owner('a', 'two')).length).toBeGreaterThanOrEqual(7);
    expect(fill(owner('b', 'one'))).toHaveLength(10);
  });

  it.each([1, 2, 4, 6])('by %i keys of a workspace leaves places for a further key', (keys) => {
    const { fill } = poolOf({ perKey: 500, perWorkspace: 2_000, total: 8_000 });
    for (let n = 0; n < keys; n += 1) fill(owner('a', `key-${n}`), 500);
    expect(fill(owner('a', 'newcomer'), 1)).toHaveLength(1);
    expect(fill(owner('b', 'newcomer'))).toHaveLength(500);
  });

  it.each([1, 2, 4, 6])('by all keys of %i workspaces leaves places for a further workspace', (workspaces) => {
    const { fill } = poolOf({ perKey: 500, perWorkspace: 2_000, total: 8_000 });
    for (let n = 0; n < workspaces; n += 1) for (let key = 0; key < 20; key += 1) fill(owner(`flood-${n}`, `key-${key}`), 500);
    expect(fill(owner('newcomer', 'key'), 1)).toHaveLength(1);
  });

  it('that goes on shrinks to an equal share while another key asks as often', () => {
    const { pool, fill } = poolOf({ perKey: 100, perWorkspace: 100, total: 1_000 });
    const held = { one: fill(owner('a', 'one')), two: [] as Place[] };
    for (let round = 0; round < 2_000; round += 1)
      for (const keyId of ['one', 'two'] as const) {
        if (round % 2 === 0) held[keyId].shift()?.release();
        const place = pool.take(owner('a', keyId));
        if (!isShortage(place)) held[keyId].push(place);
      }
    expect(Math.abs(held.one.length - held.two.length)).toBeLessThanOrEqual(2);
    expect(held.one.length + held.two.length).toBeGreaterThan(80);
  });

  it('is refused with the bound, whose it is, and how much of it is used', () => {
    const { pool, fill } = poolOf();
    fill(owner('a', 'one'));
    expect(shortageProblem(pool.take(owner('a', 'one')) as ShareShortage).toBody()).toMatchObject({
      ...{ status: 429, code: 'rate_limited', limit: 'things', of: 'key', name: 'one', max: 10, used: 10, retryAfterMs: 1_000 },
      detail: 'This key (one) has too many things: 10 of at most 10. Wait until some have ended.',
    });
    fill(owner('a', 'two'));
    const ofWorkspace = shortageProblem(pool.take(owner('a', 'two')) as ShareShortage);
    expect(ofWorkspace.extra).toMatchObject({ of: 'workspace', name: 'a', max: 20 });
    expect(ofWorkspace.detail).toContain('and the rest is for other keys');
    const { pool: small, fill: fillSmall } = poolOf({ perKey: 100, perWorkspace: 100 });
    fillSmall(owner('a', 'one'));
    const full = shortageProblem(small.take(owner('a', 'one')) as ShareShortage);
    expect([full.status, full.code, full.extra]).toEqual([503, 'unavailable', { retryAfterMs: 1_000 }]);
  });
});

describe('maxima that an administrator has set', () => {
  it('replace those of the pool, also beyond what a workspace has by default', () => {
    const { pool } = poolOf();
    const granted = { key: 30 };
    const taken = Array.from({ length: 31 }, () => pool.take(owner('a', 'one'), { granted }));
    expect(taken.filter(isShortage)).toEqual([expect.objectContaining({ of: 'key', max: 30, used: 30 })]);
    expect(isShortage(pool.take(owner('b', 'one'), { granted: { key: 2, workspace: 1 } }))).toBe(false);
    expect(pool.take(owner('b', 'two'), { granted: { key: 2, workspace: 1 } })).toMatchObject({ of: 'workspace', max: 1, used: 1 });
  });
});

describe('a place', () => {
  it('is free after its release, which counts once', () => {
    const { pool, fill } = poolOf();
    const [first] = fill(owner('a', 'one'));
    first?.release();
    first?.release();
    expect(pool.usedBy(owner('a', 'one'))).toBe(9);
    expect(fill(owner('a', 'one'))).toHaveLength(1);
  });

  it('that nobody releases is free again after a time, unless it is renewed', async () => {
    const { clock, pool, fill } = poolOf();
    const [renewed] = fill(owner('a', 'one'));
    await clock.advance(59_000);
    renewed?.renew();
    await clock.advance(2_000);
    expect(fill(owner('a', 'one'))).toHaveLength(9);
    renewed?.release();
    expect(pool.usedBy(owner('a', 'one'))).toBe(9);
    // The clock is set back: what was held until later than now and the time of the pool is free, too.
    await clock.advance(-10_000_000);
    expect(fill(owner('a', 'one'))).toHaveLength(10);
  });

  it('can grow within the bounds, and shrink', () => {
    const { pool } = poolOf();
    const place = pool.take(owner('a', 'one'), { amount: 4 }) as Place;
    expect(place.resize(10)).toBeNull();
    expect(place.resize(11)).toMatchObject({ of: 'key', max: 10, used: 10 });
    expect(pool.usedBy(owner('a', 'one'))).toBe(10);
    expect(place.resize(1)).toBeNull();
    place.release();
    expect(place.resize(5)).toBeNull();
    expect(pool.usedBy(owner('a', 'one'))).toBe(0);
  });

  it('is taken for accepted work even where there is none', () => {
    const { pool, fill } = poolOf();
    fill(owner('a', 'one'));
    pool.takeBeyondLimit(owner('a', 'one'));
    expect(pool.usedBy(owner('a', 'one'))).toBe(11);
  });
});

describe('waiting', () => {
  const settled = async (clock: ReturnType<typeof fakeClock>) => await clock.advance(0);

  it('ends with a place when one is released, in order of arrival', async () => {
    const { clock, pool, fill } = poolOf();
    const held = fill(owner('a', 'one'));
    const order: number[] = [];
    const waits = [1, 2, 3].map((n) =>
      pool.wait(owner('a', 'one')).then((place) => {
        order.push(n);
        return place;
      }),
    );
    for (const place of held.slice(0, 2)) place.release();
    await settled(clock);
    expect(order).toEqual([1, 2]);
    held[2]?.release();
    expect((await Promise.all(waits)).some(isShortage)).toBe(false);
  });

  it('gives the place to the key that uses least, however many of another key came before', async () => {
    const { clock, pool, fill } = poolOf({ perKey: 20, perWorkspace: 20, total: 1_000, maxWaiting: 50 });
    const held = fill(owner('a', 'greedy'));
    fill(owner('a', 'modest'));
    fill(owner('a', 'third'));
    const order: string[] = [];
    const wait = (of: ShareOwner) => pool.wait(of).then(() => order.push(of.keyId));
    for (let n = 0; n < 30; n += 1) void wait(owner('a', 'greedy'));
    void wait(owner('a', 'late'));
    expect(fill(owner('a', 'late'))).toHaveLength(0);
    held[0]?.release();
    await settled(clock);
    expect(order).toEqual(['late']);
    for (const place of held.slice(1)) place.release();
    await settled(clock);
    expect(order.filter((keyId) => keyId === 'greedy').length).toBeGreaterThan(5);
  });

  it('is refused after its time, and at once for too many of one key', async () => {
    const { clock, pool, fill } = poolOf();
    fill(owner('a', 'one'));
    const waits = Array.from({ length: 6 }, () => pool.wait(owner('a', 'one')));
    expect(await waits[5]).toMatchObject({ of: 'key', max: 10, used: 10 });
    await clock.advance(1_000);
    expect((await Promise.all(waits)).every(isShortage)).toBe(true);
    // Those who gave up get nothing.
    expect(pool.usedBy(owner('a', 'one'))).toBe(10);
  });

  it('ends with the signal of its caller, and leaves its place in the queue', async () => {
    const { clock, pool, fill } = poolOf();
    const [place] = fill(owner('a', 'one'));
    const gone = new AbortController();
    const first = pool.wait(owner('a', 'one'), { signal: gone.signal });
    const second = pool.wait(owner('a', 'one'));
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    place?.release();
    await settled(clock);
    expect(isShortage(await second)).toBe(false);
    await expect(pool.wait(owner('a', 'one'), { signal: gone.signal })).rejects.toThrow('gone');
  });

  it('does not overtake a caller of the same key', async () => {
    const { clock, pool, fill } = poolOf();
    const held = fill(owner('a', 'one'));
    const first = pool.wait(owner('a', 'one'), { amount: 3 });
    held[0]?.release();
    const second = pool.wait(owner('a', 'one'));
    held[1]?.release();
    held[2]?.release();
    await settled(clock);
    expect(isShortage(await first)).toBe(false);
    await clock.advance(1_000);
    expect(isShortage(await second)).toBe(true);
  });
});

it('counts what is held, whatever happens in whatever order', async () => {
  const step = fc.record({
    do: fc.constantFrom('take', 'wait', 'release', 'resize', 'renew', 'force', 'advance'),
    workspace: fc.constantFrom('a', 'b', 'c'),
    keyId: fc.constantFrom('one', 'two', 'three'),
    amount: fc.integer({ min: 1, max: 6 }),
    which: fc.nat(50),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const { clock, pool } = poolOf({ holdMs: 1e9 });
      const held: { place: Place; owner: ShareOwner; amount: number }[] = [];
      const hold = (of: ShareOwner, amount: number) => (place: Place | ShareShortage) => {
        if (!isShortage(place)) held.push({ place, owner: of, amount });
      };
      const pending: Promise<void>[] = [];
      for (const { do: what, workspace, keyId, amount, which } of steps) {
        const of = owner(workspace, keyId);
        const one = held[which % Math.max(1, held.length)];
        if (what === 'take') hold(of, amount)(pool.take(of, { amount }));
        else if (what === 'wait') pending.push(pool.wait(of, { amount }).then(hold(of, amount)));
        else if (what === 'force') hold(of, 1)(pool.takeBeyondLimit(of));
        else if (what === 'advance') await clock.advance(which * 20);
        else if (one !== undefined && what === 'renew') one.place.renew();
        else if (one !== undefined && what === 'resize') {
          if (one.place.resize(amount) === null) one.amount = amount;
        } else if (one !== undefined) {
          one.place.release();
          held.splice(held.indexOf(one), 1);
        }
        await clock.advance(0);
        for (const other of ['a', 'b', 'c'])
          for (const key of ['one', 'two', 'three']) {
            const own = held.filter(({ owner: { workspace: at, keyId: by } }) => at === other && by === key);
            expect(pool.usedBy(owner(other, key))).toBe(own.reduce((sum, { amount: part }) => sum + part, 0));
          }
      }
      await clock.advance(2_000);
      await Promise.all(pending);
      for (const { place } of held) place.release();
      for (const other of ['a', 'b', 'c']) for (const key of ['one', 'two', 'three']) expect(pool.usedBy(owner(other, key))).toBe(0);
    }),
    { numRuns: runs(300) },
  );
});

it('what needs connections is bounded by the files that the runtime may have open, and refused to all with 503', () => {
  const streamsWith = (maxOpenFiles: number | null): number => {
    const { streams } = createPools(fakeClock(), maxOpenFiles);
    let open = 0;
    for (let key = 0; open < 10_000; key += 1) {
      const taken = streams.take({ workspace: `w${key}`, keyId: 'k' });
      if (isShortage(taken)) {
        expect([taken.of, shortageProblem(taken).status]).toEqual(['service', 503]);
        return open;
      }
      open += 1;
    }
    return open;
  };
  expect(streamsWith(1_024)).toBe(109);
  expect(streamsWith(65_536)).toBe(8_000);
  expect(streamsWith(null)).toBe(8_000);
  expect(streamsWith(16)).toBe(1);
});
