/**
 * Defines and mounts a route as data: one description gives the OpenAPI operation, the access rule and the parsing of path, query and body,
 * so that they cannot differ. Handlers receive parsed values and the `Principal`.
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
import type { AppContext, AppEnv } from './middleware/request-context.ts';
import { readJsonBody } from './json-body.ts';
import { isEventStream, endWithKey } from './key-watch.ts';
import { authenticate } from './middleware/authenticate.ts';

const streamKeyAgeMs = 15_000;

/** The router, and its routes as data for the OpenAPI document. */
export type App = { readonly router: Hono<AppEnv>; readonly operations: RouteOperation[] };

/** A route as the OpenAPI document reads it, with erased types. */
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
  /** For example `/v1/toolsets/{toolset}`; `{path+}` matches the rest of the path, including slashes. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** One of them is sufficient. */
  scopes: readonly Scope[];
  /** The workspace-wide resource of the route, such as `Servers`: forbidden for keys that are bound to agents or toolsets. */
  workspace?: string;
  params?: Params;
  query?: Query;
  /** Request headers of the route: name → description. */
  headers?: Record<string, string>;
  /**
   * `documented`: the schema in the OpenAPI document, if `schema` (which is parsed) checks less. `also`: another content type.
   * `isOptional`: an absent body is the same as `{}`.
   */
  body?: { schema: Body; documented?: z.ZodType; maxBytes?: number; also?: string; isOptional?: true };
  /** A body that the handler reads itself: of any type, of `type`, or JSON with the schema `json`. */
  rawBody?: { description: string; type?: string; json?: z.ZodType };
  answers: Record<number, RouteAnswer>;
  /** Problems beyond those of every route with a key. */
  problems?: readonly ProblemCode[];
};

export type Request<Params, Query, Body> = {
  c: AppContext;
  services: Services;
  principal: Principal;
  params: Params;
  query: Query;
  body: Body;
  /** The body as received; empty if the route has none. */
  bytes: Uint8Array;
  /** The body as text. */
  text: string;
};

type Nothing = z.ZodObject<Record<string, never>>;

/**
 * Mounts a route that requires a key. Order: key, scope, bindings of the key, path, query, body: the body is not read for an unauthorized
 * key.
 */
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
      // Without a body schema `Body` is the empty object type; a cast, because the compiler cannot infer this.
      body: (spec.body ? parseDocument(spec.body.schema, body === undefined ? {} : body.value) : {}) as z.infer<Body>,
      bytes: body?.bytes ?? new Uint8Array(0),
      text: body?.text ?? '',
    });
    return principal.keyId === rootKeyId ? response : await whileKeyIsGood(c, spec.scopes, response, startedAt);
  });
}

/** A key may become invalid during a request: an event stream then ends, and a slow response is not sent. */
async function whileKeyIsGood(c: AppContext, scopes: readonly Scope[], response: Response, startedAt: number): Promise<Response> {
  const { clock, log } = c.get('services');
  const check = (): Promise<Principal> => authenticate(c, scopes, streamKeyAgeMs);
  if (clock.now() - startedAt >= limits.streamKeyCheckMs) {
    try {
      await check();
    } catch (error) {
      // The response may report an effect: a failing key check must not hide it.
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

/** Mounts a route without a key, whose handler reads path and body itself. The method is GET by default. */
export function mountPublic(app: App, spec: PublicRouteSpec, handle: (c: AppContext) => Response | Promise<Response>): void {
  const method = spec.method ?? 'get';
  app.operations.push({ ...spec, method, scopes: [] });
  app.router.on(method.toUpperCase(), honoPath(spec.path), handle);
}

/** Call after all routes: every known path reports its allowed methods. */
export function mountMethodFallbacks(app: App): void {
  const methods = new Map<string, string[]>();
  for (const { path, method } of app.router.routes) {
    if (method !== 'ALL') methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, taken] of methods) {
    const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    app.router.all(path, (c) => {
      if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow: allow.join(', ') } });
      throw new Problem('method_not_allowed', `This path supports ${allow.join(', ')}, not ${quoted(c.req.method)}.`, { allow });
    });
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\+\}/g, ':$1{[\\s\\S]+}').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** An invalid name in the path is `not_found`, unless the route creates the resource. */
function parseParams<Params extends z.ZodType>(spec: RouteSpec<Params, z.ZodType, z.ZodType>, c: AppContext): z.infer<Params> {
  if (spec.params === undefined) return {} as z.infer<Params>; // Without a schema `Params` is the empty object type.
  const given = c.req.param();
  const parsed = spec.params.safeParse(given);
  if (parsed.success) return parsed.data as z.infer<Params>;
  if (spec.method === 'put') throw invalidRequest(issuesOf(parsed.error.issues, given));
  const name = String(parsed.error.issues[0]?.path[0] ?? '');
  throw new Problem('not_found', `The ${name} ${quoted(given[name] ?? '')} does not exist.`);
}

const noQuery = z.strictObject({});

/** Each parameter may occur once; unknown ones are rejected, so that a misspelled `dryRun` does not run the request. */
function parseQuery<Query extends z.ZodType>(spec: RouteSpec<z.ZodType, Query, z.ZodType>, c: AppContext): z.infer<Query> {
  // Most requests have no query, so parsing is skipped.
  if (spec.query === undefined && !c.req.url.includes('?')) return {} as z.infer<Query>;
  const all = Object.entries(c.req.queries());
  const repeated = all.filter(([, values]) => values.length > 1);
  if (repeated.length > 0) throw invalidRequest(repeated.map(([path]) => ({ path, message: 'give this parameter once' })));
  return parseDocument(spec.query ?? noQuery, Object.fromEntries(all.map(([name, values]) => [name, values[0]]))) as z.infer<Query>;
}
