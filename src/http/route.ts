/**
 * Defines a route as data: one description gives the OpenAPI operation, the access rule, the parsing of path, query and body, and the type
 * of what the handler receives and may answer, so that they cannot differ. `mount-routes.ts` puts routes on the router.
 */
import * as z from 'zod';
import type { ProblemCode } from '../core/problem.ts';
import type { Principal, Scope } from '../core/people/principal.ts';
import type { AppContext } from './middleware/request-context.ts';
import type { HttpServices } from './services.ts';

export type Answer = {
  description: string;
  schema?: z.ZodType;
  /** Default for a `schema`: application/json. With an explicit one the handler may return a `Response`, for example of a provider. */
  contentType?: string;
  /** Another content type that the same status may have, as text or bytes. */
  also?: string;
  /** Of a `text/event-stream`: the `data` of its events. */
  events?: z.ZodType;
  headers?: Readonly<Record<string, string>>;
};

type Answers = Readonly<Record<number, Answer>>;

export type RouteSpec = {
  method: 'get' | 'put' | 'post' | 'patch' | 'delete';
  /**
   * For example `/v1/toolsets/{toolset}`; `{path+}` matches the rest of the path, including slashes, and `{path+}:verb` what ends so: the
   * parameter then has that end, too.
   */
  path: string;
  /** Another path of the route, which the OpenAPI document does not list. */
  alsoAt?: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** One of them is sufficient. Empty: the route needs no key. */
  scopes: readonly Scope[];
  /** The workspace-wide resource of the route, such as `Servers`: forbidden for keys that are bound to agents or toolsets. */
  workspace?: string;
  /** For a method other than GET: it only reads, or stops work, so it is also served while nothing can be stored. */
  storesNothing?: true;
  /** Only for the root key. */
  rootOnly?: true;
  params?: z.ZodType;
  /** `ignored`: any parameters may be sent. Without it, none. */
  query?: z.ZodType | 'ignored';
  /** Request headers of the route: name → description. */
  headers?: Readonly<Record<string, string>>;
  /** The JSON that the route takes: its schema, or with options. */
  body?: z.ZodType | JsonBodySpec;
  /** A body that the handler reads itself: of any type, of `type`, or JSON with the schema `json`. */
  rawBody?: { description: string; type?: string; json?: z.ZodType };
  answers: Answers;
  /** Problems beyond those of every route with a key. */
  problems?: readonly ProblemCode[];
};

/**
 * `documented`: the schema in the OpenAPI document, if `schema` checks less; without `schema` the handler validates the JSON value itself.
 * `also`: another content type. `isOptional`: an absent body is the same as `{}`.
 */
export type JsonBodySpec = { schema?: z.ZodType; documented?: z.ZodType; maxBytes?: number; also?: string; isOptional?: true };

export function jsonBodyOf({ body }: Pick<RouteSpec, 'body'>): JsonBodySpec | undefined {
  return body instanceof z.ZodType ? { schema: body } : body;
}

export function isSchema(query: RouteSpec['query']): query is z.ZodType {
  return query !== undefined && query !== 'ignored';
}

type AnswersOf<Spec> = Spec extends { answers: infer Given extends Answers } ? Given : Answers;
type BodyOf<Given> = Given extends { schema: infer Schema extends z.ZodType } ? Sent<z.input<Schema>> : null;
/** A value that is only read. */
export type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Sent<T[Name]> }
    : T;
type HeadersOf<Given> = Given extends { headers: infer Headers } ? { [Name in keyof Headers]?: string } : Record<string, never>;

declare const answered: unique symbol;
/** A response whose status, body and headers are documented: only `answer` makes it. */
export type Answered = Response & { readonly [answered]: true };

/** Builds the response of a documented status. `body`: null where the status has no schema. */
export type AnswerFunction<Spec> = <Status extends keyof AnswersOf<Spec> & number>(
  status: Status,
  body: BodyOf<AnswersOf<Spec>[Status]>,
  headers?: HeadersOf<AnswersOf<Spec>[Status]>,
) => Answered;

/** Text, bytes and streams are built by the handler, on routes that document such a content type. */
type ResultOf<Spec> = AnswersOf<Spec>[keyof AnswersOf<Spec>] extends infer Given
  ? Answered | (Given extends { contentType: string } | { also: string } ? Response : never)
  : never;

/** The parsed value of a part of the request; unknown where the route has no schema for it. */
type Parsed<Spec, Part extends 'params' | 'query' | 'body'> = Spec extends { [P in Part]: infer Given }
  ? Given extends { schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : Given extends z.ZodType
      ? z.output<Given>
      : unknown
  : unknown;

export type RouteRequest<Spec = unknown> = {
  c: AppContext;
  services: HttpServices;
  principal: Principal;
  params: Parsed<Spec, 'params'>;
  query: Parsed<Spec, 'query'>;
  body: Parsed<Spec, 'body'>;
  /** The body as received; empty if the route has none. */
  bytes: Uint8Array;
  /** The body as text. */
  text: string;
  answer: AnswerFunction<Spec>;
};

/** A route with its handler, and the types of its parts erased. */
export type Route = {
  readonly spec: RouteSpec;
  readonly handle: (request: RouteRequest<RouteSpec>) => Response | Promise<Response>;
};

export type PublicRouteSpec = Omit<RouteSpec, 'method' | 'scopes' | 'workspace' | 'rootOnly'> & { method?: 'get' | 'post' };
export type PublicRequest<Spec = unknown> = Pick<RouteRequest<Spec>, 'c' | 'services' | 'answer'>;

/**
 * A route that requires a key. Order: key, scope, bindings of the key, query, path, body: the body is not read for an unauthorized key.
 */
export function defineRoute<const Spec extends RouteSpec>(
  spec: Spec,
  handle: (request: RouteRequest<Spec>) => ResultOf<Spec> | Promise<ResultOf<Spec>>,
): Route {
  // `mount-routes.ts` parses the parts with the schemas of `spec`, from which the types above are derived.
  return { spec, handle: handle as Route['handle'] };
}

/** A route without a key, whose handler reads path, query and body itself. The method is GET by default. */
export function definePublicRoute<const Spec extends PublicRouteSpec>(
  spec: Spec,
  handle: (request: PublicRequest<Spec>) => ResultOf<Spec> | Promise<ResultOf<Spec>>,
): Route {
  return { spec: { method: 'get', ...spec, scopes: [] }, handle: handle as Route['handle'] };
}
