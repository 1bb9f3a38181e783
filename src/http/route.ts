/**
 * Defines a route as data: one description gives the OpenAPI operation, the access rule, the parsing of path, query and body, and the type
 * of what the handler receives and may answer, so that they cannot differ. `mount-routes.ts` puts routes on the router.
 */
import type { z } from 'zod';
import type { ProblemCode } from '../core/problem.ts';
import type { Principal, Scope } from '../core/principal.ts';
import type { Services } from '../wiring.ts';
import type { AppContext } from './middleware/request-context.ts';

export type Answer = {
  description: string;
  schema?: z.ZodType;
  contentType?: string;
  /** Another content type that the same status may have, as text or bytes. */
  also?: string;
  headers?: Readonly<Record<string, string>>;
};

type Answers = Readonly<Record<number, Answer>>;

export type RouteSpec = {
  method: 'get' | 'put' | 'post' | 'delete';
  /** For example `/v1/toolsets/{toolset}`; `{path+}` matches the rest of the path, including slashes. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** One of them is sufficient. Empty: the route needs no key. */
  scopes: readonly Scope[];
  /** The workspace-wide resource of the route, such as `Servers`: forbidden for keys that are bound to agents or toolsets. */
  workspace?: string;
  params?: z.ZodType;
  query?: z.ZodType;
  /** Request headers of the route: name → description. */
  headers?: Readonly<Record<string, string>>;
  /**
   * `documented`: the schema in the OpenAPI document, if `schema` (which is parsed) checks less. `also`: another content type.
   * `isOptional`: an absent body is the same as `{}`.
   */
  body?: { schema: z.ZodType; documented?: z.ZodType; maxBytes?: number; also?: string; isOptional?: true };
  /** A body that the handler reads itself: of any type, of `type`, or JSON with the schema `json`. */
  rawBody?: { description: string; type?: string; json?: z.ZodType };
  answers: Answers;
  /** Problems beyond those of every route with a key. */
  problems?: readonly ProblemCode[];
};

/** The parsed value of a part of the request; `{}` where the route has no schema for it. */
type Parsed<Spec, Part extends 'params' | 'query'> = Spec extends { [P in Part]: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : object;
type ParsedBody<Spec> = Spec extends { body: { schema: infer Schema extends z.ZodType } } ? z.output<Schema> : object;

export type RouteRequest<Spec = unknown> = {
  c: AppContext;
  services: Services;
  principal: Principal;
  params: Parsed<Spec, 'params'>;
  query: Parsed<Spec, 'query'>;
  body: ParsedBody<Spec>;
  /** The body as received; empty if the route has none. */
  bytes: Uint8Array;
  /** The body as text. */
  text: string;
};

/** A route with its handler, and the types of its parts erased. */
export type Route = { readonly spec: RouteSpec; readonly handle: (request: RouteRequest) => Response | Promise<Response> };

/**
 * A route that requires a key. Order: key, scope, bindings of the key, query, path, body: the body is not read for an unauthorized
 * key.
 */
export function defineRoute<const Spec extends RouteSpec>(
  spec: Spec,
  handle: (request: RouteRequest<Spec>) => Response | Promise<Response>,
): Route {
  // `mount-routes.ts` parses the parts with the schemas of `spec`, from which the types above are derived.
  return { spec, handle: handle as Route['handle'] };
}

export type PublicRouteSpec = Omit<RouteSpec, 'method' | 'scopes' | 'workspace' | 'query' | 'headers'> & { method?: 'get' | 'post' };

/** A route without a key, whose handler reads path, query and body itself. The method is GET by default. */
export function definePublicRoute(spec: PublicRouteSpec, handle: (c: AppContext) => Response | Promise<Response>): Route {
  return { spec: { method: 'get', ...spec, scopes: [] }, handle: ({ c }) => handle(c) };
}
