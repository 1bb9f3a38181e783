/**
 * A server: a source of external tools (contract §9). Its document as an administrator writes it, and its tools as the workspace stores them.
 * `listing.ts` validates listed definitions; the Catalog stores, holds and accepts them (`objects/catalog/servers/servers.ts`).
 */
import { boundedText } from '../text/bounded-text.ts';
import * as z from 'zod';
import { HiddenValue, type WithoutHidden } from '../secrets/hidden-values.ts';
import { limits } from '../limits/limits.ts';
import { ServerPrice } from '../tools/tool-price.ts';
import { sentHeaders, sentQuery } from '../secrets/sent-headers.ts';
import { impliedOAuth, ServerOAuth } from './server-oauth.ts';
import type { ServerConnection } from './server-state.ts';
import { type Command, commandIssues, commandMembers, commandOf, commandUrl } from './stdio.ts';

const maxServerHeaders = 20;
/** One response of a server, if its document sets a timeout. */
const minServerTimeoutMs = 1_000;

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

/** Which changes of a server's tools need no review. `core/listing/definition-updates.ts` decides. */
export const UpdatePolicy = z.enum(['review', 'compatible', 'accept']);
export type UpdatePolicy = z.infer<typeof UpdatePolicy>;

/** What a server's document says. Otherwise who writes a definition accepts it, and of what a server lists it matters whether it is trusted. */
export function updatePolicyOf({ updates, trusted }: Pick<Server, 'updates' | 'trusted'>, isWritten = false): UpdatePolicy {
  return updates ?? (isWritten ? 'accept' : trusted === true ? 'compatible' : 'review');
}

const Updates = UpdatePolicy.optional().meta({
  description:
    'Changes of tools that are in force without a review. `compatible`: texts, and schemas that accept what callers sent before, with annotations that promise no less; new tools, unless they say that they are destructive. `accept`: all changes. `review`: none; each is held. Findings always take a review. Default: `accept` for what an administrator writes (the tools of a `static` server, the document and the selection of an `openapi` server); for what the server lists `compatible` if it is `trusted`, otherwise `review`.',
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
  updates: Updates,
  price: ServerPrice.optional(),
  instructions: boundedText(limits.maxServerInstructionBytes)
    .optional()
    .meta({ description: 'Sent to models together with the tools, if the server is `trusted`.' }),
};

const TimeoutMs = z
  .int()
  .min(minServerTimeoutMs)
  .max(limits.maxServerTimeoutMs)
  .optional()
  .meta({
    description: `The time for one response in milliseconds; ${limits.serverTimeoutMs} by default. Each sign of life restarts it: a progress notification, a log message, the state of a task. A call ends after 24 hours in any case.`,
  });

/** Fields that GET shows for servers that list their tools: accepted in PUT and ignored. */
const shown = { description: 'Shown by GET; ignored in PUT.' };
const shownMembers = {
  tools: z.array(ListedTool).optional().meta({ description: 'Shown by GET; ignored in PUT, because the server lists its tools itself.' }),
  health: z.unknown().optional().meta(shown),
  connection: z.unknown().optional().meta(shown),
  offers: z.unknown().optional().meta(shown),
  authorization: z.unknown().optional().meta(shown),
  warnings: z.unknown().optional().meta(shown),
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
        '`modern`: 2026-07-28 and nothing else. `legacy`: the revisions of 2025. `auto` (default): the first that the server supports, but a session of 2025 for a client of 2025 that can be asked during a call.',
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
      description: 'The URL of the OpenAPI document (JSON or YAML, 3.0 to 3.2, or Swagger 2.0).',
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
  price?: ServerPrice;
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

/**
 * Returns the access data from a stored document (without tools) and what is known about the server. `hasSignIn`: a user can sign in, or has
 * begun to, although the document has no `oauth`.
 */
export function toServerAccess(
  name: string,
  document: Omit<WithoutHidden<StaticServer>, 'tools'> | WithoutHidden<McpServer> | WithoutHidden<OpenApiServer>,
  known: Pick<ServerAccess, 'ready' | 'held' | 'annotated' | 'version' | 'connection' | 'staleAt'>,
  hasSignIn = false,
): ServerAccess {
  const { kind, headers, query, trusted = false, price } = document;
  const command = document.kind === 'mcp' ? commandOf(document) : null;
  const url = command === null ? (document.url ?? '') : commandUrl(name);
  const plain = {
    name,
    kind,
    url,
    ...(headers && { headers }),
    ...(query && { query }),
    trusted,
    ...(price !== undefined && { price }),
    ...known,
  };
  if (document.kind === 'static') return plain;
  const timed = { ...plain, ...(document.timeoutMs !== undefined && { timeoutMs: document.timeoutMs }) };
  if (document.kind === 'openapi') {
    const { baseUrl, include, exclude } = document;
    return { ...timed, ...(baseUrl !== undefined && { baseUrl }), openapi: { ...(include && { include }), ...(exclude && { exclude }) } };
  }
  const isImplied = hasSignIn && maySignIn({ ...plain, mcp: command === null ? {} : { command } });
  const { era, transport, oauth = isImplied ? impliedOAuth : undefined, sampling, roots } = document;
  const plainMcp = {
    ...(era && { era }),
    ...(transport && { transport }),
    ...(oauth && { oauth }),
    ...(sampling && { sampling }),
    ...(roots && { roots }),
  };
  return { ...timed, mcp: { ...plainMcp, ...(command !== null && { command }) } };
}

/** Whether a user may sign in although the document has no `oauth`: it gives the server no other credentials. */
export function maySignIn({ kind, headers = {}, mcp }: Pick<ServerAccess, 'kind' | 'headers' | 'mcp'>): boolean {
  return kind === 'mcp' && mcp?.command === undefined && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** Returns the URL of calls from a server's stored document; null: an OpenAPI document defines it. */
export function callUrlOf(document: Pick<Server, 'name' | 'kind' | 'url'> & { baseUrl?: string; command?: string }): string | null {
  if (document.command !== undefined) return commandUrl(document.name ?? '');
  return (document.kind === 'openapi' ? (document.baseUrl ?? document.url) : document.url) ?? null;
}
