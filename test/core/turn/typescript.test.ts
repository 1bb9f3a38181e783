import { describe, expect, it } from 'vitest';
import { commentText, literalText, memberOf, typeText } from '../../../src/core/turn/typescript.ts';

const plain = { depth: 6, comments: null };
const text = (schema: unknown) => typeText(schema, plain);

describe('typeText', () => {
  it.each<[unknown, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', nullable: true }, 'string | null'],
    [{ enum: ['a', 1, true, null] }, '"a" | 1 | true | null'],
    [{ const: -1.5 }, '-1.5'],
    [{ enum: [{ a: 1 }, 'x'] }, 'unknown'],
    [{ type: 'array', items: { type: 'number' } }, 'number[]'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[string, number, ...unknown[]]'],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string | string[]'],
    [{ oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    [
      { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } }, required: ['b'] }] },
      '{ a?: string } & { b: string }',
    ],
    [{ type: 'object', properties: { a: true }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, '{ a?: unknown }'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ properties: { a: {} }, additionalProperties: { type: 'number' } }, '{ a?: unknown } & Record<string, number>'],
    [{ patternProperties: { '^x': { type: 'number' } }, type: 'object' }, 'Record<string, number>'],
    [{ $ref: '#/$defs/id', $defs: { id: { type: 'string' } } }, 'string'],
    [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
    [{ $ref: '#/$defs/none' }, 'unknown'],
    [true, 'unknown'],
    [false, 'never'],
    ['no schema', 'unknown'],
    [{ type: 'object', properties: { __proto__: { type: 'string' }, 'a b': { type: 'string' } } }, '{ "a b"?: string }'],
  ])('converts %j to %s', (schema, type) => {
    expect(text(schema)).toBe(type);
  });

  it('ends recursive types', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    expect(text({ ...node, $defs: { node } })).toBe('{ next?: { next?: unknown } }');
  });

  it('bounds the work for references that multiply', () => {
    const level = (index: number) => ({
      type: 'object',
      properties: Object.fromEntries([...'abcdefghij'].map((name) => [name, { $ref: `#/$defs/l${index + 1}` }])),
    });
    const $defs = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`l${index}`, level(index)]));
    expect(text({ $ref: '#/$defs/l0', $defs }).length).toBeLessThan(20_000);
  });

  it('lists the first of many choices and marks the rest', () => {
    const choices = Array.from({ length: 100 }, (_, index) => `choice ${index}`);
    expect(text({ enum: choices })).toMatch(/^"choice 0" \| .*"choice 23" \| string$/);
    expect(text({ enum: choices.map((_, index) => index) })).toBe('unknown');
  });

  it('adds format and default as a comment, whatever the description', () => {
    const comments = { isNew: () => true };
    const of = (part: object) => typeText({ properties: { at: part } }, { depth: 6, comments });
    expect(of({ type: 'string', format: 'date-time' })).toBe('{ /** (date-time) */ at?: string }');
    expect(of({ type: 'number', description: `${'x'.repeat(500)}`, default: 7 })).toMatch(
      /^\{ \/\*\* x{120}… \(default 7\) \*\/ at\?: number \}$/,
    );
    expect(of({ type: 'string', description: 'A date-time.', format: 'date-time' })).toBe('{ /** A date-time. */ at?: string }');
  });
});

describe('untrusted text', () => {
  it.each([
    ['ends */ here', '/** ends *\\/ here */'],
    ['hid\u200bden *\u200b/ end', '/** hidden *\\/ end */'],
    ['two\n```\nlines', "/** two ''' lines */"],
    ['\u202e \n', ''],
  ])('%j becomes the comment text %j', (words, comment) => {
    expect(commentText(words, 40)).toBe(comment);
  });

  it('is cut if it is too long for a comment', () => {
    expect(commentText('a longer one', 8)).toBe('/** a longer… */');
  });

  it('becomes literals without invisible characters or fences', () => {
    expect(literalText('a"\u202e\u2028```')).toBe('"a\\"\\u{202e}\\u{2028}\\u{60}\\u{60}\\u{60}"');
  });

  it('is quoted as a member name if it is not an identifier', () => {
    expect([memberOf('tools', 'read_file'), memberOf('tools', 'a-b'), memberOf('tools', 'delete')]).toEqual([
      'tools.read_file',
      'tools["a-b"]',
      'tools.delete',
    ]);
  });
});
