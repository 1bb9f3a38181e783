/** One hostile program in sixteen, with the clock running; more of them are in `hostile-programs.long.test.ts` and in the e2e tests. */
import { expect, it } from 'vitest';
import { hostilePrograms } from './hostile-programs.ts';
import { hostileSources } from './hostile-sources.ts';
import { longestHold } from './longest-hold.ts';
import { runIn } from './harness.ts';
import { sample } from '../selection.ts';
import { onBusyMachine } from '../busy-machine.ts';

const some = hostilePrograms.filter((_, index) => index % 16 === 0);

it.each(some)('ends and blocks the thread for less than a second: $name', async ({ code }) => {
  const { end, holdMs } = await longestHold(code);
  expect(end.end).not.toBe('aborted');
  expect(holdMs).toBeLessThan(1_000);
});

it('lets short code return while endless code runs', { retry: onBusyMachine }, async () => {
  const order: string[] = [];
  const busy = Array.from({ length: 3 }, async () => {
    await runIn('for (;;) { for (let n = 0; n < 1e5; n++); await null }');
    order.push('busy');
  });
  await runIn('return 1').then(() => order.push('short'));
  await Promise.all(busy);
  expect(order).toEqual(['short', 'busy', 'busy', 'busy']);
});

it.each(sample('hostile sources', Object.entries(hostileSources), (_, index) => index % 3 === 0))(
  'compiles or refuses a hostile source quickly: %s',
  async (_, source) => {
    const { holdMs } = await longestHold(`${source}\n// compiled again`);
    expect(holdMs).toBeLessThan(1_000);
    expect(await runIn('return 1')).toMatchObject({ end: 'returned', value: 1 });
  },
);
