/** Builds the OpenAPI 3.1 document from the mounted routes. Zod generates the JSON Schemas, which OpenAPI 3.1 uses unchanged. */
import { z } from 'zod';
import { problemCatalogue } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { takesApiKey } from './middleware/authenticate.ts';
import { dialectAt, isMcpPath } from './problems.ts';

import { AnthropicErrorSchema, OpenAiErrorSchema, ProblemSchema, RpcErrorSchema } from './problem-schema.ts';
import type { RouteAnswer, RouteOperation } from './route.ts';
import { version } from '../core/version.ts';

type Json = Record<string, unknown>;
/** Schemas with an `id` in their metadata, by id. */
type Components = Map<string, Json>;

export function buildDocument(operations: readonly RouteOperation[]): Json {
  const components: Components = new Map();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll('+}', '}');
    paths[path] = { ...paths[path], [operation.method]: toOperation(operation, components) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Moniker', version, description },
    servers: [{ url: '/' }],
    tags,
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The root key, or a key created with `POST /v1/keys`.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key, as Anthropic clients send it. `Authorization: Bearer` takes precedence.',
        },
      },
    },
  };
}

const description = `Connect tools once, combine them into toolsets under names of your choice, and use them with any model.

Bodies are JSON in UTF-8 (\`content-type: application/json\`); a byte order mark is tolerated, and the last of duplicate keys is used. Unknown fields and query parameters are rejected.

Errors are \`application/problem+json\` with a \`code\` from a closed list; \`/v1/chat/completions\` and \`/v1/responses\` use OpenAI's error format, \`/v1/messages\` Anthropic's, and \`/mcp\` JSON-RPC errors. Every response has an \`x-request-id\`.`;

const tags = [
  { name: 'Toolsets', description: 'Tools under names of your choice.' },
  { name: 'Tools', description: 'All tools of the workspace.' },
  { name: 'Servers', description: 'Sources of tools that are not built in, and the definitions accepted from them.' },
  { name: 'Sessions', description: 'Stored conversations: turns, events, messages and files.' },
  { name: 'Approvals', description: 'Decisions on tool calls that require approval.' },
  { name: 'MCP', description: 'Toolsets as MCP servers.' },
  { name: 'OpenAI', description: 'Endpoints for stock OpenAI clients.' },
  { name: 'Anthropic', description: 'Endpoints for stock Anthropic clients.' },
  { name: 'Agents', description: 'A model, instructions and a toolset under one name.' },
  { name: 'Skills', description: 'Instructions with files, which agents load when a task needs them.' },
  { name: 'Webhooks', description: 'External events that start turns.' },
  { name: 'Schedules', description: 'Turns that start at given times, repeatedly or once.' },
  { name: 'Subscriptions', description: 'Receivers of callbacks when turns end.' },
  { name: 'Callbacks', description: 'Outgoing callbacks and their delivery attempts.' },
  { name: 'Providers', description: 'Model providers and their URLs.' },
  { name: 'Policy', description: 'Rules for which calls are allowed, require approval, or are denied.' },
  { name: 'Secrets', description: 'Values that can be used but not read.' },
  { name: 'Keys', description: 'API keys and their permissions.' },
  { name: 'Audit', description: 'A record of every call, rejection, decision and configuration change.' },
  { name: 'Service', description: 'Health, documentation, pages.' },
];

function toOperation(operation: RouteOperation, components: Components): Json {
  const keyed = operation.scopes.length > 0;
  const scope = keyed ? `Scope: ${operation.scopes.map((name) => `\`${name}\``).join(' or ')}.` : '';
  const bound = operation.workspace === undefined ? '' : 'Not for keys that are bound to agents or toolsets.';
  const parameters = [
    ...objectParameters('path', operation.params, components),
    ...objectParameters('query', operation.query, components),
    ...Object.entries(operation.headers ?? {}).map(([name, text]) => ({
      name,
      in: 'header',
      description: text,
      schema: { type: 'string' },
    })),
  ];
  const body = requestBody(operation, components);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, bound, scope].filter(Boolean).join('\n\n') || operation.summary,
    security: keyed ? [{ bearer: [] }, ...(takesApiKey(operation.path) ? [{ apiKey: [] }] : [])] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: body }),
    responses: { ...answers(operation, components), ...problems(operation, components) },
  };
}

function objectParameters(place: 'path' | 'query', schema: z.ZodType | undefined, components: Components): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toSchema(schema, components) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, { description: text, example, ...property }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(text !== undefined && { description: text }),
    ...(example !== undefined && { example }),
    schema: property,
  }));
}

function requestBody({ body, rawBody }: RouteOperation, components: Components): Json | undefined {
  if (rawBody !== undefined) {
    const { description: text, json, type = json === undefined ? '*/*' : null } = rawBody;
    const binary = type === null ? {} : { [type]: { schema: { type: 'string', format: 'binary' } } };
    return {
      required: true,
      description: text,
      content: { ...(json !== undefined && { 'application/json': { schema: toSchema(json, components) } }), ...binary },
    };
  }
  if (body === undefined) return undefined;
  const schema = toSchema(body.documented ?? body.schema, components);
  return {
    required: body.isOptional !== true,
    content: { 'application/json': { schema }, ...(body.also !== undefined && { [body.also]: { schema } }) },
  };
}

function answers({ answers: given }: RouteOperation, components: Components): Json {
  return Object.fromEntries(
    Object.entries(given).map(([status, answer]) => [
      status,
      {
        description: answer.description,
        ...(answer.headers && {
          headers: Object.fromEntries(
            Object.entries(answer.headers).map(([name, text]) => [name, { description: text, schema: { type: 'string' } }]),
          ),
        }),
        ...contentOf(answer, components),
      },
    ]),
  );
}

function contentOf({ schema, contentType, also }: RouteAnswer, components: Components): { content?: Json } {
  const content = {
    ...((schema ?? contentType) && {
      [contentType ?? 'application/json']: { schema: schema ? toSchema(schema, components) : { type: 'string' } },
    }),
    ...(also && { [also]: { schema: { type: 'string' } } }),
  };
  return Object.keys(content).length === 0 ? {} : { content };
}

const faultShapes = {
  problem: { type: 'application/problem+json', schema: ProblemSchema },
  'openai-chat': { type: 'application/json', schema: OpenAiErrorSchema },
  'openai-responses': { type: 'application/json', schema: OpenAiErrorSchema },
  'anthropic-messages': { type: 'application/json', schema: AnthropicErrorSchema },
  mcp: { type: 'application/json', schema: RpcErrorSchema },
} as const;

/** One response per status; codes with the same status are listed in its description. */
function problems(operation: RouteOperation, components: Components): Json {
  const { type, schema } = faultShapes[dialectAt(operation.path) ?? (isMcpPath(operation.path) ? 'mcp' : 'problem')];
  const content = { [type]: { schema: toSchema(schema, components) } };
  const byStatus = Map.groupBy(new Set(problemCodes(operation)), (code) => problemCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.map((code) => `\`${code}\`: ${problemCatalogue[code].title}.`).join(' '), content },
    ]),
  );
}

/** The problems that every route of this kind can return, and those of this route. */
function problemCodes({ scopes, params, query, body, rawBody, problems: own = [] }: RouteOperation): ProblemCode[] {
  return [
    ...(scopes.length > 0 ? (['unauthenticated', 'forbidden', 'not_configured'] as const) : []),
    ...(params ? (['not_found'] as const) : []),
    ...(query || body ? (['invalid_request'] as const) : []),
    ...(body ? (['invalid_json', 'body_too_large', 'unsupported_media_type'] as const) : []),
    ...(rawBody ? (['body_too_large'] as const) : []),
    ...(rawBody?.json ? (['invalid_request', 'invalid_json', 'unsupported_media_type'] as const) : []),
    ...own,
    'internal',
  ];
}

/** The schema as a client sends it. Named schemas become components, and inline schemas refer to them. */
function toSchema(schema: z.ZodType, components: Components): Json {
  const {
    $schema: _dialect,
    $defs,
    id,
    ...inline
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Json & { $defs?: Record<string, Json> };
  for (const [name, definition] of Object.entries($defs ?? {})) addComponent(components, name, definition);
  if (typeof id !== 'string') return withComponentRefs(inline);
  addComponent(components, id, inline);
  return { $ref: `#/components/schemas/${id}` };
}

function addComponent(components: Components, name: string, { id: _id, ...schema }: Json): void {
  if (!components.has(name)) components.set(name, withComponentRefs(schema));
}

function withComponentRefs(schema: Json): Json {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/^#\/\$defs\//, '#/components/schemas/') : value,
  );
  return JSON.parse(text) as Json; // JSON of a JSON object.
}
