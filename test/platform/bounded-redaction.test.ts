/** The work of redaction is bounded and done in small slices, whatever the patterns and texts are. Counted, not timed. */
import { describe, expect, it } from 'vitest';
import { builtinRules } from '../../src/core/redaction/builtin-rules.ts';
import { createTextRedactor, type TextRedactor } from '../../src/core/redaction/redact-text.ts';
import { RedactionRule } from '../../src/core/redaction/redaction.ts';
import { RedactionLimitReached } from '../../src/core/redaction/redaction-work.ts';
import { compilePatterns } from '../../src/platform/text-patterns.ts';
import { RecordedWork, slowPatterns, slowTexts, textOf } from '../redaction-corpus.ts';
import { applyRules } from '../redaction.ts';
import { printStatistics } from '../statistics.ts';

/** A hundredth of what is allowed, for texts that are shorter by as much. */
const maxWork = 500_000;
const characters = 150_000;
/** Between two places where a search can pause: about 2 ms. */
const maxStep = 200_000;
const maxSlice = 600_000 + maxStep;

function run(redact: TextRedactor, text: string): { work: RecordedWork; redacted: string | null } {
  const work = new RecordedWork(maxWork);
  try {
    return { work, redacted: applyRules(redact, text, work) };
  } catch (error) {
    expect(error).toBeInstanceOf(RedactionLimitReached);
    return { work, redacted: null };
  }
}

function expectBounded(work: RecordedWork, text: string): void {
  expect(work.longestStep).toBeLessThanOrEqual(maxStep);
  expect(work.longestSlice).toBeLessThanOrEqual(maxSlice);
  expect(work.total).toBeLessThanOrEqual(maxWork + maxStep);
  expect(text.length).toBe(characters + 2);
}

describe('a hundred pairs of a pattern and a text', () => {
  const texts = Object.entries(slowTexts);

  it('are enough', () => expect(slowPatterns.length * texts.length).toBe(100));

  it.each(slowPatterns)('are redacted or withheld within the bound, in steps: %s', async (pattern) => {
    const redact = createTextRedactor(await compilePatterns([{ name: 'own', pattern }]));
    const outcomes = texts.map(([name, unit]) => {
      const text = textOf(unit, characters);
      const { work, redacted } = run(redact, text);
      expectBounded(work, text);
      return `${name} ${redacted === null ? 'withheld' : redacted === text ? 'unchanged' : 'redacted'}`;
    });
    printStatistics(`${pattern}: ${outcomes.join(', ')}`);
  });
});

describe('the built-in rules', () => {
  const all = createTextRedactor(builtinRules(RedactionRule.options));
  // Candidates that are read and rejected, one after the other.
  it.each([
    '4111 ',
    '4111 1111 1111 1112 ',
    'DE89 ',
    'DE89 3704 0044 0532 0130 01 ',
    '1:2:3:4:5:6:7:8 ',
    'a@',
    'é@a.',
    '+1234567890123 ',
    '123-45-6789 ',
  ])('are applied or not within the bound, in steps: %s', (unit) => {
    const text = textOf(unit, characters);
    expectBounded(run(all, text).work, text);
  });

  it('find what is split over two pieces of a long text', () => {
    for (const place of [131_060, 131_070, 131_071, 131_072, 131_073, 262_140]) {
      const [before, after] = ['. '.repeat(place / 2).padEnd(place, '.'), ' .'.repeat(20_000)];
      for (const [found, label] of [
        ['ada@example.com', '[email]'],
        ['4111 1111 1111 1111', '[card]'],
        ['DE89 3704 0044 0532 0130 00', '[iban]'],
        ['2001:db8::7', '[ip]'],
        [`sk-${'a'.repeat(48)}`, '[secret]'],
        [`-----BEGIN PRIVATE KEY-----${'A1'.repeat(9_000)}-----END PRIVATE KEY-----`, '[secret]'],
      ] as const)
        expect(applyRules(all, `${before} ${found} ${after}`) === `${before} ${label} ${after}`, `${label} at ${place}`).toBe(true);
    }
  });
});
