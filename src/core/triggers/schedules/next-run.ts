/**
 * Computes when a schedule runs, from its document; the current time is passed in. Used where schedules are written
 * (`objects/catalog/triggers/schedules/schedule-writer.ts`), run (`schedule-runs.ts`) and shown (`http/routes/triggers/schedules.ts`).
 * An interval has a fixed grid: the first time is one interval after the write, and each next time one interval after the previous one,
 * even if that run was late. So intervals do not drift, and downtime does not shift the grid.
 */
import { limits } from '../../limits/limits.ts';
import type { Issue } from '../../problem.ts';
import { type CronTimes, parseCron } from './cron.ts';
import type { ScheduleDocument } from './schedule.ts';

/** Milliseconds since the epoch; null: never. */
export type TimeRule = {
  /** Returns the first time after `now`, for a schedule that starts now. */
  first(now: number): number | null;
  /** For a run due at `due` and processed at `now` (`now` ≥ `due`): the latest time that has passed, and the next one. */
  since(due: number, now: number): { newest: number; next: number | null };
  /** Returns when it is due instead of at `due`, which may have been computed while the clock was ahead of `now`. */
  nearest(due: number, now: number): number;
};

type Times = Pick<ScheduleDocument, 'cron' | 'timeZone' | 'interval' | 'at'>;

/** `Times` has exactly one of `cron`, `interval` and `at`; its schema checks this. */
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

/** Returns `first` and the following times, at most `count`. */
export function timesFrom(rule: TimeRule, first: number | null, count: number): number[] {
  const times: number[] = [];
  for (let at = first; at !== null && times.length < count; at = rule.since(at, at).next) times.push(at);
  return times;
}

/** Returns whether two documents run at the same times, regardless of spelling. */
export function isSameRule(one: Times, other: Times): boolean {
  return ruleText(one) === ruleText(other);
}

/** Returns `1h30m` in milliseconds. */
export function intervalMs(text: string): number {
  const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
  // The schema allows only these units.
  return [...text.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units], 0);
}

function intervalFault(ms: number): string | null {
  if (ms < limits.minScheduleIntervalMs) return `must be at least ${limits.minScheduleIntervalMs / 1_000}s`;
  return ms > limits.maxScheduleIntervalMs ? `must be at most ${limits.maxScheduleIntervalMs / 86_400_000}d` : null;
}

function cronRule({ next, last }: CronTimes): TimeRule {
  return {
    first: next,
    // A stored due time counts even if a time zone change would move it today.
    since: (due, now) => ({ newest: Math.max(due, last(now) ?? due), next: next(now) }),
    nearest: (due, now) => Math.min(due, next(now) ?? due),
  };
}

function intervalRule(ms: number): TimeRule {
  return {
    first: (now) => now + ms,
    since: (due, now) => {
      const newest = due + Math.max(0, Math.floor((now - due) / ms)) * ms;
      return { newest, next: newest + ms };
    },
    // The same grid.
    nearest: (due, now) => due - Math.max(0, Math.ceil((due - now) / ms) - 1) * ms,
  };
}

function dateRule(at: number): TimeRule {
  return { first: (now) => (at > now ? at : null), since: (due) => ({ newest: due, next: null }), nearest: (due) => due };
}

function ruleText({ cron, timeZone, interval, at }: Times): string {
  if (cron !== undefined) return `cron ${timeZone ?? 'UTC'} ${cron.trim().split(/\s+/).join(' ')}`;
  return at === undefined ? `interval ${intervalMs(interval ?? '')}` : `at ${Date.parse(at)}`;
}
