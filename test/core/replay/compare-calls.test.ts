import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCalls, sameCallsInAnyOrder } from '../../../src/core/replay/compare-calls.ts';
import type { ReplayCall } from '../../../src/core/replay/match-calls.ts';
import { runs } from '../../selection.ts';

const none = () => undefined;
/** `find:1` is a call of `desk.find` with `{a: 1}`. */
const calls = (written: string): ReplayCall[] =>
  written.split(' ').flatMap((one) => {
    const [tool = '', value] = one.split(':');
    return one === '' ? [] : [{ requested: tool, canonical: `desk.${tool}`, arguments: value === undefined ? {} : { a: Number(value) } }];
  });
const signs = { same: '=', changed: '~', added: '+', missing: '-' };
const difference = (recorded: string, replayed: string): string =>
  compareCalls(calls(recorded), calls(replayed), none)
    .differences.map((one) => `${signs[one.kind]}${one.recorded ?? ''}/${one.replayed ?? ''}${one.paths.join(',')}`)
    .join(' ');

describe('the difference between recorded and replayed calls', () => {
  it.each([
    ['nothing', '', '', ''],
    ['the same calls', 'find:1 read:2', 'find:1 read:2', '=0/0 =1/1'],
    ['other arguments', 'find:1 read:2', 'find:1 read:3', '=0/0 ~1/1/a'],
    ['one more', 'find:1 read:2', 'find:1 list read:2', '=0/0 +/1 =1/2'],
    ['one less', 'find:1 list read:2', 'find:1 read:2', '=0/0 -1/ =2/1'],
    ['all missing', 'find list', '', '-0/ -1/'],
    ['all added', '', 'find list', '+/0 +/1'],
    ['another order', 'find:1 read:2', 'read:2 find:1', '-0/ =1/0 +/1'],
    ['another tool', 'find:1', 'read:1', '-0/ +/0'],
    ['another tool, then other arguments', 'find:1 read:1 list', 'send:1 read:2 list', '-0/ +/0 ~1/1/a =2/2'],
    ['a call twice', 'find:1', 'find:1 find:1', '=0/0 +/1'],
    ['more members', 'find:1', 'find', '~0/0/a'],
  ])('The differences of %s are found', (_title, recorded, replayed, expected) => {
    expect(difference(recorded, replayed)).toBe(expected);
  });

  it('names the places of arguments, the first twenty', () => {
    const one = (args: Record<string, unknown>): ReplayCall[] => [{ requested: 'x', canonical: 'desk.x', arguments: args }];
    const paths = (a: Record<string, unknown>, b: Record<string, unknown>): string[] =>
      compareCalls(one(a), one(b), none).differences.flatMap((found) => found.paths);
    expect(paths({ a: { 'b/c': [1, 2, 3] }, d: 1 }, { a: { 'b/c': [1, 4] }, e: 1 })).toEqual(['/a/b~1c/1', '/a/b~1c/2', '/d', '/e']);
    expect(paths({ a: [] }, { a: {} })).toEqual(['/a']);
    const many = (value: number): Record<string, unknown> =>
      Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, value]));
    expect(paths(many(1), many(2))).toHaveLength(20);
    expect(compareCalls(one({ a: 1 }), [{ requested: 'x', canonical: 'desk.x', arguments: null }], none).differences).toEqual([
      { kind: 'changed', recorded: 0, replayed: 0, paths: [''] },
    ]);
  });

  it('is nothing where only names, defaults and the order of sets differ', () => {
    const schema = { type: 'object', properties: { limit: { default: 10 }, tags: { type: 'array', uniqueItems: true } } };
    const recorded = [{ requested: 'search', canonical: 'desk.find', arguments: { limit: 10, tags: ['a', 'b'] } }];
    const replayed = [{ requested: 'find_it', canonical: 'desk.find', arguments: { tags: ['b', 'a'] } }];
    expect(compareCalls(recorded, replayed, () => schema).calls).toEqual({ same: 1, changed: 0, added: 0, missing: 0 });
    expect(sameCallsInAnyOrder(recorded, replayed, () => schema)).toBe(true);
  });

  const list = fc.array(fc.constantFrom(...calls('find:1 find:2 read:1 list')), { maxLength: 8 });

  it('has every call once and in order, and as many equal ones as can be', () => {
    fc.assert(
      fc.property(list, list, (recorded, replayed) => {
        const { differences, calls: counts, isApproximate } = compareCalls(recorded, replayed, none);
        const indexesOf = (side: 'recorded' | 'replayed') => differences.flatMap((one) => one[side] ?? []);
        expect(indexesOf('recorded')).toEqual([...recorded.keys()]);
        expect(indexesOf('replayed')).toEqual([...replayed.keys()]);
        expect(counts.same + counts.changed + counts.missing).toBe(recorded.length);
        expect(counts.same).toBe(longest(recorded, replayed));
        expect(isApproximate).toBe(false);
        for (const one of differences) if (one.kind === 'same') expect(recorded[one.recorded ?? -1]).toEqual(replayed[one.replayed ?? -1]);
      }),
      { numRuns: runs(500) },
    );
  });

  it('of a recording to itself is nothing, by any name', () => {
    fc.assert(
      fc.property(list, (recorded) => {
        const renamed = recorded.map((one) => ({ ...one, requested: `other_${one.requested}` }));
        expect(compareCalls(recorded, renamed, none).calls).toEqual({ same: recorded.length, changed: 0, added: 0, missing: 0 });
      }),
    );
  });

  it('of thousands of calls is correct, and says that it may not be the smallest', () => {
    const many = (offset: number): ReplayCall[] => calls(Array.from({ length: 20_000 }, (_, index) => `find:${index + offset}`).join(' '));
    const found = compareCalls(many(0), many(7), none);
    expect(found.isApproximate).toBe(true);
    expect(found.calls).toEqual({ same: 19_993, changed: 0, added: 7, missing: 7 });
    expect(compareCalls(many(0), many(0), none).isApproximate).toBe(false);
  });
});

describe('calls in any order', () => {
  it.each([
    ['the same', 'find:1 read:2', 'read:2 find:1', true],
    ['one twice', 'find:1', 'find:1 find:1', false],
    ['others', 'find:1', 'find:2', false],
    ['none', '', '', true],
  ])('Both sides with %s have the same calls, or not', (_title, recorded, replayed, expected) => {
    expect(sameCallsInAnyOrder(calls(recorded), calls(replayed), none)).toBe(expected);
  });
});

/** The length of the longest common subsequence, by trying all of them. */
function longest([one, ...rest]: readonly ReplayCall[], other: readonly ReplayCall[]): number {
  if (one === undefined || other.length === 0) return 0;
  const at = other.findIndex((found) => JSON.stringify(found) === JSON.stringify(one));
  return Math.max(longest(rest, other), at < 0 ? 0 : 1 + longest(rest, other.slice(at + 1)));
}
