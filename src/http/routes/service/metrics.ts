/**
 * `/metrics` for Prometheus, on this machine only: on Cloudflare each isolate would report numbers of its own. It needs an administrator's key
 * although the service listens on loopback, since every local process could otherwise read which agents, models and tools are used.
 */
import { Problem } from '../../../core/problem.ts';
import { defineRoute } from '../../route.ts';

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
      return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
    },
  ),
];
