/** The settings of telemetry, under the standard names of OpenTelemetry where there is one. */

export type TelemetrySettings = {
  /** Without a trailing slash and without `/v1/traces`; null: nothing is exported. */
  endpoint: string | null;
  headers: readonly (readonly [name: string, value: string])[];
  serviceName: string;
  /** The part of new traces that is recorded, 0 to 1. */
  ratio: number;
  /** How long finished spans are collected before they are sent. */
  delayMs: number;
  /** Whether prompts, arguments and results are recorded. */
  content: boolean;
  /** Whether `/metrics` responds; only on this machine. */
  metrics: boolean;
};

const defaultDelayMs = 5_000;
export const maxDelayMs = 20_000;

/** Returns null if telemetry is off, as without settings. `text`: reads a setting. An invalid endpoint is returned unchanged. */
export function readTelemetrySettings(text: (name: string) => string | null): TelemetrySettings | null {
  const isOn = (name: string): boolean => /^(?:true|on|1)$/i.test(text(name) ?? '');
  const endpoint = isOn('OTEL_SDK_DISABLED') ? null : text('OTEL_EXPORTER_OTLP_ENDPOINT');
  const metrics = isOn('MONIKER_METRICS') && text('MONIKER_LOCAL_URL') !== null;
  if (endpoint === null && !metrics) return null;
  return {
    endpoint: endpoint?.replace(/\/+$/, '') ?? null,
    headers: readHeaders(text('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
    serviceName: text('OTEL_SERVICE_NAME') ?? 'moniker',
    ratio: numberOf(text('OTEL_TRACES_SAMPLER_ARG'), 1, 1),
    delayMs: numberOf(text('OTEL_BSP_SCHEDULE_DELAY'), defaultDelayMs, maxDelayMs),
    content: isOn('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'),
    metrics,
  };
}

/** `name=value` pairs, separated by commas; values may be percent-encoded. */
function readHeaders(list: string): [string, string][] {
  return list.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at < 1 || !/^[\w-]+$/.test(name)) return [];
    return [[name, decoded(pair.slice(at + 1).trim())]];
  });
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Not encoded.
    return value;
  }
}

function numberOf(given: string | null, fallback: number, max: number): number {
  const value = given === null ? Number.NaN : Number(given);
  return value >= 0 && value <= max ? value : fallback;
}
