/** A fake OpenTelemetry collector on loopback that decodes what it receives. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  failed: boolean;
};

export type OtlpCollector = {
  url: string;
  spans: ReceivedSpan[];
  /** Names of all metrics received. */
  metrics: Set<string>;
  /** All bodies, as sent. */
  raw: string[];
  headers: Record<string, unknown>[];
  close(): void;
};

type Value = { stringValue?: string; intValue?: string; boolValue?: boolean; doubleValue?: number; arrayValue?: { values: Value[] } };
type WireSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Value }[];
  status: { code?: number };
};

/** `respond` false: accepts connections and never responds. */
export async function startOtlpCollector({ respond = true } = {}): Promise<OtlpCollector> {
  const [spans, metrics, raw, headers]: [ReceivedSpan[], Set<string>, string[], Record<string, unknown>[]] = [[], new Set(), [], []];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      raw.push(text);
      headers.push(request.headers);
      const body = JSON.parse(text);
      if (request.url === '/v1/traces')
        for (const resource of body.resourceSpans)
          for (const scope of resource.scopeSpans)
            for (const { attributes, status, ...span } of scope.spans as WireSpan[])
              spans.push({ ...span, failed: status.code === 2, attributes: toRecord(attributes) });
      if (request.url === '/v1/metrics')
        for (const resource of body.resourceMetrics)
          for (const scope of resource.scopeMetrics) for (const { name } of scope.metrics) metrics.add(name);
      if (respond) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, metrics, raw, headers },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function toRecord(attributes: { key: string; value: Value }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]));
}

function toValue({ stringValue, intValue, boolValue, doubleValue, arrayValue }: Value): unknown {
  return stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? arrayValue?.values.map(toValue) : Number(intValue));
}
