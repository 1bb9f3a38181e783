/**
 * Counters and histograms in memory, cumulative since the start. Series and label values are bounded: names come from callers and models, so
 * any beyond the limits are counted as `other`.
 */
import type { FinishedSpan } from './span.ts';

export type MetricSpec = { name: string; unit: string; description: string; bounds: readonly number[] | null };

const seconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const modelSeconds = Array.from({ length: 14 }, (_, index) => Number((0.01 * 2 ** index).toFixed(2)));
const mcpSeconds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const agentSeconds = Array.from({ length: 13 }, (_, index) => Number((0.1 * 2 ** index).toFixed(1)));
const tokens = Array.from({ length: 14 }, (_, index) => 4 ** index);

const counted = (kind: string, description: string) =>
  ({ name: `gen_ai.client.inference.usage.${kind}_tokens`, unit: '{token}', description, bounds: null }) as const;

/**
 * The bounds are those that the semantic conventions advise. `bounds` null: a counter. Conventions: HTTP of semantic-conventions 1.45; GenAI and
 * MCP of semantic-conventions-genai 0.1.0 (`client-inference.md`, `gen-ai-token-metrics.md`, `gen-ai-metrics.md`, `mcp.md`).
 */
const specs = {
  http: {
    name: 'http.server.request.duration',
    unit: 's',
    description: 'Duration of HTTP requests until the response starts.',
    bounds: seconds,
  },
  chat: { name: 'gen_ai.client.inference.duration', unit: 's', description: 'Duration of model calls.', bounds: modelSeconds },
  firstChunk: {
    name: 'gen_ai.client.inference.time_to_first_chunk',
    unit: 's',
    description: 'Time until the first chunk of a streamed reply.',
    bounds: modelSeconds,
  },
  input: counted('input', 'Input tokens, cached ones included.'),
  output: counted('output', 'Output tokens, those of reasoning included.'),
  cacheRead: counted('cache_read.input', 'Input tokens that a provider read from its cache.'),
  cacheWrite: counted('cache_write.input', 'Input tokens that a provider wrote to its cache.'),
  reasoning: counted('reasoning.output', 'Output tokens of reasoning.'),
  inputOf: {
    name: 'gen_ai.client.inference.operation.input_tokens',
    unit: '{token}',
    description: 'Input tokens of a model call.',
    bounds: tokens,
  },
  outputOf: {
    name: 'gen_ai.client.inference.operation.output_tokens',
    unit: '{token}',
    description: 'Output tokens of a model call.',
    bounds: tokens,
  },
  agent: { name: 'gen_ai.invoke_agent.duration', unit: 's', description: 'Duration of runs of turns.', bounds: agentSeconds },
  tool: { name: 'gen_ai.execute_tool.duration', unit: 's', description: 'Duration of tool calls.', bounds: modelSeconds },
  guard: { name: 'moniker.guard.duration', unit: 's', description: 'Duration of requests to the guard.', bounds: modelSeconds },
  mcpServer: {
    name: 'mcp.server.operation.duration',
    unit: 's',
    description: 'Duration of MCP requests that were served.',
    bounds: mcpSeconds,
  },
  mcpClient: { name: 'mcp.client.operation.duration', unit: 's', description: 'Duration of MCP requests to servers.', bounds: mcpSeconds },
  toolCalls: { name: 'moniker.tool.calls', unit: '', description: 'Tool calls by verdict and result code.', bounds: null },
} as const satisfies Record<string, MetricSpec>;

const chatLabels = ['gen_ai.provider.name', 'gen_ai.request.model', 'server.address', 'server.port'] as const;
const usageKinds = [
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cache_read.input'],
  ['cacheWrite', 'cache_write.input'],
  ['reasoning', 'reasoning.output'],
] as const;

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
    switch (attributes.get('gen_ai.operation.name')) {
      case 'chat':
        this.#addChat(attributes, take('gen_ai.operation.name', ...chatLabels), failure, durationS);
        return;
      case 'invoke_agent':
        this.#add('agent', [...take('gen_ai.operation.name', 'gen_ai.agent.name'), ...failure], durationS);
        return;
      case 'execute_tool':
        this.#add('tool', [...take('gen_ai.tool.name', 'gen_ai.tool.type', 'gen_ai.agent.name'), ...failure], durationS);
        this.#add('toolCalls', [...take('gen_ai.tool.name', 'moniker.tool.verdict'), ...failure], 1);
        return;
      default:
        if (attributes.has('moniker.guard.event'))
          this.#add('guard', [...take('moniker.guard.event', 'moniker.guard.verdict'), ...failure], durationS);
    }
  }

  /** A call without a reported usage counts as 0 tokens, as the conventions ask. Providers do not say which kinds of content tokens are of. */
  #addChat(attributes: FinishedSpan['attributes'], labels: Labels, failure: Labels, durationS: number): void {
    const numberAt = (name: string): number | undefined => {
      const value = attributes.get(name);
      return typeof value === 'number' ? value : undefined;
    };
    this.#add('chat', [...labels, ...failure], durationS);
    const firstChunkS = numberAt('gen_ai.response.time_to_first_chunk');
    if (firstChunkS !== undefined) this.#add('firstChunk', labels, firstChunkS);
    const modality: Labels = [...labels, ['gen_ai.token.modality', 'unknown']];
    for (const [key, kind] of usageKinds) {
      const used = numberAt(`gen_ai.usage.${kind}_tokens`) ?? (key === 'input' || key === 'output' ? 0 : undefined);
      if (used === undefined) continue;
      this.#add(key, modality, used);
      if (key === 'input' || key === 'output') this.#add(`${key}Of`, [...labels, ...failure], used);
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
