/**
 * Parses cron expressions of five fields and computes their times with croner; the only file that uses it. The time is passed in.
 * `next-run.ts` decides when a schedule runs.
 *
 * Supports croner's syntax (https://croner.56k.guru/usage/pattern/): minute, hour, day of the month, month, weekday (0 and 7 are
 * Sunday); `*`, `?`, lists, ranges, steps (of `*` and of ranges, as in `10-50/5`), names (`JAN`, `mon`); `L`, the last day of a month
 * or, as `FRI#L`, its last Friday; `15W`, the weekday nearest to the 15th; `MON#2`, the second Monday; `@hourly`, `@daily`,
 * `@weekly`, `@monthly`, `@yearly`. If both day and weekday are given, either is enough, as in crontab(5), also if one is a step of
 * `*` (Vixie cron then requires both); `+MON` requires both.
 *
 * Clock changes (https://github.com/Hexagon/croner, "DST handling", after Vixie cron), with the option `fixedTimeRule:
 * 'no-wildcard'`, by which lists and ranges are fixed times too, as in cron itself:
 * - Fixed times (no `*`, `?` or step in minute and hour, such as `30 2 * * *`): a time that does not exist runs right after the
 *   clock skipped it, on the same day; a time that exists twice runs once, the first time.
 * - Others (such as `0-59/15 * * * *`): a time that does not exist is skipped, and one that exists twice runs twice, so the interval
 *   stays constant.
 */
import { Cron } from 'croner';
import type { Issue } from '../../problem.ts';

/** Milliseconds since the epoch. */
export type CronTimes = {
  /** Returns the first time after `after`; null: none until the year 9999. */
  next(after: number): number | null;
  /** Returns the last time up to and including `until`; null: none. */
  last(until: number): number | null;
};

/** A valid expression may never match, such as `0 0 31 2 *`: then `next` returns null after a long search. */
export function parseCron(text: string, timeZone: string): { times: CronTimes } | { issue: Issue } {
  if (!isTimeZone(timeZone)) return { issue: { path: 'timeZone', message: zoneFault(timeZone) } };
  const pattern = text.trim();
  // Croner also accepts a date here; dates belong to `at`.
  if (!pattern.startsWith('@') && pattern.split(/\s+/).length !== 5) return { issue: { path: 'cron', message: fieldsFault(pattern) } };
  try {
    const cron = new Cron(pattern, { mode: '5-part', paused: true, timezone: timeZone, fixedTimeRule: 'no-wildcard' });
    return { times: timesOf(cron) };
  } catch (error) {
    return { issue: { path: 'cron', message: cronFault(error) } };
  }
}

/** Croner searches field by field, forward to the year 9999 and backward for 400 years. */
function timesOf(cron: Cron): CronTimes {
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    // Returns times before the given time, in whole seconds.
    last: (until) => cron.previousRuns(1, new Date(Math.floor(until / 1_000) * 1_000 + 1_000))[0]?.getTime() ?? null,
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // It throws for an unknown zone.
    return false;
  }
}

function zoneFault(name: string): string {
  return `${JSON.stringify(name)} is not a time zone: use an IANA name such as UTC, Europe/Berlin or America/New_York`;
}

function fieldsFault(pattern: string): string {
  const count = pattern === '' ? 0 : pattern.split(/\s+/).length;
  return `has ${count} ${count === 1 ? 'field' : 'fields'}, but five are required: minute, hour, day, month, weekday, as in \`0 9 * * 1-5\`. For seconds use \`interval\`, for a single date \`at\``;
}

/** Croner reports the wrong field after the name of its error class. */
function cronFault(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  if (/^CronPattern: (?:@\w+ is not supported|invalid configuration format)/.test(said))
    return 'is neither an expression with five fields nor one of @hourly, @daily, @weekly, @monthly and @yearly';
  // Croner has already converted its number to start at 0 for days and months.
  const field = fields.find(({ croner }) => said.includes(`Invalid value for ${croner}:`));
  if (field !== undefined) return `is not valid: the ${field.name} must be a number from ${field.from} to ${field.to}`;
  const backwards = /From value is larger than to value/.test(said) ? '; split a range that wraps around, as in `22-23,0-2`' : '';
  return `is not valid: ${said.replace(/^\w+: /, '')}${backwards}`;
}

const fields = [
  { croner: 'minute', name: 'minute', from: 0, to: 59 },
  { croner: 'hour', name: 'hour', from: 0, to: 23 },
  { croner: 'day', name: 'day', from: 1, to: 31 },
  { croner: 'month', name: 'month', from: 1, to: 12 },
  { croner: 'dayOfWeek', name: 'weekday', from: 0, to: 7 },
] as const;
