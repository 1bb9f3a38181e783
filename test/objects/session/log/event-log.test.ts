import { expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { SessionEventBody } from '../../../../src/core/turn/session-event.ts';
import { EventLog } from '../../../../src/objects/session/log/event-log.ts';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { TurnStore } from '../../../../src/objects/session/turn/turn-store.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { plan } from '../runner-session.ts';

const delta = (text: string): SessionEventBody => ({ type: 'text-delta', turn: 't', step: 1, text });

/** A log whose rows have these numbers of events; the texts count from 1. `reopen` drops what is in memory. */
function logOf(...rows: number[]) {
  const sql = fakeSql(sessionMigrations);
  const turns = new TurnStore(sql, () => 7);
  const run = { turn: 't', epoch: turns.acceptStarted('t', plan, 0) };
  const log = new EventLog(sql, () => 7);
  let text = 0;
  for (const count of rows)
    log.appendOfRun(
      Array.from({ length: count }, () => delta(String(++text))),
      run,
    );
  return { sql, turns, run, log, reopen: () => new EventLog(sql, () => 8), rows: () => sql.exec('SELECT id, count FROM events').toArray() };
}

const numbers = (events: readonly { id: number }[]): number[] => events.map(({ id }) => id);

it('stores events that are appended together in one row, and reads each from any number on', () => {
  const { log, reopen, rows } = logOf(1, 4, 2, 1);
  expect(rows()).toEqual([
    { id: 1, count: 1 },
    { id: 2, count: 4 },
    { id: 6, count: 2 },
    { id: 8, count: 1 },
  ]);
  const opened = reopen();
  expect(opened.newest).toBe(8);
  for (const own of [log, opened])
    for (let after = 0; after <= 9; after += 1) {
      const events = own.read(after);
      expect(numbers(events)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].slice(after));
      for (const event of events) expect(event).toEqual({ ...delta(String(event.id)), id: event.id, at: 7 });
    }
  expect(numbers([...opened.readAll(2, 6)])).toEqual([3, 4, 5, 6]);
});

it('pages forward and backward across rows', () => {
  const log = logOf(3, 1, 4).reopen();
  const page = (after: number, before: number, limit: number, fromEnd: boolean) =>
    numbers(log.readBetween({ after, before, limit, fromEnd }));
  expect(page(1, 9, 3, false)).toEqual([2, 3, 4]);
  expect(page(0, 9, 2, true)).toEqual([7, 8]);
  expect(page(1, 7, 4, true)).toEqual([3, 4, 5, 6]);
  expect(page(1, 4, 9, true)).toEqual([2, 3]);
  expect(page(5, 7, 9, false)).toEqual([6]);
  expect(page(8, 9, 9, false)).toEqual([]);
  expect(page(0, 1, 9, true)).toEqual([]);
});

it('continues with single rows of an earlier release', () => {
  const { sql, run, reopen } = logOf();
  for (const id of [1, 2]) sql.exec('INSERT INTO events (id, at, body) VALUES (?, 1, ?)', id, JSON.stringify(delta(String(id))));
  const log = reopen();
  log.appendOfRun([delta('3'), delta('4')], run);
  expect(numbers(reopen().read(1))).toEqual([2, 3, 4]);
});

it('splits what is longer than a page into rows, and a long row into parts', () => {
  const { log, run, reopen, rows } = logOf();
  const long = 'x'.repeat(limits.maxRowCharacters);
  log.appendOfRun([delta('a'), delta(long), delta('b'), delta('c')], run);
  expect(rows()).toEqual([
    { id: 1, count: 1 },
    { id: 2, count: 1 },
    { id: 3, count: 2 },
  ]);
  expect([...reopen().readAll(0)].map((event) => ('text' in event ? event.text.length : 0))).toEqual([1, long.length, 1, 1]);
});

it('appends none of the events of a run that was replaced', () => {
  const { log, turns, run, rows } = logOf();
  turns.raiseEpoch('t');
  expect(log.appendOfRun([delta('a'), delta('b')], run)).toBeNull();
  expect([rows(), log.newest]).toEqual([[], 0]);
});

it('wakes readers once for events that are appended together', () => {
  const { log, run } = logOf();
  let wakes = 0;
  const wait = (): void =>
    void log.onChange(() => {
      wakes += 1;
      wait();
    });
  wait();
  log.appendOfRun([delta('a'), delta('b')], run);
  expect(wakes).toBe(1);
});
