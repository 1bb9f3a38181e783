/** A request that this installation sent itself is ended here, before it can send the next one. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';

export const refuseLoops = createMiddleware<AppEnv>(async (c, next) => {
  await c.get('services').refuseLoop(c.req.raw.headers);
  await next();
});
