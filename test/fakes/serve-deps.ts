/** Dependencies for serving a toolset over MCP, on the fakes of a workspace, with servers that the test defines. */
import type { Principal } from '../../src/core/people/principal.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { createPools } from '../../src/engine/fair-pool.ts';
import { marksIn } from '../../src/engine/policy/direct-marks.ts';
import { configurationTables } from '../../src/engine/mcp/serve-view.ts';
import type { CallDeps } from '../../src/engine/call/call-scope.ts';
import type { ServeDeps } from '../../src/mcp/server/exchange.ts';
import type { Clock, Ids, Logger } from '../../src/ports/runtime.ts';
import type { LinkStore, ResourceLink } from '../../src/ports/mcp-sessions.ts';
import type { McpUpstream, UpstreamContext } from '../../src/ports/upstream.ts';
import type { MasterKey } from '../../src/storage/keys/master-key.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { createStateSeal } from '../../src/storage/keys/signed-token.ts';
import type { NodeCatalog } from './node-catalog.ts';

export type FakeServing = {
  catalog: NodeCatalog;
  call: CallDeps;
  clock: Clock;
  ids: Ids;
  log: Logger;
  master: MasterKey;
  aliases?: boolean;
  configuration?: readonly ToolDefinition[];
  upstream?: Partial<McpUpstream>;
  serverChanged?(workspace: string, server: string): Promise<void>;
  isInForce?(): Promise<boolean>;
  secret?(name: string): Promise<string>;
};

function memoryLinks(): LinkStore {
  const links: ResourceLink[] = [];
  return {
    find: async (uris) => links.filter(({ uri }) => uris.includes(uri)),
    add: async (added) => void links.push(...added),
  };
}

export function fakeServeDeps({ catalog, call, clock, ids, log, master, ...options }: FakeServing): ServeDeps {
  const unused = () => Promise.reject(new Error('not in these tests'));
  const links = memoryLinks();
  return {
    clock,
    ids,
    log,
    directory: catalog.directory,
    aliases: options.aliases ?? true,
    seal: createStateSeal(master),
    consumeNonce: (_workspace, nonce, expiresAt) => catalog.consumeNonce(nonce, expiresAt),
    knowHosts: ({ keyId }, hosts) => catalog.by(keyId).knowHosts(hosts),
    equipment: ({ keyId }: Principal) => catalog.equipment(keyId),
    configuration: configurationTables(() => options.configuration ?? []),
    callDeps: () => call,
    openQuestions: createPools(clock).openQuestions,
    scratchFiles: () => createMemoryFiles(clock.now),
    fileSpace: () => ({ open: async () => ({ files: createMemoryFiles(clock.now), save: async () => undefined }) }),
    audit: (_workspace, rows) => catalog.appendAudit(rows),
    marks: marksIn(() => catalog, clock),
    links: () => links,
    upstream: {
      ...{ discover: unused, callTool: unused, request: unused },
      listen: async () => undefined,
      ...options.upstream,
    },
    upstreamContext: (_workspace, _server, { conversation }, signal): UpstreamContext => ({
      fetch: unused,
      secret: options.secret ?? unused,
      document: async () => null,
      signal,
      now: clock.now,
      log,
      conversation,
    }),
    serverChanged: options.serverChanged ?? (async () => undefined),
    background: () => undefined,
    isKeyActive: options.isInForce ?? (async () => true),
  };
}
