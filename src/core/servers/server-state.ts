/**
 * What a refresh learns about a server: protocol, health, and offers besides tools. Written by `engine/servers/refresh-server.ts`, stored by the
 * Catalog.
 */
import type { ServerOperation } from '../tools/server-operation.ts';
import * as z from 'zod';
import { Warning } from '../problem.ts';

/** `modern`: 2026-07-28, stateless. `legacy`: the 2025 revisions, with `initialize`. */
export const ProtocolEra = z.enum(['modern', 'legacy']);
export type ProtocolEra = z.infer<typeof ProtocolEra>;

/** As the member of the result is called. */
const ListName = z.enum(['tools', 'prompts', 'resources', 'resourceTemplates']);
export type ListName = z.infer<typeof ListName>;

/** The last connection to an MCP server. `server`: its self-description, which does not prove its identity. */
export const ServerConnection = z
  .object({
    era: ProtocolEra,
    protocolVersion: z.string(),
    /** Absent: Streamable HTTP. */
    transport: z.literal('sse').optional(),
    server: z.object({ name: z.string(), version: z.string() }).optional(),
    /** From `server/discover` or `initialize`, unchanged. */
    capabilities: z.record(z.string(), z.unknown()),
    /** The server's own instructions, shown to administrators only. */
    instructions: z.string().optional(),
    /** The `_meta` of each of its lists, which MCP clients get with the list. */
    listMeta: z.partialRecord(ListName, z.record(z.string(), z.unknown())).optional(),
  })
  .meta({ id: 'ServerConnection' });
export type ServerConnection = z.infer<typeof ServerConnection>;

/** The server's health at the last refresh. Its last valid definitions stay in force in any case. */
export const ServerHealth = z
  .object({
    status: z.enum(['ok', 'degraded', 'failing', 'unauthorized', 'unknown']).meta({
      description:
        '`degraded`: its tools could be listed, but definitions of it are held, another list could not be read, or a call failed because of the server. `unauthorized`: it requires credentials that it did not receive. `unknown`: it has not been contacted yet.',
    }),
    reason: z.string().optional().meta({ description: 'For a server that is not `ok`: what went wrong, and what to do.' }),
    signIn: z.literal(true).optional().meta({ description: 'A user has to sign in (OAuth): POST …/authorize.' }),
    checkedAt: z.iso.datetime().nullable(),
    listedAt: z.iso.datetime().nullable().meta({ description: 'When its definitions were last read completely.' }),
    failures: z.int().meta({ description: 'Consecutive failures.' }),
  })
  .meta({ id: 'ServerHealth' });
export type ServerHealth = z.infer<typeof ServerHealth>;

/** How many servers have each health. */
export const ServerStatuses = z.record(ServerHealth.shape.status, z.int());
export type ServerStatuses = z.infer<typeof ServerStatuses>;

export function statusCounts(found: readonly ServerHealth['status'][]): ServerStatuses {
  const counts: ServerStatuses = { ok: 0, degraded: 0, failing: 0, unauthorized: 0, unknown: 0 };
  for (const status of found) counts[status] += 1;
  return counts;
}

/** A prompt, resource or resource template as the server lists it, with the members that MCP clients receive. */
export type ServerOffer = Record<string, unknown>;

/** What an MCP server offers besides tools. Bounded by `limits.maxServerOffers`. */
export type ServerOffers = {
  prompts: readonly (ServerOffer & { name: string })[];
  resources: readonly (ServerOffer & { uri: string; name: string })[];
  resourceTemplates: readonly (ServerOffer & { uriTemplate: string; name: string })[];
};

export const noOffers: ServerOffers = { prompts: [], resources: [], resourceTemplates: [] };

/** The result of one refresh. */
export type Discovery = {
  /** In the listed order, all pages. */
  tools: readonly Record<string, unknown>[];
  connection: ServerConnection | null;
  offers: ServerOffers;
  /** The lists of offers that could not be read. Absent: none. */
  unread?: readonly (keyof ServerOffers)[];
  /** For an OpenAPI server: how its tools are called, by name without the server. */
  operations: Readonly<Record<string, ServerOperation>> | null;
  /** The TTL from the server; null: none given. */
  ttlMs: number | null;
  /** Bounded warnings for the administrator about the refresh as a whole. */
  warnings?: readonly Warning[];
};

/** The result of testing a server: it was connected and listed, but nothing was stored. */
export const ServerTest = z
  .object({
    ok: z.boolean(),
    health: ServerHealth.pick({ status: true, reason: true, signIn: true }).meta({
      description: '`unknown`: a static server only receives calls, so there is nothing to test.',
    }),
    connection: ServerConnection.nullable().meta({
      description: 'The protocol of the connection; null: not connected, or not an MCP server.',
    }),
    tools: z.int(),
    held: z.int().meta({ description: 'Tools that would require a review.' }),
    prompts: z.int(),
    resources: z.int(),
    durationMs: z.int(),
    warnings: z.array(Warning),
  })
  .meta({ id: 'ServerTest' });
export type ServerTest = z.infer<typeof ServerTest>;

/** The authorization status of a server with `oauth`, as GET shows it. `mcp/oauth/` obtains the tokens. */
export const AuthorizationStatus = z
  .object({
    status: z.enum(['signed-in', 'signed-out', 'expired']).meta({
      description: '`expired`: the tokens have expired and cannot be refreshed. With `authorization_code` a user has to sign in (again).',
    }),
    expiresAt: z.iso.datetime().optional().meta({ description: 'When the current token expires; it is refreshed automatically.' }),
    scopes: z.array(z.string()).optional(),
  })
  .meta({ id: 'AuthorizationStatus' });
export type AuthorizationStatus = z.infer<typeof AuthorizationStatus>;
