import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { readYaml, type YamlBounds, TextFault } from '../../src/formats/read-yaml.ts';
import { runs } from '../selection.ts';

const read = (text: string, bounds: Partial<YamlBounds> = {}) =>
  readYaml(text, { maxDepth: 20, maxSeparators: 1_000, maxAliased: 100, ...bounds });
const faultOf = (text: string, bounds?: Partial<YamlBounds>): TextFault => {
  try {
    throw new Error(`was read: ${JSON.stringify(read(text, bounds))}`);
  } catch (error) {
    if (error instanceof TextFault) return error;
    throw error;
  }
};

describe('a YAML text', () => {
  it.each([
    ['', null],
    ['# nothing', null],
    ['a: [1, 0x10, 0o17, 017, -1.5, 1e3, true, ~, null, ]', { a: [1, 16, 15, 17, -1.5, 1000, true, null, null] }],
    ['a: [yes, No, 2001-01-01, 1_000, 12:30, "1", \'true\']', { a: ['yes', 'No', '2001-01-01', '1_000', '12:30', '1', 'true'] }],
    ['200: a\n1.0: b\n0x10: c\n~: d\ntrue: e\n: f', { 200: 'a', '1.0': 'b', '0x10': 'c', '~': 'd', true: 'e', '': 'f' }],
    ['a: !!str 1\nb: !!int "2"\nc: !Sub 3\nd: !!binary aGk=\ne: !!set {f}', { a: '1', b: 2, c: '3', d: 'aGk=', e: { f: null } }],
    ['a: |\n  one\n  two\nb: >-\n  one\n  two', { a: 'one\ntwo\n', b: 'one two' }],
    ['&k a: 1\nb: *k\nc: &v d\n*v : 2', { a: 1, b: 'a', c: 'd', d: 2 }],
  ])('%j is parsed by the core schema', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it('may name members like built-in object members', () => {
    const value = read('__proto__: {polluted: 1}\nconstructor: a\ntoString: b') as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value).not.toHaveProperty('polluted');
  });

  it.each([
    ['a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}', { b: 1, c: 3 }],
    ['a: &x {b: 1}\ny: &y {b: 2, c: 2}\nd:\n  <<: [*x, *y]\n  e: 3', { b: 1, c: 2, e: 3 }],
    ['a: &x {b: 1}\ny: &y {<<: *x, c: 2}\nd: {<<: *y}', { b: 1, c: 2 }],
    ['d: {<<: {b: 1}}', { b: 1 }],
    ['a: &x {__proto__: {b: 1}}\nd: {<<: *x}', Object.defineProperty({}, '__proto__', { value: { b: 1 }, enumerable: true })],
    ['d: {"<<": {b: 1}}', { '<<': { b: 1 } }],
    ['d: {<<: []}', {}],
    ['d: [<<]', ['<<']],
  ])('%j merges the maps of `<<`: own members and earlier maps take precedence', (text, value) => {
    expect((read(text) as { d: unknown }).d).toEqual(value);
  });

  it('keeps scalars as written in the configured member', () => {
    expect(read('a: 1.0\nm: {v: 1.0, d: [~, 0x1]}\nn: {m: {v: 1.0}}', { writtenIn: 'm' })).toEqual({
      a: 1,
      m: { v: '1.0', d: ['~', '0x1'] },
      n: { m: { v: 1 } },
    });
    expect(read('m: ~', { writtenIn: 'm' })).toEqual({ m: null });
  });

  it('is parsed to what was serialized, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const json = JSON.parse(JSON.stringify(value));
        expect(read(dump(json), { maxSeparators: 1e6, maxAliased: 1e6 })).toEqual(json);
      }),
    );
  });

  it.each([
    ['a: 1\nb: {c: 1, c: 2}', 'syntax', '"c" is given twice', { line: 2, column: 11 }],
    ['1: a\n"1": b', 'syntax', '"1" is given twice', { line: 2, column: 1 }],
    ['a: b\n: c\n: d', 'syntax', '"" is given twice', { line: 2, column: 3 }],
    ['__proto__: a\n__proto__: b', 'syntax', '"__proto__" is given twice', { line: 2, column: 1 }],
    ['a:\n  - b\n ]', 'syntax', expect.any(String), { line: 3, column: 2 }],
    ['? [a]\n: b', 'syntax', 'a key must be a string', { line: 1, column: 3 }],
    ['a: &x [1]\n? *x\n: b', 'syntax', 'a key must be a string', { line: 2, column: 3 }],
    ['a: !!int b', 'syntax', 'a value does not match its tag (!!)', { line: 1, column: 4 }],
    ['a: 1\nb: {<<: 2}', 'syntax', 'the value of a merge key (<<) must be a map or a list of maps', { line: 2, column: 9 }],
    ['b:\n  <<: {c: 1}\n  <<: {d: 1}', 'syntax', expect.stringContaining('"<<" is given twice'), { line: 3, column: 3 }],
    ['b:\n  <<: {c: 1}\n  c: 2\n  c: 3', 'syntax', '"c" is given twice', { line: 4, column: 3 }],
    ['a: &a {<<: *a}', 'aliases', 'the alias *a refers to a value that contains it', { line: 1, column: 12 }],
    ['a: *b', 'syntax', 'the alias *b has no anchor before it', { line: 1, column: 4 }],
    ['a: 1\n---\nb: 2', 'syntax', 'it contains more than one document', null],
    ['a: &a {b: [*a]}', 'aliases', 'the alias *a refers to a value that contains it', { line: 1, column: 12 }],
    [`a:\n  ${'\0'.repeat(2_000_000)}`, 'syntax', 'it contains a null character', { line: 2, column: 3 }],
    ['['.repeat(30), 'depth', 'it is nested too deeply', null],
    ['a,'.repeat(2_000), 'parts', 'it has too many values', null],
  ])('%.40j is rejected with a message and its position', (text, kind, message, place) => {
    const fault = faultOf(text);
    expect([fault.kind, fault.message, fault.place]).toEqual([kind, message, place]);
  });

  it('counts what aliases expand to, without expanding them', () => {
    const ten = 'a: &a [x, x, x, x]\nb: ';
    expect(read(`${ten}*a`, { maxAliased: 9 })).toEqual({ a: ['x', 'x', 'x', 'x'], b: ['x', 'x', 'x', 'x'] });
    expect(faultOf(`${ten}*a`, { maxAliased: 8 }).kind).toBe('aliases');
    expect(faultOf('a: &a b\nc: *a', { maxAliased: 0 }).kind).toBe('aliases');
    const merged = Array.from({ length: 60 }, (_, index) => `a${index + 1}: &a${index + 1} {<<: [*a${index}, *a${index}]}`);
    expect(faultOf(`a0: &a0 {x: y}\n${merged.join('\n')}`, { maxAliased: 1e9 }).kind).toBe('aliases');
    const doubled = Array.from({ length: 60 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`);
    expect(faultOf(`a0: &a0 x\n${doubled.join('\n')}`, { maxAliased: 1e9 }).kind).toBe('aliases');
  });

  it('only throws a fault, for any text', () => {
    const scraps = [
      'a',
      ': ',
      '\n',
      '- ',
      '[',
      ']',
      '{',
      '}',
      ', ',
      '&a ',
      '*a',
      '!!int ',
      '"',
      "'",
      '|',
      '>',
      '#',
      '? ',
      '---',
      '%',
      '\t',
      '  ',
      '\u0000',
      '<<',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...scraps), { maxLength: 40 }), (parts) => {
        try {
          read(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(TextFault);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });
});
