/**
 * Sends spans and metrics to an OpenTelemetry collector (OTLP over HTTP, JSON). Our own, because the SDK of OpenTelemetry adds hundreds of
 * kilobytes to the Worker and expects a process with timers, which isolates do not have. Nothing waits for it: spans are collected in a
 * bounded buffer and sent in the background; whatever cannot be sent is dropped and counted.
 */
import { encodeMetrics, encodeTraces, type Resource } from '../core/telemetry/encode-otlp.ts';
import type { Metrics } from '../core/telemetry/metrics.ts';
import type { FinishedSpan } from '../core/telemetry/span.ts';
import type { TelemetrySettings } from '../core/telemetry/telemetry-settings.ts';
import { createDelayedFlush } from '../engine/delayed-flush.ts';
import { withTimeout } from '../engine/timeout.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { WaitUntil } from './background.ts';

/** A few MB at most. */
export const maxBufferedSpans = 2_048;
const maxBatchSpans = 512;
const exportTimeoutMs = 5_000;
const logIntervalMs = 60_000;

export type ExporterParts = {
  settings: TelemetrySettings & { endpoint: string };
  resource: Resource;
  metrics: Metrics;
  clock: Clock;
  log: Logger;
  background: WaitUntil;
  /** Sends one request, without following redirects. The operator set its address, so it may be private. */
  send(request: Request): Promise<Response>;
};

export class OtlpExporter {
  readonly #parts: ExporterParts;
  readonly #startedAt: number;
  #spans: FinishedSpan[] = [];
  /** Schedules a flush unless there is one. */
  readonly wake: () => void;
  #loggedAt = Number.NEGATIVE_INFINITY;
  dropped = 0;

  constructor(parts: ExporterParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    const { clock, background, settings } = parts;
    const takeOverMs = settings.delayMs + exportTimeoutMs * (maxBufferedSpans / maxBatchSpans + 2);
    const failed = (error: unknown): void => this.#logFailure(error);
    const flush = (): Promise<void> => this.#flush();
    this.wake = createDelayedFlush({ clock, background, delayMs: settings.delayMs, takeOverMs, next: 'ended', flush, failed });
  }

  add(span: FinishedSpan): void {
    if (this.#spans.length >= maxBufferedSpans) this.dropped += 1;
    else this.#spans.push(span);
    this.wake();
  }

  async #flush(): Promise<void> {
    const { clock, resource, metrics } = this.#parts;
    await this.#post('/v1/metrics', encodeMetrics(resource, metrics.all(), { startedAt: this.#startedAt, now: clock.now() }));
    while (this.#spans.length > 0) {
      const batch = this.#spans.splice(0, maxBatchSpans);
      if (await this.#post('/v1/traces', encodeTraces(resource, batch))) continue;
      // The rest would fail, too; spans that end later are tried again.
      this.dropped += batch.length + this.#spans.length;
      this.#spans = [];
    }
  }

  /** Returns whether the collector accepted it. Never throws. */
  async #post(path: string, body: object): Promise<boolean> {
    const { settings, clock, send } = this.#parts;
    const abort = new AbortController();
    try {
      const request = new Request(settings.endpoint + path, {
        method: 'POST',
        headers: [...settings.headers, ['content-type', 'application/json']] as [string, string][],
        body: JSON.stringify(body),
        redirect: 'manual',
        signal: abort.signal,
      });
      const late = (): never => {
        throw new Error(`no response within ${exportTimeoutMs / 1000} s`);
      };
      const response = await withTimeout(clock, send(request), exportTimeoutMs, late);
      await response.body?.cancel();
      if (response.ok) return true;
      throw new Error(`status ${response.status}`);
    } catch (error) {
      this.#logFailure(error);
      return false;
    } finally {
      abort.abort();
    }
  }

  #logFailure(error: unknown): void {
    const { clock, log } = this.#parts;
    if (clock.now() - this.#loggedAt < logIntervalMs) return;
    this.#loggedAt = clock.now();
    log.error('telemetry could not be exported', { cause: String(error), droppedSpans: this.dropped });
  }
}
