/**
 * Spans and metrics of this isolate. The current span follows asynchronous work (`AsyncLocalStorage`), so that only the code that starts
 * spans knows of them. Calls between the Worker and Durable Objects do not carry it: there it is passed as a value.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { canonicalJson } from '../core/hash.ts';
import { Problem } from '../core/problem.ts';
import { Metrics } from '../core/telemetry/metrics.ts';
import { toPrometheus } from '../core/telemetry/prometheus.ts';
import { type Activity, activityOf, type AttributeValue, boundAttribute, boundName, maxContentLength } from '../core/telemetry/span.ts';
import type { TelemetrySettings } from '../core/telemetry/telemetry-settings.ts';
import { isTraceSampled, toCarrier, type TraceContext } from '../core/telemetry/trace-context.ts';
import { toHex } from '../core/text/bytes.ts';
import { version } from '../core/version.ts';
import type { OpenSpan, SpanStart, Telemetry } from '../ports/telemetry.ts';
import { type ExporterParts, OtlpExporter } from './otlp-exporter.ts';

/** Longer work is not counted as live: the platform can end a request without running any more of its code. */
const maxLiveMs = 30 * 60_000;
const maxLive = 10_000;

type TelemetryParts = Omit<ExporterParts, 'settings' | 'resource' | 'metrics'>;

/** Returns null if telemetry is off. */
export function createTelemetry(settings: TelemetrySettings | null, parts: TelemetryParts): Telemetry | null {
  if (settings === null) return null;
  const { endpoint } = settings;
  const isUsable = endpoint !== null && /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '');
  if (endpoint !== null && !isUsable)
    parts.log.error('OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL: nothing is exported. Set it to the URL of a collector.');
  if (!isUsable && !settings.metrics) return null;
  const metrics = new Metrics();
  const resource = { 'service.name': settings.serviceName, 'service.version': version, 'service.instance.id': randomHex(16) };
  const exporter = isUsable ? new OtlpExporter({ ...parts, metrics, resource, settings: { ...settings, endpoint } }) : null;
  return buildTelemetry(settings, parts, metrics, exporter);
}

function buildTelemetry(
  settings: TelemetrySettings,
  { clock }: TelemetryParts,
  metrics: Metrics,
  exporter: OtlpExporter | null,
): Telemetry {
  const current = new AsyncLocalStorage<TraceContext>();
  const live = new Map<OpenSpan, { activity: Activity; since: number }>();

  const start = ({ name: given, kind, attributes: first, parent: named }: SpanStart): OpenSpan => {
    const parent = named ?? current.getStore() ?? null;
    const traceId = parent?.traceId ?? randomHex(16);
    const sampled = parent === null ? isTraceSampled(traceId, settings.ratio) : parent.sampled;
    const context: TraceContext = { traceId, spanId: randomHex(8), sampled, state: parent?.state ?? '' };
    const attributes = new Map<string, AttributeValue>();
    const startedAt = clock.now();
    let [name, error, isOpen]: [string, string | null, boolean] = [given, null, true];
    const span: OpenSpan = {
      context,
      set(key, value) {
        if (value !== undefined) attributes.set(key, boundAttribute(value));
      },
      setContent(key, value) {
        if (settings.content && sampled) attributes.set(key, boundAttribute(contentText(value()), maxContentLength));
      },
      rename(to) {
        name = to;
      },
      elapsedMs: () => clock.now() - startedAt,
      fail(type) {
        error = String(boundAttribute(type));
      },
      end() {
        if (!isOpen) return;
        isOpen = false;
        live.delete(span);
        const ended = { name: boundName(name), kind, context, parentId: parent?.spanId ?? null, startedAt, endedAt: clock.now() };
        metrics.addSpan({ ...ended, attributes, error });
        if (sampled) exporter?.add({ ...ended, attributes, error });
        else exporter?.wake();
      },
    };
    for (const [key, value] of Object.entries(first)) span.set(key, value);
    const activity = activityOf(first);
    if (settings.metrics && activity !== null && live.size < maxLive) live.set(span, { activity, since: startedAt });
    return span;
  };

  const within: Telemetry['within'] = (span, work) => current.run(span.context, work);

  return {
    start,
    within,
    async during(given, work) {
      const span = start(given);
      try {
        return await within(span, () => work(span));
      } catch (error) {
        span.fail(errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
    carrier() {
      const context = current.getStore();
      return context === undefined ? null : toCarrier(context);
    },
    prometheus() {
      if (!settings.metrics) return null;
      const oldest = clock.now() - maxLiveMs;
      for (const [span, { since }] of live) if (since < oldest) live.delete(span);
      const counts = new Map<string, number>([...activities].map((activity) => [activity, 0]));
      for (const { activity } of live.values()) counts.set(activity, (counts.get(activity) ?? 0) + 1);
      const dropped = new Map([['export', exporter?.dropped ?? 0]]);
      return toPrometheus(metrics.all(), {
        moniker_live: { description: 'Work in progress, by kind.', label: 'kind', values: counts },
        moniker_telemetry_dropped_spans: { description: 'Spans that could not be exported.', label: 'reason', values: dropped },
      });
    },
  };
}

const activities = ['requests', 'turns', 'model_calls', 'tool_calls'] as const satisfies readonly Activity[];

/** A code of ours or the class of the error: messages may contain content. */
function errorTypeOf(error: unknown): string {
  if (error instanceof Problem) return error.code;
  return error instanceof Error ? error.name : 'error';
}

function contentText(value: unknown): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
