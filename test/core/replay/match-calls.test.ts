import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerBook, equalKey, type ReplayCall } from '../../../src/core/replay/match-calls.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';
import { runs } from '../../selection.ts';

const of = (schema: unknown, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties: { a: schema }, ...more });
const text = { type: 'string' };
const call = (args: Record<string, unknown> | null, canonical: string | null = 'desk.find', requested = 'find'): ReplayCall => ({
  ...{ requested, canonical },
  arguments: args,
});
const isEqual = (schema: JsonSchema, one: Record<string, unknown>, other: Record<string, unknown>): boolean =>
  equalKey(call(one), () => schema) === equalKey(call(other), () => schema);

describe('arguments that mean the same under the schema of the tool', () => {
  const tree: JsonSchema = {
    ...of({ $ref: '#/$defs/node' }),
    $defs: { node: { type: 'object', properties: { size: { type: 'integer', default: 1 }, next: { $ref: '#/$defs/node' } } } },
  };
  const kinds = {
    oneOf: ['n', 's'].map((kind) => ({
      ...{ type: 'object', required: ['kind'] },
      properties: { kind: { const: kind }, limit: { type: 'integer', default: kind === 'n' ? 1 : 2 } },
    })),
  };
  it.each<[string, JsonSchema, string, string]>([
    ['members in another order', of({}), '{"a":{"x":1,"y":2}}', '{"a":{"y":2,"x":1}}'],
    ['other spellings of a number', of({ type: 'number' }), '{"a":1}', '{"a":1.0e0}'],
    ['a default that is left out', of({ type: 'integer', default: 10 }), '{"a":10}', '{}'],
    ['a default in an object', of(of({ default: true })), '{"a":{"a":true}}', '{"a":{}}'],
    ['a default in a list', of({ type: 'array', items: of({ default: true }) }), '{"a":[{"a":true},{}]}', '{"a":[{},{}]}'],
    ['null of a nullable argument', of({ type: ['string', 'null'] }), '{"a":null}', '{}'],
    ['null of an argument with the default null', of({ type: 'string', default: null }), '{"a":null}', '{}'],
    ['null in the spelling of OpenAPI', of({ type: 'string', nullable: true }), '{"a":null}', '{}'],
    ['null as an alternative', of({ anyOf: [text, { type: 'null' }] }), '{"a":null}', '{}'],
    ['a default in the only alternative that fits', of(kinds), '{"a":{"kind":"s","limit":2}}', '{"a":{"kind":"s"}}'],
    ['a default in one of several parts', of({ allOf: [of({ default: 1 })] }), '{"a":{"a":1}}', '{"a":{}}'],
    ['the order of a set', of({ type: 'array', items: text, uniqueItems: true }), '{"a":["x","y"]}', '{"a":["y","x"]}'],
    ['a default behind a reference', tree, '{"a":{"size":1}}', '{"a":{}}'],
    ['a default of further members', { type: 'object', additionalProperties: of({ default: 1 }) }, '{"b":{"a":1}}', '{"b":{}}'],
  ])('%s', (_title, schema, one, other) => {
    expect(isEqual(schema, JSON.parse(one), JSON.parse(other))).toBe(true);
  });

  it.each<[string, JsonSchema, string, string]>([
    ['another value', of(text), '{"a":"x"}', '{"a":"y"}'],
    ['a number as text', of({}), '{"a":1}', '{"a":"1"}'],
    ['another value than the default', of({ default: 10 }), '{"a":11}', '{}'],
    ['null in place of a default', of({ type: ['integer', 'null'], default: 10 }), '{"a":null}', '{}'],
    ['null of an argument that cannot be null', of(text), '{"a":null}', '{}'],
    ['null of a required argument', of({ type: ['string', 'null'] }, { required: ['a'] }), '{"a":null}', '{}'],
    ['the order of a list', of({ type: 'array', items: text }), '{"a":["x","y"]}', '{"a":["y","x"]}'],
    ['how often a value is in a set', of({ type: 'array', uniqueItems: true }), '{"a":["x","x"]}', '{"a":["x"]}'],
    ['the default of another alternative', of(kinds), '{"a":{"kind":"s","limit":1}}', '{"a":{"kind":"s"}}'],
  ])('not: %s', (_title, schema, one, other) => {
    expect(isEqual(schema, JSON.parse(one), JSON.parse(other))).toBe(false);
  });

  it('are compared as they are if they are too large for the schema, and only then', () => {
    const schema = of({ default: 1 }, { additionalProperties: { type: 'array', items: of({ default: 1 }) } });
    const [few, many] = [1_000, 30_000].map((length) => Array.from({ length }, () => ({ a: 1 })));
    const without = (list: unknown[] | undefined): unknown[] => [{}, ...(list ?? []).slice(1)];
    expect(isEqual(schema, { b: few }, { b: without(few) })).toBe(true);
    expect(isEqual(schema, { b: many }, { b: without(many) })).toBe(false);
    expect(isEqual(schema, { b: many }, { b: many })).toBe(true);
  });

  it('end for schemas that contain themselves without end', () => {
    const loop: JsonSchema = { $ref: '#' };
    const wide = of({ anyOf: Array.from({ length: 1_000 }, (_, index) => of({ const: index })) });
    expect(isEqual(loop, { a: 1 }, { a: 1 })).toBe(true);
    expect(isEqual(wide, { a: { a: 1 } }, { a: { a: 1 } })).toBe(true);
  });
});

describe('the answers of a recording', () => {
  const schema = of({ type: 'integer', default: 10 });
  const book = (recorded: ReplayCall[], used?: number[]) => createAnswerBook(recorded, () => schema, used);
  const indexes = (recorded: ReplayCall[], calls: ReplayCall[], repeat = false): (number | null)[] => {
    const answers = book(recorded);
    return calls.map((one) => answers.take(one, repeat)?.index ?? null);
  };

  it.each<[string, ReplayCall[], ReplayCall[], (number | null)[]]>([
    ['are used in order, each once', [call({}), call({})], [call({}), call({}), call({})], [0, 1, null]],
    ['are found exactly before they are found by the schema', [call({ a: 10 }), call({})], [call({}), call({})], [1, 0]],
    ['are found in any order', [call({ a: 1 }), call({ a: 2 })], [call({ a: 2 }), call({ a: 1 })], [1, 0]],
    ['are of one tool by any name', [call({ a: 1 }, 'desk.find', 'search')], [call({ a: 1 }, 'desk.find', 'lookup')], [0]],
    ['are not those of another tool', [call({ a: 1 }, 'desk.find')], [call({ a: 1 }, 'files.find')], [null]],
    ['are found for unknown names too', [call({}, null, 'Glob')], [call({}, null, 'Grep'), call({}, null, 'Glob')], [null, 0]],
    ['are found for arguments that are no object', [call(null), call({})], [call({}), call(null)], [1, 0]],
    ['are not given to a tool that the unknown name means now', [call({}, null, 'Glob')], [call({}, 'files.glob', 'Glob')], [null]],
  ])('%s', (_title, recorded, calls, expected) => {
    expect(indexes(recorded, calls)).toEqual(expected);
  });

  it('are used again, the last one, only where that is allowed', () => {
    expect(indexes([call({}), call({ a: 10 }), call({ a: 3 })], [call({}), call({}), call({}), call({ a: 3 })], true)).toEqual([
      0, 1, 0, 2,
    ]);
    expect(indexes([call({ a: 3 })], [call({ a: 4 })], true)).toEqual([null]);
  });

  it('continue where another book stopped', () => {
    const recorded = [call({}), call({}), call({ a: 1 })];
    const first = book(recorded);
    first.take(call({}), false);
    first.take(call({ a: 1 }), false);
    expect(first.used()).toEqual([0, 2]);
    const second = book(recorded, [...first.used()]);
    expect([call({ a: 1 }), call({})].map((one) => second.take(one, false)?.index ?? null)).toEqual([null, 1]);
  });

  it('are all found by the recording itself, whatever the tools are called', () => {
    const calls = fc.array(
      fc.record({
        requested: fc.string(),
        canonical: fc.constantFrom('desk.find', 'desk.read', 'files.find'),
        arguments: fc.option(fc.dictionary(fc.string(), fc.jsonValue())),
      }),
    );
    fc.assert(
      fc.property(calls, (recorded) => {
        const renamed = recorded.map((one) => ({ ...one, requested: `new_${one.requested}` }));
        const found = indexes(recorded, renamed);
        expect(found.toSorted((a, b) => (a ?? -1) - (b ?? -1))).toEqual([...recorded.keys()]);
      }),
      { numRuns: runs(200) },
    );
  });
});
