/**
 * How HTTP requests reach one MCP server: its URL, and the headers, the query and the token that each request gets. Every request goes
 * through the outbound client to the server's own origin.
 */
import { limits } from '../../core/limits/limits.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { type Command, noLauncher } from '../../core/servers/stdio.ts';
import { buildRun } from '../../core/servers/stdio-run.ts';
import { connectionRequired } from '../../core/servers/user-connection.ts';
import { Problem } from '../../core/problem.ts';
import { toServerHeaders, withServerQuery } from '../../net/headers.ts';
import type { ServerTokens, UpstreamContext } from '../../ports/upstream.ts';
import { permanentError, upstreamError } from './upstream-fault.ts';

/** An `Mcp-Session-Id` that a server sets. */
const maxMcpSessionIdLength = 1_024;

/** `body`: text, since a request is sent again with another token. */
export type OutgoingMessage = { url: string; method: string; headers: Headers; body: string | null; signal: AbortSignal };
export type Send = (message: OutgoingMessage) => Promise<Response>;

export type Endpoint = {
  url: URL;
  /**
   * `headers`: replace those of the server's document. `accept`: added to the types in the document. `url`: another one of the same origin.
   * Throws a problem, or the reason of `signal`.
   */
  send(
    request: Omit<OutgoingMessage, 'url' | 'headers'> & { url?: URL; headers: Record<string, string>; accept: string },
  ): Promise<Response>;
};

type Target = { url: URL; headers: Headers; fetch(request: Request): Promise<Response> };

/** Sends nothing yet. `isListening`: the work is to listen for changes. */
export async function openEndpoint(server: ServerAccess, context: UpstreamContext, isListening: boolean): Promise<Endpoint> {
  const command = server.mcp?.command;
  const target = await (command === undefined ? urlTarget(server, context) : commandTarget(server, command, context, isListening));
  const outbound = sendTo(server, target, context);
  const send = context.tokens === undefined ? outbound : withTokens(context.tokens, outbound);
  const ownAccept = target.headers.get('accept');
  return {
    url: target.url,
    async send({ url = target.url, headers: given, accept, ...request }) {
      const headers = new Headers(target.headers);
      for (const name in given) headers.set(name, given[name] ?? '');
      headers.set('accept', ownAccept === null ? accept : `${ownAccept}, ${accept}`);
      const response = await send({ ...request, url: url.href, headers });
      // The outbound client may use another signal.
      const fault = request.signal.aborted ? request.signal.reason : sessionIdFault(server.name, response.headers);
      if (fault === null) return response;
      await response.body?.cancel();
      throw fault;
    },
  };
}

async function urlTarget(server: ServerAccess, { tokens, fetch, secret }: UpstreamContext): Promise<Target> {
  if (tokens?.connection !== undefined && (await tokens.token()) === null) throw connectionRequired(server.name, tokens.connection);
  const headers = await toServerHeaders(server.url, server.headers ?? {}, (name, host) => secret(name, host));
  return { url: new URL(server.url), headers, fetch: (request) => fetch(request) };
}

/** The start of the command must be reported before the caller's own timeout. */
const startShare = 0.8;

/** Of a server that is a command: the launcher's bridge, with the command and its secrets. Throws `not_configured` without a launcher, and errors of secrets. */
async function commandTarget(
  server: ServerAccess,
  command: Command,
  { stdio, secret, conversation, owner }: UpstreamContext,
  isListening: boolean,
): Promise<Target> {
  if (stdio == null)
    throw new Problem('not_configured', `The server ${server.name} cannot be called. ${noLauncher}`, { server: server.name });
  const run = await buildRun(server, command, secret);
  const { timeoutMs = limits.serverTimeoutMs } = server;
  const caller = {
    owner: owner === undefined || run.instances === 'shared' ? null : run.instances === 'key' ? owner : conversation,
    ...{ conversation, isListening },
    startMs: Math.round((owner === undefined ? Math.min(timeoutMs, limits.discoveryTimeoutMs) : timeoutMs) * startShare),
  };
  return { url: new URL(stdio.url), headers: new Headers(), fetch: (request) => stdio.fetch(request, { ...run, ...caller }) };
}

/** Adds the query last, so that only the outbound client sees it. The endpoint for messages of HTTP+SSE gets it as well. */
function sendTo({ name, query }: ServerAccess, { fetch }: Target, { secret }: UpstreamContext): Send {
  return async ({ url, ...init }) => {
    const target = query === undefined ? url : await withServerQuery(url, query, (of, host) => secret(of, host));
    try {
      return await fetch(new Request(target, { ...init, redirect: 'manual' }));
    } catch (cause) {
      if (cause instanceof Problem || init.signal.aborted) throw cause;
      throw upstreamError(name, 'could not be reached.', cause, { retryable: true });
    }
  };
}

/**
 * Sets the token, and repeats a request whose token was rejected if there is a better one without the user: once because it is invalid
 * (401), and once because its scope is insufficient (RFC 6750 §3.1).
 */
export function withTokens(tokens: ServerTokens, send: Send): Send {
  return async (message) => {
    const rejected = new Set<number>();
    for (;;) {
      const token = await tokens.token();
      if (token !== null) message.headers.set('authorization', `Bearer ${token}`);
      const response = await send(message);
      const { status, headers } = response;
      const challenge = headers.get('www-authenticate');
      const isRejected = status === 401 || (status === 403 && /\binsufficient_scope\b/.test(challenge ?? ''));
      if (!isRejected || rejected.has(status) || !(await tokens.refreshAfterRejection(token, challenge))) return response;
      rejected.add(status);
      await response.body?.cancel();
    }
  };
}

/** The session id is sent as a header with each request (2025-11-25, "Session Management": visible ASCII). */
function sessionIdFault(server: string, headers: Headers): Problem | null {
  const id = headers.get('mcp-session-id');
  if (id === null || (id.length <= maxMcpSessionIdLength && /^[\x21-\x7e]+$/.test(id))) return null;
  return permanentError(server, `returned an invalid session id: it must be at most ${maxMcpSessionIdLength} visible ASCII characters.`);
}
