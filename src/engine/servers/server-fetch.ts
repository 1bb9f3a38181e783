/** Sends requests to a server's address, for calls and listings. Redirects to another origin are refused, since the request is meant for this server only. */
import { Problem } from '../../core/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { ServerTokens, StdioBridge, UpstreamContext } from '../../ports/upstream.ts';
import type { CallDeps } from '../call/call-scope.ts';
import { limitFetch, requireReachable } from '../call/limit-egress.ts';
import { isReadRequest } from '../policy/refusals.ts';

/**
 * `signal` aborts all requests; null: each request's own signal does, for clients that still have to send something when a call is
 * cancelled (MCP: the cancellation). `purpose`: as in `CallDeps`.
 */
export function createServerFetch(
  { fetch: send }: Pick<CallDeps, 'fetch'>,
  signal: AbortSignal | null,
  purpose: 'server' | 'opened-server' = 'server',
): (request: Request) => Promise<Response> {
  return (request) =>
    send(request, signal ?? request.signal, refuseOtherOrigins(request.url, 'Set its url to the address that it redirects to.'), purpose);
}

/** Returns an `onHop` that throws `upstream_error` at a redirect to another origin. `remedy`: what to do if the redirect is right. */
export function refuseOtherOrigins(url: string, remedy = 'If this is right, use the address that it redirects to.'): (to: URL) => void {
  const { origin } = new URL(url);
  return (to) => {
    if (to.origin === origin) return;
    const detail = `${origin} redirects to ${to.origin}; the redirect was not followed. ${remedy}`;
    throw new Problem('upstream_error', detail, { retryable: false });
  };
}

export function createToolFetch(outbound: OutboundHttp): CallDeps['fetch'] {
  return (request, signal, onHop, purpose = 'tool') =>
    outbound(request, {
      purpose: purpose === 'tool' ? 'tool' : 'server',
      signal,
      ...(onHop && { onHop }),
      // The caller applies the timeout of the server's document; this is the upper limit.
      ...(purpose !== 'tool' && { timeoutMs: limits.maxServerCallMs }),
      ...((purpose === 'opened-server' || (purpose === 'tool' && !isReadRequest(request))) && { opensFirst: true }),
    });
}

type UpstreamDeps = Pick<CallDeps, 'fetch'> & {
  clock: Clock;
  log: Logger;
  tokens(workspace: string, server: ServerAccess, owner: string | null): ServerTokens | null;
  secret(workspace: string, name: string, host?: string): Promise<string>;
  document(workspace: string, server: string): Promise<string | null>;
  stdio(workspace: string): StdioBridge | null;
};

/** `owner`: the calling user or key; null: the tool list is read. `egressHosts`: the hosts that it may reach; absent: all. */
export type UpstreamCaller = { conversation: string; owner: string | null; egressHosts?: readonly string[] };

/** Returns a function that builds what a connection to a server needs. */
export function createUpstreamContexts({ clock, log, ...deps }: UpstreamDeps) {
  return (
    workspace: string,
    server: ServerAccess,
    { conversation, owner, egressHosts }: UpstreamCaller,
    signal: AbortSignal,
  ): UpstreamContext => {
    requireReachable(egressHosts, server.url);
    const fetch = egressHosts === undefined ? deps.fetch : limitFetch(deps.fetch, [egressHosts], () => undefined);
    const tokens = deps.tokens(workspace, server, owner);
    return {
      fetch: createServerFetch({ fetch }, server.kind === 'mcp' ? null : signal),
      secret: (name, host) => deps.secret(workspace, name, host),
      document: () => deps.document(workspace, server.name),
      stdio: deps.stdio(workspace),
      ...(tokens !== null && { tokens }),
      ...(owner !== null && { owner }),
      ...{ signal, log, conversation },
      now: () => clock.now(),
    };
  };
}
