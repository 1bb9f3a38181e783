import { describe, expect, it } from 'vitest';
import { createRefusalCounter } from '../../../src/engine/triggers/count-refusals.ts';
import type { RefusalCount } from '../../../src/ports/triggers.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

function make({ isDown = false } = {}) {
  const [clock, log] = [fakeClock(), keptLog()];
  const reports: [workspace: string, counts: readonly RefusalCount[]][] = [];
  const work: Promise<unknown>[] = [];
  const counter = createRefusalCounter({
    ...{ clock, log, background: (added) => void work.push(added) },
    report: async (workspace, counts) => {
      if (isDown) throw new Error('unreachable');
      reports.push([workspace, counts]);
    },
  });
  return { ...counter, clock, log, reports, work };
}

describe('refused signatures', () => {
  it('are reported together, however many there are', async () => {
    const { count, clock, reports, work } = make();
    for (let request = 0; request < 10_000; request += 1) count('default', request % 2 === 0 ? 'a' : 'b');
    count('other', 'a');
    expect([work.length, reports]).toEqual([1, []]);
    await clock.advance(2_000);
    expect(reports).toEqual([
      [
        'default',
        [
          { webhook: 'a', count: 5_000 },
          { webhook: 'b', count: 5_000 },
        ],
      ],
      ['other', [{ webhook: 'a', count: 1 }]],
    ]);
  });

  it('are reported once a minute at most, and later ones with the next request', async () => {
    const { count, reportDue, clock, reports, work } = make();
    count('default', 'a');
    await clock.advance(2_000);
    for (let second = 0; second < 57; second += 1) {
      count('default', 'a');
      await clock.advance(1_000);
    }
    expect([reports.length, work.length]).toEqual([1, 1]);
    await clock.advance(1_000);
    reportDue();
    await clock.advance(2_000);
    reportDue();
    expect(reports.map(([, counts]) => counts)).toEqual([[{ webhook: 'a', count: 1 }], [{ webhook: 'a', count: 57 }]]);
    expect(work).toHaveLength(2);
  });

  it('are lost, and logged, if the report fails', async () => {
    const { count, clock, log, work } = make({ isDown: true });
    count('default', 'a');
    await clock.advance(2_000);
    await expect(Promise.all(work)).resolves.toBeDefined();
    expect(log.lines.map(({ message }) => message)).toEqual(['refused deliveries could not be counted']);
  });

  it('are counted for a bounded number of webhooks', async () => {
    const { count, clock, reports } = make();
    for (let index = 0; index < 1_500; index += 1) count('default', `w${index}`);
    await clock.advance(2_000);
    expect(reports[0]?.[1]).toHaveLength(1_000);
  });
});
