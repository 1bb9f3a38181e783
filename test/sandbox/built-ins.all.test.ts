/** Built-in functions that would run for hours in one call: each is stopped, and ordinary uses work as in the language. */
import { describe, expect, it } from 'vitest';
import { runIn } from './harness.ts';
import { sample } from '../selection.ts';

const endless = [
  'new Array(2 ** 32 - 1).join()',
  'String(new Array(2 ** 32 - 1))',
  'new Array(2 ** 32 - 1).reverse()',
  'new Array(2 ** 32 - 1).sort()',
  'new Array(2 ** 32 - 1).slice(1)',
  'new Array(2 ** 32 - 1).shift()',
  'new Array(2 ** 32 - 2).unshift(1)',
  '[].concat(new Array(2 ** 32 - 1))',
  '[new Array(2 ** 32 - 1)].flat()',
  '[1].flatMap(() => new Array(2 ** 32 - 1))',
  'Array.prototype.splice.call({ length: 2 ** 53 - 2 }, 0, 1)',
  'let n = 0; Array.prototype.join.call({ get length() { return n++ === 0 ? 1 : 2 ** 53 - 1 } })',
  'Array.prototype.values.call({ length: 2 ** 53 - 1 }).drop(2 ** 50).next()',
  'new Set([1]).intersection({ size: 0, has() { return true }, keys: () => [].values.call({ length: 2 ** 53 - 1 }) })',
  "JSON.parse('[1]', function (k, v) { if (k === '') return v; this.length = 2 ** 32 - 1; return new Array(2 ** 32 - 1) })",
  'JSON.stringify({ a: 1 }, new Array(2 ** 32 - 1))',
  'String.raw({ raw: { length: 2 ** 53 - 1 } })',
  "('a' + '\\u0301\\u0323'.repeat(1e5)).normalize('NFC')",
  "'a'.localeCompare('a' + '\\u0301\\u0323'.repeat(1e5))",
  "'a'.repeat(2e6).indexOf('a'.repeat(1e5) + 'b')",
  "'a'.repeat(2e6).split('a'.repeat(1e5) + 'b')",
  "/^(a+)+$/.test('a'.repeat(40) + '!')",
  'new Array(2 ** 32 - 1).indexOf(1)',
];

const ordinary: [code: string, value: unknown][] = [
  ["return ['b', 'a'].sort().concat(['c'], 'd').reverse().join('-')", 'd-c-b-a'],
  ['return [1, [2, [3, [4]]]].flat(2)', [1, 2, 3, [4]]],
  ['return [1, 2].flatMap((x) => [x, x * 10])', [1, 10, 2, 20]],
  ['return [...new Set([1, 2]).union(new Set([2, 3]))]', [1, 2, 3]],
  ['return new Set([1]).isSubsetOf(new Set([1, 2]))', true],
  ['return JSON.parse(\'{"a":[1,2],"b":3}\', (k, v) => (k === "b" ? undefined : typeof v === "number" ? v + 1 : v))', { a: [2, 3] }],
  ["return JSON.stringify({ a: 1, b: 2 }, ['b'])", '{"b":2}'],
  [`return String.raw\`a\\n$\{1}b\``, 'a\\n1b'],
  ["return 'e\\u0301'.normalize('NFC').length", 1],
  ["return ['b', 'a'].sort((x, y) => x.localeCompare(y))", ['a', 'b']],
  ["return 'a-b-c'.split('-', 2)", ['a', 'b']],
  ['return [5, 6, 7].values().drop(1).toArray()', [6, 7]],
];

describe('a built-in function', () => {
  it.each(sample('built-in functions', endless, (_, index) => index % 3 === 0))('is stopped or returns: %s', async (code) => {
    expect((await runIn(`${code}; return 'continued'`)).end).not.toBe('aborted');
    expect(await runIn('return 1')).toMatchObject({ end: 'returned', value: 1 });
  });

  it.each(ordinary)('works as in the language: %s', async (code, value) => {
    expect(await runIn(code)).toMatchObject({ end: 'returned', value });
  });

  it('finds long texts in long texts as the language does', async () => {
    const text = 'abcdefghij'.repeat(20_000);
    const part = 'abcdefghij'.repeat(12);
    const code = `const t = 'abcdefghij'.repeat(20000), p = 'abcdefghij'.repeat(12);
      return [t.indexOf(p, 15), t.lastIndexOf(p), t.lastIndexOf(p, 99), t.includes(p + 'x'), t.split(p).length, t.split(p, 3).length,
        t.replace(p, '<$&>').length, t.replaceAll(p, (m, at) => at).length, t.indexOf('zzzzzzzzzzzz')]`;
    expect(await runIn(code)).toMatchObject({
      end: 'returned',
      value: [
        text.indexOf(part, 15),
        text.lastIndexOf(part),
        text.lastIndexOf(part, 99),
        false,
        text.split(part).length,
        3,
        text.length + 2,
        text.replaceAll(part, (_match, at: number) => String(at)).length,
        -1,
      ],
    });
  });
});
