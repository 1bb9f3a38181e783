import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkInput } from '../../src/core/schema/input-schema.ts';
import { SchemaDialect } from '../../src/core/model/provider-profile.ts';
import { compileSchema } from '../../src/core/schema/schema-compiler.ts';
import type { JsonSchema } from '../../src/core/tools/tool.ts';
import { schemaFaults } from './schema-rules.ts';

/** A schema and a value generated for it. */
type Pair = { schema: JsonSchema; value: unknown };
const reference = Symbol('a part that is moved to the definitions');

const text: fc.Arbitrary<Pair> = fc
  .record({ value: fc.string({ maxLength: 8 }), kind: fc.nat(6), nullable: fc.boolean(), other: fc.string({ maxLength: 3 }) })
  .map(({ value, kind, nullable, other }) => {
    const rules: JsonSchema[] = [
      { minLength: 0, maxLength: 20 },
      { enum: [other, value] },
      { const: value },
      { pattern: '^(?!x)', format: 'uuid' },
      { description: 'Some text.', default: 'x' },
      { nullable },
      { enum: [value, null, 7] },
    ];
    return { schema: { ...(kind === 6 ? {} : { type: 'string' }), ...rules[kind] }, value };
  });

const number: fc.Arbitrary<Pair> = fc
  .record({ value: fc.integer({ min: -50, max: 50 }), whole: fc.boolean(), kind: fc.nat(5) })
  .map(({ value, whole, kind }) => {
    const rules: JsonSchema[] = [
      { minimum: value - 1, maximum: value },
      { exclusiveMinimum: value - 1, exclusiveMaximum: value + 0.5 },
      { minimum: value - 1, exclusiveMinimum: true },
      { enum: [value, 1, 2] },
      { multipleOf: 1 },
      { const: value },
    ];
    return { schema: { type: whole ? 'integer' : 'number', ...rules[kind] }, value };
  });

const other: fc.Arbitrary<Pair> = fc.constantFrom<Pair[]>(
  { schema: { type: 'boolean' }, value: true },
  { schema: { type: 'boolean', enum: [true] }, value: true },
  { schema: { type: 'null' }, value: null },
  { schema: {}, value: { any: ['thing'] } },
  { schema: { description: 'Anything.' }, value: 7 },
  { schema: { type: ['string', 'number', 'null'], minLength: 1, minimum: 0 }, value: 'a' },
  { schema: { type: ['integer', 'null'], enum: [1, null] }, value: null },
  { schema: { type: 'object' }, value: { free: 1 } },
  { schema: { type: 'array' }, value: [1, 'a', null] },
  { schema: { $ref: 'https://elsewhere.example/schema.json' }, value: 3 },
);

const { pair } = fc.letrec<{ pair: Pair }>((tie) => {
  const child = tie('pair') as fc.Arbitrary<Pair>;
  const fieldsOf = (names: string[]) =>
    fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), pair: child, given: fc.boolean() }), {
      maxLength: 4,
      selector: ({ name }) => name,
    });
  const toObject = ({ fields, rest, more }: { fields: { name: string; pair: Pair; given: boolean }[]; rest: number; more: Pair }): Pair => {
    const given = fields.filter(({ given }) => given);
    const rests: JsonSchema[] = [
      {},
      { additionalProperties: false },
      { additionalProperties: more.schema },
      { additionalProperties: false, patternProperties: { '^z': more.schema } },
      { dependencies: { a: ['a'] }, minProperties: 0, propertyNames: { minLength: 1 } },
    ];
    const extra = rest === 2 || rest === 3 ? [['zz', more.value] as const] : [];
    return {
      schema: {
        type: 'object',
        properties: Object.fromEntries(fields.map(({ name, pair }) => [name, pair.schema])),
        required: given.map(({ name }) => name),
        ...rests[rest],
      },
      value: Object.fromEntries([...given.map(({ name, pair }) => [name, pair.value] as const), ...extra]),
    };
  };
  const object = fc
    .record({ fields: fieldsOf(['a', 'b', 'c', 'filter[x]', '__proto__', 'constructor', 'two words']), rest: fc.nat(4), more: child })
    .map(toObject);
  const list = fc.record({ items: fc.array(child, { maxLength: 3 }), kind: fc.nat(3) }).map(({ items, kind }): Pair => {
    const schemas = items.map(({ schema }) => schema);
    const forms: JsonSchema[] = [
      { prefixItems: schemas, items: false },
      { items: schemas, additionalItems: false },
      { prefixItems: schemas },
      { items: { anyOf: schemas }, uniqueItems: false },
    ];
    return { schema: { type: 'array', ...(items.length === 0 ? {} : forms[kind]) }, value: items.map(({ value }) => value) };
  });
  const union = fc
    .record({ pairs: fc.array(child, { minLength: 1, maxLength: 3 }), word: fc.constantFrom('anyOf', 'oneOf'), said: fc.boolean() })
    .map(
      ({ pairs, word, said }): Pair => ({
        schema: { [word]: pairs.map(({ schema }) => schema), ...(said && { description: 'One of several.' }) },
        value: pairs[0]?.value,
      }),
    );
  const all = fc
    .record({ one: child, extra: fc.constantFrom<JsonSchema[]>({ title: 'T' }, {}, { description: 'd' }) })
    .map(({ one, extra }): Pair => ({ schema: { allOf: [one.schema, extra] }, value: one.value }));
  // The value matches both: the first may be closed only if it has the fields of the second.
  const open = (names: string[]) => fc.record({ fields: fieldsOf(names), rest: fc.constantFrom(0, 4), more: child }).map(toObject);
  const both = fc.tuple(open(['a', 'b', 'c']), open(['d', 'e', 'f']), fc.boolean()).map(([one, two, closed]): Pair => {
    const known = { ...(one.schema.properties as JsonSchema), d: {}, e: { description: 'Known.' }, f: true };
    const first = closed ? { ...one.schema, properties: known, additionalProperties: false } : one.schema;
    return { schema: { allOf: [first, two.schema] }, value: { ...(two.value as object), ...(one.value as object) } };
  });
  const moved = child.map(({ schema, value }): Pair => ({ schema: { [reference]: schema } as JsonSchema, value }));
  const leaf = fc.oneof(text, number, other);
  return { pair: fc.oneof({ maxDepth: 4, depthSize: 'small' }, leaf, object, list, union, all, both, moved) };
});

/** Moves marked parts to `$defs` and replaces them with references. */
function hoisted(schema: JsonSchema): JsonSchema {
  const definitions: [string, unknown][] = [];
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part !== 'object' || part === null) return part;
    if (reference in part) {
      const name = `d/${definitions.length}`;
      const entry: [string, unknown] = [name, {}];
      definitions.push(entry);
      entry[1] = visit(part[reference]);
      return { $ref: `#/$defs/${name.replaceAll('/', '~1')}` };
    }
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, visit(value)]));
  };
  const whole = visit(schema) as JsonSchema; // An object stays an object.
  return definitions.length === 0 ? whole : { ...whole, $defs: Object.fromEntries(definitions) };
}

/** Fields of one branch are never undeclared fields of another here: see `schema-compiler.ts`. */
const cases = pair.filter(({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value));

describe('a compiled schema', () => {
  const faithful = SchemaDialect.options.filter((dialect) => !dialect.endsWith('-strict'));

  it.each(faithful)('for %s accepts everything that the tool accepts', (dialect) => {
    fc.assert(
      fc.property(cases, ({ schema, value }) => {
        const whole = hoisted(schema);
        fc.pre(checkInput(whole, value).length === 0);
        const result = compileSchema(whole, dialect);
        expect(result).toMatchObject({ ok: true });
        if (result.ok) expect({ schema: result.schema, issues: checkInput(result.schema, value) }).toMatchObject({ issues: [] });
      }),
      { numRuns: 500 },
    );
  });

  it.each(SchemaDialect.options)('for %s contains nothing that the provider rejects, and compiling is idempotent', (dialect) => {
    fc.assert(
      fc.property(cases, ({ schema }) => {
        const whole = hoisted(schema);
        const before = JSON.stringify(whole);
        const result = compileSchema(whole, dialect);
        expect(JSON.stringify(whole)).toBe(before);
        if (!result.ok) return;
        expect({ schema: result.schema, faults: schemaFaults(result.schema, dialect) }).toMatchObject({ faults: [] });
        expect(result.changes.length === 0).toBe(result.schema === whole);
        expect(compileSchema(JSON.parse(before), dialect)).toEqual(result);
        const again = compileSchema(result.schema, dialect);
        expect(again.ok && again.schema).toEqual(result.schema);
      }),
      { numRuns: 300 },
    );
  });
});
