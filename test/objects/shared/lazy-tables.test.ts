import { expect, it } from 'vitest';
import { withLazyTables } from '../../../src/objects/shared/lazy-tables.ts';
import { fakeSql, fakeTransactions } from '../../fakes/sql-storage.ts';

const tables = {
  notes: ['CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)', 'CREATE INDEX notes_by_text ON notes (text)'],
  parts: ['CREATE TABLE parts (note INTEGER, part TEXT)'],
};

function opened() {
  const sql = fakeSql(['CREATE TABLE meta (id INTEGER PRIMARY KEY)']);
  const names = () =>
    sql
      .exec<{ name: string }>('SELECT name FROM sqlite_master ORDER BY name')
      .toArray()
      .map(({ name }) => name);
  return { sql, names, lazy: withLazyTables(sql, tables) };
}

it('reads and deletes nothing from a table that was never used, and creates nothing', () => {
  const { lazy, names } = opened();
  expect(lazy.exec('SELECT text FROM notes WHERE id = ?', 1).toArray()).toEqual([]);
  expect(lazy.exec('DELETE FROM parts WHERE note IN (SELECT id FROM notes WHERE id < ?)', 5).toArray()).toEqual([]);
  expect(lazy.exec('UPDATE notes SET text = ? WHERE id = ? RETURNING id', 'x', 1).toArray()).toEqual([]);
  expect(lazy.exec('SELECT id FROM meta').toArray()).toEqual([]);
  expect(names()).toEqual(['meta']);
});

it('creates a table with its indexes when something is stored in it, and only that one', () => {
  const { sql, lazy, names } = opened();
  lazy.exec('INSERT INTO notes (id, text) VALUES (?, ?)', 1, 'x');
  expect(names()).toEqual(['meta', 'notes', 'notes_by_text']);
  expect(lazy.exec('SELECT text FROM notes').toArray()).toEqual([{ text: 'x' }]);
  expect(withLazyTables(sql, tables).exec('SELECT text FROM notes').toArray()).toEqual([{ text: 'x' }]);
});

it.each([
  'SELECT count(*) AS value FROM parts',
  'SELECT coalesce(max(note), 0) AS value FROM parts',
  'SELECT EXISTS (SELECT 1 FROM parts) AS value',
  'SELECT count(*) AS value FROM meta LEFT JOIN parts ON note = id',
])('returns the row that a statement has even without rows: %s', (query) => {
  expect(opened().lazy.exec(query).toArray()).toEqual([{ value: 0 }]);
});

it('creates the table again after the transaction that created it was rolled back', () => {
  const { sql, lazy, names } = opened();
  const insert = () => lazy.exec('INSERT INTO notes (id, text) VALUES (1, ?)', 'x');
  const work = () => {
    insert();
    throw new Error('no');
  };
  expect(() => fakeTransactions(sql).transactionSync(work)).toThrow('no');
  expect(names()).toEqual(['meta']);
  insert();
  expect(lazy.exec('SELECT id FROM notes').toArray()).toEqual([{ id: 1 }]);
});

it('returns an object whose tables all exist unchanged, and the errors of statements', () => {
  const sql = fakeSql(Object.values(tables).flat());
  expect(withLazyTables(sql, tables)).toBe(sql);
  expect(() => opened().lazy.exec('SELECT a FROM others')).toThrow('no such table: others');
});
