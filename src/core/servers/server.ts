/**
 * A server: where tools come from that are not of this code base (DESIGN §9). Its document as an administrator writes it,
 * and its tools as the workspace keeps them. What is wrong with a listed definition is said by `listing.ts`; keeping
 * definitions, holding changed ones and releasing them is the Catalog's (`catalog/servers.ts`).
 */
import { z } from 'zod';
import { Finding, Hold } from '../listing/hold.ts';
import { canonicalJson } from '../hash.ts';
import { limits } from '../limits.ts';
import { sentHeaders } from './sent-headers.ts';
import type { ServerConnection } from './server-state.ts';
import { ToolAnnotations } from '../tool.ts';
import { utf8Length } from '../utf8.ts';
import { Warning } from '../warning.ts';

/** Names in `CanonicalName`s; those of ours are taken. */
export const ServerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, { message: 'must be 1 to 32 of a-z, 0-9 and "-", beginning with a letter' });

/** These list their tools by being there: a name they do not have is a mistake, not a server that is down. */
export const ownServers: ReadonlySet<string> = new Set(['builtin', 'local', 'made', 'client', 'ui']);

const HeaderValue = z.union([z.string().max(4_096), z.strictObject({ secret: z.string().min(1).max(128) })]);

/**
 * A definition as a source lists it: read leniently, one by one (`listing.ts`), so that a bad one is left out and the others
 * stay. Members that say nothing to us pass.
 */
const ListedTool = z.record(z.string(), z.unknown());

const HttpUrl = z
  .string()
  .max(limits.maxUrlLength)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), { message: 'must be an http(s) URL' })
  .refine((text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''), {
    message: 'must not hold a password: put it into a header, as {"secret": NAME}',
  });

/** Members that the documents of all kinds have. */
const common = {
  name: ServerName.optional().meta({ description: 'If given, equals the name in the path.' }),
  headers: sentHeaders(HeaderValue, 'give {"secret": NAME}')
    .refine((headers) => Object.keys(headers).length <= limits.maxServerHeaders, {
      message: `must be at most ${limits.maxServerHeaders}`,
    })
    .optional()
    .meta({
      description:
        'Sent with each request to it, secrets as they are (a token as `Bearer <token>`). A secret must be bound to the host of its address.',
    }),
  trusted: z.boolean().optional().meta({
    description:
      'Its annotations count: calls of read-only or idempotent tools may be retried, and only destructive tools require approval. Absent or false: every call of an MCP tool requires approval until an administrator accepts its annotations.',
  }),
  instructions: z
    .string()
    .max(limits.maxServerInstructionBytes)
    .refine((text) => utf8Length(text) <= limits.maxServerInstructionBytes, {
      message: `must be at most ${limits.maxServerInstructionBytes} bytes`,
    })
    .optional()
    .meta({ description: 'Told to models that are given its tools, where the server is `trusted`.' }),
};

const TimeoutMs = z
  .int()
  .min(limits.minServerTimeoutMs)
  .max(limits.maxServerTimeoutMs)
  .optional()
  .meta({
    description: `For one answer of it, in milliseconds; ${limits.toolTimeoutMs} unless told. Progress begins it anew, up to a total.`,
  });

/** What GET shows of servers that list for themselves: sent back, it is read and not looked at. */
const shown = { description: 'As GET shows it: what is sent here is not looked at.' };
const shownMembers = {
  tools: z
    .array(ListedTool)
    .optional()
    .meta({ description: 'As GET shows them. The server lists its tools itself: what is sent here is not looked at.' }),
  health: z.unknown().optional().meta(shown),
  connection: z.unknown().optional().meta(shown),
  offers: z.unknown().optional().meta(shown),
  authorization: z.unknown().optional().meta(shown),
};

export const StaticServer = z.strictObject({
  ...common,
  kind: z.literal('static'),
  url: HttpUrl.meta({ description: 'Gets one POST a call: `{"name", "arguments"}`.', example: 'https://tools.example.com/call' }),
  tools: z.array(ListedTool).min(1).max(limits.maxServerTools),
});
export type StaticServer = z.infer<typeof StaticServer>;

/** How tokens for the server are got (MCP authorization, OAuth 2.1). The grant itself is beside the document (`catalog/server-grants.ts`). */
export const ServerOAuth = z
  .strictObject({
    grant: z.enum(['client_credentials', 'authorization_code']).meta({
      description: 'With `authorization_code` a person signs in once: POST …/authorize answers the address to open.',
    }),
    clientId: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .meta({ description: 'Absent: the client registers itself (RFC 7591), where it may.' }),
    clientSecret: z
      .strictObject({ secret: z.string().min(1).max(128) })
      .optional()
      .meta({
        description: 'Must be bound to the host of the token endpoint.',
      }),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/))
      .max(50)
      .optional(),
  })
  .refine(({ grant, clientId }) => grant !== 'client_credentials' || clientId !== undefined, {
    message: 'is needed with client_credentials',
    path: ['clientId'],
  })
  .meta({ id: 'ServerOAuth' });
export type ServerOAuth = z.infer<typeof ServerOAuth>;

export const McpServer = z
  .strictObject({
    ...common,
    kind: z.literal('mcp'),
    url: HttpUrl.meta({ description: 'Its MCP endpoint (Streamable HTTP).', example: 'https://mcp.example.com/mcp' }),
    era: z.enum(['auto', 'modern', 'legacy']).optional().meta({
      description: '`modern`: 2026-07-28 and nothing else. `legacy`: the revisions of 2025. `auto`, unless told: the first that it speaks.',
    }),
    oauth: ServerOAuth.optional(),
    timeoutMs: TimeoutMs,
    sampling: z.boolean().optional().meta({
      description: 'It may ask the MCP client that calls it for completions of its model. Refused unless true.',
    }),
    roots: z
      .array(z.strictObject({ uri: z.string().min(1).max(limits.maxUrlLength), name: z.string().max(200).optional() }))
      .max(50)
      .optional()
      .meta({ description: 'What it is told when it asks for roots. None unless told.' }),
    ...shownMembers,
  })
  .meta({ example: { kind: 'mcp', url: 'https://mcp.example.com/mcp', headers: { authorization: { secret: 'DOCS_TOKEN' } } } });
export type McpServer = z.infer<typeof McpServer>;

export const OpenApiServer = z
  .strictObject({
    ...common,
    kind: z.literal('openapi'),
    url: HttpUrl.optional().meta({
      description: 'Of the OpenAPI document (JSON or YAML, 3.0 or 3.1).',
      example: 'https://api.example.com/openapi.json',
    }),
    document: z
      .union([z.record(z.string(), z.unknown()), z.string()])
      .optional()
      .meta({ description: 'The document itself, in place of `url`: as JSON, or its text.' }),
    baseUrl: HttpUrl.optional().meta({ description: 'Where the operations are called. Absent: the first of `servers` in the document.' }),
    include: z.array(z.string().min(1).max(200)).max(500).optional().meta({
      description: 'Operations to take: tool names, operation ids, tags as `tag:NAME`, or `METHOD /path` with `*`. Absent: all.',
    }),
    exclude: z.array(z.string().min(1).max(200)).max(500).optional().meta({ description: 'Operations to leave out, in the same words.' }),
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
export const ServerKindName = z.enum(['static', 'mcp', 'openapi']);
export type ServerKind = Server['kind'];

/**
 * What a call of one of its tools needs to know. By own names, whatever an edition says: `ready`: what may be called now, and nothing else;
 * `held`: what is known besides. An earlier version of a toolset may have a tool that is forgotten since.
 */
export type ServerAccess = {
  name: string;
  kind: ServerKind;
  /** Of its document; `''` for an OpenAPI document that was given whole. */
  url: string;
  headers?: Server['headers'];
  trusted: boolean;
  ready: readonly string[];
  held: readonly string[];
  /** Pins of the definitions in force whose annotations an administrator accepted. Absent: none. */
  annotated?: readonly string[];
  /** Of the document: another one was written since, where this differs. */
  version: number;
  timeoutMs?: number;
  /** Of an MCP server. */
  mcp?: Pick<McpServer, 'era' | 'oauth' | 'sampling' | 'roots'>;
  /** Of an OpenAPI server: where its operations are called, as far as the document of the server says so. */
  baseUrl?: string;
  /** Of an OpenAPI server: which operations it takes. */
  openapi?: Pick<OpenApiServer, 'include' | 'exclude'>;
  /** What is known of it from the last time it answered; null: it never did. */
  connection: ServerConnection | null;
  /** Milliseconds since the epoch from which on its listing should be read again; null: never by itself. */
  staleAt: number | null;
};

/** What a stored document (without its tools) says for calls; the rest is known of the server. */
export function toServerAccess(
  name: string,
  document: Omit<StaticServer, 'tools'> | McpServer | OpenApiServer,
  known: Pick<ServerAccess, 'ready' | 'held' | 'annotated' | 'version' | 'connection' | 'staleAt'>,
): ServerAccess {
  const { kind, headers, trusted = false } = document;
  const plain = { name, kind, url: document.url ?? '', ...(headers && { headers }), trusted, ...known };
  if (document.kind === 'static') return plain;
  const timed = { ...plain, ...(document.timeoutMs !== undefined && { timeoutMs: document.timeoutMs }) };
  if (document.kind === 'openapi') {
    const { baseUrl, include, exclude } = document;
    return { ...timed, ...(baseUrl !== undefined && { baseUrl }), openapi: { ...(include && { include }), ...(exclude && { exclude }) } };
  }
  const { era, oauth, sampling, roots } = document;
  return { ...timed, mcp: { ...(era && { era }), ...(oauth && { oauth }), ...(sampling && { sampling }), ...(roots && { roots }) } };
}

/** Where its calls go, as far as its document says; null: an OpenAPI document does. */
export function callUrlOf(document: Pick<Server, 'kind' | 'url'> & { baseUrl?: string | undefined }): string | null {
  return (document.kind === 'openapi' ? (document.baseUrl ?? document.url) : document.url) ?? null;
}

/** `refused`: what was listed is no definition that could be offered; `findings` say why. */
export const ServerToolState = z.enum(['ready', 'held', 'missing', 'refused']);

export const ServerTool = z
  .object({
    name: z.string(),
    canonical: z.string(),
    state: ServerToolState,
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    annotations: ToolAnnotations.optional(),
    annotationsAccepted: z.boolean().meta({
      description: 'An administrator accepted the annotations of this definition. They count where its server is not `trusted`, too.',
    }),
    refId: z.string().meta({ description: 'SHA-256 of the definition that is in force: a toolset entry may name a tool by it.' }),
    held: Hold.optional(),
    findings: z.array(Finding).optional(),
    renamedTo: z.string().optional().meta({ description: 'Of a missing one: the canonical name of a new tool with the same definition.' }),
  })
  .meta({ id: 'ServerTool' });
export type ServerTool = z.infer<typeof ServerTool>;

export const AcceptedTool = ServerTool.extend({
  warnings: z
    .array(Warning)
    .meta({ description: 'Toolsets that do not fit the definition: in those the tool stays held until they are written anew.' }),
}).meta({ id: 'AcceptedTool' });
export type AcceptedTool = z.infer<typeof AcceptedTool>;

/** What a listing brought: own names. */
export const ListingReport = z
  .object({
    server: z.string(),
    tools: z.int(),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    held: z.array(z.string()).meta({ description: 'All that are held now.' }),
    refused: z.array(z.string()),
    renames: z.array(z.object({ from: z.string(), to: z.string() })),
    warnings: z.array(Warning),
  })
  .meta({ id: 'ListingReport' });
export type ListingReport = z.infer<typeof ListingReport>;

/** What somebody granted is for one address and one client. */
export function isSameClient(one: Pick<McpServer, 'url' | 'oauth'>, other: Pick<McpServer, 'url' | 'oauth'>): boolean {
  return new URL(one.url).origin === new URL(other.url).origin && canonicalJson(one.oauth ?? null) === canonicalJson(other.oauth ?? null);
}
