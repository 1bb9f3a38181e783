import { describe, expect, it } from 'vitest';
import {
  beginRun,
  createTargetHealth,
  endRun,
  noteReply,
  pauseLeftMs,
  runningAt,
  targetState,
  type TargetHealth,
} from '../../../src/core/model/target-health.ts';
import { Problem, type ProblemCode } from '../../../src/core/problem.ts';

const start = Date.UTC(2026, 0, 1);
const problem = (code: ProblemCode, extra: object = {}) => new Problem(code, 'x', { provider: 'p', retryable: true, ...extra });
const broken = problem('upstream_error', { upstreamStatus: 500 });
const limited = (retryAfterMs?: number) =>
  problem('rate_limited', { upstreamStatus: 429, ...(retryAfterMs !== undefined && { retryAfterMs }) });

function request(health: TargetHealth, now: number, failure: Problem | null = null): void {
  const run = beginRun(health, now);
  if (failure === null) noteReply(health, run, now);
  endRun(health, run, failure, now);
}
function fail(health: TargetHealth, now: number, times: number): void {
  for (let count = 0; count < times; count += 1) request(health, now, broken);
}

describe('a model', () => {
  it('is put aside for as long as its 429 asks for, up to an hour', () => {
    const health = createTargetHealth();
    request(health, start, limited(20_000));
    expect([targetState(health, start + 19_999), targetState(health, start + 20_000)]).toEqual(['down', 'due']);
    const long = createTargetHealth();
    request(long, start, limited(86_400_000));
    expect(pauseLeftMs(long, start)).toBe(3_600_000);
  });

  it('is put aside after four failures in a row, and not after fewer', () => {
    const health = createTargetHealth();
    fail(health, start, 3);
    expect(targetState(health, start)).toBe('up');
    fail(health, start, 1);
    expect(targetState(health, start)).toBe('down');
  });

  it.each([
    ['refused its key', problem('upstream_error', { upstreamStatus: 401, retryable: false }), 'down'],
    ['has no credit left', problem('rate_limited', { upstreamStatus: 429, retryable: false }), 'down'],
    ['is not configured', new Problem('not_configured', 'x'), 'down'],
    ['found fault with the request', problem('upstream_error', { upstreamStatus: 400, retryable: false }), 'up'],
    ['denied what a client had written', problem('upstream_error', { upstreamStatus: 403, retryable: false }), 'up'],
    ['was not asked because of a limit of the workspace', new Problem('rate_limited', 'x'), 'up'],
  ])('that %s has the right state after one request', (_name, failure, state) => {
    const health = createTargetHealth();
    request(health, start, failure);
    expect(targetState(health, start)).toBe(state);
  });

  it('takes many failures at the same time as one, so that its pause does not grow with the load', () => {
    const health = createTargetHealth();
    const runs = Array.from({ length: 50 }, () => beginRun(health, start));
    const pauses = runs.map((run) => endRun(health, run, broken, start)).filter((pause) => pause !== null);
    expect(pauses.map(({ ms }) => ms)).toEqual([1_000]);
  });

  it('is asked by one request after its pause; that request decides', () => {
    const health = createTargetHealth();
    fail(health, start, 4);
    const later = start + 1_000;
    const probe = beginRun(health, later);
    expect([targetState(health, later), targetState(health, later + 60_000)]).toEqual(['probing', 'probing']);
    endRun(health, probe, broken, later);
    expect(pauseLeftMs(health, later)).toBe(2_000);
    request(health, later + 2_000);
    expect(targetState(health, later + 2_000)).toBe('up');
  });

  it('is asked again when the request that was to decide never ended', () => {
    const health = createTargetHealth();
    fail(health, start, 4);
    beginRun(health, start + 1_000);
    expect(targetState(health, start + 1_000 + 600_000)).toBe('due');
  });

  it('that recovers and fails every second is put aside for up to a minute', () => {
    const health = createTargetHealth();
    let now = start;
    const pauses: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      fail(health, now, 4);
      pauses.push(pauseLeftMs(health, now));
      now += pauseLeftMs(health, now);
      request(health, now);
      now += 1_000;
    }
    expect(pauses.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(pauses.at(-1)).toBe(60_000);
    request(health, now);
    fail(health, now + 120_000, 4);
    expect(pauseLeftMs(health, now + 120_000)).toBe(1_000);
  });

  it('is not blocked by a clock that jumps, in either direction', () => {
    for (const jump of [-86_400_000, 86_400_000]) {
      const health = createTargetHealth();
      request(health, start, limited(60_000));
      beginRun(health, start);
      const now = start + jump;
      expect([targetState(health, now), runningAt(health, now)]).toEqual(['due', 0]);
      request(health, now);
      expect(targetState(health, now)).toBe('up');
      expect(health.firstOutputMs).toBeGreaterThanOrEqual(0);
    }
  });

  it('does not come back by the late reply to a request from before its pause', () => {
    const health = createTargetHealth();
    const early = beginRun(health, start);
    request(health, start, limited(60_000));
    noteReply(health, early, start + 5_000);
    endRun(health, early, null, start + 5_000);
    expect(targetState(health, start + 5_000)).toBe('down');
  });

  it('keeps a bounded number of requests, and forgets those whose end was not reported', () => {
    const health = createTargetHealth();
    for (let count = 0; count < 12_000; count += 1) beginRun(health, start);
    expect(runningAt(health, start)).toBe(10_000);
    expect(runningAt(health, start + 600_000)).toBe(0);
  });
});
