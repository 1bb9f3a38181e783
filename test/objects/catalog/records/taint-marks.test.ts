import { describe, expect, it } from 'vitest';
import type { CatalogContext } from '../../../../src/objects/catalog/context.ts';
import { addTaintMarks, readTaintMarks } from '../../../../src/objects/catalog/records/taint-marks.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { untainted } from '../../../../src/core/policy/taint.ts';
import { catalogMigrations } from '../../../../src/objects/catalog/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { maxAnswerMarks } from '../../../../src/objects/catalog/records/taint-marks.ts';

function opened() {
  const sql = fakeSql(catalogMigrations);
  const clock = { now: 1_000 };
  // Nothing else of the context is used.
  const context = { sql, now: () => clock.now, record: (work: () => unknown) => work() } as unknown as CatalogContext;
  const rows = () => sql.exec<{ count: number }>('SELECT count(*) AS count FROM taint_marks').one().count;
  return { context, clock, rows, sql };
}

const onlyPrivate = { private: 'a file', untrusted: null, origin: 'server a' };
const onlyUntrusted = { private: null, untrusted: 'a page' };

describe('marks outside of sessions', () => {
  it('are merged under their name, and never lost', () => {
    const { context } = opened();
    const add = (taint: typeof untainted, ttlMs = 500) => addTaintMarks(context, { names: ['a', 'b'], taint, ttlMs });
    add(untainted);
    expect(readTaintMarks(context, ['a', 'c'])).toEqual([{ taint: untainted, expiresAt: 1_500 }, null]);
    add(onlyPrivate);
    add(onlyUntrusted);
    add(untainted, 100);
    expect(readTaintMarks(context, ['b'])).toEqual([{ taint: { ...onlyPrivate, untrusted: 'a page' }, expiresAt: 1_500 }]);
    add({ private: 'another file', untrusted: null, origin: 'server b' });
    expect(readTaintMarks(context, ['b'])[0]?.taint).toEqual({ private: 'a file', untrusted: 'a page' });
  });

  it('expire, and are deleted with the next write', () => {
    const { context, clock, rows } = opened();
    addTaintMarks(context, { names: ['a'], taint: onlyPrivate, ttlMs: 500 });
    clock.now = 1_500;
    expect(readTaintMarks(context, ['a'])).toEqual([null]);
    addTaintMarks(context, { names: ['a'], taint: onlyUntrusted, ttlMs: 500 });
    expect([readTaintMarks(context, ['a'])[0]?.taint, rows()]).toEqual([onlyUntrusted, 1]);
  });

  it('of answers name the session for an hour, unless several sessions gave the same answer', () => {
    const { context, clock } = opened();
    const give = (name: string, session: string) =>
      addTaintMarks(context, { names: [name], taint: untainted, ttlMs: 2 * limits.unlistedSessionTtlMs, answersOf: 'k1', session });
    const sessions = (...names: string[]) => readTaintMarks(context, names).map((marks) => marks?.session);
    give('a', 's1');
    give('b', 's1');
    give('b', 's2');
    expect(sessions('a', 'b', 'c')).toEqual(['s1', undefined, undefined]);
    give('a', 's1');
    give('b', 's2');
    expect(sessions('a', 'b')).toEqual(['s1', undefined]);
    clock.now += limits.unlistedSessionTtlMs;
    expect(sessions('a', 'b')).toEqual([undefined, undefined]);
    give('b', 's3');
    expect(sessions('a', 'b')).toEqual([undefined, 's3']);
  });

  it('of answers are limited for each key, those of direct calls remain', () => {
    const { context, rows, sql } = opened();
    const limit = maxAnswerMarks;
    addTaintMarks(context, { names: ['direct'], taint: onlyPrivate, ttlMs: 500 });
    addTaintMarks(context, { names: ['other'], taint: onlyPrivate, ttlMs: 500, answersOf: 'k2' });
    sql.exec('BEGIN');
    for (let n = 0; n < limit + 250; n += 2)
      addTaintMarks(context, { names: [`a${n}`, `a${n + 1}`], taint: onlyPrivate, ttlMs: 500, answersOf: 'k1' });
    sql.exec('COMMIT');
    expect(rows() - 2).toBeGreaterThanOrEqual(limit);
    expect(rows() - 2).toBeLessThanOrEqual(limit + limits.answerMarksPerSweep + 1);
    const [direct, other, first, last] = readTaintMarks(context, ['direct', 'other', 'a0', `a${limit + 249}`]);
    expect([direct === null, other === null, first === null, last === null]).toEqual([false, false, true, false]);
  });
});
