/**
 * Redaction of texts that are built to be slow. Compares the times for 5 MB and for an eighth of it: with quadratic work the ratio would be 64.
 */
import { describe, expect, it } from 'vitest';
import { builtinRules } from '../../src/core/redaction/builtin-rules.ts';
import { RedactionRule } from '../../src/core/redaction/redaction.ts';
import { createTextRedactor, type TextRedactor } from '../../src/core/redaction/redact-text.ts';
import { RedactionWork, runAtOnce } from '../../src/core/redaction/redaction-work.ts';
import { secretRedactor } from '../../src/core/redaction/secret-matcher.ts';
import { compilePatterns } from '../../src/platform/text-patterns.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { applyRules } from '../redaction.ts';
import { printStatistics } from '../statistics.ts';

const length = 5_000_000;

function ratioOf(redact: TextRedactor, unit: string): number {
  return timeRatio((text) => applyRules(redact, text, new RedactionWork(Number.POSITIVE_INFINITY)), unit);
}

function timeRatio(search: (text: string) => unknown, unit: string): number {
  const time = (characters: number): number => {
    // A text in base64 would be skipped.
    const text = ` ${unit.repeat(Math.ceil(characters / unit.length))} `;
    const runs = [0, 1].map(() => {
      const start = performance.now();
      search(text);
      return performance.now() - start;
    });
    return Math.min(...runs);
  };
  time(10_000);
  const [small, large] = [time(length / 8), time(length)];
  printStatistics(`${JSON.stringify(unit)}: ${Math.round(large)} ms for 5 MB, ${(large / small).toFixed(1)} times an eighth`);
  return large / Math.max(small, 10);
}

const hostile: [string, string][] = [
  ['letters', 'a'],
  ['at signs', 'a@'],
  ['domains', 'a@a.'],
  ['local parts', 'a.@'],
  ['digits', '4'],
  ['digit groups', '4111 '],
  ['almost cards', '4111 1111 1111 111'],
  ['heads of IBANs', 'DE89 '],
  ['colons', 'a:'],
  ['groups of addresses', '1:'],
  ['octets', '1.'],
  ['phones', '+1 ('],
  ['heads of tokens', 'eyJ'],
  ['parts of tokens', 'eyJaaaaaaaaaa.'],
  ['heads of keys', '-----BEGIN PRIVATE KEY-----'],
  ['spaces', ' '],
];

describe('the built-in rules', () => {
  const all = createTextRedactor(builtinRules(RedactionRule.options));
  it.each(hostile)('take linear time for many %s', { retry: onBusyMachine }, (_what, unit) => {
    expect(ratioOf(all, unit)).toBeLessThan(24);
  });
});

describe('patterns of a workspace', () => {
  it.each([
    ['(a+)+b', 'a'],
    ['(x+x+)+y', 'x'],
    ['a(?:[^b]*b)?', 'a'],
    ['(?:a|aa)+c', 'a'],
    ['[a-z ]*z', 'a '],
    ['\\b\\w+@\\w+\\b', 'a.'],
  ])('take linear time: %s', { retry: onBusyMachine }, async (pattern, unit) => {
    const rules = await compilePatterns([{ name: 'own', pattern }]);
    expect(ratioOf(createTextRedactor(rules), unit)).toBeLessThan(24);
  });
});

describe('the removal of secret values', () => {
  it.each([
    ['a text', 'a '],
    ['the beginning of a secret that repeats itself', 'k'],
    ['a secret that overlaps itself', 'm'],
  ])('takes linear time for %s', { retry: onBusyMachine }, (_what, unit) => {
    const secrets = ['hunter2-is-a-secret', `${'k'.repeat(60_000)}!`, 'm'.repeat(60_000)];
    const redact = secretRedactor(secrets);
    const search = (text: string): void => void runAtOnce(redact(text, new RedactionWork()));
    expect(timeRatio(search, unit)).toBeLessThan(24);
  });
});
