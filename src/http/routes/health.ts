/** `/healthz`: the Worker runs. It uses neither storage nor models, so it works whatever else fails. */
import { z } from 'zod';
import { mountPublic } from '../route.ts';
import type { App } from '../route.ts';
import { version } from '../../core/version.ts';

const Health = z.object({ status: z.literal('ok'), version: z.string() }).meta({ id: 'Health', example: { status: 'ok', version } });

export function mountHealth(app: App): void {
  mountPublic(
    app,
    {
      path: '/healthz',
      operationId: 'getHealth',
      tag: 'Service',
      summary: 'Check that the service is running',
      answers: { 200: { description: 'The service is running.', schema: Health } },
    },
    (c) => c.json({ status: 'ok', version }),
  );
}
