/** Arguments that a schema rejects and that can only mean one thing, as `a: "5"` for an integer. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkInput, repairInput } from '../../../src/core/schema/input-schema.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';
import { runs } from '../../selection.ts';

/** One argument `a`, which is optional. */
const of = (schema: unknown, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties: { a: schema }, ...more });
const list = (items: unknown): JsonSchema => ({ type: 'array', items });
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
const [text, integer, number, boolean] = ['string', 'integer', 'number', 'boolean'].map((type): JsonSchema => ({ type })) as [
  JsonSchema,
  JsonSchema,
  JsonSchema,
  JsonSchema,
];
const nullable = { type: 'null' };
const tree: JsonSchema = {
  ...object({ a: { $ref: '#/$defs/node' } }),
  $defs: { node: object({ size: integer, next: { $ref: '#/$defs/node' } }) },
};
const kinds = {
  oneOf: [object({ kind: { const: 'n' }, value: integer }, { required: ['kind'] }), object({ kind: { const: 's' }, value: text })],
};

describe('repairing arguments by schema', () => {
  it.each<[string, JsonSchema, unknown, unknown, string[]]>([
    ['an integer', of(integer), '5', 5, ['a: "5" → 5']],
    ['an integer with a fraction of zero', of(integer), '5.0', 5, ['a: "5.0" → 5']],
    ['a number', of(number), ' -1.5e3 ', -1500, ['a: " -1.5e3 " → -1500']],
    ['a boolean', of(boolean), 'true', true, ['a: "true" → true']],
    ["a boolean in Python's spelling", of(boolean), 'False', false, ['a: "False" → false']],
    ['a list', of(list(text)), '["x","y"]', ['x', 'y'], ['a: "[\\"x\\",\\"y\\"]" → ["x","y"]']],
    ['an object', of(object({ k: integer })), '{"k": 1}', { k: 1 }, ['a: "{\\"k\\": 1}" → {"k":1}']],
    ['what is in an object', of(object({ k: integer })), { k: '1', other: '2' }, { k: 1, other: '2' }, ['a.k: "1" → 1']],
    ['what is in a list', of(list(integer)), ['1', 2, '3'], [1, 2, 3], ['a[0]: "1" → 1', 'a[2]: "3" → 3']],
    ['a tuple', of({ prefixItems: [integer, boolean] }), ['1', 'true'], [1, true], ['a[0]: "1" → 1', 'a[1]: "true" → true']],
    [
      'text in text',
      of(list(object({ n: integer }))),
      '[{"n":"1"}]',
      [{ n: 1 }],
      ['a: "[{\\"n\\":\\"1\\"}]" → [{"n":1}]', 'a[0].n: "1" → 1'],
    ],
    ['an alternative', of({ anyOf: [integer, nullable] }), '5', 5, ['a: "5" → 5']],
    ['null as text', of({ type: ['integer', 'null'] }), 'null', null, ['a: "null" → null']],
    ['an object of one alternative', of(kinds), { kind: 'n', value: '7' }, { kind: 'n', value: 7 }, ['a.value: "7" → 7']],
    ['an item of an alternative', of({ anyOf: [list(integer), nullable] }), ['7'], [7], ['a[0]: "7" → 7']],
    ['a reference', tree, { size: '1', next: { size: '2' } }, { size: 1, next: { size: 2 } }, ['a.size: "1" → 1', 'a.next.size: "2" → 2']],
    ['all parts', of({ allOf: [object({ n: integer }), object({ n: { minimum: 2 } })] }), { n: '3' }, { n: 3 }, ['a.n: "3" → 3']],
    ['an enum', of({ enum: [1, 2] }), '2', 2, ['a: "2" → 2']],
    ['members of a map', of({ type: 'object', additionalProperties: integer }), { x: '1' }, { x: 1 }, ['a.x: "1" → 1']],
    ['an optional member of an object', of(object({ k: text, n: integer })), { k: null, n: 1 }, { n: 1 }, ['a.k: null → nothing']],
  ])('repairs %s', (_, schema, value, expected, repaired) => {
    const given = { a: value };
    const before = structuredClone(given);
    const read = repairInput(schema, given);
    expect(read.args).toEqual({ a: expected });
    expect(read.issues).toEqual([]);
    expect(read.repaired.map(({ path, from, to }) => `${path}: ${from} → ${to}`)).toEqual(repaired);
    expect(given).toEqual(before);
  });

  it('removes an optional argument that is null, and keeps one whose schema allows null', () => {
    const schema = object({ due: { type: 'string', format: 'date' }, n: { ...integer, default: null }, m: { ...text, nullable: true } });
    const { args, repaired } = repairInput(schema, { due: null, n: null, m: null });
    expect(args).toEqual({ n: null, m: null });
    expect(repaired).toEqual([{ path: 'due', from: 'null', to: 'nothing' }]);
  });

  it.each<[string, JsonSchema, unknown]>([
    ['a string that looks like a number', of(text), '5'],
    ['a string where an alternative is a string', of({ anyOf: [integer, text] }), '5'],
    ['a string of several types', of({ type: ['integer', 'string'] }), '5'],
    ['JSON text where anything is allowed', of({}), '{"a":1}'],
    ['JSON text of an argument that is not described', object({}), '[1]'],
    ['a list of strings', of(list(text)), ['1', 'true', 'null', '[]']],
    ['a choice of strings', of({ enum: ['1', '2'] }), '1'],
  ])('keeps %s', (_, schema, value) => {
    const given = { a: value };
    const read = repairInput(schema, given);
    expect(read.args).toBe(given);
    expect(read).toMatchObject({ issues: [], repaired: [] });
  });

  it.each<[string, JsonSchema, unknown]>([
    ['a fraction for an integer', of(integer), '5.5'],
    ['words for a number', of(number), 'five'],
    ['an empty text', of(integer), ''],
    ['a number outside the bounds', of({ ...integer, maximum: 3 }), '5'],
    ['an integer that would be rounded', of(integer), '12345678901234567890'],
    ['a list that is no JSON', of(list(text)), "['x']"],
    ['a list of other values', of(list(integer)), '["x"]'],
    ['one value for a list', of(list(text)), 'x'],
    ['a number for a string', of(text), 5],
    ['null for a required argument', of(integer, { required: ['a'] }), null],
    ['null in a list', of(list(integer)), [null]],
    [
      'what could be either of two values',
      of({ anyOf: [object({ n: integer, s: nullable }), object({ n: boolean, s: text })] }),
      { n: 'x', s: 1 },
    ],
    ['a value that nests too deep', of(object({})), `{"k":${'['.repeat(200)}${']'.repeat(200)}}`],
  ])('refuses %s', (_, schema, value) => {
    const given = { a: value };
    const read = repairInput(schema, given);
    expect(read.args).toBe(given);
    expect(read.repaired).toEqual([]);
    expect(read.issues).toEqual(checkInput(schema, given));
    expect(read.issues).not.toEqual([]);
  });

  it('does not choose between alternatives that would be repaired differently', () => {
    const schema = of({ anyOf: [object({ n: integer, m: text }), object({ n: text, m: integer })] });
    const given = { a: { n: '1', m: '2' } };
    expect(repairInput(schema, { a: { n: '1', m: '2' } }).args).toEqual({ a: { n: '1', m: '2' } });
    const differing = of({ anyOf: [object({ n: integer, m: {} }), object({ n: { type: ['integer', 'null'] }, m: integer })] });
    // The first needs one repair, the second another one more.
    const read = repairInput(differing, given);
    expect(read.repaired).toEqual([]);
    expect(read.issues).not.toEqual([]);
    expect(given).toEqual({ a: { n: '1', m: '2' } });
  });

  it('repairs what it can and reports the rest', () => {
    const { args, issues, repaired } = repairInput(object({ a: integer, b: integer }), { a: '1', b: 'x' });
    expect(args).toEqual({ a: 1, b: 'x' });
    expect(issues).toEqual([{ path: 'b', message: 'expected an integer, received the string "x"' }]);
    expect(repaired).toEqual([{ path: 'a', from: '"1"', to: '1' }]);
  });

  it('finds equal items only after their repair', () => {
    const schema = of({ ...list(object({ n: integer })), uniqueItems: true });
    expect(repairInput(schema, { a: [{ n: '1' }, { n: 1 }] }).issues).toEqual([{ path: 'a', message: 'expected no item twice' }]);
    const choice = of({ anyOf: [{ ...list(object({ n: integer })), uniqueItems: true }, { const: [{ n: 1 }, { n: 2 }] }] });
    expect(repairInput(choice, { a: [{ n: '1' }, { n: '2' }] }).args).toEqual({ a: [{ n: 1 }, { n: 2 }] });
  });

  it('counts the members that are left', () => {
    const schema = of(object({ k: text, n: integer }, { minProperties: 2 }));
    expect(repairInput(schema, { a: { k: null, n: '1' } }).issues).toEqual([
      { path: 'a', message: 'expected at least 2 fields, received 1' },
    ]);
  });

  it('lists a bounded number of repairs and counts the rest', () => {
    const many = Array.from({ length: 5000 }, (_value, index) => String(index));
    const { args, repaired } = repairInput(of(list(integer)), { a: many });
    expect(args).toEqual({ a: many.map(Number) });
    expect(repaired).toHaveLength(21);
    expect(repaired.at(-1)).toEqual({ path: '', from: '4980 more values', to: 'repaired like these' });
    expect(repairInput(of(list(text)), { a: JSON.stringify(many) }).repaired[0]?.from.length).toBeLessThan(70);
  });

  it('repairs a member that is called __proto__ without changing a prototype', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"},"x":{"type":"integer"}}}') as JsonSchema;
    const { args } = repairInput(schema, JSON.parse('{"__proto__":"5","x":"1"}') as Record<string, unknown>);
    expect(JSON.stringify(args)).toBe('{"__proto__":5,"x":1}');
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });

  it('accepts no repair that the budget of a check left unread', () => {
    const again = Array.from({ length: 8 }, (): JsonSchema => ({ allOf: [{ $ref: '#/$defs/node' }, { required: ['never'] }] }));
    const deep = { ...of({ $ref: '#/$defs/node' }), $defs: { node: { type: 'object', anyOf: again } } };
    expect(repairInput(deep, { a: '{"k1":"x"}' }).repaired).toEqual([]);
  });
});

/** A schema with a value that it accepts. */
type Pair = { schema: JsonSchema; value: unknown };
const { pair } = fc.letrec<{ pair: Pair; leaf: Pair }>((tie) => ({
  leaf: fc.oneof(
    fc.string().map((value): Pair => ({ schema: text, value })),
    fc.integer().map((value): Pair => ({ schema: integer, value })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Pair => ({ schema: number, value: value === 0 ? 0 : value })),
    fc.boolean().map((value): Pair => ({ schema: boolean, value })),
  ),
  pair: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.tuple(tie('pair'), fc.nat(3)).map(([{ schema, value }, count]): Pair => ({ schema: list(schema), value: Array(count).fill(value) })),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('pair')).map(
      (members): Pair => ({
        schema: object(Object.fromEntries(Object.entries(members).map(([key, { schema }]) => [key, schema])), {
          additionalProperties: false,
        }),
        value: Object.fromEntries(Object.entries(members).map(([key, { value }]) => [key, value])),
      }),
    ),
    tie('pair').map(({ schema, value }): Pair => ({ schema: { anyOf: [schema, nullable] }, value })),
  ),
}));

/** Encodes values other than strings as JSON text, wherever the coin says so, as clients do. */
function encode(value: unknown, coin: () => boolean): unknown {
  if (typeof value === 'string') return value;
  const inner = Array.isArray(value)
    ? value.map((item) => encode(item, coin))
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, encode(member, coin)]))
      : value;
  return coin() ? JSON.stringify(inner) : inner;
}

describe('repairing any arguments', () => {
  it('finds what a client encoded, whatever the schema', () => {
    fc.assert(
      fc.property(pair, fc.infiniteStream(fc.boolean()), ({ schema, value }, coins) => {
        const sent = { a: encode(value, () => coins.next().value === true) };
        const { args, issues } = repairInput(of(schema), sent);
        expect(issues).toEqual([]);
        expect(args).toEqual({ a: value });
      }),
      { numRuns: runs(500) },
    );
  });

  it('never changes what the schema accepts', () => {
    fc.assert(
      fc.property(pair, ({ schema, value }) => {
        const given = { a: value };
        const read = repairInput(of(schema), given);
        expect(read.args).toBe(given);
        expect(read.repaired).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it('returns only arguments that the schema accepts, or the issues that are left', () => {
    fc.assert(
      fc.property(pair, fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue()), ({ schema }, given) => {
        const { args, issues } = repairInput(of(schema, { required: ['a'] }), given);
        expect(checkInput(of(schema, { required: ['a'] }), args).length > 0).toBe(issues.length > 0);
      }),
      { numRuns: runs(500) },
    );
  });
});
