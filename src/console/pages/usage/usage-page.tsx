/** `/console/usage`: what models and tools used and cost, by day. `/requests`: the request log; `/cache`: what stored replies saved. */
import { asWritten, Select } from '../../parts/fields/controls.tsx';
import { type LoadedData, useLoaded } from '../../api/load.ts';
import { Filters, filtersOf } from '../../parts/records/filters.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Records, type Column } from '../../parts/records/records.tsx';
import { late } from '../../parts/layout/late.tsx';
import { ViewParts } from '../../parts/layout/view-parts.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, query, setQuery, type ViewProps } from '../../router.ts';
import { compact, count, duration, money } from '../../text/format.ts';
import { RequestLog } from './request-log.tsx';
import { loadKeyNames, loadUsage, maxRows, Ranges, Tiles } from './usage-range.tsx';
import { UsageChart } from './usage-chart.tsx';
import type { DayBar, Group, Grouping, Measure, Totals } from './usage-series.ts';
import { daySeries, groupings, groupRows, measureOf, measures, usualMeasure } from './usage-series.ts';

const parts = [
  { id: null, title: 'By day', Content: UsageSums },
  { id: 'requests', title: 'Requests', Content: RequestLog },
  { id: 'cache', title: 'Cached replies', Content: late(async () => (await import('./reply-cache.tsx')).ReplyCache) },
];

export function UsagePage({ id }: ViewProps) {
  return <ViewParts id={id} view="usage" title="Usage" parts={parts} />;
}

type Sums = Awaited<ReturnType<typeof loadSums>>;

function UsageSums() {
  const by = groupings.find((one) => one === query.value.get('by')) ?? 'model';
  // Calls of tools have no model.
  const filter = filtersOf(['from', 'to', 'agent', 'key', ...(by === 'tool' ? [] : ['model'])]);
  const sums = useLoaded((signal) => loadSums(by, filter, signal), [by, JSON.stringify(filter)]);
  const names = (dimension: Grouping) => (by === dimension && sums.data !== null ? groupNames(sums.data, by) : []);
  return (
    <>
      <div class="filters">
        <Ranges />
        <Choice name="by" label="Group by" value={by} choices={groupings} />
        {sums.data !== null && (
          <Choice
            name="measure"
            label="Show"
            value={measureFor(sums.data, by)}
            choices={by === 'tool' ? measures.filter((one) => one !== 'tokens') : measures}
          />
        )}
      </div>
      <Filters
        filters={[
          { name: 'from', label: 'From', kind: 'date' },
          { name: 'to', label: 'To', kind: 'date' },
          ...(by === 'tool' ? [] : ([{ name: 'model', label: 'Model', kind: 'text', suggestions: names('model') }] as const)),
          { name: 'agent', label: 'Agent', kind: 'text', suggestions: names('agent') },
          { name: 'key', label: 'Key', kind: 'text', suggestions: names('key'), placeholder: 'id, or me' },
        ]}
      />
      <SumsView sums={sums} by={by} />
    </>
  );
}

async function loadSums(by: Grouping, filter: Record<string, string>, signal: AbortSignal) {
  const loaded = await loadUsage({ ...filter, by: `day,${by}` }, signal);
  return { ...loaded, keyNames: by === 'key' ? await loadKeyNames(signal) : new Map<string, string>() };
}

function groupNames({ rows }: Sums, by: Grouping): string[] {
  return [...new Set(rows.flatMap((row) => row[by] ?? []))].slice(0, 100);
}

function measureFor({ totals }: Sums, by: Grouping): Measure {
  const asked = measures.find((one) => one === query.value.get('measure'));
  if (by === 'tool') return asked === undefined || asked === 'tokens' ? 'calls' : asked;
  return asked ?? usualMeasure(totals);
}

function SumsView({ sums: { data, error, reload }, by }: { sums: LoadedData<Sums>; by: Grouping }) {
  if (error !== null) return <ProblemView error={error} retry={() => void reload()} />;
  if (data === null) return <p class="muted">Loading…</p>;
  const { totals, rows, from, to, isCut, keyNames } = data;
  const labelOf = (name: string): string => (keyNames.has(name) ? `${keyNames.get(name)} (${name})` : name);
  if (totals.calls === 0)
    return (
      <div class="empty">
        <h2>
          No calls from {from} to {to}
        </h2>
        <p>
          Every call of a model or a tool is counted here within seconds. <a href={pathOf('chat')}>Send a message in the chat</a>, or choose
          a longer range.
        </p>
      </div>
    );
  const measure = measureFor(data, by);
  const format = measure === 'cost' ? money : compact;
  const sums = daySeries(rows, by, measure, { from, to });
  const series = { ...sums, names: sums.names.map(labelOf) };
  return (
    <>
      <TotalTiles totals={totals} isTools={by === 'tool'} />
      <Unpriced
        totals={totals}
        unpriced={by === 'model' ? groupRows(rows, by, 'calls').filter(({ unpricedCalls }) => unpricedCalls) : []}
      />
      {isCut && <p class="notice warn">Only the first {count(maxRows)} groups are shown. Choose a shorter range, or filter.</p>}
      <UsageChart series={series} isCount={measure !== 'cost'} what={labels[measure]} format={format} />
      <Records
        caption={`Usage by ${by}`}
        items={groupRows(rows, by, measure)}
        keyOf={({ name }) => name}
        columns={columnsOf(by, labelOf)}
      />
      <details class="daily">
        <summary>Numbers of each day</summary>
        <Records
          caption={`${labels[measure]} by day`}
          items={series.days.toReversed()}
          keyOf={({ day }) => day}
          columns={[
            { label: 'Day (UTC)', cell: ({ day }) => day },
            ...series.names.map((name, index) => ({
              label: name,
              isNumber: true,
              cell: ({ values }: DayBar) => format(values[index] ?? 0),
            })),
            { label: 'Sum', isNumber: true, cell: ({ total }) => format(total) },
          ]}
        />
      </details>
    </>
  );
}

const labels: Readonly<Record<Measure, string>> = { cost: 'Cost', tokens: 'Tokens', calls: 'Calls', failures: 'Failed calls' };

function TotalTiles({ totals, isTools }: { totals: Totals; isTools: boolean }) {
  const { calls, failures, durationMs, inputTokens = 0, cachedInputTokens = 0, outputTokens = 0, reasoningTokens = 0, cost } = totals;
  const share = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 100));
  const tiles = [
    ['Cost', cost == null ? 'unknown' : money(cost), 'USD unless priced otherwise'],
    ...(isTools
      ? []
      : ([
          ['Input tokens', compact(inputTokens), `${share(cachedInputTokens, inputTokens)} % from caches`],
          ['Output tokens', compact(outputTokens), `${share(reasoningTokens, outputTokens)} % reasoning`],
        ] as const)),
    ['Calls', count(calls), `${count(failures)} failed`],
    ['Average time', duration(durationMs / calls), 'of a call'],
  ] as const;
  return <Tiles tiles={tiles} />;
}

function Unpriced({ totals: { unpricedCalls = 0, calls }, unpriced }: { totals: Totals; unpriced: readonly Group[] }) {
  if (unpricedCalls === 0) return null;
  return (
    <p class="notice warn">
      The cost of {count(unpricedCalls)} of {count(calls)} calls is unknown and not included
      {unpriced.length > 0 && <>: {visible(unpriced.map(({ name }) => name).join(', '))}</>}.{' '}
      <a href={pathOf('providers')}>Set prices of the provider</a> to include it.
    </p>
  );
}

function columnsOf(by: Grouping, labelOf: (name: string) => string): Column<Group>[] {
  const tokens: Column<Group>[] = [
    { label: 'Input', isNumber: true, cell: ({ inputTokens = 0 }) => <span title={count(inputTokens)}>{compact(inputTokens)}</span> },
    { label: 'Cached', isNumber: true, cell: ({ cachedInputTokens = 0 }) => compact(cachedInputTokens) },
    { label: 'Output', isNumber: true, cell: ({ outputTokens = 0 }) => <span title={count(outputTokens)}>{compact(outputTokens)}</span> },
  ];
  return [
    { label: by[0]?.toUpperCase() + by.slice(1), cell: ({ name }) => <code>{visible(labelOf(name))}</code> },
    { label: 'Calls', isNumber: true, cell: ({ calls }) => count(calls) },
    { label: 'Failed', isNumber: true, cell: (group) => count(measureOf(group, 'failures')) },
    ...(by === 'tool' ? [] : tokens),
    { label: 'Cost', isNumber: true, cell: costCell },
    { label: 'Average', isNumber: true, cell: ({ durationMs, calls }) => duration(durationMs / Math.max(1, calls)) },
  ];
}

function costCell({ cost, unpricedCalls = 0 }: Group) {
  if (cost == null) return <span class="muted">{unpricedCalls > 0 ? 'unknown' : '–'}</span>;
  return unpricedCalls > 0 ? <span title={`Without ${unpricedCalls} calls of unknown cost`}>{money(cost)} +</span> : money(cost);
}

function Choice({ name, label, value, choices }: { name: string; label: string; value: string; choices: readonly string[] }) {
  return (
    <label class="choice">
      {label} <Select value={value} choices={asWritten(choices)} onInput={(chosen) => setQuery({ [name]: chosen })} />
    </label>
  );
}
