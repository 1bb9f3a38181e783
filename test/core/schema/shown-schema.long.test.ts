import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { givenArguments, toToolArguments } from '../../../src/core/toolset/arguments/entry-arguments.ts';
import { EntryArguments } from '../../../src/core/toolset/toolset.ts';
import { checkInput } from '../../../src/core/schema/input-schema.ts';
import { toStrictSchema } from '../../../src/core/toolset/arguments/strict-schema.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';
import { isRecord } from '../../../src/core/json/wire-value.ts';
import { runs } from '../../selection.ts';

const merged: JsonSchema = {
  type: 'object',
  properties: {
    method: { type: 'string', enum: ['get_workflow', 'get_job'] },
    resource_id: { type: 'string', description: 'Id of what is asked for' },
    per_page: { type: 'integer' },
  },
  required: ['method', 'resource_id', 'per_page'],
  additionalProperties: false,
};
const shown = (source: JsonSchema, rules: unknown): JsonSchema => toStrictSchema(source, EntryArguments.parse(rules));

describe('the schema that a model sees', () => {
  it('has the original form of a merged tool: hidden arguments removed, renamed ones renamed, defaults shown and optional', () => {
    const schema = shown(merged, { preset: { method: 'get_workflow' }, rename: { id: 'resource_id' }, default: { per_page: 20 } });
    expect(JSON.stringify(schema)).toBe(
      JSON.stringify({
        type: 'object',
        properties: { id: { type: 'string', description: 'Id of what is asked for' }, per_page: { type: 'integer', default: 20 } },
        required: ['id'],
        additionalProperties: false,
      }),
    );
  });

  it('is the tool’s own if the rules change nothing', () => {
    expect(shown(merged, {})).toBe(merged);
    expect(shown(merged, { rename: { method: 'method' } })).toBe(merged);
  });

  it('keeps only the branches that the preset allows, and shows nothing of the others', () => {
    const branch = (method: string, extra: string): JsonSchema => ({
      type: 'object',
      properties: { method: { const: method }, [extra]: { type: 'string' } },
      required: ['method', extra],
      additionalProperties: false,
    });
    const source = { type: 'object', oneOf: [branch('get', 'id'), branch('list', 'query')] };
    expect(shown(source, { preset: { method: 'list' } })).toEqual({
      type: 'object',
      oneOf: [{ type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false }],
    });
    // A secret may be either.
    expect(shown(source, { preset: { method: { secret: 'M' } } })).toMatchObject({
      anyOf: [{ required: ['id'] }, { required: ['query'] }],
    });
  });

  it('follows references at the root and removes unused definitions', () => {
    const source = {
      $ref: '#/$defs/Input',
      $defs: {
        Input: {
          allOf: [{ $ref: '#/$defs/Method' }],
          type: 'object',
          properties: { filter: { $ref: '#/$defs/Filter' } },
          required: ['method'],
        },
        Method: { type: 'object', properties: { method: { $ref: '#/$defs/Methods' } }, required: ['method'] },
        Methods: { enum: ['a', 'b'] },
        Filter: { type: 'object', properties: { and: { $ref: '#/$defs/Filter' } } },
      },
    };
    const schema = shown(source, { preset: { method: 'a' } });
    expect(schema).toEqual({
      allOf: [{ type: 'object', properties: {} }],
      type: 'object',
      properties: { filter: { $ref: '#/$defs/Filter' } },
      $defs: { Filter: { type: 'object', properties: { and: { $ref: '#/$defs/Filter' } } } },
    });
    expect(JSON.stringify(schema)).not.toContain('method');
  });

  it('keeps what other arguments refer to, even if it was hidden or renamed', () => {
    const range = { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] };
    const source = { type: 'object', properties: { first: range, second: { $ref: '#/properties/first' }, again: { $ref: '#' } } };
    const schema = shown(source, { preset: { first: { from: 'x' } } });
    expect(schema).toMatchObject({ properties: { second: { $ref: '#/$defs/part_1' } }, $defs: { part_1: range } });
    expect(checkInput(schema, { second: {} })).toEqual([{ path: 'second.from', message: 'missing: expected a string' }]);
    expect(checkInput(schema, { second: { from: 'a' }, again: { first: { from: 'b' } } })).toEqual([]);
  });

  it('always requires dependents of a hidden argument, and resolves conditions on it', () => {
    const source = {
      type: 'object',
      properties: { mode: { type: 'string' }, path: { type: 'string' }, size: { type: 'integer' }, note: { type: 'string' } },
      dependentRequired: { mode: ['path'], note: ['mode', 'size'] },
      dependentSchemas: { mode: { required: ['size'] } },
      if: { properties: { mode: { const: 'write' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['note'] },
      else: { required: ['path'] },
      not: { required: ['mode', 'other'] },
      minProperties: 2,
    };
    const write = shown(source, { preset: { mode: 'write' } });
    expect(write).toEqual({
      type: 'object',
      properties: { path: { type: 'string' }, size: { type: 'integer' }, note: { type: 'string' } },
      dependentRequired: { note: ['size'] },
      dependentSchemas: {},
      minProperties: 1,
      required: ['path'],
      allOf: [{ required: ['size'] }, { required: ['note'] }],
    });
    expect(shown(source, { preset: { mode: 'read' } })).toMatchObject({ allOf: [{ required: ['size'] }, { required: ['path'] }] });
    expect(shown(source, { preset: { mode: { caller: 'mode' } } })).toMatchObject({ allOf: [{ required: ['size'] }] });
  });

  it('renames in every part about the arguments, and nowhere else', () => {
    const source = {
      type: 'object',
      properties: { a: { type: 'object', properties: { a: {} }, required: ['a'] } },
      anyOf: [{ required: ['a'] }, { properties: { a: { const: 1 } } }],
    };
    expect(shown(source, { rename: { b: 'a' } })).toEqual({
      type: 'object',
      properties: { b: { type: 'object', properties: { a: {} }, required: ['a'] } },
      anyOf: [{ required: ['b'] }, { properties: { b: { const: 1 } } }],
    });
  });

  it('handles schemas that contain themselves at the root', () => {
    const source = { type: 'object', properties: { a: {}, b: {} }, allOf: [{ $ref: '#' }, { $ref: '#/allOf/1' }] };
    expect(() => shown(source, { preset: { a: 1 } })).not.toThrow();
    expect(JSON.stringify(shown(source, { preset: { a: 1 } }))).not.toContain('"a"');
  });

  it('takes bounded time for schemas whose references multiply', () => {
    const level = (next: number): JsonSchema => ({ allOf: [0, 1, 2].map(() => ({ $ref: `#/$defs/l${next}`, minProperties: 1 })) });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`l${index}`, level(index + 1)]));
    const source = { ...level(0), properties: { a: {} }, $defs: { ...$defs, l40: { properties: { a: {} } } } };
    const schema = shown(source, { preset: { a: 1 } });
    expect(JSON.stringify(schema).length).toBeLessThan(10 * 1024 * 1024);
    expect(schema.properties).toEqual({});
    const chain = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`c${index}`, { $ref: `#/$defs/c${index + 1}` }]));
    expect(shown({ $ref: '#/$defs/c0', properties: { a: {} }, $defs: chain }, { preset: { a: 1 } })).toMatchObject({ properties: {} });
  });

  it('never fails for any schema, never shows hidden arguments, and applies every preset', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const reference = fc.constantFrom('#', '#/properties/a', '#/$defs/d', '#/allOf/0', '#/nowhere', '#anchor', 'https://x.example/s');
    const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => {
      const part = tie('schema');
      const members = {
        $ref: reference,
        type: fc.constantFrom('object', 'string', ['object', 'null'], 7),
        properties: fc.oneof(fc.dictionary(name, part, { maxKeys: 3 }), fc.constant(null)),
        required: fc.oneof(fc.array(name, { maxLength: 3 }), fc.constant('a'), fc.constant([1, null])),
        additionalProperties: fc.oneof(fc.boolean(), part),
        dependentRequired: fc.dictionary(name, fc.array(name, { maxLength: 2 }), { maxKeys: 2 }),
        dependentSchemas: fc.dictionary(name, part, { maxKeys: 2 }),
        allOf: fc.oneof(fc.array(part, { maxLength: 2 }), fc.constant({})),
        anyOf: fc.array(part, { maxLength: 2 }),
        oneOf: fc.array(part, { maxLength: 2 }),
        not: part,
        if: part,
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: part,
        else: part,
        minProperties: fc.nat(3),
        const: fc.constantFrom(1, 'x'),
        $defs: fc.dictionary(fc.constant('d'), part),
      };
      return {
        schema: fc.oneof(
          { maxDepth: 4, withCrossShrink: true },
          fc.constantFrom<unknown>(true, false, {}, { type: 'string' }, null),
          fc.record(members, { requiredKeys: [] }),
        ),
      };
    });
    const rules = fc.record({
      preset: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom<unknown>(1, 'x', { secret: 'S' }, { value: {} }), { maxKeys: 2 }),
      rename: fc.constantFrom({}, { shown: 'c' }),
      default: fc.constantFrom({}, { c: 1 }),
    });
    const args = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'shown', 'x'), fc.constantFrom<unknown>(1, 'x', {}), { maxKeys: 4 });
    fc.assert(
      fc.property(anySchema, rules, args, (source, written, given) => {
        fc.pre(isRecord(source));
        const before = JSON.stringify(source);
        const parsed = EntryArguments.parse(written);
        const schema = toStrictSchema(source, parsed);
        expect(JSON.stringify(source)).toBe(before);
        const known = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
        const needed = Array.isArray(schema.required) ? schema.required : [];
        for (const hidden of Object.keys(written.preset)) expect([...known, ...needed]).not.toContain(hidden);
        const read = toToolArguments(parsed, givenArguments(parsed, given).given, {});
        expect(read.ok).toBe(true);
        for (const [preset, value] of Object.entries(written.preset))
          expect(read.ok && read.own[preset]).toEqual(isRecord(value) && 'value' in value ? value.value : value);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('many presets over many branches', () => {
  it('rule out the same branches as a few do', () => {
    const branch = (index: number, type: string) => ({ properties: { [`k${index}`]: { type } }, required: [`k${index}`] });
    const branches = Array.from({ length: 1_500 }, (_, index) => branch(index, index % 2 === 0 ? 'string' : 'integer'));
    const preset = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`p${index}`, index]));
    const shown = toStrictSchema({ type: 'object', anyOf: branches }, { preset: { ...preset, k7: 'text' } });
    expect(shown.anyOf).toEqual(branches.filter((_, index) => index !== 7));
  });
});
