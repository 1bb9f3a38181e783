/** Every hostile program with a clock that does not advance, as on Cloudflare: only fuel ends it. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sample } from '../selection.ts';
import { hostilePrograms } from './hostile-programs.ts';
import { longestHold } from './longest-hold.ts';
import { runIn } from './harness.ts';
import { printStatistics } from '../statistics.ts';

describe('a hostile program, with a frozen clock', () => {
  const holds: { name: string; holdMs: number }[] = [];
  beforeAll(async () => {
    await runIn('return 1');
    const at = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => at);
  });
  afterAll(() => {
    vi.restoreAllMocks();
    const longest = holds.toSorted((a, b) => b.holdMs - a.holdMs).slice(0, 5);
    printStatistics(
      `${holds.length} programs, longest holds: ${longest.map(({ name, holdMs }) => `${holdMs.toFixed(0)} ms (${name})`).join(', ')}`,
    );
  });

  it.each(sample('hostile programs, frozen clock', hostilePrograms, (_, index) => index % 16 === 3))(
    'ends and blocks the thread for less than a second: $name',
    async ({ name, code }) => {
      const { end, holdMs } = await longestHold(code);
      holds.push({ name, holdMs });
      expect(end.end).not.toBe('aborted');
      expect(holdMs).toBeLessThan(1_000);
    },
  );
});
