/**
 * What is known of one model that routes use: how many requests it has, how fast it begins to reply, and whether it is put aside after failures.
 * A model that is put aside is asked again by one request at a time. The caller gives the time, which may jump: a jump back ends the pause of a model, so
 * that no model is put aside for longer than its pause.
 */
import { backoffMs } from '../limits/backoff.ts';
import { MINUTE, SECOND } from '../limits/units.ts';
import { limits } from '../limits/limits.ts';
import type { Problem } from '../problem.ts';

/** Later, a request whose end was not reported no longer counts: the runtime drops requests whose client has disconnected. */
const maxRunMs = limits.providerWholeTimeoutMs;
const maxRuns = 10_000;
/** The weight of the newest request in the averages. A model is put aside after four failures in a row, or more mixed ones. */
const newest = 0.2;
const maxFailureRate = 0.5;
const maxAskedMs = 60 * MINUTE;
/** A model that failed again within this time after it recovered is put aside for longer. */
const stableMs = MINUTE;

const pauses = {
  limited: { firstMs: SECOND, maxMs: MINUTE },
  broken: { firstMs: SECOND, maxMs: MINUTE },
  refused: { firstMs: 30 * SECOND, maxMs: 5 * MINUTE },
} as const;
/** `limited`: 429. `broken`: 5xx, timeouts and connections. `refused`: keys, models and settings, which only an administrator can repair. */
type FailureKind = keyof typeof pauses;

type Pause = { at: number; ms: number; code: string };
/** A request at the model. `pause`: that of the model when it began. */
export type TargetRun = { at: number; pause: Pause | null };

export type TargetHealth = {
  runs: Set<TargetRun>;
  /** The average time to the first output; null: not known. */
  firstOutputMs: number | null;
  measuredAt: number;
  failureRate: number;
  /** Pauses in a row. */
  pauses: number;
  recoveredAt: number;
  pause: Pause | null;
  probe: TargetRun | null;
};

export function createTargetHealth(): TargetHealth {
  const none = Number.NEGATIVE_INFINITY;
  return { runs: new Set(), firstOutputMs: null, measuredAt: none, failureRate: 0, pauses: 0, recoveredAt: none, pause: null, probe: null };
}

/** `due`: the pause has ended, and the next request decides. `probing`: that request runs. */
export type TargetState = 'up' | 'due' | 'probing' | 'down';

export function targetState({ pause, probe }: TargetHealth, now: number): TargetState {
  if (pause === null) return 'up';
  if (isWithin(pause.at, pause.ms, now)) return 'down';
  return probe !== null && isWithin(probe.at, maxRunMs, now) ? 'probing' : 'due';
}

/** Returns how long the model is put aside from now on. */
export function pauseLeftMs({ pause }: TargetHealth, now: number): number {
  return pause !== null && isWithin(pause.at, pause.ms, now) ? pause.at + pause.ms - now : 0;
}

export function runningAt({ runs }: TargetHealth, now: number): number {
  for (const run of runs) {
    if (isWithin(run.at, maxRunMs, now) && runs.size <= maxRuns) break;
    runs.delete(run);
  }
  return runs.size;
}

export function beginRun(health: TargetHealth, now: number): TargetRun {
  const run = { at: now, pause: health.pause };
  if (targetState(health, now) === 'due') health.probe = run;
  health.runs.add(run);
  runningAt(health, now);
  return run;
}

/** The model has begun to reply. */
export function noteReply(health: TargetHealth, run: TargetRun, now: number): void {
  const ms = Math.max(0, now - run.at);
  health.firstOutputMs = health.firstOutputMs === null ? ms : health.firstOutputMs * (1 - newest) + ms * newest;
  health.measuredAt = now;
  recover(health, run, now);
}

/** Takes the failure of a request, or its end. Returns the pause that begins with it, if one does. */
export function endRun(health: TargetHealth, run: TargetRun, failure: Problem | null, now: number): Pause | null {
  health.runs.delete(run);
  if (health.probe === run) health.probe = null;
  const kind = failure === null ? null : failureKind(failure);
  // A model that finds fault with the request is up.
  if (failure === null || kind === null) {
    if (failure?.extra.provider !== undefined) recover(health, run, now);
    return null;
  }
  const asked = kind === 'limited' && typeof failure.extra.retryAfterMs === 'number' ? failure.extra.retryAfterMs : null;
  // Of requests that ran at the same time, the first one that failed decides: the others say nothing new.
  if (run.pause !== health.pause) return null;
  health.failureRate += (1 - health.failureRate) * newest;
  if (kind === 'broken' && run.pause === null && health.failureRate <= maxFailureRate) return null;
  if (run.pause === null && now - health.recoveredAt > stableMs) health.pauses = 0;
  health.pauses += 1;
  // 0: a date that has passed.
  const ownMs = backoffMs(pauses[kind], health.pauses);
  const ms = Math.min(Math.max(asked === null || asked === 0 ? ownMs : asked, pauses[kind].firstMs), maxAskedMs);
  health.pause = { at: now, ms, code: failure.code };
  return health.pause;
}

function recover(health: TargetHealth, run: TargetRun, now: number): void {
  health.failureRate *= 1 - newest;
  if (health.pause === null || run.pause !== health.pause) return;
  Object.assign(health, { pause: null, probe: null, failureRate: 0, recoveredAt: now });
}

/** null: the model is not at fault. */
function failureKind({ code, extra }: Problem): FailureKind | null {
  const { upstreamStatus: status, provider, retryable } = extra;
  // Not 403: some services answer so to what one client has written.
  if (code === 'not_configured' || code === 'model_not_found' || status === 401 || status === 402) return 'refused';
  if (provider === undefined) return null;
  // Without credit, waiting does not help.
  if (status === 429 || code === 'rate_limited') return retryable === false && extra.retryAfterMs === undefined ? 'refused' : 'limited';
  return retryable === true || code === 'upstream_timeout' || Number(status) >= 500 ? 'broken' : null;
}

function isWithin(at: number, ms: number, now: number): boolean {
  return now >= at && now - at < ms;
}
