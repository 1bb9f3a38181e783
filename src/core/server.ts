/**
 * A server: where tools come from that are not of this code base (DESIGN §9). Its document as an administrator writes it,
 * and its tools as the workspace keeps them. What is wrong with a listed definition is said by `listing.ts`; keeping
 * definitions, holding changed ones and releasing them is the Catalog's (`catalog/servers.ts`).
 */
import { z } from 'zod';
import { Finding, Hold } from './hold.ts';
import { limits } from './limits.ts';
import { sentHeaders } from './sent-headers.ts';
import { ToolAnnotations } from './tool.ts';
import { utf8Length } from './utf8.ts';
import { Warning } from './warning.ts';

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

export const Server = z
  .strictObject({
    name: ServerName.optional().meta({ description: 'If given, equals the name in the path.' }),
    kind: z.literal('static', { error: 'must be "static": definitions given here, answered by the HTTP endpoint at url' }),
    url: HttpUrl.meta({ description: 'Gets one POST a call: `{"name", "arguments"}`.', example: 'https://tools.example.com/call' }),
    headers: sentHeaders(HeaderValue, 'give {"secret": NAME}')
      .refine((headers) => Object.keys(headers).length <= limits.maxServerHeaders, {
        message: `must be at most ${limits.maxServerHeaders}`,
      })
      .optional()
      .meta({ description: 'Sent with each call. A secret must be bound to the host of `url`.' }),
    trusted: z.boolean().optional().meta({
      description:
        'Its annotations count: what it calls read-only or idempotent may run again, and only what it calls destructive is asked for.',
    }),
    instructions: z
      .string()
      .max(limits.maxServerInstructionBytes)
      .refine((text) => utf8Length(text) <= limits.maxServerInstructionBytes, {
        message: `must be at most ${limits.maxServerInstructionBytes} bytes`,
      })
      .optional()
      .meta({ description: 'Told to models that are given its tools, where the server is `trusted`.' }),
    tools: z.array(ListedTool).min(1).max(limits.maxServerTools),
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

/**
 * What a call of one of its tools needs to know. By own names, whatever an edition says: `ready`: what may be called now, and nothing else;
 * `held`: what is known besides. An earlier version of a toolset may have a tool that is forgotten since.
 */
export type ServerAccess = Pick<Server, 'kind' | 'url' | 'headers'> & {
  name: string;
  trusted: boolean;
  ready: readonly string[];
  held: readonly string[];
};

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
