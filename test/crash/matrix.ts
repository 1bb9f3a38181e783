/**
 * The cells of one way to crash, as tests; their verdicts are written for the table that is printed at the end of the run.
 * `npm test` crashes at each place in one way (and so in each way at some places), `npm run test:all` at each place in every way.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { sample } from '../selection.ts';
import { openLane, type Kill, type Lane } from './lane.ts';
import { besideSlowCall, overBudget, scenarios, underDelivery } from './scenarios.ts';

const kills: readonly Kill[] = ['sigkill', 'abort', 'evict', 'deploy', 'sigterm'];

export function describeKill(kill: Kill): void {
  describe(`the crash matrix: ${kill}`, () => {
    const { first, second, verdictsDir } = inject('crash');
    let lane: Lane | null = null;

    beforeAll(async () => {
      lane = await openLane(kill, { first, second });
    });

    afterAll(async () => {
      await lane?.close();
    });

    const all = [
      ...Object.entries(scenarios),
      ...Object.entries(underDelivery).map(([point, told]) => [`${point} (delivery)`, told] as const),
      ...Object.entries(overBudget).map(([point, told]) => [`${point} (budget)`, told] as const),
      ...Object.entries(besideSlowCall).map(([point, told]) => [`${point} (slow call)`, told] as const),
    ];
    const own = kills.indexOf(kill);
    for (const [point, scenario] of sample(`places to crash by ${kill}`, all, (_, index) => index % kills.length === own)) {
      it(`${point}: finishes accepted work once`, async () => {
        const note = (verdict: string): void =>
          appendFileSync(join(verdictsDir, `${kill}.jsonl`), `${JSON.stringify({ point, kill, verdict })}\n`);
        try {
          lane ??= await openLane(kill, { first, second });
          await scenario(lane);
          // The code that ended it was started last, which for `deploy` is not the code that started it.
          expect(lane.recorder.generation()).toBe(lane.generation());
          note('holds');
        } catch (error) {
          note(`BROKEN: ${String(error).split('\n')[0]}`);
          console.log(lane?.printed().slice(-2_000));
          // The state of this cell must not affect the next.
          await lane?.close();
          lane = null;
          throw error;
        }
      });
    }
  });
}
