import { describe, expect, it } from 'vitest';
import { encodeMetrics } from '../../../src/core/telemetry/encode-otlp.ts';
import { Metrics } from '../../../src/core/telemetry/metrics.ts';
import { toPrometheus } from '../../../src/core/telemetry/prometheus.ts';
import type { AttributeValue, FinishedSpan } from '../../../src/core/telemetry/span.ts';

const context = { traceId: '1'.repeat(32), spanId: '1'.repeat(16), sampled: true, state: '' };
function spanWith(attributes: Record<string, AttributeValue>, error: string | null = null): FinishedSpan {
  const times = { startedAt: 1_000, endedAt: 1_030 };
  return { name: 'x', kind: 'internal', context, parentId: null, ...times, attributes: new Map(Object.entries(attributes)), error };
}

describe('metrics', () => {
  it('count tool calls by tool, verdict and code, in the text format of Prometheus', () => {
    const metrics = new Metrics();
    const call = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'a.b', 'moniker.tool.verdict': 'ran' };
    metrics.addSpan(spanWith(call));
    metrics.addSpan(spanWith(call));
    metrics.addSpan(spanWith({ ...call, 'gen_ai.tool.name': 'quote"\n\\' }, 'timeout'));
    const text = toPrometheus(metrics.all(), {});
    expect(text).toContain('# TYPE moniker_tool_calls_total counter\n');
    expect(text).toContain('moniker_tool_calls_total{gen_ai_tool_name="a.b",moniker_tool_verdict="ran"} 2\n');
    expect(text).toContain('{gen_ai_tool_name="quote\\"\\n\\\\",moniker_tool_verdict="ran",error_type="timeout"} 1\n');
    const series = 'gen_ai_tool_name="a.b"';
    expect(text).toContain(`gen_ai_execute_tool_duration_seconds_bucket{${series},le="0.02"} 0\n`);
    expect(text).toContain(`gen_ai_execute_tool_duration_seconds_bucket{${series},le="0.04"} 2\n`);
    expect(text).toContain(`gen_ai_execute_tool_duration_seconds_bucket{${series},le="+Inf"} 2\n`);
    expect(text).toContain(`gen_ai_execute_tool_duration_seconds_sum{${series}} 0.06\n`);
  });

  it('stay bounded when callers invent names', () => {
    const metrics = new Metrics();
    for (let index = 0; index < 20_000; index += 1) {
      const names = { 'gen_ai.request.model': `model-${index}`, 'gen_ai.tool.name': `tool-${index * 7}` };
      metrics.addSpan(spanWith({ 'gen_ai.operation.name': index % 2 === 0 ? 'execute_tool' : 'chat', ...names }, `error-${index % 5_000}`));
    }
    const all = metrics.all();
    expect(all.flatMap(({ series }) => series).length).toBeLessThanOrEqual(2_010);
    const operations = all.filter(({ spec }) => ['gen_ai.client.inference.duration', 'gen_ai.execute_tool.duration'].includes(spec.name));
    expect(operations.flatMap(({ series }) => series).reduce((sum, { count }) => sum + count, 0)).toBe(20_000);
    expect(toPrometheus(all, {})).toContain('gen_ai_request_model="other"');
  });

  it('are encoded for OTLP with cumulative sums and 64-bit numbers as text', () => {
    const metrics = new Metrics();
    metrics.addSpan(spanWith({ 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 20 }));
    const encoded = JSON.parse(JSON.stringify(encodeMetrics({ 'service.name': 's' }, metrics.all(), { startedAt: 1, now: 2_000 })));
    const [duration, used, tokens] = encoded.resourceMetrics[0].scopeMetrics[0].metrics;
    expect(used.sum).toMatchObject({ isMonotonic: true, dataPoints: [{ asInt: '20' }] });
    expect(duration).toMatchObject({ name: 'gen_ai.client.inference.duration', unit: 's', histogram: { aggregationTemporality: 2 } });
    expect(tokens.histogram.dataPoints).toEqual([
      expect.objectContaining({ startTimeUnixNano: '1000000', timeUnixNano: '2000000000', count: '1', sum: 20 }),
    ]);
    expect(tokens.histogram.dataPoints[0].bucketCounts).toHaveLength(tokens.histogram.dataPoints[0].explicitBounds.length + 1);
  });
});
