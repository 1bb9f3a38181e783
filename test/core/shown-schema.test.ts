import { describe, expect, it } from 'vitest';
import { EntryArguments } from '../../src/core/entry-rules.ts';
import { checkInput } from '../../src/core/input-schema.ts';
import { shownSchema } from '../../src/core/shown-schema.ts';
import type { JsonSchema } from '../../src/core/tool.ts';

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
const shown = (source: JsonSchema, rules: unknown): JsonSchema => shownSchema(source, EntryArguments.parse(rules));

describe('the schema that a model is shown', () => {
  it('has the old shape of a merged tool: hidden gone, renamed in place, defaults told and optional', () => {
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

  it('is the tool’s own where the rules change nothing', () => {
    expect(shown(merged, {})).toBe(merged);
    expect(shown(merged, { rename: { method: 'method' } })).toBe(merged);
  });

  it('keeps only the branches that the preset leaves, and shows nothing of the others', () => {
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

  it('follows references at the root and leaves definitions out that nothing leads to any more', () => {
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

  it('keeps what other arguments refer to, also where it was hidden or renamed', () => {
    const range = { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] };
    const source = { type: 'object', properties: { first: range, second: { $ref: '#/properties/first' }, again: { $ref: '#' } } };
    const schema = shown(source, { preset: { first: { from: 'x' } } });
    expect(schema).toMatchObject({ properties: { second: { $ref: '#/$defs/part_1' } }, $defs: { part_1: range } });
    expect(checkInput(schema, { second: {} })).toEqual([{ path: 'second.from', message: 'missing: expected a string' }]);
    expect(checkInput(schema, { second: { from: 'a' }, again: { first: { from: 'b' } } })).toEqual([]);
  });

  it('takes what depends on a hidden argument as asked for always, and settles conditions on it', () => {
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

  it('renames in every part that is about the arguments, and nowhere else', () => {
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

  it('survives schemas that contain themselves at the root', () => {
    const source = { type: 'object', properties: { a: {}, b: {} }, allOf: [{ $ref: '#' }, { $ref: '#/allOf/1' }] };
    expect(() => shown(source, { preset: { a: 1 } })).not.toThrow();
    expect(JSON.stringify(shown(source, { preset: { a: 1 } }))).not.toContain('"a"');
  });
});
