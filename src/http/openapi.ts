/** Builds the OpenAPI 3.1 document from the routes. Zod writes the JSON Schemas. */
import * as z from 'zod';
import { version } from '../core/version.ts';
import { openApiOperation, type OpenApiPart } from './openapi-operation.ts';
import type { Route } from './route.ts';

/** Schemas with an `id` in their metadata, by id. */
type Components = Map<string, OpenApiPart>;

export function buildOpenApi(routes: readonly Route[]): OpenApiPart {
  const components: Components = new Map();
  const paths: Record<string, OpenApiPart> = {};
  for (const { spec } of routes) {
    const path = spec.path.replaceAll('+}', '}');
    paths[path] = { ...paths[path], [spec.method]: openApiOperation(spec, (schema) => toSchema(schema, components)) };
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
        googleApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-goog-api-key',
          description: 'The same key, as clients of Gemini’s API send it. `Authorization: Bearer` takes precedence.',
        },
      },
    },
  };
}

const description = `Connect tools once, combine them into toolsets under names of your choice, and use them with any model.

Bodies are JSON in UTF-8 (\`content-type: application/json\`); a byte order mark is tolerated, and the last of duplicate keys is used. Unknown fields and query parameters are rejected.

Errors are \`application/problem+json\` with a \`code\` from a closed list; \`/v1/chat/completions\`, \`/v1/responses\` and \`/v1/conversations\` use OpenAI's error format, \`/v1/messages\` Anthropic's, \`/v1beta\` Google's, and \`/mcp\` JSON-RPC errors. Every response has an \`x-request-id\`; 401 and 403 have \`x-should-retry: false\`.`;

const tags = [
  { name: 'Toolsets', description: 'Tools under names of your choice.' },
  { name: 'Tools', description: 'All tools of the workspace.' },
  { name: 'Servers', description: 'Sources of tools that are not built in, and the definitions accepted from them.' },
  { name: 'Connections', description: 'Accounts of users at servers with `oauth.per: "user"`.' },
  { name: 'Sessions', description: 'Stored conversations: turns, events, messages and files.' },
  { name: 'Approvals', description: 'Decisions on tool calls that require approval.' },
  { name: 'MCP', description: 'Toolsets as MCP servers.' },
  { name: 'OpenAI', description: 'Endpoints for stock OpenAI clients.' },
  { name: 'Anthropic', description: 'Endpoints for stock Anthropic clients.' },
  { name: 'Gemini', description: 'Endpoints for stock clients of Gemini’s API.' },
  { name: 'User interfaces', description: 'Endpoints for chats in user interfaces.' },
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
  { name: 'People', description: 'Sign-in of people with a browser.' },
  { name: 'OAuth', description: 'Sign-in of MCP clients, and the clients that people have connected.' },
  { name: 'Members', description: 'The people who may use the workspace, and their roles.' },
  { name: 'Projects', description: 'Documents in one file: applied, imported and exported.' },
  { name: 'Workspaces', description: 'Settings of the workspace, for the root key.' },
  { name: 'Usage', description: 'What calls of models and tools used and cost, and the log of requests.' },
  { name: 'Suites', description: 'Which recorded work replays compare, and the facts that must hold.' },
  { name: 'Replays', description: 'Recorded work, run again with another model, agent, toolset or prompt, and compared.' },
  { name: 'Audit', description: 'A record of every call, rejection, decision and configuration change.' },
  { name: 'Backup', description: 'The archive of the workspace, and its restore, for the root key.' },
  { name: 'Service', description: 'Health, documentation, pages.' },
];

/** The schema as a client sends it. Named schemas become components, and inline schemas refer to them. */
function toSchema(schema: z.ZodType, components: Components): OpenApiPart {
  const {
    $schema: _dialect,
    $defs,
    id,
    ...inline
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline', override: withoutSafeBounds }) as OpenApiPart & {
    $defs?: Record<string, OpenApiPart>;
  };
  for (const [name, definition] of Object.entries($defs ?? {})) addComponent(components, name, definition);
  if (typeof id !== 'string') return withComponentRefs(inline);
  addComponent(components, id, inline);
  return { $ref: `#/components/schemas/${id}` };
}

/** Every integer of JSON is in these bounds. */
function withoutSafeBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function addComponent(components: Components, name: string, { id: _id, ...schema }: OpenApiPart): void {
  if (!components.has(name)) components.set(name, withComponentRefs(schema));
}

function withComponentRefs(schema: OpenApiPart): OpenApiPart {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/^#\/\$defs\//, '#/components/schemas/') : value,
  );
  return JSON.parse(text) as OpenApiPart; // JSON of a JSON object.
}
