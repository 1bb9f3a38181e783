/** Servers as `/v1/servers` shows them: the document as it was sent, and the results of its last refresh. */
import * as z from 'zod';
import { AuthorizationStatus, ServerConnection, ServerHealth } from '../../../core/servers/server-state.ts';
import { McpServer, OpenApiServer, ServerKindFilter, ServerName, StaticServer } from '../../../core/servers/server.ts';
import { ServerTool } from '../../../core/servers/server-tool.ts';
import { Warning } from '../../../core/problem.ts';
import type { StoredDocument } from '../../../ports/catalog.ts';
import { storedBody } from '../../conditions.ts';

const counts = {
  toolCount: z.int().meta({ description: 'Number of listed definitions, without rejected ones.' }),
  held: z.int().meta({ description: 'Number of held definitions, which cannot be called until they are accepted.' }),
};
/** Fields of servers that list their tools themselves. */
const read = {
  health: ServerHealth.optional().meta({ description: 'Absent for a static server, which receives only calls.' }),
  connection: ServerConnection.optional().meta({ description: 'The last connection to an MCP server.' }),
  offers: z
    .object({
      prompts: z.int(),
      resources: z.int(),
      resourceTemplates: z.int(),
      held: z.int().meta({ description: 'Number of those that are not offered until they are accepted.' }),
    })
    .optional()
    .meta({ description: 'Number of prompts, resources and templates of an MCP server, without held ones.' }),
};
const { command, args, env, cwd, instances, era, transport, oauth, timeoutMs, sampling, roots } = McpServer.shape;
const { baseUrl, include, exclude } = OpenApiServer.shape;
const { headers, query, trusted, updates, price, instructions } = StaticServer.shape;
const described = {
  kind: ServerKindFilter,
  url: z.string().optional(),
  ...{ command, args, env, cwd, instances },
  ...{
    headers,
    query,
    trusted,
    updates,
    price,
    instructions,
    era,
    transport,
    oauth,
    timeoutMs,
    sampling,
    roots,
    baseUrl,
    include,
    exclude,
  },
};

export const ServerSummary = z
  .object({
    name: ServerName,
    kind: described.kind,
    url: described.url,
    command,
    ...counts,
    health: read.health,
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ServerSummary' });

export const ServerView = z
  .object({
    ...described,
    document: OpenApiServer.shape.document,
    name: ServerName,
    tools: z.array(ServerTool),
    ...read,
    warnings: z.array(Warning).optional().meta({ description: 'What its last listing reported. Absent: nothing.' }),
    authorization: AuthorizationStatus.optional().meta({ description: 'For a server with `oauth`, or that offers a sign-in.' }),
  })
  .meta({ id: 'ServerView' });

export const WrittenServer = z
  .object({
    ...described,
    name: ServerName,
    trusted: z.boolean(),
    ...counts,
    ...read,
    warnings: z.array(Warning).meta({
      description: 'Definitions that were skipped, held or changed for models, affected toolsets, and why the server could not be read.',
    }),
  })
  .meta({
    id: 'WrittenServer',
    example: {
      name: 'weather',
      kind: 'static',
      url: 'https://tools.example.com/call',
      trusted: false,
      toolCount: 1,
      held: 0,
      warnings: [],
    },
  });

/** Returns the document as it was sent, except for an inline OpenAPI document, which only `withDocument` shows. */
type CompleteServer = Omit<z.infer<typeof WrittenServer>, 'trusted' | 'warnings'> & {
  trusted?: boolean;
  warnings?: Warning[];
  document?: z.infer<typeof ServerView>['document'];
};

export function toServerDocument(stored: StoredDocument) {
  const {
    toolCount: _tools,
    held: _held,
    health: _health,
    connection: _connection,
    offers: _offers,
    document: _document,
    warnings: _warnings,
    ...sent
  } = storedBody<CompleteServer>(stored);
  return { ...sent, name: stored.name };
}

/** Returns the number of tools, and the results of the last refresh. */
export function toServerReading(stored: StoredDocument) {
  const { toolCount, held, ...body } = storedBody<CompleteServer>(stored);
  return { toolCount, held, ...toState(body) };
}

/** Returns the complete view; its tools are paged separately. */
export function toServerView(stored: StoredDocument) {
  const body = storedBody<CompleteServer>(stored);
  return {
    ...toServerDocument(stored),
    ...(body.document !== undefined && { document: body.document }),
    ...toState(body),
    ...(body.warnings && { warnings: body.warnings }),
  };
}

function toState({ health, connection, offers }: Pick<CompleteServer, 'health' | 'connection' | 'offers'>) {
  return {
    ...(health !== undefined && { health }),
    ...(connection !== undefined && { connection }),
    ...(offers !== undefined && { offers }),
  };
}

export function toServerSummary({ updatedAt, ...stored }: StoredDocument) {
  const { kind, url, command, toolCount, held, health } = storedBody<CompleteServer>(stored);
  return { name: stored.name, kind, url, command, toolCount, held, ...(health !== undefined && { health }), updatedAt };
}
