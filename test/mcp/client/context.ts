/** Shared by the tests of the MCP client: a server's document as calls receive it, and a context without guard. */
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import type { UpstreamCall, UpstreamContext } from '../../../src/ports/upstream.ts';

export function accessTo(url: string, more: Partial<ServerAccess> = {}): ServerAccess {
  return {
    name: 'files',
    kind: 'mcp',
    url,
    trusted: false,
    ready: [],
    held: [],
    version: 1,
    mcp: {},
    connection: null,
    staleAt: null,
    ...more,
  };
}

export function contextWith(more: Partial<UpstreamContext> = {}): UpstreamContext {
  const silent = (): void => {};
  return {
    fetch: (request) => fetch(request),
    secret: async (name) => `value of ${name}`,
    signal: new AbortController().signal,
    now: () => 0,
    log: { error: silent, info: silent, debug: silent },
    conversation: 'session-1',
    ...more,
  };
}

export function callOf(name: string, args: Record<string, unknown> = {}, more: Partial<UpstreamCall> = {}): UpstreamCall {
  return { name, arguments: args, inputSchema: { type: 'object' }, idempotencyKey: 'key-1', ...more };
}
