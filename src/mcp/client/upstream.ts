/**
 * All requests to MCP servers (`ports/upstream.ts`). Workspaces, tool names and permissions are handled by callers.
 */
import { limits } from '../../core/limits/limits.ts';
import { isDeeperThan } from '../../core/json/wire-value.ts';
import { passedMeta } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { McpUpstream, UpstreamAnswer, UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { callServerTool } from './call-server-tool.ts';
import type { Connection } from './connection.ts';
import { withConnection } from './with-connection.ts';
import { Problem } from '../../core/problem.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { unlessAborted } from '../../engine/timeout.ts';
import { discover } from './discover.ts';
import { upstreamError } from './upstream-fault.ts';
import { answerInputRounds } from './input-rounds.ts';
import { ConnectionMemory } from './connection-memory.ts';

/** Create one per isolate: cached connection data saves later requests a handshake. */
export function createMcpUpstream(): McpUpstream {
  const memory = new ConnectionMemory();
  return {
    discover: (server, context) => discover(memory, server, context),
    callTool: (server, call, hooks, context) => callServerTool(memory, server, call, hooks, context),
    request: (server, asked, hooks, context) => requestOffer(memory, server, asked, hooks, context),
    listen: (server, uris, hooks, context) => listen(memory, server, uris, hooks, context),
  };
}

async function requestOffer(
  memory: ConnectionMemory,
  server: ServerAccess,
  { method, params, given }: Parameters<McpUpstream['request']>[1],
  hooks: UpstreamHooks,
  context: UpstreamContext,
): Promise<UpstreamAnswer<Record<string, unknown>>> {
  return withConnection(memory, server, context, { hooks, maxBytes: limits.maxToolReplyBytes }, async (connection) => {
    const again = connection.era === 'modern' ? given : undefined;
    const answered = await answerInputRounds(server, hooks.askable ?? {}, again, (retry) =>
      connection.request(method, { ...params, ...retry }),
    );
    return answered.kind === 'result' ? { kind: 'result', result: toShown(server.name, answered.result) } : answered;
  });
}

/** Removes the fields that concern only this exchange. */
function toShown(server: string, { resultType: _type, _meta, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const meta = passedMeta(_meta);
  const result = meta === undefined ? rest : { ...rest, _meta: meta };
  if (isDeeperThan(result, limits.maxJsonDepth))
    throw upstreamError(server, `returned data nested deeper than ${limits.maxJsonDepth} levels.`);
  return result;
}

/**
 * Listens for changes of a server: `subscriptions/listen` of 2026-07-28, or the stream of a separate session with `resources/subscribe`
 * (2025 eras). Ends with the signal, with the server's stream, or if the server offers none; the caller may start again.
 */
async function listen(
  memory: ConnectionMemory,
  server: ServerAccess,
  uris: readonly string[],
  hooks: UpstreamHooks,
  context: UpstreamContext,
): Promise<void> {
  // Input is never requested here, whatever the caller supports.
  const { ask: _ask, askable: _askable, ...quiet } = hooks;
  const options = { hooks: quiet, maxBytes: limits.maxListingBytes, isFresh: true, isListening: true, totalMs: limits.maxServerStreamMs };
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

async function listenModern(connection: Connection, uris: readonly string[]): Promise<End> {
  const changes = (name: string): boolean => recordOf(connection.hello?.capabilities[name]).listChanged === true;
  const filter = {
    ...(changes('tools') && { toolsListChanged: true }),
    ...(changes('prompts') && { promptsListChanged: true }),
    ...(changes('resources') && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  };
  if (Object.keys(filter).length === 0) return { ended: Promise.resolve() };
  const acknowledged = Promise.withResolvers<void>();
  const ended = connection.request('subscriptions/listen', { notifications: filter }, { acknowledged: acknowledged.resolve });
  await Promise.race([acknowledged.promise, ended]);
  // From now on, the server may end the stream in any way.
  return { ended: Promise.allSettled([ended]) };
}

async function listenLegacy(connection: Connection, uris: readonly string[]): Promise<End> {
  const over = Promise.withResolvers<void>();
  await connection.transport.openServerStream(over.resolve);
  for (const uri of uris) await connection.request('resources/subscribe', { uri });
  return { ended: over.promise };
}
