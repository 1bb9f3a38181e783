/**
 * What a client says once for a session of the 2025 revisions, sent to the server's session before the first request after it has changed:
 * the level of log messages (`logging/setLevel`), and that the client's roots have changed (`notifications/roots/list_changed`). A new
 * session is told of the roots too: a server may ask for them before the stream for its own requests is open, and would not ask again.
 */
import { recordOf } from '../../core/json/wire-value.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import type { Connection } from './connection.ts';
import type { NegotiatedConnection } from './connection-memory.ts';

/** How long a call waits for a server that was told of roots to read them. */
const rootsReadMs = 1_000;

/** Returns what is known of the connection then. */
export async function sendSessionSettings(
  connection: Connection,
  negotiated: NegotiatedConnection,
  server: ServerAccess,
  { logLevel, rootsChanges = 0, askable, ask }: UpstreamHooks,
): Promise<NegotiatedConnection> {
  if (negotiated.era === 'modern') return negotiated;
  let sent = negotiated;
  if (logLevel !== undefined && negotiated.logLevel !== logLevel) {
    await setLevel(connection, server, logLevel);
    sent = { ...sent, logLevel };
  }
  const hasRoots = server.mcp?.roots === 'client' && askable?.roots !== undefined && ask !== undefined;
  if (hasRoots && negotiated.rootsChanges !== rootsChanges) {
    await connection.openAskingStream();
    await connection.notify('notifications/roots/list_changed');
    await withTimeout(systemClock, connection.rootsRead, rootsReadMs, () => undefined);
    sent = { ...sent, rootsChanges };
  }
  return sent;
}

/** A server without logging sends no messages, and one that refuses the level decides itself what it sends. */
async function setLevel(connection: Connection, { connection: last }: ServerAccess, level: string): Promise<void> {
  const { logging } = recordOf(connection.hello?.capabilities ?? last?.capabilities);
  if (logging === undefined) return;
  try {
    await connection.request('logging/setLevel', { level });
  } catch (error) {
    if (!(error instanceof ServerRpcError)) throw error;
  }
}
