/** Rejects a request that this installation sent itself, before it can cause the next one. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';

export const refuseLoops = createMiddleware<AppEnv>(async (c, next) => {
  await c.get('services').refuseLoop(c.req.raw.headers);
  await next();
});
