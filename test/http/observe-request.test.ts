import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { observeRequest } from '../../src/http/middleware/observe-request.ts';
import type { Telemetry } from '../../src/ports/telemetry.ts';

it('The span of a request has its route and status, and has failed from status 500', async () => {
  const seen: Record<string, unknown>[] = [];
  const telemetry = {
    during: async (_start: unknown, work: (span: unknown) => Promise<void>) => {
      const span: Record<string, unknown> = {};
      seen.push(span);
      await work({
        set: (name: string, value: unknown) => Object.assign(span, { [name]: value }),
        rename: (name: string) => Object.assign(span, { name }),
        fail: (reason: string) => Object.assign(span, { failed: reason }),
      });
    },
  } as unknown as Telemetry;
  const app = new Hono();
  app.use((c, next) => observeRequest(telemetry, c, 'req_1', next));
  app.get('/status/:status', (c) => new Response(null, { status: Number(c.req.param('status')) }));
  for (const status of [200, 499, 500, 503]) await app.request(`/status/${status}`);
  const span = (status: number) => ({
    name: 'GET /status/{status}',
    'http.route': '/status/{status}',
    'http.response.status_code': status,
  });
  expect(seen).toEqual([span(200), span(499), { ...span(500), failed: '500' }, { ...span(503), failed: '503' }]);
});
