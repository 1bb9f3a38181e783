/** The JSON encoding of OTLP 1.x for `/v1/traces` and `/v1/metrics`: ids in hex, 64-bit integers as strings. */
import type { MetricSpec, Series } from './metrics.ts';
import type { AttributeValue, FinishedSpan } from './span.ts';

export type Resource = Readonly<Record<string, string>>;

const scope = { name: 'moniker' };
const kinds = { internal: 1, server: 2, client: 3 } as const;
const cumulative = 2;
const failed = 2;

export function encodeTraces(resource: Resource, spans: readonly FinishedSpan[]): object {
  return { resourceSpans: [{ resource: toResource(resource), scopeSpans: [{ scope, spans: spans.map(toSpan) }] }] };
}

/** `startedAt`: when counting began. */
export function encodeMetrics(
  resource: Resource,
  metrics: readonly { spec: MetricSpec; series: readonly Series[] }[],
  { startedAt, now }: { startedAt: number; now: number },
): object {
  const times = { startTimeUnixNano: nanos(startedAt), timeUnixNano: nanos(now) };
  const encoded = metrics.map(({ spec: { name, unit, description, bounds }, series }) => {
    const common = { name, unit, description };
    if (bounds === null) {
      const dataPoints = series.map(({ labels, sum }) => ({ ...times, attributes: toAttributes(labels), asInt: String(sum) }));
      return { ...common, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
    }
    const dataPoints = series.map(({ labels, count, sum, buckets }) => ({
      ...times,
      attributes: toAttributes(labels),
      count: String(count),
      sum,
      explicitBounds: bounds,
      bucketCounts: buckets.map(String),
    }));
    return { ...common, histogram: { aggregationTemporality: cumulative, dataPoints } };
  });
  return { resourceMetrics: [{ resource: toResource(resource), scopeMetrics: [{ scope, metrics: encoded }] }] };
}

function toSpan({ name, kind, context, parentId, startedAt, endedAt, attributes, error }: FinishedSpan): object {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(context.state !== '' && { traceState: context.state }),
    ...(parentId !== null && { parentSpanId: parentId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanos(startedAt),
    endTimeUnixNano: nanos(Math.max(startedAt, endedAt)),
    attributes: toAttributes([...attributes, ...(error === null ? [] : [['error.type', error] as const])]),
    status: error === null ? {} : { code: failed },
  };
}

function toResource(resource: Resource): object {
  return { attributes: toAttributes(Object.entries(resource)) };
}

function toAttributes(attributes: Iterable<readonly [string, AttributeValue]>): object[] {
  return Array.from(attributes, ([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((item) => ({ stringValue: item })) } };
}

/** Milliseconds since the epoch as nanoseconds, which a number cannot hold exactly. */
function nanos(ms: number): string {
  return `${Math.trunc(ms)}000000`;
}
