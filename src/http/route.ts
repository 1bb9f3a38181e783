/**
 * A route as data, and mounting it: one description gives the OpenAPI operation, the access rule and the parsing of path,
 * query and body, so that none can differ from another. Handlers get parsed values and the `Principal`.
 */
import type { Hono } from 'hono';
import { z } from 'zod';
import { requireAllowed } from '../core/authority.ts';
import { issuesOf, parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest, Problem, quoted } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { rootKeyId } from '../core/principal.ts';
import type { Principal, Scope } from '../core/principal.ts';
import type { Services } from '../wiring.ts';
import type { AppContext, AppEnv } from './context.ts';
import { readJsonBody } from './json-body.ts';
import { isEventStream, endWithKey } from './key-watch.ts';
import { authenticate } from './middleware/authenticate.ts';

const streamKeyAgeMs = 15_000;

/** What is being put together: the router, and the same routes as data for the OpenAPI document. */
export type App = { readonly router: Hono<AppEnv>; readonly operations: RouteOperation[] };

/** A route as the OpenAPI document reads it, whatever its types. */
export type RouteOperation = RouteSpec<z.ZodType, z.ZodType, z.ZodType>;

export type RouteAnswer = {
  description: string;
  schema?: z.ZodType;
  contentType?: string;
  /** Another content type that the same status may have, as text or bytes. */
  also?: string;
  headers?: Record<string, string>;
};

export type RouteSpec<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> = {
  method: 'get' | 'put' | 'post' | 'delete';
  /** `/v1/toolsets/{toolset}`; `{path+}` takes the rest of the path, slashes included. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** Any one of them is enough. */
  scopes: readonly Scope[];
  /** What of the whole workspace it is about, such as `Servers`: refused to a key that is bound to agents or toolsets. */
  workspace?: string;
  params?: Params;
  query?: Query;
  /** Request headers that mean something here: name → what. */
  headers?: Record<string, string>;
  /**
   * `documented`: what the OpenAPI document shows where `schema`, which is parsed, looks at less. `also`: another content type. `isOptional`:
   * none is the same as `{}`.
   */
  body?: { schema: Body; documented?: z.ZodType; maxBytes?: number; also?: string; isOptional?: true };
  /** A body that the handler reads itself: of any type, or of `type`, or JSON after `json`. */
  rawBody?: { description: string; type?: string; json?: z.ZodType };
  answers: Record<number, RouteAnswer>;
  /** Beyond what every keyed route may answer. */
  problems?: readonly ProblemCode[];
};

export type Request<Params, Query, Body> = {
  c: AppContext;
  services: Services;
  principal: Principal;
  params: Params;
  query: Query;
  body: Body;
  /** The body as it came; empty where the route takes none. */
  bytes: Uint8Array;
  /** The same as text. */
  text: string;
};

type Nothing = z.ZodObject<Record<string, never>>;

/** A route behind a key. Order: key, scope, bindings of the key, path, query, body: nothing of the body is read for a key without the right. */
export function mountRoute<Params extends z.ZodType = Nothing, Query extends z.ZodType = Nothing, Body extends z.ZodType = Nothing>(
  app: App,
  spec: RouteSpec<Params, Query, Body>,
  handle: (request: Request<z.infer<Params>, z.infer<Query>, z.infer<Body>>) => Response | Promise<Response>,
): void {
  app.operations.push(spec);
  app.router.on(spec.method.toUpperCase(), honoPath(spec.path), async (c) => {
    const principal = await authenticate(c, spec.scopes);
    c.set('keyId', principal.keyId);
    if (spec.workspace !== undefined) requireAllowed(principal, { act: 'use-workspace', what: spec.workspace });
    const services = c.get('services');
    const params = parseParams(spec, c);
    const query = parseQuery(spec, c);
    const isAbsent = spec.body?.isOptional === true && hasNoBody(c.req.raw);
    const body = spec.body && !isAbsent ? await readJsonBody(c.req.raw, spec.body.maxBytes ?? limits.maxBodyBytes) : undefined;
    const startedAt = services.clock.now();
    const response = await handle({
      c,
      services,
      principal,
      params,
      query,
      // Without a body schema `Body` is the empty object type; a cast, because the compiler cannot follow the absence.
      body: (spec.body ? parseDocument(spec.body.schema, body === undefined ? {} : body.value) : {}) as z.infer<Body>,
      bytes: body?.bytes ?? new Uint8Array(0),
      text: body?.text ?? '',
    });
    return principal.keyId === rootKeyId ? response : await whileKeyIsGood(c, spec.scopes, response, startedAt);
  });
}

/** A key may end while its request is answered: an event stream ends with it, and an answer that took long is not given any more. */
async function whileKeyIsGood(c: AppContext, scopes: readonly Scope[], response: Response, startedAt: number): Promise<Response> {
  const { clock, log } = c.get('services');
  const check = (): Promise<Principal> => authenticate(c, scopes, streamKeyAgeMs);
  if (clock.now() - startedAt >= limits.streamKeyCheckMs) {
    try {
      await check();
    } catch (error) {
      // The answer may be of an effect: that the key cannot be checked now must not hide it.
      if (!(error instanceof Problem) || error.status >= 500) log.error('a key could not be checked again', { cause: String(error) });
      else {
        await response.body?.cancel();
        throw error;
      }
    }
  }
  if (response.body === null || !isEventStream(response)) return response;
  return new Response(endWithKey(response.body, { clock, log, path: c.req.path, check }), response);
}

function hasNoBody({ body, headers }: globalThis.Request): boolean {
  return body === null || headers.get('content-length') === '0';
}

export type PublicRouteSpec = Pick<
  RouteOperation,
  'path' | 'operationId' | 'tag' | 'summary' | 'description' | 'params' | 'body' | 'rawBody' | 'answers' | 'problems'
> & {
  method?: 'get' | 'post';
};

/** One that needs no key: what it takes of path and body is the handler's own affair. A GET unless it says otherwise. */
export function mountPublic(app: App, spec: PublicRouteSpec, handle: (c: AppContext) => Response | Promise<Response>): void {
  const method = spec.method ?? 'get';
  app.operations.push({ ...spec, method, scopes: [] });
  app.router.on(method.toUpperCase(), honoPath(spec.path), handle);
}

/** After all routes: every known path says which methods it takes. */
export function mountMethodFallbacks(app: App): void {
  const methods = new Map<string, string[]>();
  for (const { path, method } of app.router.routes) {
    if (method !== 'ALL') methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, taken] of methods) {
    const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    app.router.all(path, (c) => {
      if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow: allow.join(', ') } });
      throw new Problem('method_not_allowed', `This path takes ${allow.join(', ')}, not ${quoted(c.req.method)}.`, { allow });
    });
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\+\}/g, ':$1{[\\s\\S]+}').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** A name that cannot exist is not found; only where it would be created does its form matter. */
function parseParams<Params extends z.ZodType>(spec: RouteSpec<Params, z.ZodType, z.ZodType>, c: AppContext): z.infer<Params> {
  if (spec.params === undefined) return {} as z.infer<Params>; // Without a schema `Params` is the empty object type.
  const given = c.req.param();
  const parsed = spec.params.safeParse(given);
  if (parsed.success) return parsed.data as z.infer<Params>;
  if (spec.method === 'put') throw invalidRequest(issuesOf(parsed.error.issues, given));
  const name = String(parsed.error.issues[0]?.path[0] ?? '');
  throw new Problem('not_found', `There is no ${name} ${quoted(given[name] ?? '')}.`);
}

const noQuery = z.strictObject({});

/** Each parameter once; unknown ones are refused, so that a misspelt `dryRun` does not run. */
function parseQuery<Query extends z.ZodType>(spec: RouteSpec<z.ZodType, Query, z.ZodType>, c: AppContext): z.infer<Query> {
  // Most requests have none: then nothing is left to be taken apart.
  if (spec.query === undefined && !c.req.url.includes('?')) return {} as z.infer<Query>;
  const all = Object.entries(c.req.queries());
  const repeated = all.filter(([, values]) => values.length > 1);
  if (repeated.length > 0) throw invalidRequest(repeated.map(([path]) => ({ path, message: 'give this parameter once' })));
  return parseDocument(spec.query ?? noQuery, Object.fromEntries(all.map(([name, values]) => [name, values[0]]))) as z.infer<Query>;
}
