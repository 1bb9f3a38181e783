import { recordOf } from '../../src/core/json/wire-value.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolBench } from './run-tool.ts';

const { run } = toolBench();

describe('current_time', () => {
  it('returns UTC and the time of a zone', async () => {
    expect((await run('local.current_time', {})).structuredContent).toMatchObject({ utc: '2026-01-02T03:04:05.000Z', timezone: 'UTC' });
    expect((await run('local.current_time', { timezone: 'Asia/Tokyo' })).structuredContent).toMatchObject({
      local: expect.stringMatching(/2 January 2026.*12:04:05/),
    });
    expect(await run('local.current_time', { timezone: 'Mars/Base' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('IANA'),
    });
  });
});

describe('calculate', () => {
  it('follows the usual rules of precedence', async () => {
    for (const [expression, value] of [
      ['1 + 2 * 3', 7],
      ['(1 + 2) * 3', 9],
      ['2 ^ 3 ^ 2', 512],
      ['2 ** 3', 8],
      ['-2 ^ 2', -4],
      ['2 ^ -1', 0.5],
      ['10 % 4 - -1', 3],
      ['1.5e3 / .5', 3000],
      ['max(1, min(5, 3), 2) + sqrt(16)', 7],
      ['PI > 3', null],
      ['cos(0) + ln(e)', 2],
      ['1 / 0', null],
      ['2 +', null],
      ['2 2', null],
      ['constructor', null],
      ['__proto__(1)', null],
      ['process.exit()', null],
      ['('.repeat(500), null],
    ] as const) {
      const result = await run('local.calculate', { expression });
      if (value === null) expect(result, expression).toMatchObject({ isError: true, code: 'tool_error' });
      else expect(result.structuredContent, expression).toEqual({ expression, value });
    }
  });

  it('agrees with JavaScript on sums of products', async () => {
    const number = fc.integer({ min: -99, max: 99 });
    await fc.assert(
      fc.asyncProperty(number, number, number, number, async (a, b, c, d) => {
        const { structuredContent } = await run('local.calculate', { expression: `${a} * (${b} - ${c}) + ${d}` });
        expect(recordOf(structuredContent).value).toBeCloseTo(a * (b - c) + d, 9);
      }),
    );
  });
});
