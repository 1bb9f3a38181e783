/**
 * The handshake with an MCP server of which nothing is known: `server/discover` first, then `initialize` (2026-07-28, "Versioning": a server
 * has this revision only if it names it).
 */
import { listOf, recordOf } from '../../core/json/wire-value.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import { isModern, metaNames, modernRevision, newestSessionRevision, sessionRevisions } from '../server/revisions.ts';
import type { Connection, ServerHello } from './connection.ts';
import type { NegotiatedConnection } from './connection-memory.ts';
import { clientIdentity, type DeclaredCapabilities, envelopeOf, modernHeaders } from './declared-capabilities.ts';
import { statusOf, supportedVersions, unknownVersion, upstreamError } from './upstream-fault.ts';

/** Returns how to reconnect to the server without a handshake. Throws as `Connection.request`, or a problem. */
export async function negotiate(
  connection: Connection,
  server: ServerAccess,
  capabilities: DeclaredCapabilities,
): Promise<NegotiatedConnection> {
  const { name, mcp } = server;
  const era = mcp?.command !== undefined || mcp?.transport === 'sse' ? 'legacy' : (mcp?.era ?? 'auto');
  const modern = era === 'legacy' ? null : await discoverModern(connection, name, era, capabilities);
  if (modern !== null) {
    const negotiated = { era: 'modern', version: modernRevision } as const;
    connection.adopt(negotiated, modern);
    return negotiated;
  }
  if (era === 'modern')
    throw upstreamError(name, `does not support MCP revision ${modernRevision}. Set \`era\` in the server document to "auto".`);
  return await initialize(connection, name, capabilities);
}

/** Returns null if the server does not have 2026-07-28. */
async function discoverModern(
  connection: Connection,
  server: string,
  era: 'auto' | 'modern',
  capabilities: DeclaredCapabilities,
): Promise<ServerHello | null> {
  const headers = modernHeaders(modernRevision, 'server/discover', {});
  try {
    const result = await connection.handshake('server/discover', { _meta: envelopeOf(modernRevision, capabilities) }, headers);
    const versions = listOf(result.supportedVersions);
    if (versions.includes(modernRevision)) return toHello(result, recordOf(result._meta)[metaNames.serverInfo]);
    if (era === 'modern' && versions.length > 0) throw unknownVersion(server, versions.join(', '));
    return null;
  } catch (error) {
    if (connection.signal.aborted || supportedVersions(error)?.some(isModern) === true) throw error;
    if (error instanceof ServerRpcError) return null;
    const status = statusOf(error);
    // Some frameworks respond 5xx to unknown methods, which says nothing about `initialize`.
    if (status === null || status === 401 || status === 403 || (status >= 500 && era === 'modern')) throw error;
    return null;
  }
}

async function initialize(connection: Connection, server: string, { legacy }: DeclaredCapabilities): Promise<NegotiatedConnection> {
  const params = { protocolVersion: newestSessionRevision, capabilities: legacy, clientInfo: clientIdentity };
  const result = await connection.handshake('initialize', params);
  const { protocolVersion: version } = result;
  if (typeof version !== 'string') throw upstreamError(server, 'returned an invalid MCP result.');
  if (!sessionRevisions.includes(version)) throw unknownVersion(server, version);
  const negotiated = { era: 'legacy', version, sessionId: connection.transport.session.id } as const;
  connection.adopt(negotiated, toHello(result, result.serverInfo));
  await connection.notify('notifications/initialized');
  return negotiated;
}

function toHello({ capabilities, instructions }: Record<string, unknown>, identity: unknown): ServerHello {
  const { name, version } = recordOf(identity);
  return {
    capabilities: recordOf(capabilities),
    ...(typeof name === 'string' && typeof version === 'string' && { info: { name, version } }),
    ...(typeof instructions === 'string' && { instructions }),
  };
}
