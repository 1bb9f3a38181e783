/**
 * Lazy imports of the code that calls MCP servers and of its sign-ins, which use the MCP SDK: most isolates do not need them. All code outside
 * `mcp/client/` and the flows of `mcp/oauth/` reaches them through this file.
 */
import { once } from '../core/memoize.ts';
import type { ServerTokens, McpUpstream } from '../ports/upstream.ts';

/** Create one per isolate: it caches connection data of servers. */
export function createLazyUpstream(): McpUpstream {
  const loaded = once(async () => (await import('./client/upstream.ts')).createMcpUpstream());
  return {
    discover: async (...asked) => await (await loaded()).discover(...asked),
    callTool: async (...asked) => await (await loaded()).callTool(...asked),
    request: async (...asked) => await (await loaded()).request(...asked),
    listen: async (...asked) => await (await loaded()).listen(...asked),
  };
}

export function lazyTokens(load: () => Promise<ServerTokens>): ServerTokens {
  const loaded = once(load);
  return {
    token: async () => await (await loaded()).token(),
    refreshAfterRejection: async (...asked) => await (await loaded()).refreshAfterRejection(...asked),
  };
}
