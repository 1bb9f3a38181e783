import { describe, expect, it } from 'vitest';
import { createTextRedactor } from '../../src/core/redaction/redact-text.ts';
import { compilePatterns, patternIssues } from '../../src/platform/text-patterns.ts';

const redact = (pattern: string, text: string, replaceWith?: string): string =>
  createTextRedactor(compilePatterns([{ name: 'own', pattern, ...(replaceWith !== undefined && { replaceWith }) }]))(text);

describe('patterns of a workspace', () => {
  it('replace every match with the label, by default the name', () => {
    expect(redact('EMP-[0-9]{6}', 'EMP-123456, EMP-1, EMP-654321')).toBe('[own], EMP-1, [own]');
    expect(redact('(?i)project (apollo|gemini)', 'Project Apollo', '[project]')).toBe('[project]');
    expect(redact('\\bcat\\b', 'cat concat cat')).toBe('[own] concat [own]');
    expect(redact('^a', 'aaa')).toBe('[own]aa');
  });

  it('find matches wherever they are in a long text', () => {
    const places = [0, 3_060, 3_070, 3_072, 4_090, 4_096, 9_000, 12_287];
    for (const place of places) {
      const text = `${'.'.repeat(place)}EMP-123456${'.'.repeat(5_000)}`;
      expect(redact('EMP-[0-9]{6}', text), String(place)).toBe(`${'.'.repeat(place)}[own]${'.'.repeat(5_000)}`);
    }
    expect(redact('\\bx', `${'y'.repeat(3_072)}x`)).toBe(`${'y'.repeat(3_072)}x`);
  });

  it('replace the rest of a text with too many matches', () => {
    expect(redact('a', 'a '.repeat(10_005))).toBe(`${'[own] '.repeat(10_000)}[own]`);
  });

  it.each([
    ['(a', 'is not a regular expression of RE2'],
    ['(?=a)b', 'no lookaround'],
    ['(a)\\1', 'no backreferences'],
    ['a*', 'must not match the empty text'],
    ['((a{100}){100}){100}', 'is'],
    ['(?:[a-z]{1,900}x){1,900}', 'is'],
  ])('are refused: %s', (pattern, why) => {
    expect(patternIssues([{ name: 'own', pattern }])).toEqual([
      { path: 'settings.redaction.patterns[0].pattern', message: expect.stringContaining(why) },
    ]);
  });
});
