/**
 * Cron expressions of five fields, read and reckoned by croner; the only file that knows it. No clock and no timers: whoever asks says
 * when. Not when a schedule runs, which is `next-run.ts`.
 *
 * What it takes is what croner takes (https://croner.56k.guru/usage/pattern/): minute, hour, day of the month, month, weekday (0 and 7
 * are Sunday); `*`, `?`, lists, ranges, steps (of `*` and of ranges, as in `10-50/5`), names (`JAN`, `mon`); `L`, the last day of a month or, as `FRI#L`, its
 * last Friday; `15W`, the weekday nearest to the 15th; `MON#2`, the second Monday; `@hourly`, `@daily`, `@weekly`, `@monthly`,
 * `@yearly`. Where day and weekday are both given, either of them is enough, as in crontab(5), here also where one is a step
 * of `*` (Vixie cron asks for both then); `+MON` asks for both.
 *
 * When clocks change (https://github.com/Hexagon/croner, "DST handling", after Vixie cron), with the option `fixedTimeRule:
 * 'no-wildcard'`, by which lists and ranges are times too, as in cron itself:
 * - Times (no `*`, `?` or step in minute and hour, such as `30 2 * * *`): one that does not exist comes when the clock has jumped over
 *   it, on the same day; one that exists twice comes once, the first time.
 * - All else (such as `0-59/15 * * * *`): what does not exist is left out, and what exists twice comes twice, so that the distance stays.
 */
import { Cron } from 'croner';
import type { Issue } from '../../problem.ts';

/** Milliseconds since the epoch. */
export type CronTimes = {
  /** The first time after `after`; null: none until the year 9999. */
  next(after: number): number | null;
  /** The last time up to `until`, itself included; null: none before. */
  last(until: number): number | null;
};

/** One that is well formed may still never come, such as `0 0 31 2 *`: then `next` is null, and finding that out is a long search. */
export function parseCron(text: string, timeZone: string): { times: CronTimes } | { issue: Issue } {
  if (!isTimeZone(timeZone)) return { issue: { path: 'timeZone', message: zoneFault(timeZone) } };
  const pattern = text.trim();
  // Croner takes a date here too, which is `at`.
  if (!pattern.startsWith('@') && pattern.split(/\s+/).length !== 5) return { issue: { path: 'cron', message: fieldsFault(pattern) } };
  try {
    const cron = new Cron(pattern, { mode: '5-part', paused: true, timezone: timeZone, fixedTimeRule: 'no-wildcard' });
    return { times: timesOf(cron) };
  } catch (error) {
    return { issue: { path: 'cron', message: cronFault(error) } };
  }
}

/** Croner's search goes field by field and ends with the year 9999, forwards, and after 400 years, backwards. */
function timesOf(cron: Cron): CronTimes {
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    // It gives what lies before a time, by the second, and its times are whole seconds.
    last: (until) => cron.previousRuns(1, new Date(Math.floor(until / 1_000) * 1_000 + 1_000))[0]?.getTime() ?? null,
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // That it throws is how it says no.
    return false;
  }
}

function zoneFault(name: string): string {
  return `${JSON.stringify(name)} is not a time zone: use an IANA name such as UTC, Europe/Berlin or America/New_York`;
}

function fieldsFault(pattern: string): string {
  const count = pattern === '' ? 0 : pattern.split(/\s+/).length;
  return `has ${count} ${count === 1 ? 'field' : 'fields'}, and five are needed: minute, hour, day, month, weekday, as in \`0 9 * * 1-5\`; for seconds there is \`interval\`, for one date \`at\``;
}

/** Croner says which field is wrong and how, after the name of its class. */
function cronFault(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  if (/^CronPattern: (?:@\w+ is not supported|invalid configuration format)/.test(said))
    return 'is no expression with five fields, nor one of @hourly, @daily, @weekly, @monthly and @yearly';
  // Its own number is reckoned from 0 already, for days and months.
  const field = fields.find(({ croner }) => said.includes(`Invalid value for ${croner}:`));
  if (field !== undefined) return `is not valid: the ${field.name} is a number from ${field.from} to ${field.to}`;
  const backwards = /From value is larger than to value/.test(said) ? '; a range that goes over the end is two, as in `22-23,0-2`' : '';
  return `is not valid: ${said.replace(/^\w+: /, '')}${backwards}`;
}

const fields = [
  { croner: 'minute', name: 'minute', from: 0, to: 59 },
  { croner: 'hour', name: 'hour', from: 0, to: 23 },
  { croner: 'day', name: 'day', from: 1, to: 31 },
  { croner: 'month', name: 'month', from: 1, to: 12 },
  { croner: 'dayOfWeek', name: 'weekday', from: 0, to: 7 },
] as const;
