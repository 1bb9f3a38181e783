/** Handlers of servers: their listings, refresh leases, and decisions about their tools. */
import { type DecidedBy, rejectDefinition, undoDecision } from '../../core/listing/definition-review.ts';
import { acceptTool, type StoredTool, toolKind } from '../../core/listing/stored-tool.ts';
import { decideTool, rebindTool } from '../servers/accept-tool.ts';
import { requireRow } from '../documents/documents.ts';
import { decideOffer, listOffers } from '../servers/server-offers.ts';
import { readDocument } from '../servers/server-state.ts';
import { listConnections, readConnection, saveConnection } from '../servers/connections.ts';
import { readGrant, saveGrant } from '../servers/server-grants.ts';
import { claimRefresh, readOperation, takeDiscovery, takeFailure } from '../servers/server-refresh.ts';
import { listServerTools, readServerTool, refreshServer } from '../servers/servers.ts';
import { Problem } from '../../core/problem.ts';
import type { CatalogContext } from '../context.ts';
import { keyRights } from '../keys/keys.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

export const serverHandlers = {
  serverTools: ({ context }, server, page) => listServerTools(context, server, page),
  serverTool: ({ context }, server, tool) => readServerTool(context, server, tool),
  serverDocument: ({ context: { sql } }, server) => {
    requireRow(sql, 'server', server);
    return readDocument(sql, server);
  },
  claimRefresh: ({ context }, server, reason) => claimRefresh(context, server, reason),
  takeFailure: ({ context }, server, lease, failure) => takeFailure(context, server, lease, failure),
  serverGrant: ({ context }, server, keyId) => (keyId === undefined ? readGrant(context, server) : readConnection(context, server, keyId)),
  connections: ({ context }, server, page) => {
    requireRow(context.sql, 'server', server);
    return listConnections(context, server, page);
  },
  operation: ({ context }, server, tool) => readOperation(context.sql, server, tool),
  refreshServer: ({ context, by }, server) => refreshServer(context, server, by),
  takeDiscovery: ({ context, by }, server, lease, discovery) => takeDiscovery(context, { server, lease, discovery, by }),
  saveServerGrant: ({ context, by }, server, grant, keyId) =>
    keyId === undefined ? saveGrant(context, { server, grant, by }) : saveConnectionOf(context, { server, keyId, grant, by }),
  acceptTool: ({ context, by }, server, name, acceptance = {}) =>
    decideTool(context, { server, name, by, action: 'accept', decide: (tool, decided) => acceptTool(tool, acceptance, decided) }),
  rejectTool: ({ context, by }, server, name, request = {}) => {
    const decide = (tool: StoredTool, decided: DecidedBy) => ({ ...tool, ...rejectDefinition(toolKind, tool, request, decided) });
    return decideTool(context, { server, name, by, action: 'reject', decide });
  },
  undoTool: ({ context, by }, server, name, request = {}) =>
    decideTool(context, { server, name, by, action: 'undo', decide: (tool) => ({ ...tool, ...undoDecision(toolKind, tool, request) }) }),
  reviewedOffers: ({ context }, server, page) => listOffers(context, server, page),
  decideOffer: ({ context, by }, server, decision) => decideOffer(context, server, decision, by),
  rebindTool: ({ context, by }, server, from, to) => rebindTool(context, { server, from, to, by }),
} satisfies Partial<CatalogHandlers>;

/** A key that has ended must not begin a connection: another user may get its id later, for example a member who is added again. */
async function saveConnectionOf(context: CatalogContext, change: Parameters<typeof saveConnection>[1]): Promise<boolean> {
  const { keyId, grant } = change;
  if (grant.value !== null && keyRights(context, keyId) === null)
    throw new Problem('forbidden', 'The key has ended, so it cannot connect.');
  return await saveConnection(context, change);
}
