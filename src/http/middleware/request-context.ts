/**
 * The first middleware: builds the request's services, assigns its id, and sets the headers of every response. A caller's own
 * `x-request-id` is kept if it is plain text, so that one id can follow a request through several services.
 */
import { createMiddleware } from 'hono/factory';
import type { ExecutionContext, Context } from 'hono';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import { dialectAt } from '../problems.ts';
import type { Place } from '../../engine/fair-pool.ts';
import type { HttpServices } from '../services.ts';
import { observeRequest } from './observe-request.ts';

const plainId = /^[A-Za-z0-9._-]{1,64}$/;

/** `dispatch`: answers a request as if it had come from outside, for connections that carry many. */
export function requestContext(services: (env: never, context: never) => HttpServices, dispatch: Dispatch) {
  return createMiddleware<AppEnv>(async (c, next) => {
    // The entry and `services` agree on both types; this file is independent of them.
    const built = services(c.env as never, executionContext(c) as never);
    const given = c.req.header('x-request-id');
    const requestId = given !== undefined && plainId.test(given) ? given : built.ids.next('req');
    c.set('services', built);
    c.set('requestId', requestId);
    c.set('dispatch', async (request) => await dispatch(request, c.env, executionContext(c)));
    try {
      if (built.telemetry == null) await next();
      else await observeRequest(built.telemetry, c, requestId, next);
    } finally {
      for (const place of Object.values(c.get('held') ?? {})) place?.release();
    }
    setHeaders(c, [
      ['x-request-id', requestId],
      // RFC 9110 §6.6.1. Cloudflare sets it, too; workerd alone does not.
      ['date', new Date(built.clock.now()).toUTCString()],
      ['x-content-type-options', 'nosniff'],
      ['cache-control', cacheControl(c)],
      ...limitHeaders(c),
      // The name under which Anthropic's stock client reads it.
      ...(dialectAt(c.req.path) === 'anthropic-messages' ? ([['request-id', requestId]] as const) : []),
    ]);
  });
}

/** Responses to authenticated requests are private, so no cache stores them. Routes of public files set their own `cache-control`. */
function cacheControl(c: AppContext): string {
  const own = c.res.headers.get('cache-control');
  if (own !== null && (c.get('keyId') === undefined || own.startsWith('no-store'))) return own;
  return 'no-store';
}

/** The headers of draft-ietf-httpapi-ratelimit-headers (revision 10), for limits with whole numbers. */
function limitHeaders(c: AppContext): [name: string, value: string][] {
  const limited = c.get('limited');
  if (limited === undefined) return [];
  const rates = c
    .get('services')
    .limiter.status(c.get('principal').workspace, limited)
    .filter(({ limit }) => limit === 'requestsPerMinute' || limit === 'tokensPerMinute')
    .map(({ of, limit, ...rest }) => ({ ...rest, policy: `"${of}-${limit}"`, unit: limit === 'tokensPerMinute' ? ';qu="tokens"' : '' }));
  if (rates.length === 0) return [];
  return [
    ['ratelimit-policy', rates.map(({ policy, max, unit }) => `${policy};q=${max};w=60${unit}`).join(', ')],
    [
      'ratelimit',
      rates
        .map(({ policy, remaining, resetsInMs }) => `${policy};r=${Math.floor(remaining)};t=${Math.ceil(resetsInMs / 1_000)}`)
        .join(', '),
    ],
  ];
}

/** Sets headers on the response. A response from `fetch` is immutable and is wrapped once; its body is passed on unchanged. */
export function setHeaders(c: AppContext, headers: readonly (readonly [name: string, value: string])[]): void {
  try {
    for (const [name, value] of headers) c.res.headers.set(name, value);
  } catch {
    // Immutable: it can only be detected by trying.
    const answer = new Response(c.res.body, c.res);
    for (const [name, value] of headers) answer.headers.set(name, value);
    c.res = undefined;
    c.res = answer;
  }
}

/** Tests call the app without one; Hono then throws. */
function executionContext(c: AppContext): ExecutionContext | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}

/**
 * `mount-routes.ts` sets what routes with a key have: `keyId` and `principal` of the caller.
 * `places.ts` sets `held`: what is released when the response begins. `request`: its place among the requests in progress.
 */
export type AppEnv = {
  Bindings: object;
  Variables: {
    services: HttpServices;
    requestId: string;
    dispatch(request: Request): Promise<Response>;
    keyId?: string;
    principal: Principal;
    limited?: readonly LimitedHolder[];
    held?: HeldPlaces;
  };
};
type Dispatch = (request: Request, env: object, context: ExecutionContext | undefined) => Response | Promise<Response>;
export type HeldPlaces = { request?: Place | undefined; stream?: Place | undefined; body?: Place | undefined };
export type AppContext = Context<AppEnv>;
