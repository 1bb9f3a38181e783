/**
 * The OpenAPI 3.1 document, made from the mounted routes and nothing else. Zod writes the JSON Schemas: 3.1 takes them as
 * they are, so there is no second description of anything and no library between.
 */
import { z } from 'zod';
import { problemCatalogue } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { takesApiKey } from './middleware/authenticate.ts';
import { dialectAt } from './problems.ts';
import { isMcpPath } from './mcp-error.ts';
import { AnthropicErrorSchema, OpenAiErrorSchema, ProblemSchema, RpcErrorSchema } from './problem-schema.ts';
import type { RouteAnswer, RouteOperation } from './route.ts';
import { version } from '../core/version.ts';

type Json = Record<string, unknown>;
/** Schemas with an `id` in their metadata, by id, as they are met. */
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
        bearer: { type: 'http', scheme: 'bearer', description: 'The root key, or one made with `POST /v1/keys`.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key, as Anthropic clients send it; `Authorization: Bearer` goes before it.',
        },
      },
    },
  };
}

const description = `Connect tools once, pick the ones a job needs into a toolset under the names you choose, and use them with any model.

Bodies are JSON in UTF-8 (\`content-type: application/json\`); a byte order mark is tolerated, and of duplicate keys the last counts. Unknown fields and query parameters are refused.

Faults are \`application/problem+json\` with a \`code\` from one closed list; \`/v1/chat/completions\` and \`/v1/responses\` answer faults in the OpenAI shape, \`/v1/messages\` in Anthropic's, \`/mcp\` as JSON-RPC errors. Every answer carries \`x-request-id\`.`;

const tags = [
  { name: 'Toolsets', description: 'Tools under the names you choose.' },
  { name: 'Tools', description: 'Every tool the workspace knows.' },
  { name: 'Servers', description: 'Where tools come from that are not built in, and which of their definitions are in force.' },
  { name: 'Sessions', description: 'Conversations that remember: turns, events, messages and files.' },
  { name: 'Approvals', description: 'A person’s word on a tool call that waits for it.' },
  { name: 'MCP', description: 'Toolsets as MCP servers.' },
  { name: 'OpenAI', description: 'What stock OpenAI clients call.' },
  { name: 'Anthropic', description: 'What stock Anthropic clients call.' },
  { name: 'Agents', description: 'A model, instructions and a toolset under one name.' },
  { name: 'Skills', description: 'Instructions with files, which agents read up when a job needs them.' },
  { name: 'Webhooks', description: 'Events from elsewhere that start turns.' },
  { name: 'Schedules', description: 'When agents are told something: at times, again and again, or once.' },
  { name: 'Subscriptions', description: 'Who else is told how turns end.' },
  { name: 'Callbacks', description: 'What was told to others, and how it fared.' },
  { name: 'Providers', description: 'Where models are reached.' },
  { name: 'Policy', description: 'What may happen without asking.' },
  { name: 'Secrets', description: 'Values that may be used and never read.' },
  { name: 'Keys', description: 'Who may do what.' },
  { name: 'Audit', description: 'Every call and refusal.' },
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

/** One response a status; codes that share it are listed in its description. */
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

/** What the kind of route can answer, whatever it does, and what this one adds. */
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

/** As a client sends it. Named schemas become components; what stays inline refers to them. */
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
