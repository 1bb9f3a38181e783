/** Prevents DNS rebinding: rejects requests that reach a service on a loopback address under a foreign host name (`own-origin.ts`). */
import { createMiddleware } from 'hono/factory';
import { Problem, quoted } from '../../core/problem.ts';
import type { AppEnv } from '../context.ts';
import { isOwnHost } from '../own-origin.ts';

export const requireOwnHost = createMiddleware<AppEnv>(async (c, next) => {
  const host = c.req.header('host') ?? new URL(c.req.url).host;
  // Deliveries are signed, and arrive through tunnels under any name.
  if (!c.req.path.startsWith('/hooks/') && !isOwnHost(c.get('services').settings, host)) {
    throw new Problem(
      'forbidden',
      `Unknown host ${quoted(host)}. Use the address of this service, or set MONIKER_PUBLIC_URL to the URL under which users reach it.`,
    );
  }
  await next();
});
