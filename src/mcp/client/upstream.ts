/**
 * All requests to MCP servers (`ports/upstream.ts`), on the SDK's client. Workspaces, tool names and permissions are handled by callers.
 */
import { limits } from '../../core/limits.ts';
import { isDeeperThan } from '../../core/json/wire-value.ts';
import type { GivenInput } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { McpUpstream, UpstreamAnswer, UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { callServerTool } from './call-server-tool.ts';
import { withConnection } from './connection.ts';
import { discover } from './discover.ts';
import { upstreamError } from './upstream-fault.ts';
import { answerInputRounds } from './input-rounds.ts';
import { listen } from './listen.ts';
import { ConnectionMemory } from './connection-memory.ts';

/** Create one per isolate: cached connection data saves later requests a handshake. */
export function createMcpUpstream(): McpUpstream {
  const memory = new ConnectionMemory();
  return {
    discover: (server, context) => discover(memory, server, context),
    callTool: (server, call, hooks, context) => callServerTool(memory, server, call, hooks, context),
    readResource: (server, params, hooks, context) => read(memory, server, 'resources/read', params, hooks, context),
    getPrompt: (server, params, hooks, context) => read(memory, server, 'prompts/get', params, hooks, context),
    complete: (server, params, context) =>
      withConnection(memory, server, context, { hooks: {}, maxBytes: limits.maxToolReplyBytes }, async ({ request }) =>
        toShown(server.name, await request('completion/complete', params)),
      ),
    listen: (server, uris, hooks, context) => listen(memory, server, uris, hooks, context),
  };
}

async function read(
  memory: ConnectionMemory,
  server: ServerAccess,
  method: 'resources/read' | 'prompts/get',
  { given, ...params }: Record<string, unknown> & { given?: GivenInput },
  hooks: UpstreamHooks,
  context: UpstreamContext,
): Promise<UpstreamAnswer<Record<string, unknown>>> {
  return withConnection(memory, server, context, { hooks, maxBytes: limits.maxToolReplyBytes }, async ({ era, request }) => {
    const again = era === 'modern' ? given : undefined;
    const answered = await answerInputRounds(server, hooks.askable ?? {}, again, (retry) => request(method, { ...params, ...retry }));
    return answered.kind === 'result' ? { kind: 'result', result: toShown(server.name, answered.result) } : answered;
  });
}

/** Removes the fields that concern only this exchange. */
function toShown(server: string, { resultType: _type, _meta, ...result }: Record<string, unknown>): Record<string, unknown> {
  if (isDeeperThan(result, limits.maxJsonDepth))
    throw upstreamError(server, `returned data nested deeper than ${limits.maxJsonDepth} levels.`);
  return result;
}
