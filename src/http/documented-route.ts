/** What the OpenAPI document shows of a route. `mount-routes.ts` has what is validated. */
import type { RouteConfig } from '@hono/zod-openapi';
import { z } from 'zod';
import { problemCatalogue } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { takesApiKey } from './middleware/authenticate.ts';
import { editionHeader } from './documents.ts';
import { AnthropicErrorSchema, OpenAiErrorSchema, OAuthErrorSchema, ProblemSchema, RpcErrorSchema } from './problem-schema.ts';
import { isOAuthEndpoint } from './oauth-metadata.ts';
import { dialectAt, isMcpPath } from './problems.ts';
import { type Answer, isSchema, type RouteSpec } from './route.ts';

export function documentedRoute(spec: RouteSpec): RouteConfig {
  const { method, path, operationId, tag, summary, scopes, params, query, headers } = spec;
  const keyed = scopes.length > 0;
  const scope = keyed ? `Scope: ${scopes.map((name) => `\`${name}\``).join(' or ')}.` : '';
  const bound =
    spec.rootOnly === true
      ? 'Only for the root key.'
      : spec.workspace === undefined
        ? ''
        : 'Not for keys that are bound to agents or toolsets.';
  const body = requestBody(spec);
  const request = {
    ...(params && { params }),
    ...(isSchema(query) && { query }),
    ...(headers && { headers: z.object(mapValues(headers, (text) => z.string().optional().meta({ description: text }))) }),
    ...(body && { body }),
  };
  const config = {
    method,
    path: path.replaceAll('+}', '}'),
    operationId,
    tags: [tag],
    summary,
    description: [spec.description, bound, scope].filter(Boolean).join('\n\n') || summary,
    security: keyed ? [{ bearer: [] }, ...(takesApiKey(path) ? [{ apiKey: [] }] : [])] : [],
    request,
    responses: { ...problems(spec), ...mapValues(spec.answers, response) },
  };
  // The library's type requires an object schema for parameters; our builder reads any schema with properties.
  return config as unknown as RouteConfig;
}

function requestBody({ body, rawBody }: RouteSpec): object | undefined {
  if (rawBody !== undefined) {
    const { description, json, type = json === undefined ? '*/*' : null } = rawBody;
    const binary = type === null ? {} : { [type]: { schema: { type: 'string', format: 'binary' } } };
    return { required: true, description, content: { ...(json !== undefined && { 'application/json': { schema: json } }), ...binary } };
  }
  if (body === undefined) return undefined;
  const schema = body.documented ?? body.schema;
  return {
    required: body.isOptional !== true,
    content: { 'application/json': { schema }, ...(body.also !== undefined && { [body.also]: { schema } }) },
  };
}

function response({ description, schema, contentType, also, events, headers }: Answer): object {
  const content = {
    ...((schema ?? contentType) && { [contentType ?? 'application/json']: { schema: schema ?? { type: 'string' } } }),
    ...(also && { [also]: { schema: { type: 'string' } } }),
    ...(events && { 'text/event-stream': { schema: { type: 'string', contentMediaType: 'text/event-stream', contentSchema: events } } }),
  };
  return {
    description,
    ...(headers && { headers: toHeaders(headers) }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function toHeaders(headers: Readonly<Record<string, string>>): object {
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
  mcp: { type: 'application/json', schema: RpcErrorSchema },
  oauth: { type: 'application/json', schema: OAuthErrorSchema },
} as const;

function otherFormat(path: string): 'mcp' | 'oauth' | 'problem' {
  if (isMcpPath(path)) return 'mcp';
  return isOAuthEndpoint(path) ? 'oauth' : 'problem';
}

/** One response per status; codes with the same status are listed in its description. */
function problems(spec: RouteSpec): Record<string, object> {
  const { type, schema } = errorFormats[dialectAt(spec.path) ?? otherFormat(spec.path)];
  const byStatus = Map.groupBy(new Set(problemCodes(spec)), (code) => problemCatalogue[code].status);
  // Where browsers get a page, errors are a page, too.
  const isPage = Object.values(spec.answers).some(({ contentType, also }) => contentType === 'text/html' || also === 'text/html');
  const content = { [type]: { schema }, ...(isPage && { 'text/html': { schema: { type: 'string' } } }) };
  const headers = isMcpPath(spec.path) ? editionHeader : {};
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problemCatalogue[code].title}.`).join(' '),
        ...headersOf({ ...headers, ...(status === 429 && limitHeaders) }),
        content,
      },
    ]),
  );
}

const limitHeaders = {
  'retry-after': 'Seconds after which the request may be sent again.',
  ratelimit: 'For a key with limits: what is left of each rate (`r`), and the seconds until its window ends (`t`).',
  'ratelimit-policy': 'For a key with limits: each rate (`q`) with its window in seconds (`w`).',
};

function headersOf(headers: Readonly<Record<string, string>>): { headers?: object } {
  return Object.keys(headers).length === 0 ? {} : { headers: toHeaders(headers) };
}

/** The problems that every route of this kind can return, and those of this route. */
function problemCodes({ scopes, params, body, rawBody, problems: own = [] }: RouteSpec): ProblemCode[] {
  return [
    ...(scopes.length > 0
      ? (['unauthenticated', 'forbidden', 'not_configured', 'invalid_request', 'rate_limited', 'unavailable'] as const)
      : []),
    ...(params ? (['not_found'] as const) : []),
    ...(body || rawBody ? (['rate_limited', 'unavailable'] as const) : []),
    ...(body ? (['invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type'] as const) : []),
    ...(rawBody ? (['body_too_large'] as const) : []),
    ...(rawBody?.json ? (['invalid_request', 'invalid_json', 'unsupported_media_type'] as const) : []),
    ...own,
    'internal',
  ];
}
