/**
 * Connects to an MCP server: creates an SDK client over our wire from plain data, and performs the handshake if nothing is known yet:
 * `server/discover` first, then `initialize` (2026-07-28, "Versioning": a server has this revision only if it names it). With known
 * connection data no handshake is needed.
 */
import {
  type AuthProvider,
  Client,
  type ClientOptions,
  type PriorDiscovery,
  SdkHttpError,
  type StreamableHTTPClientTransportOptions,
  UnauthorizedError,
  type ClientCapabilities,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { version } from '../../core/version.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { connectionRequired } from '../../core/servers/user-connection.ts';
import { toServerHeaders, withServerQuery } from '../../net/headers.ts';
import type { UpstreamContext, ServerTokens } from '../../ports/upstream.ts';
import { createBoundedFetch } from './bounded-fetch.ts';
import { commandTarget, type Target } from './command-target.ts';
import type { NegotiatedConnection } from './connection-memory.ts';
import { unlessAborted } from '../../engine/timeout.ts';
import { Wire } from './wire.ts';
import { type AskableInput, tasksExtension } from '../../core/tools/mcp-input.ts';

export type WireParts = {
  server: ServerAccess;
  context: UpstreamContext;
  capabilities: DeclaredCapabilities;
  /** Limit of one response, or of all together (`isMaxForAll`). */
  maxBytes: number;
  isMaxForAll: boolean;
  /** The work is to listen for changes. */
  isListening: boolean;
  known: NegotiatedConnection | null;
  sent?: SentCall | undefined;
};

/** A request that was sent already, whose response the SDK reads. `id`: that of its JSON-RPC message. */
export type SentCall = { id: number; respond(): Promise<Response> };

export type OpenedWire = {
  wire: Wire;
  url: URL;
  /** Options of a transport that receives messages that the server starts by itself. */
  listening: StreamableHTTPClientTransportOptions;
};

/** Sends nothing yet. */
export async function openWire({
  server,
  context,
  capabilities,
  maxBytes,
  isMaxForAll,
  isListening,
  known,
  sent,
}: WireParts): Promise<OpenedWire> {
  const command = server.mcp?.command;
  const { url, headers, fetch } = await (command === undefined
    ? urlTarget(server, context)
    : commandTarget(server, command, context, isListening));
  const shared = { left: maxBytes };
  const fetchOptions = {
    server: server.name,
    url: url.href,
    fetch: sent === undefined ? fetch : afterFirst(sent.respond, fetch),
    budget: () => (isMaxForAll ? shared : { left: maxBytes }),
    onFault: (problem: Parameters<Wire['fail']>[0]) => wire.fail(problem),
  };
  const common: StreamableHTTPClientTransportOptions = {
    requestInit: { headers },
    onInsufficientScope: 'throw',
    ...(context.tokens && { authProvider: toAuthProvider(context.tokens) }),
  };
  const session = known?.era === 'legacy' ? { sessionId: known.sessionId, protocolVersion: known.version } : {};
  const isSse = server.mcp?.transport === 'sse';
  const wire: Wire = new Wire({
    server: server.name,
    url,
    transport: { ...common, ...session, fetch: createBoundedFetch({ ...fetchOptions, isSse }) },
    legacyCapabilities: capabilities.legacy,
    isSse,
    firstId: sent?.id,
  });
  return { wire, url, listening: { ...common, fetch: createBoundedFetch({ ...fetchOptions, isListening: true }) } };
}

/** Takes the first response from `first`. */
function afterFirst(first: () => Promise<Response>, send: Send): Send {
  let isFirst = true;
  return async (request) => {
    if (!isFirst) return await send(request);
    isFirst = false;
    return await first();
  };
}

export async function urlTarget(server: ServerAccess, context: UpstreamContext): Promise<Target> {
  const { tokens } = context;
  if (tokens?.connection !== undefined && (await tokens.token()) === null) throw connectionRequired(server.name, tokens.connection);
  const send = withQuery(server, context);
  return {
    url: new URL(server.url),
    headers: await toServerHeaders(server.url, server.headers ?? {}, (name, host) => context.secret(name, host)),
    fetch: context.tokens ? withStepUp(context.tokens, send) : send,
  };
}

/** The innermost wrapper, so that only the outbound client sees the query. The endpoint for messages of HTTP+SSE gets it as well. */
function withQuery({ query }: ServerAccess, context: UpstreamContext): Send {
  if (query === undefined) return (request) => context.fetch(request);
  return async (request) => {
    const url = await withServerQuery(request.url, query, (name, host) => context.secret(name, host));
    const { method, headers, signal, redirect } = request;
    const body = request.body === null ? null : await request.arrayBuffer();
    return await context.fetch(new Request(url, { method, headers, signal, redirect, body }));
  };
}

export function createClient({ mcp, timeoutMs = limits.serverTimeoutMs }: ServerAccess, capabilities: DeclaredCapabilities): Client {
  const era = mcp?.command !== undefined || mcp?.transport === 'sse' ? 'legacy' : (mcp?.era ?? 'auto');
  const versionNegotiation: ClientOptions['versionNegotiation'] = {
    mode: era === 'modern' ? { pin: '2026-07-28' } : era,
    probe: { timeoutMs },
  };
  return new Client(clientIdentity, { capabilities: capabilities.modern, versionNegotiation });
}

export const clientIdentity = { name: 'moniker', version };

/** Returns how to reconnect to the server without a handshake. */
export async function connect(
  client: Client,
  wire: Wire,
  known: NegotiatedConnection | null,
  signal: AbortSignal,
): Promise<NegotiatedConnection> {
  const prior = known === null ? undefined : toPrior(known);
  // Our timeout fires before the SDK's.
  const options = { signal, timeout: limits.maxServerCallMs + 1_000, ...(prior && { prior }) };
  await unlessAborted(client.connect(wire, options), signal);
  if (known !== null) return known;
  const version = client.getNegotiatedProtocolVersion() ?? '';
  if (client.getProtocolEra() === 'modern') return { era: 'modern', version };
  return { era: 'legacy', version, sessionId: wire.sessionId ?? '' };
}

/** Some frameworks respond 5xx to unknown methods, which says nothing about `initialize`. */
export function isBrokenByProbe(error: unknown, { mcp }: ServerAccess): boolean {
  return (
    (mcp?.era ?? 'auto') === 'auto' &&
    error instanceof SdkHttpError &&
    error.message.startsWith('Version negotiation') &&
    error.data.status >= 500
  );
}

/** A known session needs no handshake, nor does a server without session ids, which the SDK represents by an empty session id. */
function toPrior(known: NegotiatedConnection): PriorDiscovery {
  if (known.era === 'legacy') return { kind: 'legacy' };
  return { kind: 'modern', discover: { supportedVersions: [known.version], capabilities: {}, ttlMs: 0, cacheScope: 'private' } };
}

function toAuthProvider(tokens: NonNullable<UpstreamContext['tokens']>): AuthProvider {
  let sent: string | null = null;
  return {
    async token() {
      sent = await tokens.token();
      return sent ?? undefined;
    },
    async onUnauthorized({ response }) {
      if (!(await tokens.refreshAfterRejection(sent, response.headers.get('www-authenticate')))) throw new UnauthorizedError();
    },
  };
}

/** The client capabilities declared to a server: those of the caller, restricted by the server's document. */
/**
 * `modern`: for one request (2026-07-28), where input arrives with the next request. `legacy`: for a session, where input must be available
 * during the call.
 */
export type DeclaredCapabilities = { modern: ClientCapabilities; legacy: Record<string, unknown> };

/** `isAnswered`: whether input can be given while a call is open. */
export function toCapabilities({ mcp }: Pick<ServerAccess, 'mcp'>, askable: AskableInput, isAnswered: boolean): DeclaredCapabilities {
  // The caller's declaration unchanged; the SDK's type has only the known members.
  const asked = {
    ...(askable.elicitation && { elicitation: askable.elicitation }),
    ...(askable.sampling && mcp?.sampling === true && { sampling: askable.sampling }),
  } as ClientCapabilities;
  const isOfClient = mcp?.roots === 'client';
  const hasRoots = !isOfClient && (mcp?.roots?.length ?? 0) > 0;
  const roots = hasRoots ? { roots: {} } : isOfClient && askable.roots !== undefined ? { roots: { listChanged: true } } : {};
  return {
    modern: { ...asked, ...roots, extensions: { ...askable.extensions, [tasksExtension]: {} } },
    legacy: {
      ...(isAnswered && asked),
      ...((hasRoots || isAnswered) && roots),
      ...(askable.extensions && { extensions: askable.extensions }),
    },
  };
}

/**
 * Retries a request once if the server rejects its token for insufficient scope (RFC 6750 §3.1, `insufficient_scope`) and a better token is
 * available without the user. A wrapper around the outbound client; the SDK handles 401.
 */
type Send = (request: Request) => Promise<Response>;

export function withStepUp(tokens: ServerTokens, send: Send): Send {
  return async (request) => {
    const { url, method, headers, signal } = request;
    // Buffered, since a sent body cannot be sent again. Bodies to servers are our own messages.
    const body = request.body === null ? null : await request.arrayBuffer();
    const toRequest = (sent: Headers): Request => new Request(url, { method, headers: sent, body, signal, redirect: 'manual' });
    const answer = await send(toRequest(headers));
    const challenge = answer.status === 403 ? answer.headers.get('www-authenticate') : null;
    if (challenge === null || !/\binsufficient_scope\b/.test(challenge)) return answer;
    const refused = /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
    if (!(await tokens.refreshAfterRejection(refused, challenge))) return answer;
    const token = await tokens.token();
    if (token === null) return answer;
    await answer.body?.cancel();
    const again = new Headers(headers);
    again.set('authorization', `Bearer ${token}`);
    return await send(toRequest(again));
  };
}
