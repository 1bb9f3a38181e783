/** Traces and metrics. Absent everywhere when telemetry is off, so that it costs nothing then. */
import type { Attributes, AttributeValue, SpanKind } from '../core/telemetry/span.ts';
import type { TraceCarrier, TraceContext } from '../core/telemetry/trace-context.ts';

export type SpanStart = {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  /** Absent: the current span, else a new trace. */
  parent?: TraceContext | null;
};

export interface OpenSpan {
  readonly context: TraceContext;
  /** Sets an attribute; undefined sets nothing. */
  set(name: string, value: AttributeValue | undefined): void;
  /** Sets an attribute with content, if content is recorded. `value` is only called then. */
  setContent(name: string, value: () => unknown): void;
  rename(name: string): void;
  /** Returns the time since the start. */
  elapsedMs(): number;
  /** Marks the operation as failed. `type`: a code or a class name, never a message. */
  fail(type: string): void;
  /** Ends the span once; later calls do nothing. */
  end(): void;
}

export interface Telemetry {
  /** Starts a span that the caller ends. */
  start(span: SpanStart): OpenSpan;
  /** Runs `work` with the span as the current one. */
  within<Result>(span: OpenSpan, work: () => Result): Result;
  /** Runs `work` in a new span, which ends with it; an error marks it as failed and is thrown again. */
  during<Result>(span: SpanStart, work: (span: OpenSpan) => Promise<Result>): Promise<Result>;
  /** Returns the current span for a request to another service; null outside of spans. */
  carrier(): TraceCarrier | null;
  /** Returns the metrics in the text format of Prometheus; null if they are not collected for it. */
  prometheus(): string | null;
}

export type WithTelemetry = { telemetry?: Telemetry | null };
