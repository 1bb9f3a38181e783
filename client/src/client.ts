/**
 * `createClient`: the operations of the service, typed by its OpenAPI document. `GET`, `PUT`, `POST` and `DELETE` are those of
 * openapi-fetch and return `{ data, error, response }`; `get`, `put`, `post`, `patch` and `delete` return the data and throw `MonikerError`.
 */
import createFetchClient, { type Client, type FetchResponse, type MaybeOptionalInit, type ParseAs } from 'openapi-fetch';
import { readError, toError } from './error.ts';
import { idempotentPaths } from './idempotent-paths.ts';
import { withRetries, type Fetch } from './retry.ts';
import type { paths } from './schema.ts';

export type ClientOptions = {
  /** The address of the service, for example `http://127.0.0.1:8787`, or `location.origin` on its own pages. */
  baseUrl: string;
  /** The root key, or a key of `POST /v1/keys`. */
  key?: string;
  /** Default: the global `fetch`. */
  fetch?: Fetch;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** How often a request that is safe to repeat is repeated after 429, 503 and network errors. Default 2. */
  retries?: number;
};

export type MonikerClient = Client<paths, JsonType> & {
  get: Throwing<'get'>;
  put: Throwing<'put'>;
  post: Throwing<'post'>;
  patch: Throwing<'patch'>;
  delete: Throwing<'delete'>;
  /** Sends a request whose response is a stream of server-sent events. Throws `MonikerError` for an error status. */
  open(method: 'GET' | 'POST', path: string, options?: OpenOptions): Promise<Response & { body: ReadableStream<Uint8Array> }>;
};

export type OpenOptions = { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal | undefined };

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';
/** Responses of these types are typed. Others need `parseAs`. */
type JsonType = `${string}/${'json' | 'problem+json'}`;

/** The paths that have an operation of this method. */
export type PathsWith<M extends Method> = { [Path in keyof paths]: paths[Path] extends { [Key in M]: object } ? Path : never }[keyof paths];

/** The options are no type parameter, so that the compiler rejects unknown fields of a body. */
type Throwing<M extends Method> = <Path extends PathsWith<M>, As extends ParseAs = 'json'>(
  path: Path,
  ...init: Optional<MaybeOptionalInit<paths[Path], M>, { parseAs?: As }>
) => Promise<DataOf<Path, M, As>>;
type Optional<Init, More> = undefined extends Init ? [(Init & More)?] : [Init & More];

/** What an operation returns if it succeeds. */
export type DataOf<Path extends keyof paths, M extends Method, As extends ParseAs = 'json'> =
  FetchResponse<paths[Path][M] & Record<string, unknown>, As extends 'json' ? object : { parseAs: As }, JsonType> extends infer Result
    ? Result extends { data: infer Data }
      ? Data
      : never
    : never;

export function createClient({
  baseUrl,
  key,
  fetch = (request) => globalThis.fetch(request),
  headers,
  retries = 2,
}: ClientOptions): MonikerClient {
  const base = new URL(baseUrl).href.replace(/\/+$/, '');
  const send = withRetries(fetch, retries);
  const common = { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const api = createFetchClient<paths, JsonType>({
    baseUrl: base,
    fetch: send,
    headers: common,
    pathSerializer: fillPath,
    bodySerializer: toBody,
  });
  api.use({
    onRequest({ request, schemaPath }) {
      if (request.method === 'POST' && idempotentPaths.includes(schemaPath) && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', newIdempotencyKey());
      }
      return request;
    },
  });

  // The path and its options are checked where a method is called; here they are opaque.
  type Untyped = (path: string, init?: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  const throwing = <M extends Method>(method: Untyped) =>
    (async (path: string, init?: object) => {
      const { data, error, response } = await method(path, init);
      if (!response.ok) throw toError(error, response);
      return data;
    }) as unknown as Throwing<M>;
  return {
    ...api,
    get: throwing<'get'>(api.GET as unknown as Untyped),
    put: throwing<'put'>(api.PUT as unknown as Untyped),
    post: throwing<'post'>(api.POST as unknown as Untyped),
    patch: throwing<'patch'>(api.PATCH as unknown as Untyped),
    delete: throwing<'delete'>(api.DELETE as unknown as Untyped),
    async open(method, path, { body, headers: own, signal } = {}) {
      const response = await send(
        new Request(base + path, {
          method,
          headers: { accept: 'text/event-stream', ...(body !== undefined && { 'content-type': 'application/json' }), ...common, ...own },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          ...(signal !== undefined && { signal }),
        }),
      );
      if (!response.ok) throw await readError(response);
      if (response.body === null) throw toError('The response has no body.', response);
      return response as Response & { body: ReadableStream<Uint8Array> }; // Checked above.
    },
  };
}

/** A new key for `Idempotency-Key`: 128 random bits. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Puts the parameters into a path. `path` is the path of a file: its slashes stay. Throws for the segments `.` and `..`, which a URL parser
 * would resolve to another operation, however they are escaped.
 */
export function fillPath(path: string, params: Record<string, unknown> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = params[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`The path parameter "${name}" of ${path} is missing`);
    const segments = name === 'path' ? String(value).split('/') : [String(value)];
    if (segments.some((segment) => segment === '.' || segment === '..'))
      throw new TypeError(`The path parameter "${name}" of ${path} is "${String(value)}", which is not a name`);
    return segments.map(encodeURIComponent).join('/');
  });
}

/** Text, bytes and streams are sent unchanged, for files; everything else as JSON. */
function toBody(body: unknown): BodyInit {
  const isRaw =
    typeof body === 'string' ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof Blob ||
    body instanceof ReadableStream ||
    body instanceof URLSearchParams;
  return isRaw ? (body as BodyInit) : JSON.stringify(body);
}
