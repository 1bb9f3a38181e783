/**
 * Allows pages of the operator's listed origins to read responses: exact match, no wildcard, never with credentials. Other origins get no
 * CORS header, so the browser blocks them. `own-origin.ts` decides which origins may call `/mcp`.
 */
import { createMiddleware } from 'hono/factory';
import type { Next } from 'hono';
import { type AppContext, type AppEnv, setHeaders } from './request-context.ts';
import { isMcpPath } from '../problems.ts';
import { mayCallMcp } from '../own-origin.ts';

const exposedHeaders =
  'etag, location, mcp-protocol-version, mcp-session-id, ratelimit, ratelimit-policy, request-id, retry-after, retry-after-ms, www-authenticate, x-moniker-api, x-moniker-cache, x-moniker-completion, x-moniker-dropped, x-moniker-edition, x-moniker-recovered, x-moniker-replaced-tools, x-moniker-session, x-moniker-still-named, x-moniker-target, x-request-id, x-should-retry';
const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Seconds for which a browser may cache a preflight response. */
const preflightMaxAge = '600';

/** OAuth clients in browsers call these from any page. They read no cookie, and what they return is for the caller alone. */
const publicPaths = /^\/(?:\.well-known\/(?:oauth-|openid-configuration)|oauth\/(?:token|register|revoke|jwks\.json)$)/;

export const cors = createMiddleware<AppEnv>(async (c, next) => {
  if (publicPaths.test(c.req.path)) return await forEveryPage(c, next);
  const { settings } = c.get('services');
  const origin = c.req.header('origin');
  const isMcp = isMcpPath(c.req.path);
  // Hooks are for servers: pages must not call them or read their responses.
  if ((settings.allowedOrigins.length === 0 && !isMcp) || c.req.path.startsWith('/hooks/')) return await next();
  const allowed = origin !== undefined && (settings.allowedOrigins.includes(origin) || (isMcp && mayCallMcp(settings, origin)));
  if (allowed && c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined) {
    return new Response(null, { status: 204, headers: preflightHeaders(origin, c.req.header('access-control-request-headers')) });
  }
  await next();
  setHeaders(c, [
    ['vary', varyByOrigin(c.res.headers.get('vary'))],
    ...(allowed
      ? ([
          ['access-control-allow-origin', origin],
          ['access-control-expose-headers', exposedHeaders],
        ] as const)
      : []),
  ]);
  return undefined;
});

async function forEveryPage(c: AppContext, next: Next): Promise<Response | undefined> {
  const isPreflight = c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined;
  if (isPreflight)
    return new Response(null, { status: 204, headers: preflightHeaders('*', c.req.header('access-control-request-headers')) });
  await next();
  setHeaders(c, [['access-control-allow-origin', '*']]);
  return undefined;
}

/** Adds `origin` to what the response already varies by. */
function varyByOrigin(own: string | null): string {
  if (own === null) return 'origin';
  const names = own.split(',').map((name) => name.trim().toLowerCase());
  return names.includes('origin') || names.includes('*') ? own : `${own}, origin`;
}

/** Any well-formed header is allowed: keys are sent in headers, so a list of names would protect nothing. */
function preflightHeaders(origin: string, requested: string | undefined): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': allowedMethods,
    ...(requested !== undefined && /^[A-Za-z0-9-]+(, ?[A-Za-z0-9-]+)*$/.test(requested) && { 'access-control-allow-headers': requested }),
    'access-control-max-age': preflightMaxAge,
    vary: 'origin, access-control-request-headers',
  };
}
