import { describe, expect, it } from 'vitest';
import { acceptsAll } from '../../../src/core/schema/schema-accepts.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';

const object = (properties: Record<string, unknown>, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
const text = { type: 'string' };
const from = object({ path: text, count: { type: 'integer', maximum: 10 } }, { required: ['path'] });

describe('a changed schema accepts what callers sent before', () => {
  it.each<[string, JsonSchema]>([
    [
      'other texts and defaults',
      object({ path: { ...text, description: 'Another.' }, count: { type: 'integer', maximum: 10, default: 3 } }, from),
    ],
    ['an optional property', { ...from, properties: { ...(from.properties as object), encoding: text } }],
    ['fewer required properties', { ...from, required: [] }],
    ['a wider type, a higher maximum', { ...from, properties: { path: text, count: { type: ['number', 'null'], maximum: 20 } } }],
    ['a property that is free now', { ...from, properties: { path: text, count: {} } }],
    ['a closed object', { ...from, additionalProperties: false }],
    [
      'the bounds of exact integers',
      { ...from, properties: { path: text, count: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 10 } } },
    ],
    ['an alternative', { ...from, properties: { path: { anyOf: [text, { type: 'null' }] }, count: { type: 'integer' } } }],
    ['the same, by a reference', { ...from, properties: { path: { $ref: '#/$defs/p' }, count: { type: 'integer' } }, $defs: { p: text } }],
  ])('with %s', (_what, to) => {
    expect(acceptsAll(to, from, 'missed')).toBe(true);
  });

  it.each<[string, JsonSchema]>([
    ['a new required property', { ...from, properties: { ...(from.properties as object), mode: text }, required: ['path', 'mode'] }],
    ['a property that is required now', { ...from, required: ['path', 'count'] }],
    ['a property less', object({ path: text }, { required: ['path'] })],
    ['another type', { ...from, properties: { path: text, count: text } }],
    ['a narrower number', { ...from, properties: { path: text, count: { type: 'integer', maximum: 5 } } }],
    ['a maximum', { ...from, properties: { path: { ...text, maxLength: 3 }, count: { type: 'integer', maximum: 10 } } }],
    ['a pattern', { ...from, properties: { path: { ...text, pattern: '^/' }, count: { type: 'integer', maximum: 10 } } }],
    ['choices', { ...from, properties: { path: { enum: ['a', 'b'] }, count: { type: 'integer', maximum: 10 } } }],
    ['a condition', { ...from, not: { required: ['count'] } }],
  ])('but not with %s', (_what, to) => {
    expect(acceptsAll(to, from, 'missed')).toBe(false);
  });

  it('has more choices, and not fewer', () => {
    const [few, many] = [object({ a: { enum: ['x', 'y'] } }), object({ a: { enum: ['y', 'z', 'x'] } })];
    expect([acceptsAll(many, few, 'missed'), acceptsAll(few, many, 'missed')]).toEqual([true, false]);
    expect(acceptsAll(object({ a: text }), few, 'missed')).toBe(true);
  });

  it('has wider alternatives and items, and not narrower ones', () => {
    const narrow = object({ a: { type: 'array', items: text }, b: { oneOf: [text, { type: 'null' }] } });
    const wide = object({
      a: { type: 'array', items: { type: ['string', 'number'] } },
      b: { anyOf: [text, { type: 'null' }, { type: 'boolean' }] },
    });
    expect([acceptsAll(wide, narrow, 'missed'), acceptsAll(narrow, wide, 'missed')]).toEqual([true, false]);
  });

  it('ignores what only a result has, if its reader may', () => {
    const [before, after] = [object({ id: text }), object({ id: text, note: text })];
    expect(acceptsAll(before, after, 'ignored')).toBe(true);
    expect(acceptsAll({ ...before, additionalProperties: false }, after, 'ignored')).toBe(false);
    expect(acceptsAll(after, before, 'ignored')).toBe(true);
    expect(acceptsAll({ ...after, required: ['note'] }, before, 'ignored')).toBe(false);
  });

  it('says no where it cannot tell, and ends for schemas that contain themselves', () => {
    const tree = { ...object({ child: { $ref: '#' }, name: text }) };
    expect(acceptsAll({ ...tree, description: 'A tree.' }, tree, 'missed')).toBe(true);
    expect(acceptsAll(object({ a: { $ref: '#/nowhere', minLength: 2 } }), object({ a: text }), 'missed')).toBe(false);
  });
});
