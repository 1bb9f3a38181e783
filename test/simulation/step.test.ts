import { describe, expect, it } from 'vitest';
import { allRuns, firstSeed } from './report.ts';
import { runSteps } from './step-machine.ts';
import { printStatistics } from '../statistics.ts';

/** One such run costs a hundredth of one with the engine. */
const runs = allRuns === 1 ? 1 : allRuns * 5;

describe('the step function alone', () => {
  it('holds its invariants in every random run', { timeout: 600_000 }, () => {
    const began = performance.now();
    const seen = new Set<string>();
    let deaths = 0;
    for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
      const run = runSteps(seed);
      deaths += run.deaths;
      for (const event of run.events) seen.add(event.type === 'turn-end' ? `turn-end ${event.reason}` : event.type);
      if (run.violation !== null) {
        expect.fail(
          [`seed ${seed}: ${run.violation}`, `MONIKER_SIM_SEED=${seed} MONIKER_SIM_RUNS=1 replays it.`]
            .concat(run.events.map((event) => JSON.stringify(event)))
            .join('\n'),
        );
      }
    }
    const seconds = (performance.now() - began) / 1000;
    printStatistics(`simulation (step function alone): ${runs} runs, ${deaths} deaths, ${Math.round(runs / seconds)} runs/s`);
    if (runs < 5_000) return;
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'turn-resume',
        'step-restart',
        'approval-decided',
        'client-tool-required',
        ...['stop', 'length', 'content_filter', 'max_steps', 'max_tokens', 'recovery_limit', 'upstream_error'].map(
          (reason) => `turn-end ${reason}`,
        ),
      ]),
    );
  });
});
