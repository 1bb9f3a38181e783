/**
 * Listens for changes of a server: `subscriptions/listen` of 2026-07-28, or the stream of a separate session with `resources/subscribe`
 * (2025 eras). Ends with the signal, with the server's stream, or if the server offers none; the caller may start again.
 */
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { type Connection, withConnection } from './connection.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { unlessAborted } from '../../engine/timeout.ts';

export async function listen(
  memory: ConnectionMemory,
  server: ServerAccess,
  uris: readonly string[],
  hooks: UpstreamHooks,
  context: UpstreamContext,
): Promise<void> {
  // Input is never requested here, whatever the caller supports.
  const { onListChanged, onResourceUpdated, notice } = hooks;
  const quiet: UpstreamHooks = { onListChanged, onResourceUpdated, notice };
  const options = { hooks: quiet, maxBytes: limits.maxListingBytes, isFresh: true, totalMs: limits.maxServerStreamMs };
  let isHeard = false;
  try {
    await withConnection(memory, server, context, options, async (connection) => {
      const { ended } = await (connection.era === 'modern' ? listenModern(connection, uris) : listenLegacy(connection, uris));
      isHeard = true;
      await connection.idleTimeout.pauseDuring(unlessAborted(ended, connection.signal));
    });
  } catch (error) {
    // A normal end: the caller stopped listening, or the maximum time was reached.
    const isEnd = context.signal.aborted || (isHeard && error instanceof Problem && error.code === 'upstream_timeout');
    if (!isEnd) throw error;
  }
}

/** Wrapped in an object: as a bare promise, awaiting the start would also await the end. */
type End = { ended: Promise<unknown> };

async function listenModern({ client, signal }: Connection, uris: readonly string[]): Promise<End> {
  const capabilities = recordOf(client.getServerCapabilities());
  const changes = (name: string): boolean => recordOf(capabilities[name]).listChanged === true;
  const filter = {
    ...(changes('tools') && { toolsListChanged: true }),
    ...(changes('prompts') && { promptsListChanged: true }),
    ...(changes('resources') && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  };
  if (Object.keys(filter).length === 0) return { ended: Promise.resolve() };
  const { closed } = await client.listen(filter, { signal, timeout: limits.toolTimeoutMs });
  return { ended: closed };
}

async function listenLegacy(connection: Connection, uris: readonly string[]): Promise<End> {
  const over = Promise.withResolvers<void>();
  await connection.openServerStream(over.resolve);
  for (const uri of uris) await connection.request('resources/subscribe', { uri });
  return { ended: over.promise };
}
