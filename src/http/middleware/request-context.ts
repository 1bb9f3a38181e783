/**
 * First of all middleware: builds the request's services, gives it an id, and puts on every answer what every answer has.
 * A caller's own `x-request-id` is kept when it is plain, so that one id can follow a request through several services.
 */
import { createMiddleware } from 'hono/factory';
import type { ExecutionContext } from 'hono';
import type { Services } from '../../wiring.ts';
import type { AppContext, AppEnv } from '../context.ts';

const plainId = /^[A-Za-z0-9._-]{1,64}$/;

export function requestContext(services: (env: never, context: never) => Services) {
  return createMiddleware<AppEnv>(async (c, next) => {
    // The entry and `services` agree on both types; between them this file is indifferent to what they hold.
    const built = services(c.env as never, executionContext(c) as never);
    const given = c.req.header('x-request-id');
    const requestId = given !== undefined && plainId.test(given) ? given : built.ids.next('req');
    c.set('services', built);
    c.set('requestId', requestId);
    await next();
    setHeaders(c, [
      ['x-request-id', requestId],
      ['x-content-type-options', 'nosniff'],
      ['cache-control', cacheControl(c)],
    ]);
  });
}

/** What was asked for with a key is private, so no cache stores it. Routes of public files set their `cache-control` themselves. */
function cacheControl(c: AppContext): string {
  const own = c.res.headers.get('cache-control');
  if (own !== null && (c.get('keyId') === undefined || own.startsWith('no-store'))) return own;
  return 'no-store';
}

/** Sets headers on the answer; one that came from `fetch` is immutable and is wrapped once, its body passed on untouched. */
export function setHeaders(c: AppContext, headers: readonly (readonly [name: string, value: string])[]): void {
  try {
    for (const [name, value] of headers) c.res.headers.set(name, value);
  } catch {
    // Immutable: there is no other way to ask.
    const answer = new Response(c.res.body, c.res);
    for (const [name, value] of headers) answer.headers.set(name, value);
    c.res = undefined;
    c.res = answer;
  }
}

/** Tests call the app without one; Hono throws then. */
function executionContext(c: AppContext): ExecutionContext | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}
