import { describe, expect, it } from 'vitest';
import { exampleOf } from '../../src/console/pages/docs/example.ts';
import {
  allowedValues,
  dereference,
  type ApiSchema,
  limitPhrases,
  schemaParts,
  typePhrase,
  variantName,
} from '../../src/console/pages/docs/schema.ts';

const text: ApiSchema = { type: 'string' };
const nothing: ApiSchema = { type: 'null' };
const ref = (name: string): ApiSchema => ({ $ref: `#/components/schemas/${name}` });

describe('typePhrase', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'date-time' }, 'string (date-time)'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ anyOf: [ref('Via'), nothing] }, 'Via or null'],
    [{ type: 'array', items: text }, 'array of strings'],
    [{ type: 'array', items: ref('Tool') }, 'array of Tool'],
    [{ type: 'array', items: { anyOf: [text, { type: 'integer' }] } }, 'array of (string or integer)'],
    [{ type: 'array' }, 'array'],
    [{ oneOf: [text, ref('Tool')] }, 'string or Tool'],
    [{ oneOf: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ const: name })) }, 'one of 5 variants'],
    [{ type: 'object', additionalProperties: text }, 'map of string'],
    [{ type: 'object', additionalProperties: {} }, 'object'],
    [{ const: 'static' }, '"static"'],
    [{}, 'any'],
  ])('%j is %s', (schema, expected) => {
    expect(typePhrase(schema)).toBe(expected);
  });
});

describe('limitPhrases', () => {
  it.each([
    [{ minLength: 1, maxLength: 64 }, ['1 to 64 characters']],
    [{ maxItems: 1000 }, ['at most 1,000 items']],
    [{ minItems: 1 }, ['at least 1 item']],
    [{ minLength: 8, maxLength: 8 }, ['exactly 8 characters']],
    [{ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, ['at least 0']],
    [{ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, []],
    [{ exclusiveMinimum: 0, readOnly: true }, ['more than 0', 'read-only']],
    [{ anyOf: [{ type: 'string', maxLength: 5 }, nothing] }, ['at most 5 characters']],
  ])('describes %j as %j', (schema, expected) => {
    expect(limitPhrases(schema)).toEqual(expected);
  });
});

describe('the parts of a schema', () => {
  const node: ApiSchema = { type: 'object', properties: { label: text, next: ref('Node') }, required: ['next'] };

  it('lists required fields first', () => {
    expect(schemaParts(node, {})).toMatchObject({ kind: 'fields', fields: [{ name: 'next', isRequired: true }, { name: 'label' }] });
  });

  it('follows arrays and references, and reads one level of a recursive schema', () => {
    const parts = schemaParts({ type: 'array', items: ref('Node') }, { Node: node });
    expect(parts).toMatchObject({ kind: 'fields', fields: [{ name: 'next', schema: ref('Node') }, { name: 'label' }] });
  });

  it('ends at a reference to itself, and at one that does not exist', () => {
    expect(schemaParts(ref('Loop'), { Loop: ref('Loop') })).toEqual({ kind: 'none' });
    expect(schemaParts(ref('Gone'), {})).toEqual({ kind: 'none' });
  });

  it('has nothing to expand where the type says everything', () => {
    expect(schemaParts({ anyOf: [text, { type: 'integer' }] }, {})).toEqual({ kind: 'none' });
    expect(schemaParts({ type: 'object', additionalProperties: text }, {})).toEqual({ kind: 'none' });
  });

  it('names variants by their schema, their fixed field or their first required field', () => {
    const names = [ref('Tool'), { properties: { kind: { const: 'mcp' } } }, { properties: { url: text }, required: ['url'] }, text].map(
      (variant) => variantName(variant, {}),
    );
    expect(names).toEqual(['Tool', 'kind: "mcp"', 'object with url', 'string']);
  });

  it('keeps the keywords beside a reference', () => {
    expect(dereference({ ...ref('Via'), default: 'wire' }, { Via: { type: 'string', enum: ['wire'] } })).toEqual({
      type: 'string',
      enum: ['wire'],
      default: 'wire',
    });
  });

  it('reads allowed values from an enum and from constants', () => {
    expect(allowedValues({ anyOf: [{ enum: ['a', 'b'] }, nothing] })).toEqual(['a', 'b']);
    expect(allowedValues({ oneOf: [{ const: 1 }, { const: 2 }] })).toEqual([1, 2]);
    expect(allowedValues(text)).toEqual([]);
  });
});

describe('exampleOf', () => {
  it('prefers the values of the document', () => {
    const properties = {
      a: { ...text, example: 'shown' },
      b: { ...text, default: 'usual' },
      c: { const: 'fixed' },
      d: { enum: ['first', 'second'] },
    };
    expect(exampleOf({ type: 'object', properties }, {}, 'response')).toEqual({ a: 'shown', b: 'usual', c: 'fixed', d: 'first' });
  });

  it('has only the required fields of a request that clients may send', () => {
    const schema: ApiSchema = {
      type: 'object',
      properties: { model: text, id: { ...text, readOnly: true }, note: text },
      required: ['model', 'id'],
    };
    expect(exampleOf(schema, {}, 'request')).toEqual({ model: 'rehearsal/default' });
  });

  it('ends recursive schemas', () => {
    const tree: ApiSchema = {
      type: 'object',
      properties: { name: text, children: { type: 'array', items: ref('Tree') }, parent: ref('Tree') },
    };
    expect(exampleOf(ref('Tree'), { Tree: tree }, 'response')).toEqual({ name: 'name', children: [] });
    const required: ApiSchema = { type: 'object', properties: { next: ref('Node') }, required: ['next'] };
    expect(exampleOf(ref('Node'), { Node: required }, 'request')).toEqual({ next: {} });
  });

  it('follows formats and minimums', () => {
    const properties = {
      at: { ...text, format: 'date-time' },
      count: { type: 'integer', minimum: 3 },
      share: { type: 'number', exclusiveMinimum: 0 },
    };
    expect(exampleOf({ type: 'object', properties }, {}, 'response')).toEqual({ at: '2026-01-31T12:00:00.000Z', count: 3, share: 1 });
  });
});
