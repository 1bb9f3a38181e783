/** Servers of tools: sign-ins to them, connections, and their tool lists, which are refreshed in the background. */
import type { CompleteServer, ServerAccess, ServerKind } from '../core/servers/server.ts';
import type { RefreshReason } from '../core/servers/refresh-state.ts';
import { connectPageUrl } from '../core/servers/user-connection.ts';
import { publicBase } from '../core/people/settings.ts';
import { limitFetch } from '../engine/call/limit-egress.ts';
import { createServerRefresh, type RefreshOptions } from '../engine/servers/refresh-server.ts';
import { createStaleServerRefresh, withStaleServerRefresh } from '../engine/servers/refresh-stale-servers.ts';
import { createToolFetch, createUpstreamContexts, refuseOtherOrigins } from '../engine/servers/server-fetch.ts';
import { createLazyUpstream } from '../mcp/lazy-client.ts';
import { createSignIns } from '../mcp/oauth/sign-in-service.ts';
import type { ServerSource } from '../ports/upstream.ts';
import { createSignInNonce, mintSignInState, readSignInState } from '../storage/keys/signed-token.ts';
import type { ObjectParts } from './objects.ts';
import type { RuntimeParts } from './runtime.ts';

export type ServerParts = ReturnType<typeof buildServers>;

export function buildServers(parts: RuntimeParts & ObjectParts) {
  const { background, settings, runtime, outbound, stdio, cachedDirectory, master, catalog } = parts;
  const server = (workspace: string, name: string): Promise<ServerAccess> => cachedDirectory.server(workspace, name);
  const base = publicBase(settings.publicUrl);
  const signIns = createSignIns({
    clock: runtime.clock,
    server,
    contextOf: (workspace, keyId) => ({
      ...runtime,
      grants: catalog(keyId === undefined ? workspace : { workspace, keyId }),
      send: (request, signal) => outbound(request, { purpose: 'server', signal, onHop: refuseOtherOrigins(request.url) }),
      secret: (name, host) => cachedDirectory.secret(workspace, name, { host }),
    }),
    mintState: (state) => mintSignInState(master, state),
    readState: (text) => readSignInState(master, text),
    originRights: (workspace, origin) => catalog(workspace).originRights(origin),
    nonce: createSignInNonce,
    connectUrl: (workspace, name) => (base === null ? null : connectPageUrl(base, workspace, name)),
  });
  const fetchFor = createToolFetch(outbound);
  const upstreamContext = createUpstreamContexts({
    ...parts,
    fetch: fetchFor,
    tokens: signIns.tokens,
    secret: (workspace, name, host) => cachedDirectory.secret(workspace, name, { ...(host !== undefined && { host }) }),
    document: (workspace, name) => catalog(workspace).serverDocument(name),
    stdio,
  });
  const upstream = createLazyUpstream();
  const openapi: ServerSource = {
    discover: async (read, context) =>
      await (await import('../http-tools/openapi/source.ts')).createOpenApiSource().discover(read, context),
  };
  const sources: Partial<Record<ServerKind, ServerSource>> = { mcp: upstream, openapi };
  const reading = {
    ...{ ...parts, sources, directory: cachedDirectory },
    context: (workspace: string, access: ServerAccess, signal: AbortSignal) =>
      upstreamContext(workspace, access, { conversation: 'listing', owner: null }, signal),
    offer: signIns.offer,
  };
  const { refresh, refreshIfStale } = createServerRefresh(reading);
  const refreshStale = createStaleServerRefresh({ ...parts, refreshIfStale, server });
  return {
    /** Signs people in to servers (OAuth) and provides the tokens. */
    signIns,
    fetchFor,
    /** Fetches a document without credentials. Redirects are followed, to hosts that the key may reach. Throws `Problem`. */
    fetchDocument: async (url: string, egressHosts?: readonly string[]): Promise<Response> => {
      const send: typeof fetchFor = (request, _signal, onHop) => outbound(request, { purpose: 'server', ...(onHop && { onHop }) });
      const limited = egressHosts === undefined ? send : limitFetch(send, [egressHosts], () => undefined);
      const request = new Request(url, { headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5' } });
      return await limited(request, request.signal);
    },
    upstream,
    upstreamContext,
    refreshIfStale,
    refreshStale,
    directory: withStaleServerRefresh(cachedDirectory, refreshStale),
    async serverChanged(workspace: string, name: string, fault?: string): Promise<void> {
      const failed = (error: unknown): void =>
        runtime.log.debug('a changed server was not refreshed', { server: name, cause: String(error) });
      const work = refresh(workspace, name, 'changed', { fault }).catch(failed);
      background(work);
      await work;
    },
    /** Refreshes the tool lists of servers, and tests a server (`engine/servers/refresh-server.ts`, `engine/servers/test-server.ts`). */
    servers: (workspace: string) => ({
      refresh: (name: string, reason: RefreshReason, options?: RefreshOptions) => refresh(workspace, name, reason, options),
      test: async (name: string, document?: CompleteServer) => {
        const { testServer } = await import('../engine/servers/test-server.ts');
        return await testServer(reading, workspace, name, document);
      },
      listGiven: async (name: string, document: CompleteServer) => {
        const { listGiven } = await import('../engine/servers/test-server.ts');
        return await listGiven(reading, workspace, name, document);
      },
      /** Refreshes, in the background, the tool lists of these servers that are stale. */
      refreshIfStale: (names: readonly string[]) => refreshStale(workspace, names),
      processes: async () => (await stdio(workspace)?.processes()) ?? [],
    }),
  };
}
