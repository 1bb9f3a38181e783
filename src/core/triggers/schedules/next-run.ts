/**
 * When a schedule runs, reckoned from what its document says: nothing here knows what time it is. Used where schedules are written
 * (`catalog/triggers/schedules/schedule-writer.ts`), where they run (`schedule-runs.ts`) and where their times are shown (`http/routes/schedules.ts`).
 *
 * An interval has a grid: the first time is one interval after it was written, and each time is an interval after the one before it,
 * however late that one was, so that nothing drifts and what was slept through leaves the grid as it is.
 */
import { limits } from '../../limits.ts';
import type { Issue } from '../../problem.ts';
import { parseCron } from './cron.ts';
import type { CronTimes } from './cron.ts';
import type { ScheduleDocument } from './schedule.ts';

/** Milliseconds since the epoch; null: never. */
export type TimeRule = {
  /** The first time after `now`, of a schedule that begins now. */
  first(now: number): number | null;
  /** What was due at `due`, and is looked at at `now`, not before it: the newest time that has come, and the first that has not. */
  since(due: number, now: number): { newest: number; next: number | null };
};

type Times = Pick<ScheduleDocument, 'cron' | 'timeZone' | 'interval' | 'at'>;

/** Of a document that has exactly one of `cron`, `interval` and `at`, as its schema sees to. */
export function readTimeRule({ cron, timeZone, interval, at }: Times): { rule: TimeRule } | { issue: Issue } {
  if (cron !== undefined) {
    const parsed = parseCron(cron, timeZone ?? 'UTC');
    return 'issue' in parsed ? parsed : { rule: cronRule(parsed.times) };
  }
  if (at !== undefined) return { rule: dateRule(Date.parse(at)) };
  const ms = intervalMs(interval ?? '');
  const fault = intervalFault(ms);
  return fault === null ? { rule: intervalRule(ms) } : { issue: { path: 'interval', message: fault } };
}

/** `first` and the times after it, at most `count`. */
export function timesFrom(rule: TimeRule, first: number | null, count: number): number[] {
  const times: number[] = [];
  for (let at = first; at !== null && times.length < count; at = rule.since(at, at).next) times.push(at);
  return times;
}

/** Whether two documents run at the same times, however these are spelled. */
export function isSameRule(one: Times, other: Times): boolean {
  return ruleText(one) === ruleText(other);
}

/** `1h30m` in milliseconds. */
export function intervalMs(text: string): number {
  const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
  // The schema lets through these units only.
  return [...text.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units], 0);
}

function intervalFault(ms: number): string | null {
  if (ms < limits.minScheduleIntervalMs) return `must be at least ${limits.minScheduleIntervalMs / 1_000}s`;
  return ms > limits.maxScheduleIntervalMs ? `must be at most ${limits.maxScheduleIntervalMs / 86_400_000}d` : null;
}

function cronRule({ next, last }: CronTimes): TimeRule {
  return {
    first: next,
    // What was due is, even where time zones have changed since and it would not be today.
    since: (due, now) => ({ newest: Math.max(due, last(now) ?? due), next: next(now) }),
  };
}

function intervalRule(ms: number): TimeRule {
  return {
    first: (now) => now + ms,
    since: (due, now) => {
      const newest = due + Math.max(0, Math.floor((now - due) / ms)) * ms;
      return { newest, next: newest + ms };
    },
  };
}

function dateRule(at: number): TimeRule {
  return { first: (now) => (at > now ? at : null), since: (due) => ({ newest: due, next: null }) };
}

function ruleText({ cron, timeZone, interval, at }: Times): string {
  if (cron !== undefined) return `cron ${timeZone ?? 'UTC'} ${cron.trim().split(/\s+/).join(' ')}`;
  return at === undefined ? `interval ${intervalMs(interval ?? '')}` : `at ${Date.parse(at)}`;
}
