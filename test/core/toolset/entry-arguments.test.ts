import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { givenArguments, toToolArguments, readPreset, secretArguments } from '../../../src/core/toolset/arguments/entry-arguments.ts';
import { EntryArguments } from '../../../src/core/toolset/toolset.ts';
import { checkInput } from '../../../src/core/schema/input-schema.ts';
import { Problem, parseInput } from '../../../src/core/problem.ts';
import { toStrictSchema } from '../../../src/core/toolset/arguments/strict-schema.ts';
import type { JsonSchema } from '../../../src/core/tools/tool.ts';

const rules = EntryArguments.parse({
  preset: { method: 'get_workflow', token: { secret: 'GH' }, team: { caller: 'team' } },
  rename: { id: 'resource_id' },
  default: { per_page: 20 },
});
const caller = { team: 'payments', key: 'k1', workspace: 'default' };

describe('an old call shape on a merged tool', () => {
  it('maps to the tool’s own arguments, with secrets as names', () => {
    const { given, ignored } = givenArguments(rules, { id: '7' });
    expect(ignored).toEqual([]);
    expect(toToolArguments(rules, given, caller)).toEqual({
      ok: true,
      own: { resource_id: '7', per_page: 20, method: 'get_workflow', token: { secret: 'GH' }, team: 'payments' },
    });
    expect([...secretArguments(rules)]).toEqual([['token', 'GH']]);
  });

  it('drops values for preset arguments and reports which', () => {
    const { given, ignored } = givenArguments(rules, { id: '7', method: 'delete_workflow', token: { secret: 'OTHER' }, per_page: 5 });
    expect(ignored).toEqual(['method', 'token']);
    expect(toToolArguments(rules, given, caller)).toMatchObject({
      own: { method: 'get_workflow', token: { secret: 'GH' }, per_page: 5 },
    });
  });

  it('accepts the tool’s own name of a renamed argument only if the shown one is absent', () => {
    expect(givenArguments(rules, { resource_id: '7' })).toEqual({ given: { id: '7' }, ignored: [] });
    expect(givenArguments(rules, { resource_id: '8', id: '7' })).toEqual({ given: { id: '7' }, ignored: ['resource_id'] });
  });

  it('reports the field that the caller’s key does not have', () => {
    expect(toToolArguments(rules, {}, { key: 'k1', workspace: 'default' })).toEqual({ ok: false, missing: 'team' });
    expect(toToolArguments(EntryArguments.parse({ preset: { a: { caller: 'constructor' } } }), {}, {})).toEqual({
      ok: false,
      missing: 'constructor',
    });
  });

  it('leaves values that look like secrets unchanged: only presets name secrets', () => {
    const plain = EntryArguments.parse({ default: { n: 1 } });
    expect(toToolArguments(plain, { config: { secret: 'GH' } }, {})).toEqual({ ok: true, own: { config: { secret: 'GH' }, n: 1 } });
    expect(secretArguments(plain).size).toBe(0);
  });

  it('treats names that every object has like any other', () => {
    const args = JSON.parse('{"__proto__": {"polluted": true}, "toString": 1}') as Record<string, unknown>;
    const read = toToolArguments(rules, givenArguments(rules, args).given, caller);
    expect(read.ok && Object.hasOwn(read.own, '__proto__') && Object.hasOwn(read.own, 'toString')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it('rejects names that every object has when rules are written', () => {
  const table = z.object({ arguments: EntryArguments });
  const faults = (rules: unknown): unknown => {
    try {
      return parseInput(table, { arguments: rules });
    } catch (error) {
      return error instanceof Problem ? error.extra.issues : error;
    }
  };
  const message = 'is a member of every JavaScript object and cannot be used here';
  expect(faults({ preset: { constructor: 1 } })).toEqual([{ path: 'arguments.preset.constructor', message }]);
  expect(faults({ rename: { toString: 'a', b: '__proto__' } })).toEqual([
    { path: 'arguments.rename.toString', message },
    { path: 'arguments.rename.b', message },
  ]);
});

it('treats a preset as a value unless it is a reference; {value} holds any literal', () => {
  expect(readPreset({ secret: 'A' })).toEqual({ kind: 'secret', secret: 'A' });
  expect(readPreset({ caller: 'team' })).toEqual({ kind: 'caller', field: 'team' });
  expect(readPreset({ value: { secret: 'A' } })).toEqual({ kind: 'value', value: { secret: 'A' } });
  for (const value of [{ secret: 'A', more: 1 }, { a: 1 }, [], null, 'x', 0]) expect(readPreset(value)).toEqual({ kind: 'value', value });
});

describe('for any schema of plain arguments, and any rules', () => {
  const types = ['string', 'integer', 'boolean'] as const;
  const values = { string: fc.string({ maxLength: 4 }), integer: fc.integer({ min: -5, max: 5 }), boolean: fc.boolean() };
  const names = ['a', 'b', 'c', 'd', 'e'];
  const roles = fc.constantFrom('plain', 'preset', 'rename', 'default');
  const argument = fc
    .constantFrom(...types)
    .chain((type) => fc.record({ type: fc.constant(type), role: roles, value: values[type], required: fc.boolean() }));
  const cases = fc.record({
    parts: fc.array(argument, { minLength: 1, maxLength: 5 }),
    isOpen: fc.boolean(),
    asReference: fc.boolean(),
    given: fc.dictionary(fc.constantFrom(...names, 'new_a', 'new_b', 'new_c', 'x'), fc.oneof(...Object.values(values)), { maxKeys: 6 }),
  });

  it('applies every preset to a call that is valid as shown, and the result is valid for the tool', () => {
    let valid = 0;
    fc.assert(
      fc.property(cases, ({ parts, isOpen, asReference, given: args }) => {
        const named = parts.map((part, index) => ({ ...part, name: names[index] ?? '' }));
        const object: JsonSchema = {
          type: 'object',
          properties: Object.fromEntries(named.map(({ name, type }) => [name, { type }])),
          required: named.filter(({ required }) => required).map(({ name }) => name),
          additionalProperties: isOpen,
        };
        const source: JsonSchema = asReference ? { $ref: '#/$defs/Input', $defs: { Input: object } } : object;
        const of = (role: string) => named.filter((part) => part.role === role);
        const any = {
          preset: Object.fromEntries(of('preset').map(({ name, value }) => [name, value])),
          rename: Object.fromEntries(of('rename').map(({ name }) => [`new_${name}`, name])),
          default: Object.fromEntries(of('default').map(({ name, value }) => [name, value])),
        };
        const shown = toStrictSchema(source, any);
        for (const { name } of of('preset')) expect(JSON.stringify(shown)).not.toContain(`"${name}":`);
        const { given } = givenArguments(any, args);
        if (checkInput(shown, given).length > 0) return;
        valid += 1;
        const read = toToolArguments(any, given, {});
        expect(read.ok && read.own).toMatchObject(any.preset);
        expect(checkInput(source, read.ok && read.own)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
    expect(valid).toBeGreaterThan(100);
  });
});
