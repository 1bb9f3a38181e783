/**
 * How an MCP server is begun to be spoken with: a client of the SDK over our wire, made from plain data, and the handshake where nothing
 * is known yet: `server/discover` first, then `initialize` (2026-07-28, "Versioning": a server is believed to be of this revision only if
 * it names it). What is known saves all of it.
 */
import {
  type AuthProvider,
  Client,
  type ClientOptions,
  type PriorDiscovery,
  SdkHttpError,
  type StreamableHTTPClientTransportOptions,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { toServerHeaders } from '../../net/server-headers.ts';
import type { UpstreamContext } from '../../ports/upstream.ts';
import { createBoundedFetch } from './bounded-fetch.ts';
import type { DeclaredCapabilities } from './capabilities.ts';
import type { KeptConnection } from './memory.ts';
import { unlessAborted } from './unless-aborted.ts';
import { withStepUp } from '../oauth/step-up.ts';
import { Wire } from './wire.ts';

export type WireParts = {
  server: ServerAccess;
  context: UpstreamContext;
  capabilities: DeclaredCapabilities;
  /** Of one answer, or of all together (`isMaxForAll`). */
  maxBytes: number;
  isMaxForAll: boolean;
  known: KeptConnection | null;
};

export type OpenedWire = {
  wire: Wire;
  url: URL;
  /** For a transport that hears what the server says by itself. */
  listening: StreamableHTTPClientTransportOptions;
};

/** Nothing is sent yet. */
export async function openWire({ server, context, capabilities, maxBytes, isMaxForAll, known }: WireParts): Promise<OpenedWire> {
  const url = new URL(server.url);
  const headers = await toServerHeaders(server.url, server.headers ?? {}, (name, host) => context.secret(name, host));
  const shared = { left: maxBytes };
  const fetchOptions = {
    server: server.name,
    url: server.url,
    fetch: context.tokens ? withStepUp(context.tokens, (request) => context.fetch(request)) : (request: Request) => context.fetch(request),
    budget: () => (isMaxForAll ? shared : { left: maxBytes }),
    onFault: (problem: Parameters<Wire['fail']>[0]) => wire.fail(problem),
  };
  const common: StreamableHTTPClientTransportOptions = {
    requestInit: { headers },
    onInsufficientScope: 'throw',
    ...(context.tokens && { authProvider: toAuthProvider(context.tokens) }),
  };
  const session = known?.era === 'legacy' ? { sessionId: known.sessionId, protocolVersion: known.version } : {};
  const wire: Wire = new Wire({
    server: server.name,
    url,
    transport: { ...common, ...session, fetch: createBoundedFetch(fetchOptions) },
    legacyCapabilities: capabilities.legacy,
  });
  return { wire, url, listening: { ...common, fetch: createBoundedFetch({ ...fetchOptions, isListening: true }) } };
}

export function createClient({ mcp, timeoutMs = limits.toolTimeoutMs }: ServerAccess, capabilities: DeclaredCapabilities): Client {
  const era = mcp?.era ?? 'auto';
  const versionNegotiation: ClientOptions['versionNegotiation'] = {
    mode: era === 'modern' ? { pin: '2026-07-28' } : era,
    probe: { timeoutMs },
  };
  return new Client({ name: 'moniker', version: '1.0.0' }, { capabilities: capabilities.modern, versionNegotiation });
}

/** Answers with how the server is spoken with now. */
export async function shakeHands(client: Client, wire: Wire, known: KeptConnection | null, signal: AbortSignal): Promise<KeptConnection> {
  const prior = known === null ? undefined : toPrior(known);
  // Ours runs out before the SDK's time does.
  const options = { signal, timeout: limits.maxServerCallMs + 1_000, ...(prior && { prior }) };
  await unlessAborted(client.connect(wire, options), signal);
  if (known !== null) return known;
  const version = client.getNegotiatedProtocolVersion() ?? '';
  if (client.getProtocolEra() === 'modern') return { era: 'modern', version };
  return { era: 'legacy', version, sessionId: wire.sessionId ?? '' };
}

/** Servers whose frame answers 5xx to whatever it does not know: that says nothing of `initialize`. */
export function isBrokenByProbe(error: unknown, { mcp }: ServerAccess): boolean {
  return (
    (mcp?.era ?? 'auto') === 'auto' &&
    error instanceof SdkHttpError &&
    error.message.startsWith('Version negotiation') &&
    error.data.status >= 500
  );
}

/** A session that is known needs no handshake; nor does a server that gives none, which an empty session id stands for in the SDK. */
function toPrior(known: KeptConnection): PriorDiscovery {
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
      if (!(await tokens.renew(sent, response.headers.get('www-authenticate')))) throw new UnauthorizedError();
    },
  };
}
