import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signatureText } from '../../../src/core/schema/short-schema.ts';

describe('arguments in one line', () => {
  it.each<[object, string]>([
    [{ type: 'object' }, '{}'],
    [{ properties: { b: { type: 'integer' }, a: { type: 'string' } }, required: ['a'] }, '{a: string, b?: integer}'],
    [{ properties: { m: { enum: ['get', 'list'] } } }, '{m?: "get" | "list"}'],
    [{ properties: { m: { const: 1 } } }, '{m?: 1}'],
    [{ properties: { m: { enum: [...'abcdefghij'] } } }, '{m?: "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | …}'],
    [{ properties: { a: { type: 'array', items: { type: 'string' } } } }, '{a?: string[]}'],
    [{ properties: { a: { type: ['string', 'null'] } } }, '{a?: string | null}'],
    [{ properties: { a: { anyOf: [{ type: 'string' }, { type: 'string' }, { type: 'array' }] } } }, '{a?: string | any[]}'],
    [{ properties: { a: true, b: {}, c: null } }, '{a?: any, b?: any, c?: any}'],
  ])('shows %j as %s', (schema, text) => {
    expect(signatureText({ ...schema }, 600)).toBe(text);
  });

  it('drops optional arguments first, and states how many are missing', () => {
    const names = Array.from({ length: 50 }, (_, index) => `argument_${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const text = signatureText({ properties, required: ['argument_49'] }, 80);
    expect(text).toBe('{argument_49: string, argument_0?: string, argument_1?: string, … 47 more}');
  });

  it('is bounded for any schema', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 5 }), (schema) => {
        expect(signatureText({ properties: schema, required: schema }, 600).length).toBeLessThan(700);
      }),
    );
  });
});
