/** What scripts compute: it is limited, and counted for the limits of the caller. */
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/core/problem.ts';
import type { ComputeMeter } from '../../src/ports/sandbox.ts';
import { createThreadShares } from '../../src/platform/thread-share.ts';
import { createPatternBudget } from '../../src/tools/shell/pattern-budget.ts';
import { createTimeSlices } from '../../src/tools/shell/time-slices.ts';
import { sample } from '../selection.ts';
import { shortScripts } from './hostile-scripts.ts';
import { toolBench } from './run-tool.ts';
import { printStatistics } from '../statistics.ts';

function countingMeter(): ComputeMeter & { spent: number } {
  return {
    spent: 0,
    require: async () => undefined,
    spend(seconds) {
      this.spent += seconds;
    },
  };
}

describe('a script that would never end', () => {
  it.each(sample('hostile scripts', shortScripts, (_, index) => index % 3 === 0))(
    'ends at a limit that it is told, and its seconds are counted: $name',
    async ({ name, command, end }) => {
      const meter = countingMeter();
      const { text, isError } = await toolBench({ compute: meter }).run('builtin.bash', { command });
      expect(text).toMatch(end);
      expect(isError || end.source.startsWith('Too many tokens')).toBe(true);
      expect(meter.spent).toBeGreaterThan(0);
      expect(meter.spent).toBeLessThan(15);
      printStatistics(`${name}: ${meter.spent.toFixed(2)} s`);
    },
  );
});

describe('the seconds of a script', () => {
  it('do not contain the time in which it waits', async () => {
    const meter = countingMeter();
    const { text } = await toolBench({ compute: meter }).run('builtin.bash', { command: 'echo before; sleep 1.5; echo after' });
    expect(text).toContain('before\nafter');
    expect(meter.spent).toBeGreaterThan(0);
    expect(meter.spent).toBeLessThan(1.4);
  });

  it('are counted for a script that fails, and for one that is cancelled', async () => {
    for (const command of ['exit 3', 'while :; do sleep 0.01; done']) {
      const [meter, stop] = [countingMeter(), new AbortController()];
      const run = toolBench({ compute: meter, signal: stop.signal }).run('builtin.bash', { command });
      setTimeout(() => stop.abort(new Error('cancelled')), 200);
      await run.catch(() => undefined);
      expect(meter.spent, command).toBeGreaterThan(0);
    }
  });

  it('are required before it starts', async () => {
    const meter: ComputeMeter = {
      require: () => Promise.reject(new Problem('rate_limited', 'The limit sandboxSecondsPerMinute of the key "k" is reached (1).')),
      spend: () => undefined,
    };
    const { text, isError } = await toolBench({ compute: meter }).run('builtin.bash', { command: 'echo hello' });
    expect([isError, text]).toEqual([true, 'The limit sandboxSecondsPerMinute of the key "k" is reached (1).']);
  });
});

describe('the time of a script', () => {
  const slicesOf = (share = createThreadShares(() => 0)()) => {
    let at = 0;
    const stalls: string[] = [];
    const slices = createTimeSlices(
      { patterns: createPatternBudget(), signal: new AbortController().signal, stalled: (why) => stalls.push(why), share },
      () => at,
    );
    return { slices, stalls, work: (ms: number) => (at += ms) };
  };

  it('is what passes between its pauses', async () => {
    const { slices, work } = slicesOf();
    for (let count = 0; count < 10; count += 1) {
      work(30);
      await slices.pass();
      const waited = Promise.resolve().then(() => work(5_000));
      await slices.wait(waited);
    }
    work(7);
    expect(slices.seconds()).toBeCloseTo(0.307);
  });

  it('is estimated from its work while the clock stands still', async () => {
    const { slices } = slicesOf();
    for (let count = 0; count < 100; count += 1) await slices.pass(1_000_000);
    expect(slices.seconds()).toBeCloseTo(0.5, 1);
  });

  it('is shared with other scripts: after some time of all of them, each waits for a pause', async () => {
    const join = createThreadShares(() => 0, { fuel: 1_000_000_000, ms: 100, restMs: 20, waitMs: 1_000 });
    const [one, other] = [slicesOf(join()), slicesOf(join())];
    one.work(60);
    await one.slices.pass();
    expect(join().isResting()).toBe(false);
    other.work(60);
    const passed = other.slices.pass();
    expect(join().isResting()).toBe(true);
    await passed;
    expect(join().isResting()).toBe(false);
  });

  it('goes to keys in turn, however many scripts one of them runs', async () => {
    const join = createThreadShares(() => 0, { fuel: 1_000_000_000, ms: 25, restMs: 4, waitMs: 1_000 });
    const turns = { greedy: 0, modest: 0 };
    const compute = async (keyId: keyof typeof turns): Promise<void> => {
      const { slices, work } = slicesOf(join({ workspace: 'default', keyId }));
      while (turns.modest < 20 && turns.greedy < 200) {
        turns[keyId] += 1;
        work(30);
        await slices.pass();
      }
    };
    await Promise.all([...Array.from({ length: 15 }, () => compute('greedy')), compute('modest')]);
    // About every second turn. Without the order it would be every sixteenth.
    expect(turns.greedy).toBeLessThan(100);
  });

  it('ends it when it is too long in total, however often it pauses', async () => {
    const { slices, stalls, work } = slicesOf();
    const busy = async (): Promise<void> => {
      for (;;) {
        work(25);
        await slices.pass();
      }
    };
    await expect(busy()).rejects.toThrow('it computed for more than 15 s');
    expect(stalls).toEqual([expect.stringContaining('Split the work into smaller calls')]);
    expect(slices.seconds()).toBeCloseTo(15, 0);
  });
});
