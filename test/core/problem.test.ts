import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { limits } from '../../src/core/limits/limits.ts';
import { type Problem, parseInput, issuePath } from '../../src/core/problem.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';

function issues(schema: z.ZodType, value: unknown): unknown {
  try {
    parseInput(schema, value);
  } catch (error) {
    return (error as Problem).extra.issues;
  }
  return 'it was taken';
}

describe('the issues of a document', () => {
  it('are bounded, and become one if they would overflow the stack', () => {
    expect(issues(z.object({ a: z.array(z.string()) }), { a: Array(2 * limits.maxReportedIssues).fill(1) })).toHaveLength(
      limits.maxReportedIssues,
    );
    const overflowing = z.string().refine(() => {
      throw new RangeError('Maximum call stack size exceeded');
    });
    expect(issues(overflowing, 'x')).toEqual([{ path: '', message: 'has too many errors to list' }]);
  });

  it('have their paths', () => {
    const schema = z.strictObject({ a: z.object({ b: z.array(z.int()) }), c: z.string() });
    expect(issues(schema, { a: { b: [1, 'x'] } })).toEqual([
      { path: 'a.b[1]', message: expect.stringContaining('expected number') },
      { path: 'c', message: 'is missing' },
    ]);
    expect(issues(schema, 'text')).toEqual([{ path: '', message: expect.stringContaining('expected object') }]);
  });

  it('report text in place of a number', () => {
    expect(issues(z.object({ version: z.coerce.number().int() }), { version: 'newest' })).toEqual([
      { path: 'version', message: 'must be a number' },
    ]);
  });

  it('name unknown fields one by one', () => {
    expect(issues(z.strictObject({ a: z.strictObject({}) }), { a: { x: 1, y: 2 }, z: 3 })).toEqual([
      { path: 'a.x', message: 'unknown field' },
      { path: 'a.y', message: 'unknown field' },
      { path: 'z', message: 'unknown field' },
    ]);
  });

  it('of a union are those of the closest branch', () => {
    expect(issues(Toolset, { tools: [{ tool: 'builtin.bash', aliases: [{ name: 'x1', mode: 'loud' }] }] })).toEqual([
      { path: 'tools[0].aliases[0].mode', message: expect.stringContaining('announced') },
    ]);
    expect(issues(Toolset, { tools: [{ tool: 'builtin.bash', aliases: [{ name: 'x1', colour: 'red' }] }] })).toEqual([
      { path: 'tools[0].aliases[0].colour', message: 'unknown field' },
    ]);
    expect(issues(Toolset, { tools: [{ tool: 'builtin.bash', aliases: [7] }] })).toEqual([
      { path: 'tools[0].aliases[0]', message: expect.any(String) },
    ]);
  });

  it('report missing required values, whatever their type', () => {
    const form = z.strictObject({ callId: z.string(), content: z.union([z.string(), z.array(z.string())]) });
    const schema = z.union([form, z.strictObject({ results: z.array(form) })]);
    const missing = (...paths: string[]) => paths.map((path) => ({ path, message: 'is missing' }));
    expect(issues(schema, {})).toEqual(missing('callId', 'content'));
    expect(issues(schema, { callId: 'c' })).toEqual(missing('content'));
    expect(issues(schema, { results: [{}] })).toEqual(missing('results[0].callId', 'results[0].content'));
    expect(issues(z.object({ a: z.enum(['x']), b: z.looseObject({}) }), {})).toEqual(missing('a', 'b'));
    expect(issues(z.object({ a: z.string().nullable() }), { a: 7 })).toEqual([{ path: 'a', message: expect.stringContaining('expected') }]);
    const own = z.object({ a: z.string().optional() }).refine(() => false, { path: ['a'], message: 'give an a' });
    expect(issues(own, {})).toEqual([{ path: 'a', message: 'give an a' }]);
    expect(issues(schema, undefined)).toEqual([{ path: '', message: expect.not.stringContaining('missing') }]);
  });

  it('have paths in the usual notation', () => {
    expect(issuePath([])).toBe('');
    expect(issuePath(['tools', 1, 'aliases', 0])).toBe('tools[1].aliases[0]');
    expect(issuePath([0, 'a'])).toBe('[0].a');
  });
});
