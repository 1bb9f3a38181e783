/**
 * What a client says once for a session of the 2025 revisions, sent to the server's session before the first request after it has changed:
 * the level of log messages (`logging/setLevel`), and that the client's roots have changed (`notifications/roots/list_changed`). A new
 * session is told of the roots too: a server may ask for them before the stream for its own requests is open, and would not ask again.
 */
import { ProtocolError } from '@modelcontextprotocol/client';
import { recordOf } from '../../core/json/wire-value.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import type { Connection } from './connection.ts';
import type { NegotiatedConnection } from './connection-memory.ts';

/** How long a call waits for a server that was told of roots to read them. */
const rootsReadMs = 1_000;

/** Returns what is known of the connection then. `rootsRead`: resolves when the server has been given the roots. */
export async function sendSessionSettings(
  connection: Connection,
  negotiated: NegotiatedConnection,
  server: ServerAccess,
  { logLevel, rootsChanges = 0, askable, ask }: UpstreamHooks,
  rootsRead: Promise<unknown>,
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
    await connection.client.notification({ method: 'notifications/roots/list_changed' });
    await withTimeout(systemClock, rootsRead, rootsReadMs, () => undefined);
    sent = { ...sent, rootsChanges };
  }
  return sent;
}

/** A server without logging sends no messages, and one that refuses the level decides itself what it sends. */
async function setLevel(connection: Connection, { connection: last }: ServerAccess, level: string): Promise<void> {
  const { logging } = recordOf(connection.client.getServerCapabilities() ?? last?.capabilities);
  if (logging === undefined) return;
  try {
    await connection.request('logging/setLevel', { level });
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
  }
}
