/** What the OpenAPI document shows of a route. */
import * as z from 'zod';
import { problemCatalogue, ProblemSchema } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { apiKeyHeaders } from './middleware/authenticate.ts';
import { editionHeader } from './conditions.ts';
import { AnthropicErrorSchema, GoogleErrorSchema, OpenAiErrorSchema, OAuthErrorSchema, RpcErrorSchema } from './problem-schema.ts';
import { isOAuthEndpoint } from './oauth-metadata.ts';
import { dialectAt, isMcpPath } from './problems.ts';
import { type Answer, isSchema, jsonBodyOf, type RouteSpec } from './route.ts';

export type OpenApiPart = Record<string, unknown>;
/** Writes a schema as JSON Schema. */
export type ToSchema = (schema: z.ZodType) => OpenApiPart;

export function openApiOperation(spec: RouteSpec, toSchema: ToSchema): OpenApiPart {
  const { path, operationId, tag, summary, scopes, params, query, headers = {} } = spec;
  const keyed = scopes.length > 0;
  const scope = keyed ? `Scope: ${scopes.map((name) => `\`${name}\``).join(' or ')}.` : '';
  const bound =
    spec.rootOnly === true
      ? 'Only for the root key.'
      : spec.workspace === undefined
        ? ''
        : 'Not for keys that are bound to agents or toolsets.';
  const body = requestBody(spec, toSchema);
  const parameters = [
    ...(params ? toParameters('path', toSchema(params)) : []),
    ...(isSchema(query) ? toParameters('query', toSchema(query)) : []),
    ...Object.entries(headers).map(([name, text]) => ({
      name,
      in: 'header',
      required: false,
      description: text,
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    description: [spec.description, bound, scope].filter(Boolean).join('\n\n') || summary,
    security: keyed
      ? [{ bearer: [] }, ...apiKeyHeaders(path).map((name) => ({ [name === 'x-api-key' ? 'apiKey' : 'googleApiKey']: [] }))]
      : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: { ...problems(spec, toSchema), ...mapValues(spec.answers, (answer) => response(answer, toSchema)) },
  };
}

function toParameters(place: 'path' | 'query', schema: OpenApiPart): OpenApiPart[] {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, OpenApiPart>; required?: string[] };
  return Object.entries(properties).map(([name, { description: text, example, ...property }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(text !== undefined && { description: text }),
    ...(example !== undefined && { example }),
    schema: property,
  }));
}

function requestBody(spec: RouteSpec, toSchema: ToSchema): OpenApiPart | undefined {
  if (spec.rawBody !== undefined) {
    const { description, json, type = json === undefined ? '*/*' : null } = spec.rawBody;
    const binary = type === null ? {} : { [type]: { schema: { type: 'string', format: 'binary' } } };
    return { required: true, description, content: { ...(json && { 'application/json': { schema: toSchema(json) } }), ...binary } };
  }
  const body = jsonBodyOf(spec);
  if (body === undefined) return undefined;
  const schema = toSchema(body.documented ?? body.schema ?? z.unknown());
  return {
    required: body.isOptional !== true,
    content: { 'application/json': { schema }, ...(body.also !== undefined && { [body.also]: { schema } }) },
  };
}

function response({ description, schema, contentType, also, events, headers }: Answer, toSchema: ToSchema): OpenApiPart {
  const content = {
    ...((schema ?? contentType) && {
      [contentType ?? 'application/json']: { schema: schema === undefined ? { type: 'string' } : toSchema(schema) },
    }),
    ...(also && { [also]: { schema: { type: 'string' } } }),
    ...(events && {
      'text/event-stream': { schema: { type: 'string', contentMediaType: 'text/event-stream', contentSchema: toSchema(events) } },
    }),
  };
  return {
    description,
    ...(headers && { headers: toHeaders(headers) }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function toHeaders(headers: Readonly<Record<string, string>>): OpenApiPart {
  return mapValues(headers, (text) => ({ description: text, schema: { type: 'string' } }));
}

function mapValues<Value, Result>(values: Readonly<Record<string, Value>>, map: (value: Value) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

const errorFormats = {
  problem: { type: 'application/problem+json', schema: ProblemSchema },
  'openai-chat': { type: 'application/json', schema: OpenAiErrorSchema },
  'openai-responses': { type: 'application/json', schema: OpenAiErrorSchema },
  'anthropic-messages': { type: 'application/json', schema: AnthropicErrorSchema },
  gemini: { type: 'application/json', schema: GoogleErrorSchema },
  mcp: { type: 'application/json', schema: RpcErrorSchema },
  oauth: { type: 'application/json', schema: OAuthErrorSchema },
} as const;

function otherFormat(path: string): 'mcp' | 'oauth' | 'problem' {
  if (isMcpPath(path)) return 'mcp';
  return isOAuthEndpoint(path) ? 'oauth' : 'problem';
}

/** One response per status; codes with the same status are listed in its description. */
function problems(spec: RouteSpec, toSchema: ToSchema): OpenApiPart {
  const { type, schema } = errorFormats[dialectAt(spec.path) ?? otherFormat(spec.path)];
  const byStatus = Map.groupBy(new Set(problemCodes(spec)), (code) => problemCatalogue[code].status);
  // Where browsers get a page, errors are a page, too.
  const isPage = Object.values(spec.answers).some(({ contentType, also }) => contentType === 'text/html' || also === 'text/html');
  const content = { [type]: { schema: toSchema(schema) }, ...(isPage && { 'text/html': { schema: { type: 'string' } } }) };
  // The error of a model provider keeps its status.
  const isProviders = dialectAt(spec.path) !== null && spec.problems?.includes('upstream_error') === true;
  const headers = isMcpPath(spec.path) ? editionHeader : isProviders ? failureHeaders : {};
  const failure = { description: 'A failure of the provider, with the status of its response.', ...headersOf(headers), content };
  const described = [...byStatus].map(([status, codes]) => [
    status,
    {
      description: codes.map((code) => `\`${code}\`: ${problemCatalogue[code].title}.`).join(' '),
      ...headersOf({ ...headers, ...(status === 429 && limitHeaders) }),
      content,
    },
  ]);
  return Object.fromEntries([...described, ...(isProviders ? ['4XX', '5XX'].map((range) => [range, failure]) : [])]);
}

/** Beside these, the provider's headers about its rate limits (`x-ratelimit-…`, `anthropic-ratelimit-…`) are passed on. */
const failureHeaders = {
  'x-should-retry': 'Of a failure of the provider: whether sending the request again can help.',
  'retry-after-ms': 'The time of `retry-after` in milliseconds.',
  'retry-after': 'Seconds after which the request may be sent again.',
};

const limitHeaders = {
  'retry-after': failureHeaders['retry-after'],
  'retry-after-ms': failureHeaders['retry-after-ms'],
  ratelimit: 'For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`).',
  'ratelimit-policy': 'For a key with limits: each rate (`q`) with its window in seconds (`w`).',
};

function headersOf(headers: Readonly<Record<string, string>>): { headers?: object } {
  return Object.keys(headers).length === 0 ? {} : { headers: toHeaders(headers) };
}

/** The problems that every route of this kind can return, and those of this route. */
function problemCodes({ method, path, scopes, storesNothing, body, rawBody, problems: own = [] }: RouteSpec): ProblemCode[] {
  return [
    ...(scopes.length > 0
      ? (['unauthenticated', 'forbidden', 'not_configured', 'invalid_request', 'rate_limited', 'unavailable'] as const)
      : []),
    ...(method === 'get' || storesNothing ? [] : (['insufficient_storage', 'unavailable'] as const)),
    ...(path.includes('{') ? (['not_found'] as const) : []),
    ...(body || rawBody ? (['rate_limited', 'unavailable'] as const) : []),
    ...(body ? (['invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type'] as const) : []),
    ...(rawBody ? (['body_too_large'] as const) : []),
    ...(rawBody?.json ? (['invalid_request', 'invalid_json', 'unsupported_media_type'] as const) : []),
    ...own,
    'internal',
  ];
}
