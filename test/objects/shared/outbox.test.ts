/** The outbox: rows are sent in order and in batches, by one flush at a time, and again after failures. */
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import { Outbox, tableRows } from '../../../src/objects/shared/outbox.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';

type Row = { sequence: number; text: string };
const statements = {
  next: 'SELECT sequence, text FROM letters ORDER BY sequence LIMIT ?',
  remove: 'DELETE FROM letters WHERE sequence = ? AND text = ?',
};
type Send = (rows: readonly Row[]) => Promise<void>;

function makeOutbox(send: Send = async () => undefined) {
  const sql = fakeSql(['CREATE TABLE letters (sequence INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL)']);
  const state = { now: 1_000, due: null as number | null, isGone: false, send, work: [] as Promise<unknown>[] };
  const log = keptLog();
  const outbox = new Outbox<Row>({
    ...{ now: () => state.now, log, session: 's', isGone: () => state.isGone, what: 'letters', retryMs: 50, waitMs: 20 },
    waitUntil: (work) => void state.work.push(work),
    rows: tableRows<Row>(sql, { ...statements, changes: 'text', batch: 2 }),
    send: (rows) => state.send(rows),
    timer: {
      set: (due) => {
        state.due = due;
      },
      clear: () => {
        state.due = null;
      },
    },
  });
  const add = (text: string): void => {
    sql.exec('INSERT INTO letters (text) VALUES (?)', text);
    outbox.added();
  };
  const stored = (): string[] =>
    sql
      .exec<{ text: string }>('SELECT text FROM letters ORDER BY sequence')
      .toArray()
      .map(({ text }) => text);
  return { outbox, sql, state, log, add, stored };
}

describe('an outbox', () => {
  it.each([
    ['nothing', [], []],
    ['one batch', ['a', 'b'], ['a b']],
    ['several batches in order', ['a', 'b', 'c', 'd', 'e'], ['a b', 'c d', 'e']],
  ])('sends %s, and has no timer afterwards', async (_what, texts, batches) => {
    const sent: string[] = [];
    const { outbox, add, stored, state } = makeOutbox(async (rows) => void sent.push(rows.map(({ text }) => text).join(' ')));
    for (const text of texts) add(text);
    expect(state.due).toBe(texts.length === 0 ? null : 1_050);
    expect(await outbox.flush()).toBe(true);
    expect([sent, stored(), state.due]).toEqual([batches, [], null]);
  });

  it.each<[string, Send, string]>([
    ['the receiver fails', () => Promise.reject(new Error('it is away')), 'it is away'],
    ['the receiver does not respond', () => new Promise(() => undefined), 'no response in time'],
  ])('keeps its rows and sets the timer when %s', async (_when, send, cause) => {
    const { outbox, add, stored, state, log } = makeOutbox(send);
    add('a');
    state.now = 2_000;
    expect(await outbox.flush()).toBe(false);
    expect([stored(), state.due]).toEqual([['a'], 2_050]);
    expect(JSON.stringify(log.lines)).toContain('letters could not be sent; it will be retried');
    expect(JSON.stringify(log.lines)).toContain(cause);
  });

  it('drops its rows, and says so, when their workspace was deleted', async () => {
    const { outbox, add, stored, state, log } = makeOutbox(() => Promise.reject(new Problem('not_found', 'There is no workspace "w".')));
    add('a');
    expect(await outbox.flush()).toBe(true);
    expect([stored(), state.due]).toEqual([[], null]);
    expect(JSON.stringify(log.lines)).toContain('letters were dropped: their workspace was deleted');
  });

  it('sends rows of a failed flush again, also those of an earlier process', async () => {
    const sent: string[] = [];
    const { outbox, sql, state } = makeOutbox(() => Promise.reject(new Error('it is away')));
    sql.exec("INSERT INTO letters (text) VALUES ('a')");
    expect(await outbox.flush()).toBe(false);
    state.send = async (rows) => void sent.push(...rows.map(({ text }) => text));
    expect(await outbox.flush()).toBe(true);
    expect(sent).toEqual(['a']);
  });

  it('has one flush at a time, which also sends what is added meanwhile', async () => {
    const answer = Promise.withResolvers<void>();
    const sent: string[] = [];
    const { outbox, add } = makeOutbox(async (rows) => {
      sent.push(rows.map(({ text }) => text).join(' '));
      await answer.promise;
    });
    add('a');
    const first = outbox.flush();
    await Promise.resolve();
    add('b');
    const second = outbox.flush();
    answer.resolve();
    expect([await first, await second, sent]).toEqual([true, true, ['a', 'b']]);
  });

  it('keeps a row that was changed while it was sent', async () => {
    const sent: string[] = [];
    const { outbox, add, sql } = makeOutbox(async (rows) => {
      sent.push(...rows.map(({ text }) => text));
      if (sent.length === 1) sql.exec("UPDATE letters SET text = 'a, again'");
    });
    add('a');
    expect([await outbox.flush(), sent]).toEqual([true, ['a', 'a, again']]);
  });

  it('neither reads nor sends when its rows are gone', async () => {
    const { outbox, add, state, sql } = makeOutbox(async () => {
      state.isGone = true;
      sql.exec('DROP TABLE letters');
    });
    add('a');
    state.due = null;
    expect([await outbox.flush(), await outbox.flush(), state.due]).toEqual([true, true, null]);
  });

  it('clears a timer that fires when everything was sent', async () => {
    const { outbox, add, state } = makeOutbox();
    add('a');
    await outbox.flush();
    state.due = 3_000;
    expect([await outbox.flush(), state.due]).toEqual([true, null]);
  });

  it('sends in the background', async () => {
    const { outbox, add, state, stored } = makeOutbox();
    add('a');
    outbox.send();
    await Promise.all(state.work);
    expect(stored()).toEqual([]);
  });
});
