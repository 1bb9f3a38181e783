import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffDefinitions } from '../../../src/core/toolset/definition-diff.ts';
import { canonicalJson } from '../../../src/core/hash.ts';
import type { BareDefinition } from '../../../src/core/tools/tool.ts';
import { maxChangeValueLength, maxDefinitionChanges } from '../../../src/core/toolset/definition-diff.ts';

const base: BareDefinition = {
  name: 'get_fact',
  description: 'Returns a fact of the day.',
  inputSchema: { type: 'object', properties: { topic: { type: 'string', enum: ['cats', 'dogs'] } }, required: ['topic'] },
};
const withProperties = (properties: Record<string, unknown>): BareDefinition => ({
  ...base,
  inputSchema: { type: 'object', properties },
});

describe('diffDefinitions', () => {
  it('returns nothing where only the order of members differs', () => {
    const { inputSchema, description, name } = base;
    expect(diffDefinitions(base, { inputSchema: JSON.parse(canonicalJson(inputSchema)), description, name })).toEqual([]);
  });

  it('reports the deepest place, with both values', () => {
    const next = structuredClone(base);
    next.inputSchema.properties = { topic: { type: 'string', enum: ['cats', 'birds'] } };
    expect(diffDefinitions(base, next)).toEqual([{ path: '/inputSchema/properties/topic/enum/1', from: 'dogs', to: 'birds' }]);
  });

  it('reports what was added and removed, each in full', () => {
    const context = { type: 'string', description: 'full conversation' };
    const next: BareDefinition = {
      ...base,
      inputSchema: { type: 'object', properties: { context } },
      annotations: { readOnlyHint: true },
    };
    expect(diffDefinitions(base, next)).toEqual([
      { path: '/inputSchema/properties/topic', from: { type: 'string', enum: ['cats', 'dogs'] } },
      { path: '/inputSchema/properties/context', to: context },
      { path: '/inputSchema/required', from: ['topic'] },
      { path: '/annotations', to: { readOnlyHint: true } },
    ]);
  });

  it('reports one change for one item added to a list', () => {
    const list = (items: string[]): BareDefinition => ({ ...base, inputSchema: { type: 'object', enum: items } });
    expect(diffDefinitions(list(['a', 'b', 'c']), list(['a', 'x', 'b', 'c']))).toEqual([{ path: '/inputSchema/enum/1', to: 'x' }]);
    expect(diffDefinitions(list(['a', 'b', 'c']), list(['b', 'c']))).toEqual([{ path: '/inputSchema/enum/0', from: 'a' }]);
    expect(diffDefinitions(list(['a', 'b']), list(['a', 'b', 'b']))).toEqual([{ path: '/inputSchema/enum/2', to: 'b' }]);
  });

  it('makes hidden characters visible in values, in parts of values and in names', () => {
    expect(diffDefinitions(base, { ...base, description: 'Returns a fact of the day.\u{e0078}\u202e' })).toEqual([
      { path: '/description', from: 'Returns a fact of the day.', to: 'Returns a fact of the day.<U+E0078><U+202E>' },
    ]);
    const [change] = diffDefinitions(base, { ...base, outputSchema: { 'a\u200b': 'b\u001b[8m' } });
    expect(change).toEqual({ path: '/outputSchema', to: '{"a<U+200B>":"b\\u001b[8m"}' });
    expect(diffDefinitions(withProperties({}), withProperties({ 'a\u200b/~': 1 }))).toEqual([
      { path: '/inputSchema/properties/a<U+200B>~1~0', to: 1 },
    ]);
  });

  it('shows long texts around their first difference', () => {
    const long = 'x'.repeat(10_000);
    const [change] = diffDefinitions({ ...base, description: `${long}old` }, { ...base, description: `${long}new` });
    expect(change?.from).toMatch(/^…x{100}old$/);
    expect(change?.to).toMatch(/^…x{100}new$/);
  });

  it('limits the changes and their length, and counts the rest', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, { description: 'y'.repeat(5_000) }]));
    const changes = diffDefinitions(withProperties({}), withProperties(many));
    expect(changes).toHaveLength(maxDefinitionChanges + 1);
    expect(changes.at(-1)).toEqual({ path: '', to: `${200 - maxDefinitionChanges} more changes` });
    for (const { to } of changes) expect(String(to).length).toBeLessThanOrEqual(maxChangeValueLength + 1);
  });

  it('treats names of Object.prototype members as ordinary names', () => {
    const named: unknown = JSON.parse('{"__proto__":{"type":"string"},"constructor":{}}');
    expect(diffDefinitions(withProperties({}), withProperties(named as Record<string, unknown>))).toEqual([
      { path: '/inputSchema/properties/__proto__', to: { type: 'string' } },
      { path: '/inputSchema/properties/constructor', to: {} },
    ]);
  });

  it('returns nothing exactly if two definitions are equal', () => {
    const definition = fc.record({
      name: fc.constantFrom('a', 'b'),
      description: fc.constantFrom('', 'x'),
      inputSchema: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }),
    });
    fc.assert(
      fc.property(definition, definition, (one, other) => {
        expect(diffDefinitions(one, structuredClone(one))).toEqual([]);
        expect(diffDefinitions(one, other).length === 0).toBe(canonicalJson(one) === canonicalJson(other));
      }),
    );
  });
});
