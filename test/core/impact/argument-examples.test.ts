import { describe, expect, it } from 'vitest';
import { showExamples } from '../../../src/core/impact/argument-examples.ts';
import { builtinRules } from '../../../src/core/redaction/builtin-rules.ts';
import { createTextRedactor } from '../../../src/core/redaction/redact-text.ts';
import { RedactionWork, runAtOnce } from '../../../src/core/redaction/redaction-work.ts';

const redact = createTextRedactor(builtinRules(['secret', 'email']));
const show = (...calls: Record<string, unknown>[]) => runAtOnce(showExamples(calls, redact, new RedactionWork()));

describe('the arguments of past calls as examples', () => {
  it('have their values as JSON, shortened', () => {
    expect(show({ path: 'a.txt', limit: 3, deep: { list: [true, null] } })).toEqual([
      { path: '"a.txt"', limit: '3', deep: '{"list":[true,null]}' },
    ]);
    const [long] = show({ text: 'x'.repeat(500) });
    expect(long?.text?.length).toBeLessThanOrEqual(101);
  });

  it.each([
    ['a value of a well-known format', { note: 'ghp_0123456789abcdefghijABCDEFGHIJ456789' }, { note: '<string>' }],
    ['a value that a rule of the workspace finds', { to: ['ann@example.com'] }, { to: '<array>' }],
    ['a value whose name says so', { apiKey: 'abc', password: 12 }, { apiKey: '<string>', password: '<number>' }],
    ['a value inside of another', { request: { headers: [{ authToken: 'abc' }] } }, { request: '<object>' }],
    ['a long value', { text: 'x'.repeat(5_000) }, { text: '<string>' }],
    ['a name that is one', { 'ann@example.com': 1 }, { '[email]': '1' }],
  ])('show only the type of %s', (_what, given, expected) => {
    expect(show(given)).toEqual([expected]);
  });

  it('are bounded', () => {
    const [many] = show(Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`a${index}`.padEnd(300, 'x'), 1])));
    expect(Object.keys(many ?? {}).length).toBeLessThanOrEqual(10);
  });
});
