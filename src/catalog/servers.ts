/**
 * Writing servers: the document, and its tools in rows of their own (`server_tools`), which is what toolsets are compiled from.
 */
import { parseDocument } from '../core/issues.ts';
import { Problem } from '../core/problem.ts';
import { ownServers, Server, ServerName } from '../core/server.ts';
import type { ListingReport, ServerAccess, ServerTool } from '../core/server.ts';
import type { Page, PageRequest } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { checkNameInBody } from './write-document.ts';
import type { DocumentWriter } from './write-document.ts';

export const serverWriter: DocumentWriter = {
  nameFault: (_context, name) =>
    ownServers.has(name) ? 'is one of Moniker’s own' : (ServerName.safeParse(name).error?.issues[0]?.message ?? null),

  prepare: async (_context, name, body) => {
    const { tools: _tools, ...server } = parseDocument(Server, body);
    checkNameInBody(name, server);
    return { body: { ...server, name } };
  },
};

export function readServer(context: CatalogContext, name: string): ServerAccess {
  const { kind, url, headers, trusted = false } = requireRow(context.sql, 'server', name).body as Server;
  return { name, kind, url, ...(headers && { headers }), trusted, held: [] };
}

export function listServerTools(_context: CatalogContext, _server: string, _page: PageRequest): Page<ServerTool> {
  throw new Problem('internal', 'not yet');
}

export async function refreshServer(_context: CatalogContext, _server: string): Promise<ListingReport> {
  throw new Problem('internal', 'not yet');
}

export async function acceptTool(
  _context: CatalogContext,
  _server: string,
  _tool: string,
  _refId: string | undefined,
): Promise<ServerTool> {
  throw new Problem('internal', 'not yet');
}

export async function rebindTool(_context: CatalogContext, _server: string, _from: string, _to: string): Promise<{ toolsets: string[] }> {
  throw new Problem('internal', 'not yet');
}
