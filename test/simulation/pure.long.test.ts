import './same-tick-digest.ts';
import { describe, expect, it, vi } from 'vitest';
import { engineCrashPoints } from './commands.ts';
import { createPureMachine } from './pure-session.ts';
import { processDeps } from './process-deps.ts';
import { allRuns, firstSeed, runMany, runTwice, unseen } from './report.ts';
import { runs } from '../selection.ts';
import type { Tier } from './machine.ts';

vi.mock('../../src/core/failpoint.ts', () => import('./crash-hook.ts'));

const pure: Tier = {
  whole: false,
  crashPoints: engineCrashPoints,
  make(world, upstream) {
    const machine = createPureMachine(world, (life) => processDeps(world, life, upstream, () => machine.flush()));
    return machine;
  },
};

describe('the turn, as a step function and its engine', () => {
  it('gives the same run twice with the same seed', async () => {
    for (let seed = firstSeed; seed < firstSeed + runs(20); seed += 1) {
      const [first, second] = await runTwice(pure, seed);
      expect(second).toEqual(first);
    }
  });

  it('holds its invariants in every random run', { timeout: 3_600_000 }, async () => {
    const report = await runMany('step function', pure, Math.ceil(allRuns * 0.6));
    expect(report.violation).toBeNull();
    if (report.runs >= 2_000) expect(unseen(report, pure)).toEqual([]);
  });
});
