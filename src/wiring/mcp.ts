/** Toolsets served over MCP. */
import { isAllowed } from '../core/people/authority.ts';
import { originOf, type Principal } from '../core/people/principal.ts';
import { configurationTables } from '../engine/mcp/serve-view.ts';
import type { SessionPrompts } from '../engine/mcp/session-prompts.ts';
import type { ServedNames } from '../engine/mcp/served-names.ts';
import type { McpAnswer, McpRequest } from '../mcp/server/endpoint.ts';
import type { ServeDeps } from '../mcp/server/exchange.ts';
import { createMemoryFiles } from '../storage/files/memory-files.ts';
import { createStateSeal } from '../storage/keys/signed-token.ts';
import { toolDefinitions } from '../tools/registry.ts';
import type { ObjectParts } from './objects.ts';
import type { RuntimeParts } from './runtime.ts';
import type { ServerParts } from './servers.ts';
import type { ToolParts } from './tools.ts';

export function buildMcp(parts: RuntimeParts & ObjectParts & ServerParts & ToolParts) {
  const { runtime, catalog, mcpSessions } = parts;
  const serve: ServeDeps = {
    ...runtime,
    directory: parts.directory,
    aliases: parts.settings.aliases,
    seal: createStateSeal(parts.sealing),
    consumeNonce: (workspace, nonce, expiresAt) => catalog(workspace).consumeNonce(nonce, expiresAt),
    knowHosts: (principal, hosts) => catalog(principal).knowHosts(hosts),
    equipment: ({ workspace, keyId }) => catalog(workspace).equipment(keyId),
    configuration: configurationTables(toolDefinitions),
    callDeps: parts.callDeps,
    openQuestions: parts.pools.openQuestions,
    scratchFiles: () => createMemoryFiles(runtime.clock.now),
    audit: (workspace, rows) => parts.audit(workspace).append(rows),
    marks: parts.marks,
    upstream: parts.upstream,
    upstreamContext: parts.upstreamContext,
    serverChanged: parts.serverChanged,
    background: parts.background,
    isKeyActive: async (principal) => {
      const rights = await catalog(principal.workspace).originRights(originOf(principal, runtime.clock.now()));
      return rights !== null && isAllowed(rights, { act: 'use-scope', scopes: ['tools'] });
    },
    ...parts.fileSpaces,
  };
  return {
    serve,
    /** Serves a request to `/mcp` whose key, origin and body were checked. Imported lazily, as in `mcp/lazy-client.ts`. */
    mcp: async (request: McpRequest): Promise<McpAnswer> =>
      await (await import('../mcp/server/endpoint.ts')).serveMcp(serve, mcpSessions, request),
    /** Imported when a session asks for prompts. */
    prompts: {
      list: async (session) => await (await import('../engine/mcp/session-prompts.ts')).listPrompts(serve, session),
      expand: async (session, prompt) => await (await import('../engine/mcp/session-prompts.ts')).expandPrompt(serve, session, prompt),
    } satisfies SessionPrompts,
    /** Imported when a consent page is shown. */
    servedNames: async (principal: Principal, toolset: string): Promise<ServedNames> =>
      await (await import('../engine/mcp/served-names.ts')).readServedNames(serve, principal, toolset),
  };
}
