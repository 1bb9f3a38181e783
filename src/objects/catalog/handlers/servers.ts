/** Handlers of servers: their listings, refresh claims, and decisions about their tools. */
import { reviewedDefinitions } from '../../../core/listing/stored-tool.ts';
import { requireRow } from '../documents/documents.ts';
import { listOffers } from '../servers/server-offers.ts';
import { readDocument } from '../servers/server-state.ts';
import { listConnections, readConnection, saveConnection } from '../servers/connections.ts';
import { readGrant, saveGrant } from '../servers/server-grants.ts';
import { claimRefresh, readOperation, takeDiscovery, takeFailure } from '../servers/server-refresh.ts';
import { completeServer, listServerTools, readServerTool, refreshServer } from '../servers/servers.ts';
import { serverOf } from '../servers/server-definitions.ts';
import { requireTool } from '../servers/server-tools.ts';
import { Problem } from '../../../core/problem.ts';
import type { CatalogContext } from '../context.ts';
import { keyRights } from '../keys/keys.ts';
import { type CatalogHandlers, ofContext } from './catalog-handlers.ts';

export const serverHandlers = {
  ...ofContext({ serverTools: listServerTools, serverTool: readServerTool, reviewedOffers: listOffers, claimRefresh, takeFailure }),
  reviewedDefinitions: ({ context }, server, tool) => reviewedDefinitions(serverOf(context, server), requireTool(context, server, tool)),
  serverDocument: ({ context: { sql } }, server) => {
    requireRow(sql, 'server', server);
    return readDocument(sql, server);
  },
  completeServer: ({ context }, server, document, options = {}) => completeServer(context, server, document, options),
  programKeys: async ({ context }, servers) => (await import('../servers/program-keys.ts')).readProgramKeys(context, servers),
  serverGrant: ({ context }, server, keyId) => (keyId === undefined ? readGrant(context, server) : readConnection(context, server, keyId)),
  connections: ({ context }, server, page) => {
    requireRow(context.sql, 'server', server);
    return listConnections(context, server, page);
  },
  operation: ({ context }, server, tool) => readOperation(context.sql, server, tool),
  refreshServer: ({ context, by }, server) => refreshServer(context, server, by),
  takeDiscovery: ({ context, by }, server, claim, discovery) => takeDiscovery(context, { server, claim, discovery, by }),
  saveServerGrant: ({ context, by }, server, grant, keyId) =>
    keyId === undefined ? saveGrant(context, { server, grant, by }) : saveConnectionOf(context, { server, keyId, grant, by }),
  // Rarely used.
  acceptTool: async ({ context, by }, server, name, acceptance = {}) =>
    (await import('../servers/decide-tool.ts')).acceptServerTool(context, { server, name, by }, acceptance),
  rejectTool: async ({ context, by }, server, name, request = {}) =>
    (await import('../servers/decide-tool.ts')).rejectServerTool(context, { server, name, by }, request),
  decideTools: async ({ context, by }, server, decision) =>
    (await import('../servers/decide-tool.ts')).decideServerTools(context, { server, by }, decision),
  undoTool: async ({ context, by }, server, name, request = {}) =>
    (await import('../servers/decide-tool.ts')).undoServerTool(context, { server, name, by }, request),
  decideOffer: async ({ context, by }, server, decision) =>
    (await import('../servers/decide-offer.ts')).decideOffer(context, server, decision, by),
  rebindTool: async ({ context, by }, server, from, to) =>
    (await import('../servers/decide-tool.ts')).rebindTool(context, { server, from, to, by }),
} satisfies Partial<CatalogHandlers>;

/** A key that has ended must not begin a connection: another user may get its id later, for example a member who is added again. */
async function saveConnectionOf(context: CatalogContext, change: Parameters<typeof saveConnection>[1]): Promise<boolean> {
  const { keyId, grant } = change;
  if (grant.value !== null && keyRights(context, keyId) === null)
    throw new Problem('forbidden', 'The key has ended, so it cannot connect.');
  return await saveConnection(context, change);
}
