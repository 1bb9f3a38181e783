/**
 * Redaction of results of 15 MB whose patterns and texts are built to be slow. What is asserted is counted; the times are printed, in processor
 * time, which other processes do not change.
 */
import { describe, expect, it } from 'vitest';
import { builtinRules } from '../../src/core/redaction/builtin-rules.ts';
import { createTextRedactor, type TextRedactor } from '../../src/core/redaction/redact-text.ts';
import { RedactionRule } from '../../src/core/redaction/redaction.ts';
import { contentText, textResult } from '../../src/core/tools/tool.ts';
import { createRedactor } from '../../src/engine/call/redact.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { compilePatterns } from '../../src/platform/text-patterns.ts';
import { slowPatterns, slowTexts, textOf } from '../redaction-corpus.ts';
import { measureHold } from '../measure-hold.ts';
import { printStatistics } from '../statistics.ts';

const characters = 15_000_000;
/** A slice is at most 600,000 units, and work of up to 200,000 is done before the end of a slice is seen. */
const maxSlices = 200;

async function measured(results: TextRedactor | null, text: string, secrets: readonly string[] = []) {
  let pauses = 0;
  const sleep = (ms: number): Promise<void> => {
    pauses += 1;
    return systemClock.sleep(ms);
  };
  const redactor = createRedactor({ clock: { now: systemClock.now, sleep } }, { results, logs: null });
  for (const secret of secrets) redactor.addSecret(secret);
  const { value, holdMs, totalMs } = await measureHold(() => redactor.result(textResult(text)));
  return { shown: contentText(value.content), code: value.code, pauses, holdMs, totalMs };
}

const all: { holdMs: number; totalMs: number; code: string | undefined }[] = [];

describe('a result of 15 MB', () => {
  it.each(slowPatterns)('is redacted or withheld in slices: %s', async (pattern) => {
    const redact = createTextRedactor(await compilePatterns([{ name: 'own', pattern }]));
    const told: string[] = [];
    for (const [name, unit] of Object.entries(slowTexts)) {
      const { pauses, code, ...times } = await measured(redact, textOf(unit, characters));
      all.push({ ...times, code });
      told.push(`${name} ${code ?? 'redacted'} ${Math.round(times.totalMs)} ms, at once ${Math.round(times.holdMs)} ms`);
      expect(pauses, name).toBeLessThanOrEqual(maxSlices);
    }
    printStatistics(`${pattern}: ${told.join('; ')}`);
  });

  it('is redacted or withheld in slices by the built-in rules', async () => {
    const redact = createTextRedactor(builtinRules(RedactionRule.options));
    for (const unit of [...Object.values(slowTexts), '4111 ', 'DE89 ', '1:2:3:4:5:6:7:8 ', 'a@', 'é@', '+1234567890123 ', '123-45-6789 ']) {
      const { pauses, code, ...times } = await measured(redact, textOf(unit, characters));
      all.push({ ...times, code });
      printStatistics(
        `${JSON.stringify(unit.slice(0, 20))}: ${code ?? 'redacted'} ${Math.round(times.totalMs)} ms, at once ${Math.round(times.holdMs)} ms`,
      );
      expect(pauses).toBeLessThanOrEqual(maxSlices);
    }
  });

  it('is searched for secrets in slices', async () => {
    for (const unit of ['a ', 'h', 'hunter2-is-a-secre']) {
      const { shown, pauses, ...times } = await measured(null, `${textOf(unit, characters)}hunter2-is-a-secret`, ['hunter2-is-a-secret']);
      printStatistics(`secrets in ${unit}: ${Math.round(times.totalMs)} ms, at once ${Math.round(times.holdMs)} ms`);
      expect(shown.slice(-10)).toContain('[secret]');
      expect(pauses).toBeGreaterThan(20);
    }
  });

  it('is more than a hundred pairs', () => {
    const most = (name: 'holdMs' | 'totalMs'): number => Math.round(Math.max(...all.map((times) => times[name])));
    const withheld = all.filter(({ code }) => code === 'result_withheld').length;
    printStatistics(`${all.length} pairs: ${withheld} withheld, at most ${most('totalMs')} ms, and ${most('holdMs')} ms at once`);
    expect(all.length).toBeGreaterThan(100);
  });
});
