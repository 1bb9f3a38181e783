import { describe, expect, it } from 'vitest';
import { readTelemetrySettings } from '../../../src/core/telemetry/telemetry-settings.ts';
import { isTraceSampled, readTraceContext, toCarrier } from '../../../src/core/telemetry/trace-context.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';
const valid = `00-${trace}-${span}-01`;

describe('a trace context', () => {
  it('is read and written unchanged', () => {
    const context = readTraceContext(valid, 'vendor=1');
    expect(context).toEqual({ traceId: trace, spanId: span, sampled: true, state: 'vendor=1' });
    expect(context && toCarrier(context)).toEqual({ traceparent: valid, tracestate: 'vendor=1' });
    expect(readTraceContext(`00-${trace}-${span}-00`)).toMatchObject({ sampled: false, state: '' });
  });

  it('of a later version is read as far as it is known', () => {
    expect(readTraceContext(`cc-${trace}-${span}-03-more`)).toMatchObject({ traceId: trace, sampled: true });
  });

  it.each([
    ['nothing', undefined],
    ['a number', 7],
    ['an empty text', ''],
    ['garbage', 'garbage'],
    ['the forbidden version', `ff-${trace}-${span}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${span}-01`],
    ['a span id of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
    ['capital letters', valid.toUpperCase()],
    ['more than version 00 has', `${valid}-more`],
    ['a line break', `${valid}\n`],
    ['a very long text', `cc-${trace}-${span}-01-${'a'.repeat(100_000)}`],
  ])('is not read from %s', (_what, text) => {
    expect(readTraceContext(text)).toBeNull();
  });

  it.each([['x'.repeat(513)], ['a\nb'], [7], ['ä']])('drops an invalid tracestate: %#', (state) => {
    expect(readTraceContext(valid, state)).toMatchObject({ state: '' });
  });
});

describe('sampling', () => {
  it('depends on the trace id only, at about the ratio', () => {
    const ids = Array.from({ length: 4_096 }, (_, index) => `${'0'.repeat(19)}${index.toString(16).padStart(3, '0')}${'8'.repeat(10)}`);
    expect(ids.filter((id) => isTraceSampled(id, 0.25))).toHaveLength(1_024);
    expect(ids.filter((id) => isTraceSampled(id, 0))).toHaveLength(0);
    expect(ids.filter((id) => isTraceSampled(id, 1))).toHaveLength(4_096);
  });
});

describe('the settings of telemetry', () => {
  const read = (environment: Record<string, string>) => readTelemetrySettings((name) => environment[name] ?? null);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

  it('are off without an endpoint and without metrics, and metrics only work on this machine', () => {
    expect(read({})).toBeNull();
    expect(read({ MONIKER_METRICS: 'on' })).toBeNull();
    expect(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull();
    expect(read({ MONIKER_METRICS: 'on', MONIKER_LOCAL_URL: 'http://127.0.0.1:8787' })).toMatchObject({ endpoint: null, metrics: true });
  });

  it('have the standard defaults, and use them for invalid values', () => {
    const standard = { endpoint: 'http://collector:4318', headers: [], serviceName: 'moniker', ratio: 1, delayMs: 5_000 };
    expect(read(endpoint)).toEqual({ ...standard, content: false, metrics: false });
    expect(read({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: '2', OTEL_BSP_SCHEDULE_DELAY: 'soon' })).toMatchObject(standard);
    expect(read({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: '0.1' })).toMatchObject({ ratio: 0.1 });
  });

  it('have headers as name=value pairs', () => {
    const headers = (list: string) => read({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: list })?.headers;
    expect(headers('a=1, b = x%20y=,nothing,=2,c d=3,e=%zz')).toEqual([
      ['a', '1'],
      ['b', 'x y='],
      ['e', '%zz'],
    ]);
  });
});
