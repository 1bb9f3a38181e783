/**
 * What is learnt of a server by asking it, beside its document: how it is spoken with, how it is, what it offers besides tools, and
 * what one reading of it brought. Written by whoever read it (`engine/refresh-server.ts`), kept by the Catalog.
 */
import { z } from 'zod';
import type { Warning } from '../warning.ts';

/** `modern`: 2026-07-28, stateless. `legacy`: the revisions of 2025, with `initialize`. */
export const ProtocolEra = z.enum(['modern', 'legacy']);
export type ProtocolEra = z.infer<typeof ProtocolEra>;

/** How an MCP server was last spoken with. `server`: what it calls itself, which says nothing of who it is. */
export const ServerConnection = z
  .object({
    era: ProtocolEra,
    protocolVersion: z.string(),
    server: z.object({ name: z.string(), version: z.string() }).optional(),
    /** Of `server/discover` or `initialize`, as it came. */
    capabilities: z.record(z.string(), z.unknown()),
    /** Its own words, which are shown to administrators and told to nobody. */
    instructions: z.string().optional(),
  })
  .meta({ id: 'ServerConnection' });
export type ServerConnection = z.infer<typeof ServerConnection>;

/** How a server was when it was last asked. Its last good definitions stay in force whatever this says. */
export const ServerHealth = z
  .object({
    status: z.enum(['ok', 'failing', 'unauthorized', 'unknown']).meta({
      description: '`unauthorized`: it wants credentials that it was not given. `unknown`: nobody has asked it yet.',
    }),
    reason: z.string().optional().meta({ description: 'Of a server that is not `ok`: what went wrong, and what to do.' }),
    checkedAt: z.iso.datetime().nullable(),
    listedAt: z.iso.datetime().nullable().meta({ description: 'When its definitions were last read whole.' }),
    failures: z.int().meta({ description: 'In a row.' }),
  })
  .meta({ id: 'ServerHealth' });
export type ServerHealth = z.infer<typeof ServerHealth>;

/** A prompt, resource or resource template as its server lists it: the members that MCP clients are shown, as they came. */
export type Offer = Record<string, unknown>;

/** What an MCP server offers besides tools. Bounded by `limits.maxServerOffers`. */
export type ServerOffers = {
  prompts: readonly (Offer & { name: string })[];
  resources: readonly (Offer & { uri: string; name: string })[];
  resourceTemplates: readonly (Offer & { uriTemplate: string; name: string })[];
};

export const noOffers: ServerOffers = { prompts: [], resources: [], resourceTemplates: [] };

/** What one reading of a server brought. */
export type Discovery = {
  /** As listed, page after page. */
  tools: readonly Record<string, unknown>[];
  connection: ServerConnection | null;
  offers: ServerOffers;
  /** Of an OpenAPI server: how each of its tools is called, by own name. */
  operations: Readonly<Record<string, Operation>> | null;
  /** How long the server says it holds; null: it does not. */
  ttlMs: number | null;
  /** What its administrator should know of the reading, beside what is said of single definitions. Bounded. */
  warnings?: readonly Warning[];
};

/** Where one argument of an operation goes, and how it is written there (OpenAPI 3.1, Parameter Object). */
export type OperationParameter = {
  /** Member of the tool's arguments. */
  argument: string;
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  style: 'matrix' | 'label' | 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';
  explode: boolean;
  /** Its value is written as JSON. */
  isJson?: true;
};

/** How a tool of an OpenAPI server is called. Part of the definition's pin: an operation that moved is another tool. */
export type Operation = {
  method: string;
  /** With `{name}` for each path parameter. */
  path: string;
  /** Of the document: absolute, or absent where the server's document says it. */
  baseUrl?: string;
  parameters: readonly OperationParameter[];
  /** `argument` null: the body is an object whose members are arguments of their own, `members` by property name. */
  body: OperationBody | null;
};

export type OperationBody = {
  contentType: string;
  argument: string | null;
  members?: Readonly<Record<string, string>>;
  isRequired: boolean;
  /** Of a form: properties that are files, given as base64. */
  files?: readonly string[];
  /** Of a form: how properties are written that are not written as is usual (Encoding Object). */
  styles?: Readonly<Record<string, Pick<OperationParameter, 'style' | 'explode'>>>;
};
