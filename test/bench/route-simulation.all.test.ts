import { expect, it } from 'vitest';
import { runners, simulate } from '../../bench/route-simulation.ts';

it('a route over targets with outages, limits and flapping fails no more often than its best target alone, and sends few requests in vain', async () => {
  const simulated = [];
  for (const runner of runners)
    simulated.push({ isRoute: typeof runner.route !== 'string', ...(await simulate(runner, { requests: 20_000 })) });
  const alone = simulated.filter(({ isRoute }) => !isRoute);
  const routes = simulated.filter(({ isRoute }) => isRoute);
  expect([alone.length, routes.length]).toEqual([3, 5]);
  // The simulation has failures.
  expect(Math.max(...alone.map(({ failed }) => failed))).toBeGreaterThan(500);
  for (const { failed, wasted, p99Ms } of routes) {
    expect(failed).toBeLessThanOrEqual(Math.min(...alone.map((one) => one.failed)));
    expect(wasted).toBeLessThan(0.05);
    expect(p99Ms).toBeLessThan(Math.min(...alone.map((one) => one.p99Ms)));
  }
});
