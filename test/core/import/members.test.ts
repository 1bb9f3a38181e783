import { describe, expect, test } from 'vitest';
import { ImportDraft } from '../../../src/core/import/draft.ts';
import type { Members } from '../../../src/core/import/members.ts';

/** What an import that reads a file so says of its members. */
function said(value: Record<string, unknown>, read: (members: Members) => void): Record<string, string> {
  const draft = new ImportDraft();
  read(draft.open(value));
  return Object.fromEntries(draft.result('claude').skipped.map(({ name, reason }) => [name, reason]));
}

const unknown = expect.stringContaining('is not known to this import');

describe('members of a file', () => {
  test('are listed with their path when no reader asks for them, at each level', () => {
    const file = { a: { b: { known: 1, odd: 2 }, c: 'text' }, list: [{ known: 1 }, { odd: {} }], other: null };
    const read = (members: Members): void => {
      const a = members.record('a');
      a?.record('b')?.take('known');
      for (const item of members.items('list')) item.take('known');
    };
    expect(said(file, read)).toEqual({ 'a.b.odd': unknown, 'a.c': unknown, 'list[1].odd': unknown });
  });

  test('count as read with everything in them when they are taken whole', () => {
    expect(said({ schema: { deep: { deeper: 1 } } }, (members) => void members.take('schema'))).toEqual({});
  });

  test('are told when they have another type than the reader needs', () => {
    const file = { text: 1, flag: 'maybe', number: 'x', list: { a: 1 }, record: [], texts: ['a', {}], map: { one: 1 }, items: ['x'] };
    const read = (members: Members): void => {
      expect(members.text('text')).toBeNull();
      expect(members.flag('flag')).toBeNull();
      expect(members.number('number')).toBeNull();
      expect(members.items('list')).toEqual([]);
      expect(members.record('record')).toBeNull();
      expect(members.texts('texts')).toEqual(['a']);
      expect(members.entries('map')).toEqual([]);
      expect(members.items('items')).toEqual([]);
    };
    expect(Object.keys(said(file, read)).toSorted()).toEqual(['flag', 'items[0]', 'list', 'map.one', 'number', 'record', 'text', 'texts']);
  });

  test('with two names are read once, and the second is told', () => {
    const read = (members: Members): void => expect(members.text('url', 'serverUrl')).toBe('a');
    expect(said({ url: 'a', serverUrl: 'b' }, read)).toEqual({ serverUrl: 'is not used, since url says the same' });
  });

  test('that YAML 1.1 writes as words are booleans', () => {
    const read = (members: Members): void =>
      expect(['a', 'b', 'c', 'd'].map((name) => members.flag(name))).toEqual([true, false, true, null]);
    expect(said({ a: 'yes', b: 'Off', c: true }, read)).toEqual({});
  });

  test('are skipped with a reason only when they hold something', () => {
    const read = (members: Members): void => members.skip(['hooks', 'empty', 'off', 'absent'], 'has no counterpart');
    expect(said({ hooks: { a: 1 }, empty: {}, off: false }, read)).toEqual({ hooks: 'has no counterpart' });
  });

  test('in great number are listed up to a bound, and the others are counted', () => {
    const file = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`odd${index}`, 1]));
    const names = Object.keys(said(file, () => undefined));
    expect(names).toHaveLength(501);
    expect(names.at(-1)).toBe('100 other members');
  });
});
