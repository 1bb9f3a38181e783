/** Servers as `/v1/servers` shows them: a document as it was sent, and beside it what reading the server brought. */
import { z } from 'zod';
import { AuthorizationStatus } from '../core/servers/authorization-status.ts';
import { McpServer, OpenApiServer, ServerKindFilter, ServerName, ServerTool, StaticServer } from '../core/servers/server.ts';
import { ServerConnection, ServerHealth } from '../core/servers/server-state.ts';
import { Warning } from '../core/warning.ts';
import type { StoredDocument } from '../ports/catalog.ts';

const counts = {
  toolCount: z.int().meta({ description: 'Definitions that it lists; those that were refused are not among them.' }),
  held: z.int().meta({ description: 'How many of them nobody may call until somebody accepts them.' }),
};
/** Of those that list their tools themselves. */
const read = {
  health: ServerHealth.optional().meta({ description: 'Not of a static server, which is asked nothing but calls.' }),
  connection: ServerConnection.optional().meta({ description: 'How an MCP server was last spoken with.' }),
  offers: z
    .object({ prompts: z.int(), resources: z.int(), resourceTemplates: z.int() })
    .optional()
    .meta({ description: 'How many an MCP server lists besides its tools.' }),
};
const { era, oauth, timeoutMs, sampling, roots } = McpServer.shape;
const { baseUrl, include, exclude } = OpenApiServer.shape;
const { headers, trusted, instructions } = StaticServer.shape;
const described = {
  kind: ServerKindFilter,
  url: z.string().optional(),
  ...{ headers, trusted, instructions, era, oauth, timeoutMs, sampling, roots, baseUrl, include, exclude },
};

export const ServerSummary = z
  .object({ name: ServerName, kind: described.kind, url: described.url, ...counts, health: read.health, updatedAt: z.iso.datetime() })
  .meta({ id: 'ServerSummary' });

export const ServerView = z
  .object({
    ...described,
    document: OpenApiServer.shape.document,
    name: ServerName,
    tools: z.array(ServerTool),
    ...read,
    authorization: AuthorizationStatus.optional().meta({ description: 'Of a server with `oauth`.' }),
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
      description:
        'Definitions that were left out, held or changed for models, toolsets that this touches, and why the server could not be read.',
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

/** As it was sent, but for an OpenAPI document that was given whole, which only `withDocument` shows. */
export function toServerDocument({ name, body }: StoredDocument): Record<string, unknown> {
  const { toolCount: _tools, held: _held, health: _health, connection: _connection, offers: _offers, document: _document, ...sent } = body;
  return { ...sent, name };
}

/** How many tools it has, and what reading it brought. */
export function toServerReading({ body }: StoredDocument): Record<string, unknown> {
  const { toolCount, held } = body;
  return { toolCount, held, ...toState(body) };
}

/** The whole of it; its tools are pages of their own. */
export function toServerView(document: StoredDocument): Record<string, unknown> {
  const { body } = document;
  return { ...toServerDocument(document), ...(body.document !== undefined && { document: body.document }), ...toState(body) };
}

function toState({ health, connection, offers }: StoredDocument['body']): Record<string, unknown> {
  return {
    ...(health !== undefined && { health }),
    ...(connection !== undefined && { connection }),
    ...(offers !== undefined && { offers }),
  };
}

export function toServerSummary({ name, body: { kind, url, toolCount, held, health }, updatedAt }: StoredDocument) {
  return { name, kind, url, toolCount, held, ...(health !== undefined && { health }), updatedAt };
}
