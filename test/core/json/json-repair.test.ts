import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../../src/core/json/json-repair.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { describeCorpus, readJsonLines } from '../../fixtures.ts';
import { maxRepairBytes } from '../../../src/core/json/json-repair.ts';
import { printStatistics } from '../../statistics.ts';

const whole = { ended: true, length: false };
const cut = { ended: false, length: false };

describe('readArguments', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    [' \n{"a":[]} ', { a: [] }],
    ['', {}],
    ['  ', {}],
    ['null', {}],
    ['"null"', undefined],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['\ufeff{"a":1}', { a: 1 }],
  ])('reads %j without repair', (text, value) => {
    const reading = readArguments(text, whole);
    expect(reading).toEqual(value === undefined ? { state: 'invalid', arguments: null } : { state: 'ok', arguments: value });
  });

  it.each([
    ['{"a":"x"', '}', { a: 'x' }],
    ['{"a":[true', ']}', { a: [true] }],
    ['{"a":{"b":{}}', '}', { a: { b: {} } }],
    ['{"a": 12\n', '}', { a: 12 }],
    ['{"a":1', '}', { a: 1 }],
    ['{"a":[1,-2.5e3', ']}', { a: [1, -2500] }],
  ])('adds the missing closers of %j', (text, closers, value) => {
    expect(readArguments(text, whole)).toEqual({ state: 'closed', arguments: value, closers });
  });

  it.each([
    '{"a":1.',
    '{"a":-',
    '{"a":1e',
    '{"a":"x',
    '{"a":',
    '{"a"',
    '{',
    '{"a":[',
    '{"a":tru',
    '{"a":[1,',
    '{"a":"x\\',
    '{"a":"\\u00',
    "{'a': 'x",
  ])('reports %j as truncated', (text) => {
    expect(readArguments(text, whole)).toEqual({ state: 'truncated', arguments: null });
  });

  it.each([
    ["{'a': 'b'}", { a: 'b' }],
    ['{"a":True,"b":None}', { a: true, b: null }],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['Sure! {"a":1}', { a: 1 }],
    ['{"a":1} and then', { a: 1 }],
    ['{"a":1,}', { a: 1 }],
  ])('repairs %j', (text, value) => {
    expect(readArguments(text, whole)).toEqual({ state: 'repaired', arguments: value });
  });

  it.each(['true', '1', '"x"', '[]', '[{"a":1}]', 'hello', '{"a":1}{"b":2}', '{"n":1e400}'])(
    'reports %j, which is not one object, as invalid',
    (text) => {
      expect(readArguments(text, whole)).toEqual({ state: 'invalid', arguments: null });
    },
  );

  it('marks an integer that a number cannot hold as repaired, but not digits in strings', () => {
    expect(readArguments('{"n":9007199254740993}', whole).state).toBe('repaired');
    expect(readArguments('{"n":"9007199254740993"}', whole).state).toBe('ok');
    expect(readArguments('{"n":9007199254740991}', whole).state).toBe('ok');
  });

  it('makes lone surrogates well-formed', () => {
    expect(readArguments('{"s":"\\ud800x","k":["\\udc00"]}', whole).arguments).toEqual({ s: '\ufffdx', k: ['\ufffd'] });
  });

  it('repairs nothing when the stream was cut or reached its token limit', () => {
    for (const how of [cut, { ended: true, length: true }]) {
      for (const text of ['', 'null', '{"a":"x"', "{'a':1}", '{"a"']) expect(readArguments(text, how).state, text).toBe('truncated');
      expect(readArguments('{"a":1}', how)).toEqual({ state: 'ok', arguments: { a: 1 } });
    }
  });

  it('never reads a prefix of JSON as complete', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), fc.nat(), (value, at) => {
        const text = JSON.stringify(value);
        const reading = readArguments(text.slice(0, 1 + (at % (text.length - 1))), cut);
        expect(['truncated', 'invalid']).toContain(reading.state);
      }),
    );
  });

  it('returns every valid object unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value);
        expect(readArguments(text, whole).arguments).toEqual(JSON.parse(text));
      }),
    );
  });

  it('rejects deep nesting and large damaged texts without repair', () => {
    const depth = limits.maxJsonDepth + 2;
    expect(readArguments(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`, whole).state).toBe('invalid');
    expect(readArguments(`{"a":[${'1,'.repeat(maxRepairBytes)}]}`, whole).state).toBe('invalid');
    // Two bytes each: fewer characters than the limit, more bytes.
    expect(readArguments(`{a:"${'é'.repeat(maxRepairBytes * 0.6)}"}`, whole).state).toBe('invalid');
  });
});

describeCorpus('json-repair.jsonl', (path) => {
  type Row = {
    id: string;
    input: string;
    strict: 'accept' | 'reject' | 'implementation-defined';
    truncated: boolean;
    readings: { value?: unknown; nothing?: true }[];
    otherReadings: { value?: unknown }[];
    agree: boolean;
  };
  /** Rows where the libraries agree on an object and we return none: the model receives an error and sends the call again. */
  const refused: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      ['016', '028', '029', '030', '031', '246'].map((id) => [
        id,
        'a quote is missing: the end of the text is a guess, and a cut text looks the same',
      ]),
    ),
    ...Object.fromEntries(['137', '138', '139', '205', '241'].map((id) => [id, 'it ends inside the object: it may have been cut'])),
    '122': 'it ends with a wrong bracket: it may have been cut',
    ...Object.fromEntries(['245', '248', '249', '267'].map((id) => [id, 'jsonrepair cannot repair it'])),
  };
  /** Rows where they agree on a list of all values in the text, and we return the one object: arguments are an object. */
  const takenFromList = ['jr-208', 'jr-210'];
  const rows = readJsonLines<Row>(path);

  it('agrees with the strict verdicts and reads no truncated text', () => {
    const counts: Record<string, number> = {};
    for (const row of rows) {
      const { state, arguments: value } = readArguments(row.input, whole);
      counts[`${row.strict}${row.truncated ? ', cut' : ''}: ${state}`] =
        (counts[`${row.strict}${row.truncated ? ', cut' : ''}: ${state}`] ?? 0) + 1;
      if (row.strict === 'accept') {
        const strict: unknown = JSON.parse(row.input);
        const isObject = typeof strict === 'object' && strict !== null && !Array.isArray(strict);
        expect(state, row.id).toBe(isObject ? 'ok' : 'invalid');
        if (isObject) expect(value).toEqual(strict);
      }
      // The empty text is the only "cut" with a meaning when the reply ended: no arguments.
      if (row.strict === 'reject' && row.input.trim() !== '') expect(state, row.id).not.toBe('ok');
      if (row.truncated) {
        if (row.input.trim() !== '') expect(['truncated', 'invalid', 'closed'], row.id).toContain(state);
        expect(['truncated', 'invalid'], row.id).toContain(readArguments(row.input, cut).state);
      }
      if (state === 'repaired') expect(typeof value, row.id).toBe('object');
    }
    printStatistics(`${rows.length} rows:`, counts);
  });

  it('reads the same values as the libraries where they agree', () => {
    const agreed = rows.filter(({ agree, readings }) => agree && readings.some((reading) => 'value' in reading && !reading.nothing));
    const counts = { 'the same object': 0, 'no object, so no arguments': 0, 'cut, so not run': 0, 'not taken, with a reason': 0 };
    for (const { id, input, truncated, readings } of agreed) {
      const value = readings.find((reading) => 'value' in reading)?.value;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      const { state, arguments: args } = readArguments(input, whole);
      const isRefused = id.slice('jr-'.length) in refused;
      expect(isRefused && args !== null, `${id} has a reason and needs none`).toBe(false);
      if (args !== null && !takenFromList.includes(id)) expect(args, id).toEqual(value);
      else if (isObject && !truncated) expect(isRefused, `${id} is ${state}`).toBe(true);
      if (args !== null) counts['the same object']++;
      else if (!isObject) counts['no object, so no arguments']++;
      else counts[truncated ? 'cut, so not run' : 'not taken, with a reason']++;
    }
    printStatistics(`${agreed.length} rows on which the libraries agree:`, counts);
    expect(counts['not taken, with a reason']).toBe(Object.keys(refused).length);
  });

  it('never reads a cut string or key, and takes a number at the end as it is', () => {
    const cutRows = rows.filter(({ truncated, input }) => truncated && input.trim() !== '');
    let closed = 0;
    for (const { id, input } of cutRows) {
      const reading = readArguments(input, whole);
      if (reading.state !== 'closed') {
        expect(reading.arguments, id).toBeNull();
        continue;
      }
      // Only brackets are missing, and every value is in the text unchanged.
      closed++;
      expect(reading.closers, id).toMatch(/^[}\]]+$/);
      expect(JSON.parse(input + reading.closers), id).toEqual(reading.arguments);
      expect(input.trimEnd(), id).toMatch(/["}\]el\d]$/);
    }
    printStatistics(`${cutRows.length} cut rows: ${closed} lack brackets only, ${cutRows.length - closed} run nothing`);
    expect(closed).toBeGreaterThan(0);
  });
});

describeCorpus('security/json-hostile.jsonl', (path) => {
  type Row = {
    id: string;
    class: string;
    text?: string;
    repeat?: { s: string; n: number; close?: string };
    generate?: { keys?: number; arrayLength?: number };
    expect: string;
  };
  const rows = readJsonLines<Row>(path).filter((row) => row.text !== undefined || row.repeat !== undefined);

  it.each(rows.map((row) => [row.id, row] as const))(
    'reads the row %s, or says that it cannot, without touching a prototype',
    (_id, row) => {
      const text =
        row.text ??
        (row.repeat as { s: string; n: number }).s.repeat(row.repeat?.n ?? 0) + (row.repeat?.close ?? '').repeat(row.repeat?.n ?? 0);
      const { state, arguments: value } = readArguments(text, whole);
      if (value !== null) {
        expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }
      // Arguments of `null` are none (contract §6), where this row would refuse them.
      if (row.id === 'not-an-object-079') return expect(state).toBe('ok');
      if (row.expect === 'parse' || row.expect === 'parse-well-formed' || row.expect === 'plain-data') expect(state).toBe('ok');
      if (row.expect === 'reject-as-arguments') expect(state).toBe('invalid');
      if (row.expect === 'reject-too-deep' || row.expect === 'reject-fast') expect(value).toBeNull();
      if (row.expect === 'exact-or-flag') expect(state).toBe('repaired');
      if (row.expect === 'repair' && !text.startsWith('[')) expect(['repaired', 'ok', 'invalid']).toContain(state);
      // A cut inside a value is never read, except for a number, which is marked. Blank text means no arguments when the reply ended.
      if (row.class === 'truncated' && text.trim() !== '') expect(state).toBe(/\d$/.test(text) ? 'closed' : 'truncated');
    },
  );
});
