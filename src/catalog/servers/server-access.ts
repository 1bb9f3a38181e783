/** A server as calls and listings need it. `servers.ts` writes servers. */
import { toServerAccess } from '../../core/servers/server.ts';
import type { Server, ServerAccess } from '../../core/servers/server.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { callableNames } from './server-definitions.ts';
import { readServerState } from './server-state.ts';

export function readServerAccess(context: CatalogContext, name: string): ServerAccess {
  // Server bodies were parsed by the schema when they were written.
  const { body, version } = requireRow(context.sql, 'server', name);
  const { connection = null, staleAt = null } = readServerState(context.sql, name) ?? {};
  return toServerAccess(name, body as Server, { ...callableNames(context, name), version, connection, staleAt });
}
