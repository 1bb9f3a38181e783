/**
 * Counters and histograms in memory, cumulative since the start. Series and label values are bounded: names come from callers and models, so
 * any beyond the limits are counted as `other`.
 */
import type { FinishedSpan } from './span.ts';

export type MetricSpec = { name: string; unit: string; description: string; bounds: readonly number[] | null };

const seconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const modelSeconds = Array.from({ length: 14 }, (_, index) => Number((0.01 * 2 ** index).toFixed(2)));
const mcpSeconds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const tokens = Array.from({ length: 14 }, (_, index) => 4 ** index);

/** The bounds are those that the semantic conventions advise. `bounds` null: a counter. */
const specs = {
  http: {
    name: 'http.server.request.duration',
    unit: 's',
    description: 'Duration of HTTP requests until the response starts.',
    bounds: seconds,
  },
  operation: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'Duration of model calls, tool calls and turns.',
    bounds: modelSeconds,
  },
  tokens: { name: 'gen_ai.client.token.usage', unit: '{token}', description: 'Tokens of a model call.', bounds: tokens },
  mcpServer: {
    name: 'mcp.server.operation.duration',
    unit: 's',
    description: 'Duration of MCP requests that were served.',
    bounds: mcpSeconds,
  },
  mcpClient: { name: 'mcp.client.operation.duration', unit: 's', description: 'Duration of MCP requests to servers.', bounds: mcpSeconds },
  toolCalls: { name: 'moniker.tool.calls', unit: '', description: 'Tool calls by verdict and result code.', bounds: null },
} as const satisfies Record<string, MetricSpec>;

const maxSeries = 2_000;
const maxLabelValues = 200;
export const otherLabel = 'other';

export type Labels = readonly (readonly [name: string, value: string])[];
/** `buckets`: counts of each bound, the last above all bounds. */
export type Series = { labels: Labels; count: number; sum: number; buckets: number[] };

export class Metrics {
  readonly #series = new Map<keyof typeof specs, Map<string, Series>>();
  readonly #values = new Map<string, Set<string>>();
  #count = 0;

  all(): { spec: MetricSpec; series: readonly Series[] }[] {
    return [...this.#series].map(([key, series]) => ({ spec: specs[key], series: [...series.values()] }));
  }

  /** Counts a finished span in the metrics of its kind. */
  addSpan({ attributes, kind, startedAt, endedAt, error }: FinishedSpan): void {
    const take = (...names: string[]): Labels =>
      names.flatMap((name) => {
        const value = attributes.get(name);
        return value === undefined ? [] : [[name, String(value)] as const];
      });
    const failure: Labels = error === null ? [] : [['error.type', error]];
    const durationS = Math.max(0, endedAt - startedAt) / 1000;
    if (attributes.has('http.request.method')) {
      this.#add('http', [...take('http.request.method', 'http.route', 'http.response.status_code'), ...failure], durationS);
      return;
    }
    if (attributes.has('mcp.method.name')) {
      const labels = take('mcp.method.name', 'gen_ai.tool.name', 'moniker.server');
      this.#add(kind === 'server' ? 'mcpServer' : 'mcpClient', [...labels, ...failure], durationS);
      return;
    }
    const labels = take('gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.agent.name', 'gen_ai.tool.name');
    this.#add('operation', [...labels, ...failure], durationS);
    if (attributes.get('gen_ai.operation.name') === 'execute_tool')
      this.#add('toolCalls', [...take('gen_ai.tool.name', 'moniker.tool.verdict'), ...failure], 1);
    if (attributes.get('gen_ai.operation.name') !== 'chat') return;
    for (const type of ['input', 'output']) {
      const used = attributes.get(`gen_ai.usage.${type}_tokens`);
      if (typeof used === 'number') this.#add('tokens', [...labels, ['gen_ai.token.type', type]], used);
    }
  }

  #add(key: keyof typeof specs, given: Labels, value: number): void {
    const { bounds } = specs[key];
    const all = this.#series.get(key) ?? new Map<string, Series>();
    this.#series.set(key, all);
    const labels = given.map(([name, text]) => [name, this.#bounded(name, text)] as const);
    const id = JSON.stringify(labels);
    const known = all.get(id);
    const series = known ?? (this.#count < maxSeries ? newSeries(labels, bounds) : overflow(all, bounds));
    if (known === undefined && this.#count < maxSeries) {
      all.set(id, series);
      this.#count += 1;
    }
    series.count += 1;
    series.sum += value;
    if (bounds === null) return;
    const index = bounds.findIndex((bound) => value <= bound);
    const bucket = index < 0 ? bounds.length : index;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  #bounded(name: string, value: string): string {
    const known = this.#values.get(name) ?? new Set<string>();
    this.#values.set(name, known);
    if (known.has(value)) return value;
    if (known.size >= maxLabelValues) return otherLabel;
    known.add(value);
    return value;
  }
}

function newSeries(labels: Labels, bounds: readonly number[] | null): Series {
  return { labels, count: 0, sum: 0, buckets: bounds === null ? [] : new Array<number>(bounds.length + 1).fill(0) };
}

/** The one series of a metric for all label sets beyond the limit, as OpenTelemetry names it. */
function overflow(all: Map<string, Series>, bounds: readonly number[] | null): Series {
  const series = all.get('overflow') ?? newSeries([['otel.metric.overflow', 'true']], bounds);
  all.set('overflow', series);
  return series;
}
