/** Refuses DNS rebinding: requests that reach a service on a loopback address by a name that is not its own (`own-origin.ts`). */
import { createMiddleware } from 'hono/factory';
import { Problem, quoted } from '../../core/problem.ts';
import type { AppEnv } from '../context.ts';
import { isOwnHost } from '../own-origin.ts';

export const requireOwnHost = createMiddleware<AppEnv>(async (c, next) => {
  const host = c.req.header('host') ?? new URL(c.req.url).host;
  // Deliveries are signed, and come through tunnels under any name.
  if (!c.req.path.startsWith('/hooks/') && !isOwnHost(c.get('services').settings, host)) {
    throw new Problem(
      'forbidden',
      `This service is not called ${quoted(host)}. Use its own address, or set MONIKER_PUBLIC_URL to the address under which people reach it.`,
    );
  }
  await next();
});
