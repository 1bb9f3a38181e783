/**
 * `/metrics` for Prometheus, on this machine only: on Cloudflare each isolate would report numbers of its own. It needs an administrator's key
 * although the service listens on loopback, since every local process could otherwise read which agents, models and tools are used.
 */
import type { HostReport } from '../../../core/host-report.ts';
import { Problem } from '../../../core/problem.ts';
import { toGauges } from '../../../core/telemetry/prometheus.ts';
import { defineRoute } from '../../route.ts';

/** The machine, as the launcher reported it last. */
function hostGauges(report: HostReport | null): string {
  const known = (values: Record<string, number | null | undefined>) =>
    new Map(Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
  return toGauges({
    moniker_disk_bytes: {
      ...{ description: 'The disk of the data folder.', label: 'kind' },
      values: known({ free: report?.disk.freeBytes, total: report?.disk.totalBytes }),
    },
    moniker_open_files: {
      ...{ description: 'Open files and connections of the runtime, and how many it may have.', label: 'kind' },
      values: known({ open: report?.files?.open, limit: report?.files?.limit }),
    },
    moniker_storage_refused: {
      ...{ description: '1 while nothing can be stored, by reason.', label: 'reason' },
      values: known(report === null || report.disk.fault === null ? {} : { [report.disk.fault]: 1 }),
    },
  });
}

export const metricsRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      tag: 'Service',
      summary: 'Metrics for Prometheus',
      description:
        'Requests, durations, tokens, tool calls by verdict, and work in progress, since the start. Requires `MONIKER_METRICS=on` and a service that was started with `npm start`; deployed services export metrics over OTLP.',
      scopes: ['admin'],
      workspace: 'Metrics',
      answers: { 200: { description: 'The text format of Prometheus, version 0.0.4.', contentType: 'text/plain' } },
      problems: ['not_found'],
    },
    ({ services }) => {
      const text = services.telemetry?.prometheus() ?? null;
      if (text === null) throw new Problem('not_found', 'Metrics are off. Start the service with `npm start` and MONIKER_METRICS=on.');
      return new Response(text + hostGauges(services.host.last()), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      });
    },
  ),
];
