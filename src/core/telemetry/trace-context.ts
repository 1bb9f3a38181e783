/** The identity of a span in a trace, as W3C Trace Context transports it (Level 1): `traceparent` and `tracestate`. */

export type TraceContext = {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  sampled: boolean;
  /** The `tracestate` of the caller, which is passed on unchanged; '' if there is none. */
  state: string;
};

/** A trace context as headers, as members of MCP's `_meta`, and in stored plans. */
export type TraceCarrier = { readonly traceparent: string; readonly tracestate?: string };

const maxTraceparentLength = 128;
/** Vendors should pass on at least this much. */
const maxTracestateLength = 512;
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Returns null for an absent or invalid `traceparent`: then a new trace starts. An invalid `tracestate` is dropped. */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > maxTraceparentLength) return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const isState = typeof tracestate === 'string' && tracestate.length <= maxTracestateLength && /^[\x20-\x7e]*$/.test(tracestate);
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1, state: isState ? tracestate : '' };
}

export function toCarrier({ traceId, spanId, sampled, state }: TraceContext): TraceCarrier {
  return { traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`, ...(state !== '' && { tracestate: state }) };
}

/** Decides for a new trace by its id, so that all services with this ratio decide alike. `ratio`: 0 to 1. */
export function isTraceSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52;
}
