import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { SchemaDialect } from '../../../src/core/model/provider-profile.ts';
import { compileSchema, maxSchemaBytes } from '../../../src/core/schema/schema-compiler.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';
import { schemaFaults } from '../schema-rules.ts';
import { maxSchemaChanges } from '../../../src/core/schema/schema-report.ts';

/** A field of the kind under test, before and after. */
const field = (schema: unknown): JsonSchema => ({ type: 'object', properties: { a: schema } });

function compiled(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const result = compileSchema(schema, dialect);
  if (!result.ok) throw new Error(result.fault);
  expect(schemaFaults(result.schema, dialect)).toEqual([]);
  return result.schema;
}

function compiledField(schema: unknown, dialect: SchemaDialect): unknown {
  return (compiled(field(schema), dialect).properties as JsonSchema).a;
}

function told(schema: JsonSchema, dialect: SchemaDialect): string[] {
  const result = compileSchema(schema, dialect);
  return result.ok ? result.changes.map(({ path, message }) => `${path}: ${message}`) : [result.fault];
}

const plain: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Its name.' }, days: { type: 'array', items: { type: 'integer', minimum: 1 } } },
  required: ['city'],
};

describe('a schema that a provider accepts', () => {
  // A limit of numbers is text for these, or nothing.
  it.each(SchemaDialect.options.filter((dialect) => !/-strict$|^ollama$/.test(dialect)))('is the same object for %s', (dialect) => {
    expect(compileSchema(plain, dialect)).toEqual({ ok: true, schema: plain, changes: [] });
    const result = compileSchema(plain, dialect);
    expect(result.ok && result.schema).toBe(plain);
  });

  it('is compiled once per object and dialect', () => {
    const schema = field({ const: 'x' });
    expect(compileSchema(schema, 'gemini')).toBe(compileSchema(schema, 'gemini'));
    expect(compileSchema(schema, 'gemini')).not.toBe(compileSchema(schema, 'full'));
  });
});

describe('a field', () => {
  const tuple = { type: 'array', items: [{ type: 'number' }, { type: 'string' }], additionalItems: false };
  const union = {
    description: 'Where.',
    oneOf: [{ type: 'string' }, { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }],
  };
  it.each<[string, unknown, Partial<Record<SchemaDialect, unknown>>]>([
    [
      'of one value',
      { const: 'on' },
      {
        full: { const: 'on' },
        anthropic: { const: 'on' },
        gemini: { enum: ['on'] },
        'gemini-openapi': { type: 'string', enum: ['on'] },
        'openai-strict': { anyOf: [{ enum: ['on'], type: 'string' }, { type: 'null' }] },
      },
    ],
    [
      'that may be null',
      { type: ['string', 'null'], maxLength: 5 },
      {
        openai: { type: ['string', 'null'], maxLength: 5 },
        gemini: { type: ['string', 'null'], description: '(maxLength: 5)' },
        'gemini-openapi': { type: 'string', maxLength: 5, nullable: true },
        'openai-strict': { type: ['string', 'null'], description: '(maxLength: 5)' },
      },
    ],
    [
      "in OpenAPI's words",
      { type: 'integer', nullable: true, minimum: 0, exclusiveMinimum: true },
      {
        full: { type: ['integer', 'null'], exclusiveMinimum: 0 },
        'gemini-openapi': { type: 'integer', minimum: 1, nullable: true },
      },
    ],
    [
      'of several types',
      { type: ['string', 'number'], minLength: 2, minimum: 5 },
      {
        anthropic: { type: ['string', 'number'], minLength: 2, minimum: 5 },
        'gemini-openapi': {
          anyOf: [
            { type: 'string', minLength: 2 },
            { type: 'number', minimum: 5 },
          ],
        },
      },
    ],
    [
      'that is a tuple of draft 7',
      tuple,
      {
        full: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false },
        openai: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], maxItems: 2, items: {} },
        gemini: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], maxItems: 2 },
        'gemini-openapi': { type: 'array', maxItems: 2, items: { anyOf: [{ type: 'number' }, { type: 'string' }] } },
      },
    ],
    [
      'with alternatives',
      union,
      {
        cohere: union,
        gemini: { description: 'Where.', anyOf: union.oneOf },
        'gemini-openapi': {
          anyOf: [
            { description: 'Where.', type: 'string' },
            { description: 'Where.', type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
          ],
        },
      },
    ],
    [
      'that is any map',
      { type: 'object', additionalProperties: { type: 'number' } },
      {
        openai: { type: 'object', additionalProperties: { type: 'number' }, properties: {} },
        gemini: { type: 'object', additionalProperties: { type: 'number' } },
        'gemini-openapi': { type: 'object' },
      },
    ],
    [
      'of choices that are no text',
      { enum: [1, 'two', null, true] },
      {
        full: { enum: [1, 'two', null, true] },
        gemini: {
          anyOf: [
            { enum: ['two'], type: 'string' },
            { enum: [1], type: 'number' },
            { type: 'boolean', description: '(enum: [true])' },
            { type: 'null' },
          ],
        },
        'gemini-openapi': {
          anyOf: [
            { enum: ['two'], type: 'string', nullable: true },
            { type: 'number', description: '(enum: [1])' },
            { type: 'boolean', description: '(enum: [true])' },
          ],
        },
      },
    ],
    [
      'with an empty choice',
      { type: 'string', enum: ['asc', ''], description: 'Order.' },
      {
        gemini: { type: 'string', enum: ['asc', ''], description: 'Order.' },
        'gemini-openapi': { type: 'string', description: 'Order. (enum: ["asc",""])' },
      },
    ],
    [
      'with rules that are passed over',
      { type: 'string', format: 'uri', pattern: '^https:', default: 'https://a.example', description: 'Where.' },
      {
        gemini: { type: 'string', format: 'uri', description: 'Where. (pattern: ^https:; default: https://a.example)' },
        'gemini-openapi': { type: 'string', pattern: '^https:', description: 'Where. (format: uri; default: https://a.example)' },
      },
    ],
    [
      'wrapped in allOf by another',
      {
        description: 'Mine.',
        allOf: [{ type: 'object', properties: { x: { type: 'string' } }, description: 'Its own.' }, { required: ['x'] }],
      },
      {
        openai: { description: 'Mine.', type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
        gemini: { description: 'Mine.', type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
      },
    ],
    [
      'with type names of another language',
      { type: 'dict', properties: { n: { type: 'INTEGER' }, m: { type: 'wish' } }, required: true },
      { full: { type: 'object', properties: { n: { type: 'integer' }, m: {} } } },
    ],
    [
      'that is always null',
      { type: 'null', description: 'Kept for old callers.' },
      {
        openai: { type: 'null', description: 'Kept for old callers.' },
        'openai-strict': { type: 'null', description: 'Kept for old callers.' },
        gemini: { type: 'null', description: 'Kept for old callers.' },
        'gemini-openapi': { type: 'string', nullable: true, description: 'Kept for old callers. Always null.' },
      },
    ],
    ['that is no schema', 'string', { full: {}, 'gemini-openapi': {} }],
  ])('converts %s for each provider', (_what, before, after) => {
    for (const [dialect, expected] of Object.entries(after)) {
      expect([dialect, compiledField(before, dialect as SchemaDialect)]).toEqual([dialect, expected]);
    }
  });

  it('of any value is not marked as nullable, since it may be null already', () => {
    expect(compiledField({ description: 'Any.', anyOf: [{}, { type: 'null' }] }, 'gemini-openapi')).toEqual({ description: 'Any.' });
  });

  it('keeps counts of zero, and drops those that are none', () => {
    const counts = { minLength: 0, maxLength: 0 };
    expect(compiledField({ type: 'string', ...counts, minItems: -1 }, 'full')).toEqual({ type: 'string', ...counts });
  });

  it('keeps its position among the others, and theirs', () => {
    const schema: JsonSchema = { type: 'object', properties: { z: { type: 'string' }, a: { const: 1 }, m: { type: 'number' } } };
    expect(Object.keys(compiled(schema, 'gemini').properties as object)).toEqual(['z', 'a', 'm']);
  });

  it.each(SchemaDialect.options)('may have the name of a built-in object member, for %s', (dialect) => {
    const schema = JSON.parse(
      '{"type": "object", "properties": {"__proto__": {"const": "p"}, "constructor": {"$ref": "#/$defs/__proto__"}}, "$defs": {"__proto__": {"type": "integer"}}}',
    ) as JsonSchema;
    const { properties } = compiled(schema, dialect);
    expect(Object.keys(properties as object)).toEqual(['__proto__', 'constructor']);
    expect(JSON.stringify(properties)).toContain('"p"');
    expect(({} as JsonSchema).const).toBeUndefined();
  });
});

describe('every change', () => {
  it('is reported with its path', () => {
    const schema: JsonSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { 'a/b': { type: 'string', pattern: '^x' }, kind: { const: 'x' }, far: { $ref: 'https://elsewhere.example/far.json' } },
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: false,
    };
    expect(told(schema, 'gemini')).toEqual([
      '/$schema: removed: the schema is converted to draft 2020-12',
      '/properties/far: the reference https://elsewhere.example/far.json is remote and is never fetched: any value is accepted',
      '/patternProperties: not supported: removed',
      '/additionalProperties: removed together with patternProperties, which it depends on',
      '/properties/a~1b/pattern: not supported: moved to the description',
      '/properties/kind/const: converted to an enum with one choice',
    ]);
  });

  it('is reported, however small', () => {
    expect(told(field({ type: 'null' }), 'gemini-openapi')).toEqual(['/properties/a: always null: described by its type and description']);
    expect(told(field({ const: null }), 'gemini')).toContain('/properties/a: always null: described by its type and description');
  });

  it('is counted beyond a limit', () => {
    const properties = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { const: index }]));
    const lines = told({ type: 'object', properties }, 'gemini');
    expect(lines).toHaveLength(maxSchemaChanges + 1);
    expect(lines.at(-1)).toBe(`: ${300 - maxSchemaChanges} further changes of these kinds`);
  });
});

describe('references', () => {
  const node = { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } };

  it('are expanded in place, by pointer, anchor and id', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/text', description: 'First.' },
        b: { $ref: '#words' },
        c: { $ref: 'https://me.example/number.json' },
        d: { $ref: '#/properties/a' },
        e: { $ref: '#/$defs/text', maxLength: 3 },
      },
      $defs: {
        text: { type: 'string', description: 'Some text.' },
        list: { $anchor: 'words', type: 'array', items: { $ref: '#/$defs/text' } },
        number: { $id: 'https://me.example/number.json', type: 'number' },
      },
    };
    expect(compiled(schema, 'openai')).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', description: 'First.' },
        b: { type: 'array', items: { type: 'string', description: 'Some text.' } },
        c: { type: 'number' },
        d: { type: 'string', description: 'First.' },
        e: { maxLength: 3, type: 'string', description: 'Some text.' },
      },
    });
  });

  it('to a part that contains itself end after a few levels, and this is reported', () => {
    const schema: JsonSchema = { type: 'object', properties: { first: { $ref: '#/$defs/node' } }, $defs: { node } };
    const inner = { type: 'object', properties: { name: { type: 'string' }, next: { type: 'object' } } };
    const middle = { type: 'object', properties: { name: { type: 'string' }, next: inner } };
    expect(compiledField({ $ref: '#/$defs/node' }, 'full')).toEqual({});
    expect((compiled(schema, 'full').properties as JsonSchema).first).toEqual({
      ...node,
      properties: { ...node.properties, next: middle },
    });
    expect(told(schema, 'full')).toContain(
      '/properties/first/properties/next/properties/next/properties/next: #/$defs/node contains itself: expanded 3 times, then any value is accepted',
    );
  });

  it.each([
    ['to nothing but each other', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
    ['to itself', { $ref: '#' }],
    ['to nowhere', { $ref: '#/$defs/none' }],
    ['that are no text', { $ref: 7 }],
  ])('%s accept any value', (_what, schema: JsonSchema) => {
    expect(compiled(schema, 'openai')).toEqual({ type: 'object', properties: {} });
  });
});

describe('the root', () => {
  it('is an object with the fields of all its alternatives', () => {
    const schema: JsonSchema = {
      description: 'A page.',
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'id' }, id: { type: 'string' } },
          required: ['kind', 'id'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { kind: { const: 'path' }, path: { type: 'string' } },
          required: ['kind', 'path'],
          additionalProperties: false,
        },
        { type: 'string' },
      ],
    };
    const expected = {
      type: 'object',
      description: 'A page. Needed: id; or path.',
      properties: { kind: { enum: ['id', 'path'] }, id: { type: 'string' }, path: { type: 'string' } },
      required: ['kind'],
      additionalProperties: false,
    };
    for (const dialect of ['openai', 'anthropic', 'gemini', 'cohere'] as const) expect(compiled(schema, dialect)).toEqual(expected);
    expect(compiled(schema, 'full')).toEqual({ type: 'object', ...schema });
  });

  it('describes which fields are required together', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { url: { type: 'string' }, path: { type: 'string' }, host: { type: 'string' } },
      anyOf: [{ required: ['url'] }, { required: ['host', 'path'] }],
    };
    expect(compiled(schema, 'anthropic')).toEqual({
      type: 'object',
      properties: schema.properties,
      description: 'Needed: url; or host and path.',
    });
  });

  it('has lists whose items are what every part says about them', () => {
    const list = (items: object, more: object) => ({ type: 'object', properties: { a: { type: 'array', items, ...more } } });
    const schema: JsonSchema = { allOf: [list({ type: 'integer' }, { minItems: 1 }), list({ minimum: 3 }, { maxItems: 4 })] };
    expect(compiled(schema, 'anthropic').properties).toEqual({
      a: { type: 'array', items: { type: 'integer', minimum: 3 }, minItems: 1, maxItems: 4 },
    });
  });

  it('is merged from its parts, if they are compatible', () => {
    const schema: JsonSchema = {
      allOf: [
        { properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
        { properties: { a: { maxLength: 5 }, b: { type: 'number' } }, required: ['b'] },
      ],
      dependentRequired: { c: ['d'] },
    };
    expect(compiled(schema, 'anthropic')).toEqual({
      type: 'object',
      dependentRequired: { c: ['d'] },
      properties: { a: { type: 'string', minLength: 1, maxLength: 5 }, b: { type: 'number' } },
      required: ['a', 'b'],
    });
  });

  it('describes fields with unsupported names in words, and allows additional fields for them', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { 'filter[id]': { type: 'string' }, limit: { type: 'integer' } },
      required: ['filter[id]', 'limit'],
      additionalProperties: false,
    };
    expect(compiled(schema, 'anthropic')).toEqual({
      type: 'object',
      properties: { limit: { type: 'integer' } },
      required: ['limit'],
      description: '(Also accepts "filter[id]": {"type":"string"})',
    });
    expect(compiled(schema, 'openai')).toBe(schema);
  });

  it('is closed, complete and typed in strict mode, and describes what nulls mean', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: { enum: ['x'] } } }, any: {} },
      required: ['a'],
    };
    expect(compiled(schema, 'openai-strict')).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: {
          type: ['object', 'null'],
          properties: { c: { anyOf: [{ enum: ['x'], type: 'string' }, { type: 'null' }] } },
          required: ['c'],
          additionalProperties: false,
        },
        any: {
          anyOf: [
            { type: 'string' },
            { type: 'number' },
            { type: 'boolean' },
            { type: 'array', items: { type: 'string' } },
            { type: 'null' },
          ],
        },
      },
      required: ['a', 'b', 'any'],
      additionalProperties: false,
    });
    expect(told(schema, 'openai-strict')).toContain('/properties/b: optional: null means "not given" and is removed from the call');
  });

  it.each<[string, unknown]>([
    ['is not a JSON Schema', 'text'],
    ['is not a JSON Schema', false],
    ['is not a JSON Schema', []],
    ['accepts a value of type array, but arguments are an object', { type: 'array', items: {} }],
    ['accepts no object', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['accepts no object', { allOf: [{ type: 'object' }, { type: 'string' }] }],
    ['accepts no value', { $ref: '#/$defs/never', $defs: { never: false } }],
  ])('%s: an impossible schema is a fault for every provider', (fault, schema) => {
    for (const dialect of SchemaDialect.options) expect(compileSchema(schema as JsonSchema, dialect)).toEqual({ ok: false, fault });
  });
});

describe('a schema that is too large', () => {
  const fields = (count: number, field: unknown) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, field]));
  const sizeOf = (schema: JsonSchema) => JSON.stringify(schema).length;

  it('loses deep descriptions first, then deep parts', () => {
    const leaf = { type: 'string', description: 'x'.repeat(200) };
    const wordy: JsonSchema = {
      type: 'object',
      properties: fields(20, { type: 'object', description: 'Kept.', properties: fields(20, leaf) }),
    };
    expect(sizeOf(wordy)).toBeGreaterThan(maxSchemaBytes);
    const less = compiled(wordy, 'openai');
    expect((less.properties as JsonSchema).p0).toEqual({
      type: 'object',
      description: 'Kept.',
      properties: fields(20, { type: 'string' }),
    });
    expect(told(wordy, 'openai').at(-1)).toBe(': too large: descriptions more than one level deep are removed');

    const wide: JsonSchema = {
      type: 'object',
      properties: fields(60, { type: 'object', description: 'Kept.', properties: fields(60, leaf) }),
    };
    expect((compiled(wide, 'anthropic').properties as JsonSchema).p0).toEqual({ type: 'object', description: 'Kept.' });
    expect(told(wide, 'anthropic').at(-1)).toBe(': too large: parts more than one level deep are not described');

    const flat: JsonSchema = { type: 'object', properties: fields(1_000, leaf) };
    expect(compiled(flat, 'full').properties).toEqual(fields(1_000, { type: 'string' }));
  });

  it.each(SchemaDialect.options)('is bounded for %s, however its references multiply', (dialect) => {
    const $defs: JsonSchema = { d30: { type: 'string' } };
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { type: 'object', properties: { a: next, b: next }, required: ['a'] };
    }
    const bomb = compileSchema({ $ref: '#/$defs/d0', $defs }, dialect);
    expect(bomb.ok && sizeOf(bomb.schema) <= maxSchemaBytes).toBe(true);
    const tree: JsonSchema = { type: 'object', properties: fields(40, { $ref: '#' }) };
    expect(Object.keys(compiled(tree, dialect).properties as object)).toHaveLength(40);
  });

  it.each(SchemaDialect.options)('is bounded for %s, however its alternatives multiply', (dialect) => {
    const branches = (level: number) =>
      Array.from({ length: 64 }, (_, index) => ({ properties: { [`q${level}_${index}`]: { type: 'string' } } }));
    let schema: JsonSchema = { type: 'string' };
    for (let level = 0; level < 6; level += 1)
      schema = { type: 'object', properties: { a: schema, b: { type: 'string' } }, anyOf: branches(level) };
    compiled(schema, dialect);
    const choices = {
      type: 'object',
      properties: { a: { allOf: Array.from({ length: 40 }, (_, n) => ({ anyOf: [{ minLength: n }, { type: 'null' }] })) } },
    };
    compiled(choices, dialect);
  });

  it.each(SchemaDialect.options)('is cut for %s if it nests too deep, without a stack overflow', (dialect) => {
    const nested = (levels: number, wrap: (inner: JsonSchema) => JsonSchema): JsonSchema => {
      let schema: JsonSchema = { type: 'object', properties: { x: { type: 'string' } } };
      for (let level = 0; level < levels; level += 1) schema = wrap(schema);
      return schema;
    };
    for (const wrap of [
      (inner: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: inner } }),
      (inner: JsonSchema): JsonSchema => ({ allOf: [inner] }),
      (inner: JsonSchema): JsonSchema => ({ anyOf: [inner, { type: 'null' }] }),
      (inner: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: { const: inner } } }),
      (inner: JsonSchema): JsonSchema => ({ 'x-more': inner, type: 'object' }),
    ]) {
      compiled(nested(1_000, wrap), dialect);
    }
    const deepest = compileSchema(
      nested(100_000, (inner) => ({ not: inner })),
      dialect,
    );
    expect(deepest).toEqual({ ok: false, fault: `has more than ${limits.maxSchemaSourceParts} parts` });
  });

  it.each(SchemaDialect.options)('is a fault for %s if its fields alone are too many', (dialect) => {
    const result = compileSchema({ type: 'object', properties: fields(10_000, { type: 'string' }) }, dialect);
    expect(result).toEqual({ ok: false, fault: 'is larger than 64 KB, even without descriptions' });
  });
});
