/** A turn that kills its process each time it reaches a point is ended after a few attempts, however the process dies. */
import { afterEach, describe, expect, inject, it } from 'vitest';
import { openCell, type Cell } from './cell.ts';
import { checkInvariants } from './invariants.ts';
import { openLane, type Kill, type Lane } from './lane.ts';
import { maxRecoveriesWithoutProgress } from '../../src/core/turn/turn.ts';
import { sample } from '../selection.ts';

const tries = maxRecoveriesWithoutProgress + 1;

describe('bounded recovery', () => {
  let lane: Lane | null = null;

  afterEach(async () => {
    await lane?.close();
    lane = null;
  });

  // A dead process takes longer to start again than an object.
  const kills = sample('ways to die again and again', ['abort', 'sigkill'] as const satisfies readonly Kill[], (kill) => kill === 'abort');
  it.each(kills)('limits the restarts of a process that dies after the first words each time (%s)', async (kill) => {
    lane = await openLane(kill, inject('crash'));
    const cell = await openCell(lane, 'model-stream-mid');
    let next = cell.arm('model-stream-mid');
    // The second half is never sent.
    await cell.say('hello', [{ text: 'one two three four', pause: new Promise(() => {}) }]);
    for (let death = 1; death <= tries; death += 1) {
      const now = next;
      await now.reached;
      // Armed before the restart, since the process reaches the point at once.
      next = cell.arm('model-stream-mid');
      await now.strike();
    }
    next.disarm();
    await cell.ended({ alone: kill === 'sigkill' });
    expect(cell.requests('hello')).toHaveLength(tries);
    await endedForGood(cell);
    // The session itself still works.
    await cell.say('next', [{ text: 'Here I am.' }]);
    await cell.ended({ alone: false });
    expect(await cell.status()).toBe('completed');
    await checkInvariants(cell);
  });
});

async function endedForGood(cell: Cell): Promise<void> {
  const events = await cell.events();
  expect(events.filter(({ type }) => type === 'turn-end').map(({ data }) => [data.status, data.reason])).toEqual([
    ['failed', 'recovery_limit'],
  ]);
  expect(events.filter(({ type }) => type === 'error')).toHaveLength(1);
}
