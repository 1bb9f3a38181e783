/** The metrics in the text format of Prometheus (0.0.4). */
import type { Labels, MetricSpec, Series } from './metrics.ts';

/** `gauges`: further values. */
export function toPrometheus(metrics: readonly { spec: MetricSpec; series: readonly Series[] }[], gauges: Gauges): string {
  const lines: string[] = [];
  for (const { spec, series } of metrics) {
    const name = toName(spec);
    lines.push(`# HELP ${name} ${spec.description}`, `# TYPE ${name} ${spec.bounds === null ? 'counter' : 'histogram'}`);
    for (const one of series) lines.push(...(spec.bounds === null ? [line(name, one.labels, one.sum)] : histogram(name, spec.bounds, one)));
  }
  return `${lines.join('\n')}\n${toGauges(gauges)}`;
}

type Gauges = Readonly<Record<string, { description: string; label: string; values: ReadonlyMap<string, number> }>>;

/** Values by metric name, each by its only label's value. */
export function toGauges(gauges: Gauges): string {
  const lines: string[] = [];
  for (const [name, { description, label, values }] of Object.entries(gauges)) {
    lines.push(`# HELP ${name} ${description}`, `# TYPE ${name} gauge`);
    for (const [value, count] of values) lines.push(line(name, [[label, value]], count));
  }
  return `${lines.join('\n')}\n`;
}

function histogram(name: string, bounds: readonly number[], { labels, count, sum, buckets }: Series): string[] {
  let below = 0;
  const counted = bounds.map((bound, index) => {
    below += buckets[index] ?? 0;
    return line(`${name}_bucket`, [...labels, ['le', String(bound)]], below);
  });
  return [
    ...counted,
    line(`${name}_bucket`, [...labels, ['le', '+Inf']], count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ];
}

function line(name: string, labels: Labels, value: number): string {
  const text = labels.map(
    ([label, of]) => `${toWord(label)}="${of.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return `${name}${text.length === 0 ? '' : `{${text.join(',')}}`} ${value}`;
}

function toName({ name, unit, bounds }: MetricSpec): string {
  return `${toWord(name)}${unit === 's' ? '_seconds' : ''}${bounds === null ? '_total' : ''}`;
}

function toWord(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, '_');
}
