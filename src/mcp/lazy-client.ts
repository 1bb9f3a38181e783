/**
 * Lazy imports of the modules that use the MCP SDK, whose schemas take tens of milliseconds to build: most isolates do not need them. All
 * code outside `mcp/client/` and the flows of `mcp/oauth/` reaches the SDK through this file.
 */
import type { ServerTokens, McpUpstream } from '../ports/upstream.ts';

/** Create one per isolate: it caches connection data of servers. */
export function createLazyUpstream(): McpUpstream {
  let upstream: McpUpstream | null = null;
  const loaded = async (): Promise<McpUpstream> => {
    if (upstream !== null) return upstream;
    const { createMcpUpstream } = await import('./client/upstream.ts');
    upstream ??= createMcpUpstream();
    return upstream;
  };
  return {
    discover: async (...asked) => await (await loaded()).discover(...asked),
    callTool: async (...asked) => await (await loaded()).callTool(...asked),
    request: async (...asked) => await (await loaded()).request(...asked),
    listen: async (...asked) => await (await loaded()).listen(...asked),
  };
}

export function lazyTokens(load: () => Promise<ServerTokens>): ServerTokens {
  let tokens: ServerTokens | null = null;
  const loaded = async (): Promise<ServerTokens> => {
    tokens ??= await load();
    return tokens;
  };
  return {
    token: async () => await (await loaded()).token(),
    refreshAfterRejection: async (...asked) => await (await loaded()).refreshAfterRejection(...asked),
  };
}
