/** Sums of usage as the page shows them: one row for each group, and stacked values for each day. Pure. */
import type { components } from '../../../../client/src/index.ts';

type UsageRow = components['schemas']['UsageRow'];
export type Totals = components['schemas']['UsageTotals'];

export const groupings = ['model', 'agent', 'key', 'toolset', 'tool'] as const;
export type Grouping = (typeof groupings)[number];
export const measures = ['cost', 'tokens', 'calls', 'failures'] as const;
export type Measure = (typeof measures)[number];

export type Group = { name: string } & Totals;
/** `values`: for each name of `names`, in their order. */
export type DayBar = { day: string; values: number[]; total: number };
export type DaySeries = { names: string[]; days: DayBar[] };

/** More than that many groups are one series, `others`. */
const maxSeries = 5;
export const others = 'others';
/** Sessions without an agent, calls without a toolset. */
const none = 'none';

export function measureOf({ cost, inputTokens = 0, outputTokens = 0, calls, failures }: Totals, measure: Measure): number {
  return { cost: cost ?? 0, tokens: inputTokens + outputTokens, calls, failures }[measure];
}

/** Returns the first of `cost`, `tokens` and `calls` that is not zero in all. */
export function usualMeasure(totals: Totals): Measure {
  return measures.find((measure) => measureOf(totals, measure) > 0) ?? 'calls';
}

/** Returns the groups, the largest first. */
export function groupRows(rows: readonly UsageRow[], by: Grouping, measure: Measure): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const name = nameOf(row, by);
    groups.set(name, { ...add(groups.get(name), row), name });
  }
  return [...groups.values()].sort((a, b) => measureOf(b, measure) - measureOf(a, measure) || a.name.localeCompare(b.name));
}

function nameOf(row: UsageRow, by: Grouping): string {
  return row[by] ?? none;
}

type Counts = { [Key in keyof Totals]: number };

function add(sum: Totals | undefined, row: UsageRow): Totals {
  const result: Totals = { ...(sum ?? { calls: 0, failures: 0, durationMs: 0, cost: null }) };
  const tokens = ['inputTokens', 'cachedInputTokens', 'outputTokens', 'reasoningTokens'];
  const fields = ['calls', 'failures', 'durationMs', ...tokens, 'unpricedCalls', 'cachedCalls', 'savedTokens', 'savedCost'];
  // An absent sum is not 0: what replies would have cost may be unknown.
  for (const field of fields as (keyof Counts)[]) if (row[field] !== undefined) result[field] = (result[field] ?? 0) + (row[field] ?? 0);
  // null: the cost of no call is known, which is not 0.
  result.cost = row.cost == null ? (sum?.cost ?? null) : (sum?.cost ?? 0) + row.cost;
  return result;
}

/** Returns a bar for each day from `from` to `to`, also for days without calls. */
export function daySeries(
  rows: readonly UsageRow[],
  by: Grouping,
  measure: Measure,
  { from, to }: { from: string; to: string },
): DaySeries {
  const groups = groupRows(rows, by, measure).filter((group) => measureOf(group, measure) > 0);
  const shown = groups.slice(0, maxSeries).map(({ name }) => name);
  const names = groups.length > shown.length ? [...shown, others] : shown;
  const days = new Map<string, number[]>();
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.set(
      new Date(at).toISOString().slice(0, 10),
      names.map(() => 0),
    );
  for (const row of rows) {
    const place = shown.indexOf(nameOf(row, by));
    const values = days.get(row.day ?? '');
    const index = place < 0 ? names.length - 1 : place;
    if (values?.[index] !== undefined) values[index] += measureOf({ cost: null, ...row }, measure);
  }
  return { names, days: [...days].map(([day, values]) => ({ day, values, total: values.reduce((sum, value) => sum + value, 0) })) };
}

/** Returns the end of an axis: 1, 2 or 5 times a power of ten, at least `value`. Of counts at least 4, so that its ticks are whole. */
export function axisEnd(value: number, isCount: boolean): number {
  const least = Math.max(value, isCount ? 4 : 1e-9);
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 4, 5, 10].find((factor) => factor * power >= least * 0.999_999) ?? 10) * power;
}
