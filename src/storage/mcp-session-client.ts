/** Client for the Durable Objects of MCP sessions: creates and checks ids without I/O, then calls the object of the session. */
import type { Ids } from '../ports/runtime.ts';
import type { McpSessionPort, McpSessions } from '../ports/mcp-sessions.ts';
import type { Bindings } from './bindings.ts';
import { objectName } from './keys.ts';
import type { McpSessionIds } from './request-state.ts';

export function createMcpSessions(bindings: Pick<Bindings, 'MCP_SESSION'>, ids: Ids, sessionIds: McpSessionIds): McpSessions {
  const stubOf = async (workspace: string, nonce: string): Promise<McpSessionPort> => {
    const namespace = bindings.MCP_SESSION;
    // The class is on a higher floor; this is its interface.
    return namespace.get(namespace.idFromName(await objectName(workspace, 'mcp-session', nonce))) as unknown as McpSessionPort;
  };
  return {
    async begin(caller, target, request) {
      const { workspace, keyId } = caller;
      const nonce = ids.next('mcp');
      const id = await sessionIds.mint({ workspace, keyId, target }, nonce);
      return await (await stubOf(workspace, nonce)).begin(caller, target, id, request);
    },
    async resume(caller, target, id, request) {
      const { workspace, keyId } = caller;
      const nonce = await sessionIds.readNonce({ workspace, keyId, target }, id);
      return nonce === null ? null : await (await stubOf(workspace, nonce)).resume(caller, target, request);
    },
    async callKeptOpen(caller, target, name, request) {
      const held = name ?? ids.next('held');
      return await (await stubOf(caller.workspace, held)).hold(caller, target, held, request);
    },
  };
}
