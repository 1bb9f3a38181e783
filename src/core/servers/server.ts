/**
 * A server: a source of external tools (contract §9). Its document as an administrator writes it, and its tools as the workspace stores them.
 * `listing.ts` validates listed definitions; the Catalog stores, holds and accepts them (`catalog/servers/servers.ts`).
 */
import { boundedText } from '../text/bounded-text.ts';
import { z } from 'zod';
import { DefinitionDecision } from '../listing/definition-review.ts';
import { Finding, Hold } from '../listing/hold.ts';
import { HiddenValue, type WithoutHidden } from '../hidden-values.ts';
import { limits } from '../limits.ts';
import { sentHeaders, sentQuery } from './sent-headers.ts';
import { ServerOAuth } from './server-oauth.ts';
import type { ServerConnection } from './server-state.ts';
import { type Command, commandIssues, commandMembers, commandOf, commandUrl } from './stdio.ts';
import { ToolAnnotations } from '../tools/tool.ts';
import { ToolsetAlias } from '../toolset/toolset.ts';
import { Warning } from '../warning.ts';

const maxServerHeaders = 20;
/** One response of a server, if its document sets a timeout. */
const minServerTimeoutMs = 1_000;
const maxServerTimeoutMs = 5 * 60_000;

/** The server part of a `CanonicalName`; built-in names are reserved. */
export const ServerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, { message: 'must be 1 to 32 of a-z, 0-9 and "-", beginning with a letter' });

const HeaderValue = z.union([z.string().max(4_096), z.strictObject({ secret: z.string().min(1).max(128) }), HiddenValue]);

/**
 * A listed definition. It is validated leniently and separately (`listing.ts`), so that an invalid one is skipped and the others stay.
 * Unknown members are allowed.
 */
const ListedTool = z.record(z.string(), z.unknown());

const HttpUrl = z
  .string()
  .max(limits.maxUrlLength)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), { message: 'must be an http(s) URL' })
  .refine((text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''), {
    message: 'must not contain a password: put it into a header, as {"secret": NAME}',
  });

/** Fields of all server kinds. */
const common = {
  name: ServerName.optional().meta({ description: 'If given, equals the name in the path.' }),
  headers: sentHeaders(HeaderValue, 'give {"secret": NAME}')
    .refine((headers) => Object.keys(headers).length <= maxServerHeaders, {
      message: `must have at most ${maxServerHeaders} entries`,
    })
    .optional()
    .meta({
      description:
        'Sent with each request to the server. Secrets are sent unchanged (so a token is stored as `Bearer <token>`) and must be bound to the host of the URL.',
    }),
  query: sentQuery(HeaderValue)
    .optional()
    .meta({
      description:
        'Added to the query of each request to the server. A secret is the value alone, and must be bound to the host of the URL. It replaces a parameter of the same name.',
      example: { api_key: { secret: 'DOCS_KEY' } },
    }),
  trusted: z.boolean().optional().meta({
    description:
      'Trusts the tool annotations: calls of read-only or idempotent tools may be retried, and only destructive tools require approval. Absent or false: every call of an MCP tool requires approval until an administrator accepts its annotations.',
  }),
  instructions: boundedText(limits.maxServerInstructionBytes)
    .optional()
    .meta({ description: 'Sent to models together with the tools, if the server is `trusted`.' }),
};

const TimeoutMs = z
  .int()
  .min(minServerTimeoutMs)
  .max(maxServerTimeoutMs)
  .optional()
  .meta({
    description: `The time for one response in milliseconds; ${limits.toolTimeoutMs} by default. Progress notifications restart it, up to a maximum.`,
  });

/** Fields that GET shows for servers that list their tools: accepted in PUT and ignored. */
const shown = { description: 'Shown by GET; ignored in PUT.' };
const shownMembers = {
  tools: z.array(ListedTool).optional().meta({ description: 'Shown by GET; ignored in PUT, because the server lists its tools itself.' }),
  health: z.unknown().optional().meta(shown),
  connection: z.unknown().optional().meta(shown),
  offers: z.unknown().optional().meta(shown),
  authorization: z.unknown().optional().meta(shown),
};

export const StaticServer = z.strictObject({
  ...common,
  kind: z.literal('static'),
  url: HttpUrl.meta({ description: 'Receives one POST per call: `{"name", "arguments"}`.', example: 'https://tools.example.com/call' }),
  tools: z.array(ListedTool).min(1).max(limits.maxServerTools),
});
export type StaticServer = z.infer<typeof StaticServer>;

export const McpServer = z
  .strictObject({
    ...common,
    kind: z.literal('mcp'),
    url: HttpUrl.optional().meta({
      description: 'Its MCP endpoint (Streamable HTTP). Required without `command`.',
      example: 'https://mcp.example.com/mcp',
    }),
    ...commandMembers,
    era: z.enum(['auto', 'modern', 'legacy']).optional().meta({
      description:
        '`modern`: 2026-07-28 and nothing else. `legacy`: the revisions of 2025. `auto` (default): the first that the server supports.',
    }),
    transport: z.enum(['auto', 'http', 'sse']).optional().meta({
      description:
        '`http`: Streamable HTTP. `sse`: the HTTP+SSE transport of 2024-11-05. `auto` (default): `http`, and `sse` for a server that has no endpoint for it.',
    }),
    oauth: ServerOAuth.optional(),
    timeoutMs: TimeoutMs,
    sampling: z.boolean().optional().meta({
      description: 'Allows the server to request completions from the model of the calling MCP client. Default: false.',
    }),
    roots: z
      .union(
        [
          z.array(z.strictObject({ uri: z.string().min(1).max(limits.maxUrlLength), name: z.string().max(200).optional() })).max(50),
          z.literal('client'),
        ],
        { error: 'must be a list of at most 50 {"uri", "name"?}, or "client"' },
      )
      .optional()
      .meta({ description: 'Returned when the server requests roots. `client`: those of the calling MCP client. Default: none.' }),
    ...shownMembers,
  })
  .check(({ value, issues }) => {
    for (const { path, message } of commandIssues(value)) issues.push({ code: 'custom', message, path: [path], input: value });
  })
  .meta({ example: { kind: 'mcp', url: 'https://mcp.example.com/mcp', headers: { authorization: { secret: 'DOCS_TOKEN' } } } });
export type McpServer = z.infer<typeof McpServer>;

export const OpenApiServer = z
  .strictObject({
    ...common,
    kind: z.literal('openapi'),
    url: HttpUrl.optional().meta({
      description: 'The URL of the OpenAPI document (JSON or YAML, 3.0 or 3.1, or Swagger 2.0).',
      example: 'https://api.example.com/openapi.json',
    }),
    document: z
      .union([z.record(z.string(), z.unknown()), z.string()])
      .optional()
      .meta({ description: 'The document itself instead of `url`: as JSON, or as text.' }),
    baseUrl: HttpUrl.optional().meta({ description: 'The base URL of the operations. Absent: the first of `servers` in the document.' }),
    include: z.array(z.string().min(1).max(200)).max(500).optional().meta({
      description: 'Operations to use: tool names, operation ids, tags as `tag:NAME`, or `METHOD /path` with `*`. Absent: all.',
    }),
    exclude: z.array(z.string().min(1).max(200)).max(500).optional().meta({ description: 'Operations to skip, in the same form.' }),
    timeoutMs: TimeoutMs,
    ...shownMembers,
  })
  .refine(({ url, document }) => (url === undefined) !== (document === undefined), {
    message: 'give either `url` or `document`',
    path: ['url'],
  })
  .meta({ example: { kind: 'openapi', url: 'https://api.example.com/openapi.json', include: ['tag:pet', 'GET /store/*'] } });
export type OpenApiServer = z.infer<typeof OpenApiServer>;

export const Server = z
  .discriminatedUnion('kind', [StaticServer, McpServer, OpenApiServer], {
    error: 'must be "static" (definitions given here), "mcp" (an MCP server at url) or "openapi" (the operations of a document)',
  })
  .meta({
    id: 'Server',
    example: {
      kind: 'static',
      url: 'https://tools.example.com/call',
      headers: { authorization: { secret: 'TOOLS_TOKEN' } },
      trusted: true,
      tools: [
        {
          name: 'get_weather',
          description: 'Weather of a city.',
          inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    },
  });
export type Server = z.infer<typeof Server>;
/** A document whose hidden values were filled in, as it is stored and used. */
export type CompleteServer = WithoutHidden<Server>;
export const ServerKindFilter = z.enum(['static', 'mcp', 'openapi']);
export type ServerKind = Server['kind'];

/**
 * What a call of a server's tools requires, by names without the server, independent of editions. `ready`: the tools that may be called;
 * `held`: the other known tools. An earlier version of a toolset may contain a tool that was forgotten since.
 */
export type ServerAccess = {
  name: string;
  kind: ServerKind;
  /** From the server's document; `stdio://NAME.stdio` for a command, `''` for an inline OpenAPI document. */
  url: string;
  headers?: CompleteServer['headers'];
  query?: CompleteServer['query'];
  trusted: boolean;
  ready: readonly string[];
  held: readonly string[];
  /** Pins of definitions in force whose annotations an administrator accepted. Absent: none. */
  annotated?: readonly string[];
  /** The version of the document; a different one means that it was changed since. */
  version: number;
  timeoutMs?: number;
  /** For an MCP server. */
  mcp?: Pick<McpServer, 'era' | 'transport' | 'oauth' | 'sampling' | 'roots'> & { command?: Command };
  /** For an OpenAPI server: the base URL of the operations, if the server's document sets one. */
  baseUrl?: string;
  /** For an OpenAPI server: which operations are selected. */
  openapi?: Pick<OpenApiServer, 'include' | 'exclude'>;
  /** The last successful connection; null: none. */
  connection: ServerConnection | null;
  /** When the listing becomes stale, in milliseconds since the epoch; null: never. */
  staleAt: number | null;
};

/** Returns the access data from a stored document (without tools) and what is known about the server. */
export function toServerAccess(
  name: string,
  document: Omit<WithoutHidden<StaticServer>, 'tools'> | WithoutHidden<McpServer> | WithoutHidden<OpenApiServer>,
  known: Pick<ServerAccess, 'ready' | 'held' | 'annotated' | 'version' | 'connection' | 'staleAt'>,
): ServerAccess {
  const { kind, headers, query, trusted = false } = document;
  const command = document.kind === 'mcp' ? commandOf(document) : null;
  const url = command === null ? (document.url ?? '') : commandUrl(name);
  const plain = { name, kind, url, ...(headers && { headers }), ...(query && { query }), trusted, ...known };
  if (document.kind === 'static') return plain;
  const timed = { ...plain, ...(document.timeoutMs !== undefined && { timeoutMs: document.timeoutMs }) };
  if (document.kind === 'openapi') {
    const { baseUrl, include, exclude } = document;
    return { ...timed, ...(baseUrl !== undefined && { baseUrl }), openapi: { ...(include && { include }), ...(exclude && { exclude }) } };
  }
  const { era, transport, oauth, sampling, roots } = document;
  const plainMcp = {
    ...(era && { era }),
    ...(transport && { transport }),
    ...(oauth && { oauth }),
    ...(sampling && { sampling }),
    ...(roots && { roots }),
  };
  return { ...timed, mcp: { ...plainMcp, ...(command !== null && { command }) } };
}

/** Returns the URL of calls from a server's stored document; null: an OpenAPI document defines it. */
export function callUrlOf(document: Pick<Server, 'name' | 'kind' | 'url'> & { baseUrl?: string; command?: string }): string | null {
  if (document.command !== undefined) return commandUrl(document.name ?? '');
  return (document.kind === 'openapi' ? (document.baseUrl ?? document.url) : document.url) ?? null;
}

/** `rejected`: an administrator rejected the listed definition. `refused`: the listed item is not a valid definition; `findings` say why. */
export const ServerToolState = z.enum(['ready', 'held', 'rejected', 'missing', 'refused']);

export const ServerTool = z
  .object({
    name: z.string(),
    canonical: z.string(),
    state: ServerToolState,
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    annotations: ToolAnnotations.optional(),
    aliases: z.array(ToolsetAlias).optional().meta({
      description: 'Default aliases from the listing: `aliases` of a static tool, `_meta.aliases` of an MCP tool.',
    }),
    annotationsAccepted: z.boolean().meta({
      description: 'An administrator accepted the annotations of this definition. They also count if the server is not `trusted`.',
    }),
    refId: z.string().meta({ description: 'SHA-256 of the definition in force. A toolset entry can refer to the tool by it.' }),
    held: Hold.optional(),
    findings: z.array(Finding).optional(),
    decisions: z.array(DefinitionDecision).optional().meta({
      description:
        'Decisions of administrators about definitions of this tool that can be undone, newest first. A rejection of another definition than the listed one is an earlier one.',
    }),
    renamedTo: z
      .string()
      .optional()
      .meta({ description: 'For a missing tool: the canonical name of a new tool with the same definition.' }),
  })
  .meta({ id: 'ServerTool' });
export type ServerTool = z.infer<typeof ServerTool>;

export const DecidedTool = ServerTool.extend({
  warnings: z
    .array(Warning)
    .meta({ description: 'Toolsets that conflict with the definition: the tool stays held in them until they are saved again.' }),
}).meta({ id: 'DecidedTool' });
export type DecidedTool = z.infer<typeof DecidedTool>;

/** The result of a listing, by names without the server. */
export const ListingReport = z
  .object({
    server: z.string(),
    tools: z.int(),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    held: z.array(z.string()).meta({ description: 'All tools that are currently held.' }),
    rejected: z.array(z.string()).meta({ description: 'All tools whose listed definition was rejected.' }),
    refused: z.array(z.string()),
    renames: z.array(z.object({ from: z.string(), to: z.string() })),
    warnings: z.array(Warning),
  })
  .meta({ id: 'ListingReport' });
export type ListingReport = z.infer<typeof ListingReport>;
