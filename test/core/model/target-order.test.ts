import { describe, expect, it } from 'vitest';
import { beginRun, createTargetHealth, endRun, noteReply, type TargetHealth } from '../../../src/core/model/target-health.ts';
import { orderTargets, takeLeastDown, takeNext } from '../../../src/core/model/target-order.ts';
import type { ModelRoute } from '../../../src/core/model/route.ts';
import { Problem } from '../../../src/core/problem.ts';

const now = Date.UTC(2026, 0, 1);
const targets = [{ model: 'a/m', weight: 3 }, { model: 'b/m' }, { model: 'c/m', weight: 0 }];

function place() {
  const known = new Map<string, TargetHealth>();
  const healthOf = (model: string): TargetHealth => {
    const health = known.get(model) ?? createTargetHealth();
    known.set(model, health);
    return health;
  };
  const order = (route: ModelRoute, seed = 's', more: { isSticky?: boolean; kept?: string; now?: number } = {}) =>
    orderTargets(route, { healthOf, now, seed, isSticky: false, ...more });
  const limit = (model: string, retryAfterMs: number) =>
    endRun(
      healthOf(model),
      beginRun(healthOf(model), now),
      new Problem('rate_limited', 'x', { provider: 'p', upstreamStatus: 429, retryAfterMs }),
      now,
    );
  const reply = (model: string, ms: number) => {
    const run = beginRun(healthOf(model), now - ms);
    noteReply(healthOf(model), run, now);
    endRun(healthOf(model), run, null, now);
  };
  return { healthOf, order, limit, reply };
}
const modelsIn = (found: readonly { model: string }[]): string[] => found.map(({ model }) => model);
const firstsOf = (count: number, order: (seed: string) => readonly { model: string }[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (let index = 0; index < count; index += 1) {
    const first = order(`route_${index}`)[0]?.model ?? '';
    counts[first] = (counts[first] ?? 0) + 1;
  }
  return counts;
};

describe('the order of targets', () => {
  it('is that of the document for `in-order`, then come the fallbacks', () => {
    const { order } = place();
    const found = order({ targets, fallbacks: ['d/m'] });
    expect(found.map(({ model, why }) => [model, why])).toEqual([
      ['a/m', 'in-order'],
      ['b/m', 'fallback'],
      ['c/m', 'fallback'],
      ['d/m', 'fallback'],
    ]);
  });

  it('follows the weights, and uses a weight of 0 last', () => {
    const { order } = place();
    const counts = firstsOf(20_000, (seed) => order({ targets, strategy: 'weighted' }, seed));
    expect(counts['c/m']).toBeUndefined();
    expect((counts['a/m'] ?? 0) / 20_000).toBeCloseTo(0.75, 1);
    expect(order({ targets, strategy: 'weighted' }).at(-1)?.model).toBe('c/m');
  });

  it('is the same for the same conversation, and moves only the conversations of a target that is removed', () => {
    const { order } = place();
    const route: ModelRoute = { targets: [{ model: 'a/m' }, { model: 'b/m' }, { model: 'c/m' }], strategy: 'weighted' };
    const without: ModelRoute = { ...route, targets: route.targets.slice(0, 2) };
    for (let index = 0; index < 500; index += 1) {
      const [first] = modelsIn(order(route, `session ${index}`));
      expect(modelsIn(order(route, `session ${index}`))[0]).toBe(first);
      if (first !== 'c/m') expect(modelsIn(order(without, `session ${index}`))[0]).toBe(first);
    }
  });

  it('begins with the target that has the fewest requests for its weight', () => {
    const { order, healthOf } = place();
    for (const model of ['a/m', 'a/m', 'b/m']) beginRun(healthOf(model), now);
    expect(modelsIn(order({ targets, strategy: 'least-busy' }))).toEqual(['a/m', 'b/m', 'c/m']);
    for (const model of ['a/m', 'a/m']) beginRun(healthOf(model), now);
    expect(modelsIn(order({ targets, strategy: 'least-busy' }))).toEqual(['b/m', 'a/m', 'c/m']);
  });

  it('begins with the fastest target, after one request to each that is not measured', () => {
    const { order, reply, healthOf } = place();
    const route: ModelRoute = { targets: [{ model: 'a/m' }, { model: 'b/m' }, { model: 'c/m' }], strategy: 'lowest-latency' };
    reply('a/m', 900);
    reply('b/m', 300);
    expect(modelsIn(order(route))).toEqual(['c/m', 'b/m', 'a/m']);
    beginRun(healthOf('c/m'), now);
    expect(modelsIn(order(route))).toEqual(['b/m', 'a/m', 'c/m']);
  });

  it('keeps a conversation at its target for strategies that depend on the moment', () => {
    const { order, reply } = place();
    reply('a/m', 900);
    reply('b/m', 300);
    const [first] = order({ targets, strategy: 'lowest-latency' }, 's', { isSticky: true, kept: 'a/m' });
    expect([first?.model, first?.why]).toEqual(['a/m', 'sticky']);
  });
});

describe('the next model of a request', () => {
  it('is the first that is up; a model that is put aside is asked after all others, that whose pause ends first', () => {
    const { order, limit } = place();
    limit('a/m', 60_000);
    limit('c/m', 5_000);
    const left = order({ targets, fallbacks: ['d/m'] });
    const asked = [];
    const next = () => takeNext(left, now) ?? takeLeastDown(left, now);
    for (let found = next(); found !== null; found = next()) asked.push([found.model, found.why]);
    expect(asked).toEqual([
      ['b/m', 'fallback'],
      ['d/m', 'fallback'],
      ['c/m', 'all-down'],
      ['a/m', 'all-down'],
    ]);
  });

  it('is the preferred target again after its pause, for one request', () => {
    const { order, limit, healthOf } = place();
    limit('a/m', 1_000);
    const later = now + 1_000;
    expect(takeNext(order({ targets }), later)?.model).toBe('a/m');
    beginRun(healthOf('a/m'), later);
    expect(takeNext(order({ targets }), later)?.model).toBe('b/m');
  });
});
