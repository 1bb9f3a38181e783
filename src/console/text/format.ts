/** Numbers, times and durations as people read them, in the language of the browser. Pure but for the clock. */

/** `now`, `5 min ago`, `in 3 h`, then the date. */
export function ago(iso: string): string {
  const difference = Math.round((Date.now() - Date.parse(iso)) / 60_000);
  const minutes = Math.abs(difference);
  if (minutes < 1) return 'now';
  if (minutes >= 60 * 24) return new Date(iso).toLocaleDateString();
  const text = minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return difference > 0 ? `${text} ago` : `in ${text}`;
}

/** `40 ms`, `1.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 2 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const [unit, large, small, part] =
    ms < 3_600_000 ? [60_000, 'min', 's', 1_000] : ms < 86_400_000 ? [3_600_000, 'h', 'min', 60_000] : [86_400_000, 'd', 'h', 3_600_000];
  const rest = Math.floor((ms % Number(unit)) / Number(part));
  return `${Math.floor(ms / Number(unit))} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** `12,345`. */
export function count(value: number): string {
  return whole.format(value);
}

/** `12.3K`, for tables and axes; the exact number belongs into a title. */
export function compact(value: number): string {
  return short.format(value);
}

/** Small sums keep two significant digits: a call may cost a few millionths. Without a currency, since prices may be in any. */
export function money(value: number): string {
  const digits = value === 0 || value >= 1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(value)));
  return value.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: Math.max(2, digits) });
}
