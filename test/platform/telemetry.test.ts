import { beforeEach, describe, expect, it } from 'vitest';
import { readTelemetrySettings, type TelemetrySettings } from '../../src/core/telemetry/telemetry-settings.ts';
import { maxBufferedSpans } from '../../src/platform/otlp-exporter.ts';
import { createTelemetry } from '../../src/platform/telemetry.ts';
import type { SpanStart, Telemetry } from '../../src/ports/telemetry.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';

const start = (name: string, more: Partial<SpanStart> = {}): SpanStart => ({ name, kind: 'internal', attributes: {}, ...more });

describe('telemetry', () => {
  let sent: { path: string; text: string }[];
  let respond: () => Promise<Response>;
  let background: Promise<unknown>[];
  let clock: ReturnType<typeof fakeClock>;
  let log: ReturnType<typeof keptLog>;
  beforeEach(() => {
    sent = [];
    background = [];
    clock = fakeClock();
    log = keptLog();
    respond = async () => new Response('{}');
  });

  function build(more: Record<string, string> = {}): Telemetry {
    const environment: Record<string, string> = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', ...more };
    const settings = readTelemetrySettings((name) => environment[name] ?? null) as TelemetrySettings;
    const send = async (request: Request): Promise<Response> => {
      sent.push({ path: new URL(request.url).pathname, text: await request.text() });
      return await respond();
    };
    const built = createTelemetry(settings, { clock, log, background: (work) => void background.push(work), send });
    if (built === null) throw new Error('telemetry is off');
    return built;
  }

  /** Passes the delay before a flush, and waits until all spans are sent or dropped. */
  async function flush(steps = 1): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      await clock.advance(5_000);
      for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  // Parsed JSON of our own encoder.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const spans = (): any[] =>
    sent.filter(({ path }) => path === '/v1/traces').flatMap(({ text }) => JSON.parse(text).resourceSpans[0].scopeSpans[0].spans);

  it('makes nested work children, also after waits', async () => {
    const telemetry = build();
    await telemetry.during(start('outer'), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await telemetry.during(start('inner'), async () => undefined);
    });
    await flush();
    const [inner, outer] = spans();
    expect([inner.name, outer.name]).toEqual(['inner', 'outer']);
    expect(inner).toMatchObject({ traceId: outer.traceId, parentSpanId: outer.spanId });
    expect(outer.parentSpanId).toBeUndefined();
  });

  it('reports failures by code or class, never by message', async () => {
    const failed = build().during(start('fails'), () => Promise.reject(new TypeError('the prompt was: canary')));
    await expect(failed).rejects.toThrow('canary');
    await flush();
    expect(spans()[0]).toMatchObject({ status: { code: 2 } });
    expect(JSON.stringify(sent)).toContain('TypeError');
    expect(JSON.stringify(sent)).not.toContain('canary');
  });

  it('records content only if asked to, and bounded', async () => {
    const quiet = build();
    const calls: string[] = [];
    quiet.start(start('a')).setContent('x', () => calls.push('called'));
    expect(calls).toEqual([]);
    const open = build({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
    const span = open.start(start('b'));
    span.setContent('x', () => 'c'.repeat(100_000));
    span.set('name', 'n'.repeat(100_000));
    span.end();
    await flush();
    expect(JSON.stringify(spans()).length).toBeLessThan(10_000);
    expect(JSON.stringify(spans())).toContain('cccc');
  });

  it('follows the decision of the caller, and decides for new traces by the ratio', async () => {
    const telemetry = build({ OTEL_TRACES_SAMPLER_ARG: '0' });
    const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), state: '' };
    telemetry.start(start('new')).end();
    telemetry.start(start('unsampled', { parent: { ...parent, sampled: false } })).end();
    const sampled = telemetry.start(start('sampled', { parent: { ...parent, sampled: true } }));
    telemetry.within(sampled, () => expect(telemetry.carrier()?.traceparent).toMatch(/^00-a{32}-[0-9a-f]{16}-01$/));
    sampled.end();
    sampled.end();
    await flush();
    expect(spans().map(({ name }) => name)).toEqual(['sampled']);
  });

  it('keeps a bounded number of 10,000 spans, counts the rest as dropped, and sends them in batches by one background task', async () => {
    const telemetry = build({ MONIKER_METRICS: 'on', MONIKER_LOCAL_URL: 'http://127.0.0.1:1' });
    for (let index = 0; index < 10_000; index += 1) telemetry.start(start(`span ${index}`)).end();
    expect(background).toHaveLength(1);
    await flush();
    expect(spans()).toHaveLength(maxBufferedSpans);
    expect(sent.filter(({ path }) => path === '/v1/traces')).toHaveLength(4);
    expect(telemetry.prometheus()).toContain(`moniker_telemetry_dropped_spans{reason="export"} ${10_000 - maxBufferedSpans}`);
  });

  it.each([
    ['refuses', () => Promise.reject(new TypeError('connection refused'))],
    ['fails', async () => new Response('no', { status: 500 })],
    ['redirects', async () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } })],
    ['hangs', () => new Promise<Response>(() => undefined)],
  ])('drops spans of a collector that %s, logs it once, and tries again later', async (_how, fault) => {
    const telemetry = build();
    respond = fault;
    telemetry.start(start('lost')).end();
    await flush(4);
    expect(log.lines.map(({ message }) => message)).toEqual(['telemetry could not be exported']);
    const requests = sent.length;
    await flush(4);
    expect(sent).toHaveLength(requests);
    respond = async () => new Response('{}');
    sent = [];
    telemetry.start(start('next')).end();
    await flush();
    expect(spans().map(({ name }) => name)).toEqual(['next']);
    await Promise.all(background);
  });

  it('starts another flush when the platform has ended the request of the first', async () => {
    const telemetry = build();
    telemetry.start(start('first')).end();
    expect(background).toHaveLength(1);
    // The flush never runs: time passes without its timer.
    const stuck = fakeClock(clock.now());
    Object.assign(clock, { now: () => stuck.now() });
    await stuck.advance(120_000);
    telemetry.start(start('second')).end();
    expect(background).toHaveLength(2);
  });

  it('is off for an invalid endpoint, and says so', () => {
    expect(() => build({ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' })).toThrow('telemetry is off');
    expect(log.lines[0]?.message).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
  });
});
