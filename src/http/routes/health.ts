/** `/healthz`: the Worker runs. It asks nothing of storage or models, so it answers whatever else is broken. */
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
      summary: 'Whether the service runs',
      answers: { 200: { description: 'It does.', schema: Health } },
    },
    (c) => c.json({ status: 'ok', version }),
  );
}
