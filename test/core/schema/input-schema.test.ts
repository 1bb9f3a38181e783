import fc from 'fast-check';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkInput } from '../../../src/core/schema/input-schema.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';
import { describeCorpus, readJson, readJsonLines } from '../../fixtures.ts';
import { maxIssues } from '../../../src/core/schema/check-run.ts';

/** Issues as `path: message`, for short tables. */
function faults(schema: JsonSchema, value: unknown): string[] {
  return checkInput(schema, value).map((issue) => `${issue.path}: ${issue.message}`);
}

describe('checking arguments', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      owner: { type: 'string', minLength: 1, maxLength: 5 },
      count: { type: 'integer', minimum: 1, maximum: 10 },
      state: { enum: ['open', 'closed'] },
      labels: { type: 'array', items: { type: 'string' }, maxItems: 2, uniqueItems: true },
      options: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'], additionalProperties: false },
    },
    required: ['owner'],
    additionalProperties: false,
  };

  it('accepts valid arguments', () => {
    expect(faults(schema, { owner: 'a', count: 3, state: 'open', labels: ['x', 'y'], options: { deep: true } })).toEqual([]);
  });

  it('reports every fault with its path, the expected and the received value', () => {
    expect(faults(schema, { count: '3', state: 'opened', labels: ['x', 1], options: { shallow: 1 }, extra: null })).toEqual([
      'owner: missing: expected a string',
      'count: expected an integer, received the string "3"',
      'state: expected one of "open", "closed", received "opened"',
      'labels[1]: expected a string, received the number 1',
      'options.deep: missing: expected a boolean',
      'options.shallow: unknown field; known: deep',
      'extra: unknown field; known: owner, count, state, labels, options',
    ]);
  });

  it('applies bounds of strings, numbers and arrays', () => {
    expect(faults(schema, { owner: '', count: 0, labels: ['a', 'a', 'a'] })).toEqual([
      'owner: expected at least 1 characters, received 0',
      'count: expected at least 1, received 0',
      'labels: expected at most 2 items, received 3',
      'labels: expected no item twice',
    ]);
    expect(faults(schema, { owner: '🐎🐎🐎🐎🐎' })).toEqual([]);
    expect(faults(schema, { owner: 'a', count: 2.5 })).toEqual(['count: expected an integer, received the number 2.5']);
    expect(faults({ multipleOf: 0.1 }, 0.3)).toEqual([]);
    expect(faults({ multipleOf: 5 }, 7)).toEqual([': expected a multiple of 5, received 7']);
    expect(faults({ minimum: 1, exclusiveMinimum: true }, 1)).toEqual([': expected more than 1, received 1']);
    expect(faults({ exclusiveMaximum: 3 }, 3)).toEqual([': expected less than 3, received 3']);
  });

  it('accepts only an object where the schema requires one', () => {
    for (const [value, word] of [
      [null, 'null'],
      [[], 'an array'],
      ['{}', 'the string "{}"'],
      [undefined, 'nothing'],
    ] as const) {
      expect(faults(schema, value)).toEqual([`: expected an object, received ${word}`]);
    }
  });

  it('accepts one matching branch, and reports the fault of the branch with the right type', () => {
    const either: JsonSchema = {
      properties: { v: { anyOf: [{ type: 'string' }, { type: 'object', required: ['id'] }, { type: 'null' }] } },
    };
    expect(faults(either, { v: 'a' })).toEqual([]);
    expect(faults(either, { v: null })).toEqual([]);
    expect(faults(either, { v: {} })).toEqual(['v.id: missing: expected a value']);
    expect(faults(either, { v: 5 })).toEqual(['v: expected a string or an object or null, received the number 5']);
    // With an ignored keyword inside, two branches may match that the source distinguishes.
    expect(faults({ oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }, 'a')).toEqual([]);
  });

  it('supports nullable, type lists, const, tuples and objects in enums', () => {
    expect(faults({ type: 'string', nullable: true }, null)).toEqual([]);
    expect(faults({ type: 'string', default: null }, null)).toEqual([]);
    expect(faults({ type: ['string', 'null'] }, 1)).toEqual([': expected a string or null, received the number 1']);
    expect(faults({ const: 'x' }, 'y')).toEqual([': expected "x", received "y"']);
    expect(faults({ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1, 'b'])).toHaveLength(1);
    expect(faults({ enum: [{ a: 1, b: 2 }] }, { b: 2, a: 1 })).toEqual([]);
  });

  it('follows local references, including recursive ones, and fetches none', () => {
    const tree: JsonSchema = {
      $defs: {
        node: {
          type: 'object',
          properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['name'],
        },
      },
      $ref: '#/$defs/node',
    };
    expect(faults(tree, { name: 'a', children: [{ name: 'b', children: [{ name: 1 }] }] })).toEqual([
      'children[0].children[0].name: expected a string, received the number 1',
    ]);
    expect(faults({ properties: { a: { $ref: 'https://evil.example/schema.json' }, b: { $ref: '#/nowhere' } } }, { a: 1, b: 2 })).toEqual(
      [],
    );
  });

  it('terminates for schemas that refer to themselves endlessly', () => {
    expect(faults({ $ref: '#' }, {})).toEqual([]);
    expect(faults({ $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }, { x: 1 })).toEqual([]);
    let deep: JsonSchema = { type: 'string' };
    let value: unknown = 5;
    for (let level = 0; level < 5000; level += 1) {
      deep = { type: 'object', properties: { a: deep } };
      value = { a: value };
    }
    expect(faults(deep, value)).toEqual([]);
  });

  it('never runs a pattern, and ignores unknown keywords', () => {
    const hostile: JsonSchema = {
      type: 'object',
      properties: { s: { type: 'string', pattern: '^(a+)+$' } },
      patternProperties: { '(x+x+)+y': {} },
      additionalProperties: false,
    };
    expect(faults(hostile, { s: `${'a'.repeat(50_000)}!`, anything: 1 })).toEqual([]);
    for (const odd of [
      { type: 'dict' },
      { type: 7 },
      { required: 'x' },
      { properties: [] },
      { anyOf: [] },
      { enum: 'a' },
      { items: true },
      { not: {} },
      { if: {}, else: false },
    ]) {
      expect(faults(odd, { x: 1 })).toEqual([]);
    }
  });

  it('is not confused by names of built-in object members', () => {
    const plain: JsonSchema = { type: 'object', properties: { a: {} }, required: ['toString'], additionalProperties: false };
    expect(faults(plain, JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}'))).toEqual([
      'toString: missing: expected a value',
      '__proto__: unknown field; known: a',
      'constructor: unknown field; known: a',
    ]);
    expect((Object.prototype as Record<string, unknown>).a).toBeUndefined();
  });

  it('quotes ambiguous names in a path', () => {
    expect(faults({ properties: { 'a.b': { type: 'string' } } }, { 'a.b': 1 })[0]).toMatch(/^\["a\.b"\]: /);
  });

  it('limits the number of reported faults and of visited values', () => {
    expect(faults({ items: { type: 'string' } }, new Array(100_000).fill(1))).toHaveLength(maxIssues);
  });

  it.each([
    ['constants', (index: number) => ({ const: index })],
    ['enumerations', (index: number) => ({ enum: [{ index }] })],
    ['distinct items', () => ({ uniqueItems: true, minItems: 1_000_000 })],
    ['properties', (index: number) => ({ required: [`x${index}`], properties: { y: {} } })],
    ['closed objects', () => ({ additionalProperties: false })],
    ['items', (index: number) => ({ items: { const: index } })],
  ])('reads large arguments a few times, however many alternatives of %s a schema has', (_what, alternative) => {
    let reads = 0;
    const counted = {
      items: [1, 2],
      get x(): number {
        reads += 1;
        return 1;
      },
    };
    const many = Array.from({ length: 1_000 }, () => counted);
    const anyOf = Array.from({ length: 1_000 }, (_, index) => alternative(index));
    checkInput(
      { type: 'object', properties: { list: { anyOf }, object: { anyOf } } },
      { list: many, object: Object.fromEntries(Object.entries(many)) },
    );
    // Each is visited, compared and shown once or twice; a thousand alternatives could read it a million times.
    expect(reads).toBeLessThan(20_000);
  });

  it('quotes the beginning of a large value in a fault', () => {
    const [fault] = checkInput({ type: 'object', properties: { a: { const: 1 } } }, { a: { b: 'x'.repeat(1_000_000), c: [1, 2] } });
    expect(fault?.message).toBe(`expected 1, received {"b":"${'x'.repeat(53)}…`);
    const [short] = checkInput({ type: 'object', properties: { a: { const: 1 } } }, { a: { b: 'x', c: [1, { d: null }] } });
    expect(short?.message).toBe('expected 1, received {"b":"x","c":[1,{"d":null}]}');
  });

  it('returns a result for any schema-like value and any arguments', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'required',
      'items',
      'anyOf',
      'enum',
      '$ref',
      'additionalProperties',
      'allOf',
      'minimum',
      'maxLength',
    );
    fc.assert(
      fc.property(fc.dictionary(keyword, fc.jsonValue()), fc.jsonValue(), (odd, value) => {
        for (const issue of checkInput(odd, value)) expect(issue.message).not.toBe('');
      }),
    );
  });
});

describeCorpus('mcp-tools', (folder) => {
  it('requires exactly the required fields of every tool in the corpus', () => {
    let checked = 0;
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'index.json')) {
      for (const tool of readJson<{ name: string; inputSchema?: JsonSchema }[]>(`${folder}/${file}`)) {
        if (tool.inputSchema === undefined) continue;
        const required = Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : [];
        const named = checkInput(tool.inputSchema, {}).map((issue) => issue.path);
        if (named.length < maxIssues && tool.inputSchema.anyOf === undefined) expect(named, `${file} ${tool.name}`).toEqual(required);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(1400);
  });
});

type Case = { id: string; functions?: { name: string; parameters: JsonSchema }[]; groundTruth?: Record<string, Record<string, unknown>>[] };

describeCorpus('bfcl/cases.jsonl', (path) => {
  it('accepts the accepted arguments of every single-turn case', () => {
    const words = new Map([
      ['dict', 'object'],
      ['float', 'number'],
      ['tuple', 'array'],
    ]);
    const toSchema = (schema: unknown): unknown =>
      JSON.parse(
        JSON.stringify(schema, (key, part) =>
          key === 'type' && typeof part === 'string' ? (words.get(part) ?? (part === 'any' ? undefined : part)) : part,
        ),
      );
    // Their expected answers are not among the values in their own schemas.
    const contradictory = new Set(['live_multiple_732-167-3', 'live_parallel_multiple_2-2-0']);
    let calls = 0;
    for (const { id, functions = [], groundTruth = [] } of readJsonLines<Case>(path)) {
      for (const call of groundTruth.filter((truth) => typeof truth === 'object')) {
        for (const [name, accepted] of Object.entries(call)) {
          const schema = functions.find((candidate) => candidate.name === name)?.parameters;
          if (schema === undefined) continue;
          // JavaScript and Java cases write values in their own notation.
          if (id.includes('javascript') || contradictory.has(id)) continue;
          expect(faults(toSchema(schema) as JsonSchema, firstAccepted(accepted)), `${id} ${name}`).toEqual([]);
          calls += 1;
        }
      }
    }
    expect(calls).toBeGreaterThan(200);
  });
});

/** The first accepted value of each parameter; an empty string or "N/A" means that it is omitted. */
function firstAccepted(accepted: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(accepted).flatMap(([key, values]) => {
    if (!Array.isArray(values)) return [[key, values]];
    const value = values.find((candidate) => candidate !== '' && candidate !== 'N/A');
    return value === undefined ? [] : [[key, nested(value)]];
  });
  return Object.fromEntries(entries);
}

function nested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nested);
  return typeof value === 'object' && value !== null ? firstAccepted(value as Record<string, unknown>) : value;
}
