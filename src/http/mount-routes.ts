/** Puts routes on a router of `@hono/zod-openapi`, with our key check before its validators, and our problems for what they refuse. */
import { createRoute, OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { requireAllowed } from '../core/authority.ts';
import { issuesOf } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import type { Principal } from '../core/principal.ts';
import { invalidRequest, Problem, quoted } from '../core/problem.ts';
import { limitedHolders } from '../core/usage-limits.ts';
import type { AppContext, AppEnv } from './middleware/request-context.ts';
import type { JsonBody } from './json-body.ts';
import { unlessKeyEnded } from './key-watch.ts';
import { authenticate } from './middleware/authenticate.ts';
import { enterRequest } from './places.ts';
import { readJson } from './request-body.ts';
import { largeResponseBytes, sentInPlace } from './sent-body.ts';
import { type AnswerFunction, type Answered, isSchema, type Route, type RouteSpec } from './route.ts';

/** Mounts all routes, and for each of their paths a response to the methods that it does not support. */
export function mountRoutes(router: Hono<AppEnv>, routes: readonly Route[]): void {
  const mounted = new OpenAPIHono<AppEnv>();
  for (const route of routes) mountRoute(mounted, route);
  mountMethodFallbacks(mounted);
  router.route('/', mounted);
}

function mountRoute(router: OpenAPIHono<AppEnv>, { spec, handle }: Route): void {
  if (spec.scopes.length === 0) {
    router.on(spec.method.toUpperCase(), honoPath(spec.path), (c) =>
      handle({ ...noInput, c, services: c.get('services'), answer: answerOf(c) }),
    );
    return;
  }
  const route = validatedRoute(spec, honoPath(spec.path));
  const isValidated = Object.keys(route.request ?? {}).length > 0;
  const admission = createMiddleware<AppEnv>(async (c, next) => {
    await admit(spec, c);
    await next();
  });
  router.openapi(
    // Hidden: the document shows `documentedRoute`, which may describe a body in more detail than is validated here.
    { ...createRoute(route), hide: true, middleware: isValidated ? [admission] : [] },
    async (c) => {
      // Chat requests have no validator: one step less between them and their handler.
      if (!isValidated) await admit(spec, c);
      const [services, principal] = [c.get('services'), c.get('principal')];
      const body = c.get('body');
      const startedAt = services.clock.now();
      const response = await handle({
        c,
        services,
        principal,
        params: spec.params === undefined ? {} : validated(c, 'param'),
        query: isSchema(spec.query) ? validated(c, 'query') : {},
        body: spec.body?.schema === undefined ? ((body?.value ?? {}) as object) : validated(c, 'json'),
        bytes: body?.bytes ?? new Uint8Array(0),
        text: body?.text ?? '',
        answer: answerOf(c),
      });
      return await unlessKeyEnded(c, spec.scopes, response, startedAt);
    },
    (result, c) => {
      if (!result.success) refuse(spec, result, c);
    },
  );
}

/** `path`: in the syntax of the router. Handlers of a `rawBody` validate it themselves. */
function validatedRoute({ method, params, query, body }: RouteSpec, path: string): RouteConfig {
  const content = body?.schema && { 'application/json': { schema: boundedIssues(body.schema) } };
  const config = {
    method,
    path,
    request: {
      ...(params && { params: boundedIssues(params) }),
      ...(isSchema(query) && { query: boundedIssues(query) }),
      // An absent body is validated as `{}`, for its defaults.
      ...(content && { body: { required: true, content } }),
    },
    responses: {},
  };
  // The library's type requires an object schema for parameters; its validators call any schema.
  return config as unknown as RouteConfig;
}

/**
 * The schema, with one issue if a value has too many: zod passes issues as arguments of one call, and the stack holds about a hundred
 * thousand arguments.
 */
function boundedIssues<Schema extends z.ZodType>(schema: Schema): Schema {
  const safeParseAsync = async (value: unknown) => {
    try {
      return schema.safeParse(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return {
        success: false,
        error: new z.ZodError([{ code: 'custom', path: [], message: 'has too many errors to list', input: value }]),
      };
    }
  };
  return Object.assign(Object.create(schema) as Schema, { safeParseAsync });
}

const noInput = { principal: null as never, params: {}, query: {}, body: {}, bytes: new Uint8Array(0), text: '' };

function answerOf(c: AppContext): AnswerFunction<RouteSpec> {
  // Only this function makes `Answered`. The types of `defineRoute` check status, body and headers.
  return (status, body: unknown, headers) => {
    const code = status as ContentfulStatusCode;
    if (body === null) return c.body(null, code, headers) as unknown as Answered;
    const text = JSON.stringify(body);
    const sent = text.length < largeResponseBytes ? text : largeBody(c, text);
    return c.body(sent, code, { 'content-type': 'application/json', ...headers }) as unknown as Answered;
  };
}

/** Its effect cannot be refused any more, but while it is being sent, further bodies of the key find less memory. */
function largeBody(c: AppContext, text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const principal: Principal | undefined = c.get('principal');
  const { bodies } = c.get('services').pools;
  return sentInPlace(bytes, bodies.takeAnyway(principal ?? noOwner, bytes.byteLength));
}

/** Of responses without a key, none of which is large. */
const noOwner = { workspace: '', keyId: '' };

/** The value that the validator of the library has parsed. */
function validated(c: AppContext, target: 'param' | 'query' | 'json'): object {
  return (c.req as unknown as { valid(target: string): object }).valid(target);
}

/**
 * Before the validators: the key and its rights, and what they do not see: repeated and unexpected query parameters. Reads the JSON body,
 * once, within its limits.
 */
async function admit({ scopes, workspace, rootOnly, query, body }: RouteSpec, c: AppContext): Promise<void> {
  const principal = await authenticate(c, scopes);
  c.set('keyId', principal.keyId);
  c.set('principal', principal);
  enterRequest(c, principal);
  if (principal.limits !== undefined) await countRequest(c, principal);
  if (workspace !== undefined) requireAllowed(principal, { act: 'use-workspace', what: workspace });
  if (rootOnly === true) requireAllowed(principal, { act: 'manage-workspaces', keyId: principal.keyId });
  if (c.req.url.includes('?')) checkQuery(c, query === undefined);
  if (body !== undefined) {
    const isAbsent = body.isOptional === true && hasNoBody(c.req.raw);
    const received: JsonBody | undefined = isAbsent ? undefined : await readJson(c, body.maxBytes ?? limits.maxBodyBytes, body.also);
    c.set('body', received);
    // The library's JSON validator asks the request for its JSON: it gets the value that was parsed within our limits.
    c.req.json = () => Promise.resolve(received === undefined ? {} : received.value) as Promise<never>;
  }
}

async function countRequest(c: AppContext, principal: Principal): Promise<void> {
  const holders = limitedHolders(principal);
  c.set('limited', holders);
  await c.get('services').limiter.countRequest(principal.workspace, holders);
}

/** Each parameter may occur once; unknown ones are rejected, so that a misspelled `dryRun` does not run the request. */
function checkQuery(c: AppContext, acceptsNone: boolean): void {
  const all = Object.entries(c.req.queries());
  const repeated = all.filter(([, values]) => values.length > 1).map(([path]) => ({ path, message: 'give this parameter once' }));
  if (repeated.length > 0) throw invalidRequest(repeated);
  if (acceptsNone && all.length > 0) throw invalidRequest(all.map(([path]) => ({ path, message: 'unknown field' })));
}

type Refused = { target: string; error: z.ZodError; data?: unknown };

/** Reports invalid input as our problem. An invalid name in the path is `not_found`, unless the route creates the resource. */
function refuse({ method }: RouteSpec, { target, error, data }: Refused, c: AppContext): never {
  const given: Record<string, unknown> = target === 'param' ? c.req.param() : (data as Record<string, unknown>);
  if (target !== 'param' || method === 'put') throw invalidRequest(issuesOf(error.issues, given));
  const name = String(error.issues[0]?.path[0] ?? '');
  throw new Problem('not_found', `The ${name} ${quoted(String(given[name] ?? ''))} does not exist.`);
}

function hasNoBody({ body, headers }: Request): boolean {
  return body === null || headers.get('content-length') === '0';
}

/** Every path of a route reports its allowed methods. */
function mountMethodFallbacks(router: OpenAPIHono<AppEnv>): void {
  const methods = Map.groupBy(
    router.routes.filter(({ method }) => method !== 'ALL'),
    ({ path }) => path,
  );
  for (const [path, routes] of methods) {
    const taken = [...new Set(routes.map(({ method }) => method))];
    const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    router.all(path, (c) => {
      if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow: allow.join(', ') } });
      throw new Problem('method_not_allowed', `This path supports ${allow.join(', ')}, not ${quoted(c.req.method)}.`, { allow });
    });
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\+\}/g, ':$1{[\\s\\S]+}').replaceAll(/\{(\w+)\}/g, ':$1');
}
