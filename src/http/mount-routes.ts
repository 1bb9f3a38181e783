/** Puts routes on the router: admission by key and rights, then query, path and body by their schemas, then the handler. */
import type { Hono } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import { requireAllowed } from '../core/people/authority.ts';
import { limits } from '../core/limits/limits.ts';
import { type Principal, rootKeyId } from '../core/people/principal.ts';
import { invalidRequest, Problem, quoted, parseInput, parsePart } from '../core/problem.ts';
import { limitedHolders } from '../core/usage-limits.ts';
import type { AppContext, AppEnv } from './middleware/request-context.ts';
import type { JsonBody } from './json-body.ts';
import { unlessKeyEnded } from './key-watch.ts';
import { authenticate } from './middleware/authenticate.ts';
import { enterRequest } from './places.ts';
import { readJson } from './request-body.ts';
import { largeResponseBytes, bodyHoldingPlace } from './sent-body.ts';
import { type AnswerFunction, type Answered, jsonBodyOf, isSchema, type Route, type RouteSpec } from './route.ts';

/** Mounts all routes, and for each of their paths a response to the methods that it does not support. */
export function mountRoutes(router: Hono<AppEnv>, routes: readonly Route[]): void {
  for (const route of routes) {
    const respond = route.spec.scopes.length === 0 ? respondPublic : respondToKey;
    const { method, path, alsoAt } = route.spec;
    for (const at of alsoAt === undefined ? [path] : [path, alsoAt])
      router.on(method.toUpperCase(), honoPath(at), (c) => c.get('services').host.orEnd(respond(route, c)));
  }
  mountMethodFallbacks(router, routes);
}

/** The handler reads path, query and body itself. */
async function respondPublic({ spec, handle }: Route, c: AppContext): Promise<Response> {
  await requireHost(spec, c);
  const [services, principal] = [c.get('services'), c.get('principal')];
  return await handle({ c, services, principal, params: {}, query: {}, body: {}, bytes: noBytes, text: '', answer: answerOf(c) });
}

const noBytes = new Uint8Array(0);

async function respondToKey({ spec, handle }: Route, c: AppContext): Promise<Response> {
  await admit(spec, c);
  await requireHost(spec, c);
  const query = parseQuery(spec, c);
  const params = parseParams(spec, c);
  const received = await receiveBody(spec, c);
  const schema = jsonBodyOf(spec)?.schema;
  // An absent body is validated as `{}`, for its defaults.
  const value = received === undefined ? {} : received.value;
  const [services, principal] = [c.get('services'), c.get('principal')];
  const startedAt = services.clock.now();
  const response = await handle({
    c,
    services,
    principal,
    params,
    query,
    body: schema === undefined ? value : parseInput(schema, value),
    bytes: received?.bytes ?? noBytes,
    text: received?.text ?? '',
    answer: answerOf(c),
  });
  return await unlessKeyEnded(c, spec.scopes, response, startedAt);
}

function answerOf(c: AppContext): AnswerFunction<RouteSpec> {
  return (status, body: unknown, headers) => {
    const text = body === null ? null : JSON.stringify(body);
    const sent = text === null || text.length < largeResponseBytes ? text : largeBody(c, text);
    const type: Record<string, string> = text === null ? {} : { 'content-type': 'application/json' };
    const response = c.newResponse(sent, status as StatusCode, { ...type, ...headers });
    // Only this function makes `Answered`. The types of `defineRoute` check status, body and headers.
    return response as Answered;
  };
}

/** Its effect cannot be refused any more, but while it is being sent, further bodies of the key find less memory. */
function largeBody(c: AppContext, text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const principal: Principal | undefined = c.get('principal');
  const { bodies } = c.get('services').pools;
  return bodyHoldingPlace(bytes, bodies.takeBeyondLimit(principal ?? noOwner, bytes.byteLength));
}

/** Of responses without a key, none of which is large. */
const noOwner = { workspace: '', keyId: '' };

/** Whether the machine can take the work (`engine/host.ts`). The root key gets in when files are short, as it does without a place. */
async function requireHost({ method, scopes, storesNothing, rootOnly }: RouteSpec, c: AppContext): Promise<void> {
  const { host } = c.get('services');
  if (scopes.length === 0 ? method !== 'get' : c.get('keyId') !== rootKeyId) host.requireFiles();
  if (method === 'get') return;
  await host.begin();
  if (rootOnly !== true || storesNothing !== true) host.requireRunning();
  if (storesNothing !== true) host.requireStorage({ deletes: method === 'delete' });
}

/** Checks the key and its rights, before anything of the request is parsed. */
async function admit({ scopes, workspace, rootOnly }: RouteSpec, c: AppContext): Promise<void> {
  const principal = await authenticate(c, scopes);
  c.set('keyId', principal.keyId);
  c.set('principal', principal);
  enterRequest(c, principal);
  if (principal.limits !== undefined) await countRequest(c, principal);
  if (workspace !== undefined) requireAllowed(principal, { act: 'use-workspace', what: workspace });
  if (rootOnly === true) requireAllowed(principal, { act: 'manage-workspaces', keyId: principal.keyId });
}

async function countRequest(c: AppContext, principal: Principal): Promise<void> {
  const holders = limitedHolders(principal);
  c.set('limited', holders);
  await c.get('services').limiter.countRequest(principal.workspace, holders);
}

/** Each parameter may occur once; unknown ones are rejected, so that a misspelled `dryRun` does not run the request. */
function parseQuery({ query }: RouteSpec, c: AppContext): unknown {
  if (c.req.url.includes('?')) {
    const all = Object.entries(c.req.queries());
    const repeated = all.filter(([, values]) => values.length > 1).map(([path]) => ({ path, message: 'give this parameter once' }));
    if (repeated.length > 0) throw invalidRequest(repeated);
    if (query === undefined && all.length > 0) throw invalidRequest(all.map(([path]) => ({ path, message: 'unknown field' })));
  }
  return isSchema(query) ? parseInput(query, c.req.query()) : {};
}

/** An invalid name in the path is `not_found`, unless the route creates the resource. */
function parseParams({ method, params }: RouteSpec, c: AppContext): unknown {
  if (params === undefined) return {};
  const given: Record<string, string> = c.req.param();
  const parsed = parsePart(params, given);
  if (!('issues' in parsed)) return parsed.data;
  if (method === 'put') throw invalidRequest(parsed.issues);
  const name = parsed.issues[0]?.path ?? '';
  throw new Problem('not_found', `The ${name} ${quoted(given[name] ?? '')} does not exist.`);
}

/** Reads the JSON body, once, within its limits; undefined: none was sent, or the route takes none. */
async function receiveBody(spec: RouteSpec, c: AppContext): Promise<JsonBody | undefined> {
  const body = jsonBodyOf(spec);
  if (body === undefined || (body.isOptional === true && hasNoBody(c.req.raw))) return undefined;
  return await readJson(c, body.maxBytes ?? limits.maxBodyBytes, body.also);
}

function hasNoBody({ body, headers }: Request): boolean {
  return body === null || headers.get('content-length') === '0';
}

/** Every path of a route reports its allowed methods. */
function mountMethodFallbacks(router: Hono<AppEnv>, routes: readonly Route[]): void {
  for (const [path, sharing] of Map.groupBy(routes, ({ spec }) => honoPath(spec.path))) {
    const taken = [...new Set(sharing.map(({ spec }) => spec.method.toUpperCase()))];
    const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    router.all(path, (c) => {
      if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow: allow.join(', ') } });
      throw new Problem('method_not_allowed', `This path supports ${allow.join(', ')}, not ${quoted(c.req.method)}.`, { allow });
    });
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\+\}(:\w+)?/g, ':$1{[\\s\\S]+$2}').replaceAll(/\{(\w+)\}/g, ':$1');
}
