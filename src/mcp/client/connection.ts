/**
 * A connection to an MCP server for one piece of work. It starts from what is known of the server and ends with the work (in the Worker,
 * connections belong to one request). If the known era or session is wrong, the server rejects the request, and the work is repeated once
 * from a new handshake. Nothing else is retried.
 */
import {
  type Client,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type RequestOptions,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import type { AskableInput } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { UpstreamMethod } from '../../core/tools/upstream-method.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { createIdleTimeout, type IdleTimeout, withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import {
  type DeclaredCapabilities,
  toCapabilities,
  createClient,
  isBrokenByProbe,
  openWire,
  type OpenedWire,
  connect,
  type SentCall,
} from './handshake.ts';
import { isWithoutEndpoint, statusOf, toFault, unsupportedVersion, upstreamTimeout } from './upstream-fault.ts';
import { handleServerMessages } from './inbound.ts';
import { sendSessionSettings } from './session-settings.ts';
import { fromLastAnswer, isWithoutSession, noteWithoutSession, prefersSession, withEra, WithoutSession } from './era-choice.ts';
import { type ConnectionMemory, type NegotiatedConnection, memoryKey } from './connection-memory.ts';
import { unparsedResult, type Wire } from './wire.ts';

/** Notifications to a server at the end (a call is canceled, a session has ended) take at most this long. */
const cancellationNoticeMs = 1_000;
/** Wait for the stream on which a server sends its own requests; then a call that may need it is sent without it. */
const serverStreamWaitMs = 1_000;

export type WorkOptions = {
  hooks: UpstreamHooks;
  /** Bytes that may arrive, for each response or for all together (`isMaxForAll`). */
  maxBytes: number;
  isMaxForAll?: boolean;
  /** Start with a new handshake, and end the session afterwards. */
  isFresh?: boolean;
  /** Listens for changes; calls nothing. */
  isListening?: boolean;
  totalMs?: number;
  /** Declared to the server, if it is more than the hooks support. */
  askable?: AskableInput;
  /** The first request of the work was sent already, to a server of which this is known. */
  sent?: (SentCall & { known: NegotiatedConnection }) | undefined;
};

export type Connection = {
  era: 'modern' | 'legacy';
  client: Client;
  wire: Wire;
  idleTimeout: IdleTimeout;
  /** Aborts with the context's signal, and when the connection ends for any reason. */
  signal: AbortSignal;
  /** Returns the unparsed result. */
  request(method: UpstreamMethod, params: Record<string, unknown>, headers?: Record<string, string>): Promise<Record<string, unknown>>;
  /** Sends `tools/call`, with the headers of its arguments if the era has them. */
  call(params: ToolCallParams, inputSchema: JsonSchema, headers: Record<string, string>): Promise<Record<string, unknown>>;
  /**
   * Opens the stream for messages that the server starts by itself (2025 eras), and resolves when it is open. `onEnd`: the stream has
   * ended, or the server offers none.
   */
  openServerStream(onEnd: () => void): Promise<void>;
  /** The same for requests of the server during a call; once for each connection. */
  openAskingStream(): Promise<void>;
};

export type ToolCallParams = { name: string; arguments: Record<string, unknown> } & Record<string, unknown>;

/** Throws a problem that names the server, or the abort reason of `context.signal`. */
export async function withConnection<T>(
  memory: ConnectionMemory,
  server: ServerAccess,
  context: UpstreamContext,
  options: WorkOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { hooks } = options;
  const capabilities =
    options.askable === undefined
      ? toCapabilities(server, hooks.askable ?? {}, hooks.ask !== undefined)
      : toCapabilities(server, options.askable, true);
  const { key, known: remembered } = knownConnection(memory, server, context, hooks, capabilities);
  const known = options.isFresh === true ? null : (options.sent?.known ?? remembered);
  const wires: Wire[] = [];
  const once = (begin: NegotiatedConnection | null, as: ServerAccess, needsSession = false): Promise<T> =>
    workOnce(as, context, { ...options, sent: begin === null ? undefined : options.sent }, capabilities, begin, work, {
      opened: (wire) => void wires.push(wire),
      connected(negotiated) {
        if (needsSession && negotiated.era === 'legacy' && negotiated.sessionId === '') throw new WithoutSession();
        // An SSE session ends with its stream.
        if (options.isFresh !== true && as.mcp?.transport !== 'sse') memory.set(key, negotiated);
      },
    });
  const hasAnswered = (): boolean => wires.some((wire) => wire.hasAnswered);
  const afresh = (): Promise<T> => {
    if (options.isFresh === true || !prefersSession(memory, server, hooks, capabilities)) return once(null, server);
    return once(null, withEra(server, 'legacy'), true).catch((error: unknown) => {
      if (hasAnswered() || !isWithoutSession(error)) throw error;
      noteWithoutSession(memory, server, error);
      return once(fromLastAnswer(server), server);
    });
  };
  const viaHttp = (): Promise<T> =>
    (known === null ? afresh() : once(known, server)).catch((error: unknown) => {
      if (known !== null && isRefusal(error)) {
        memory.forget(key, known);
        // Part of the work is done and may have had an effect, so it is not repeated.
        if (hasAnswered()) throw error;
        context.log.debug('reconnecting to an MCP server', { server: server.name, era: known.era, status: statusOf(error) });
        return afresh();
      }
      if (known === null && isBrokenByProbe(error, server)) return once(null, withEra(server, 'legacy'));
      throw error;
    });
  const viaSse = (): Promise<T> => once(null, { ...server, mcp: { ...server.mcp, transport: 'sse' } });
  try {
    return await viaTransports(server, viaHttp, viaSse, () => hasAnswered() || wires.some(({ isStarted }) => isStarted));
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw toFault(server.name, error);
  }
}

/** Returns what is known of the server, and the key of the connection in `memory`. */
export function knownConnection(
  memory: ConnectionMemory,
  server: ServerAccess,
  context: UpstreamContext,
  hooks: UpstreamHooks,
  capabilities: DeclaredCapabilities,
): { key: string; known: NegotiatedConnection | null } {
  const key = memoryKey(server, context.conversation, capabilities.legacy);
  const begin = (): NegotiatedConnection | null => (prefersSession(memory, server, hooks, capabilities) ? null : fromLastAnswer(server));
  return { key, known: memory.get(key) ?? begin() };
}

/** Uses the transport of the document, or the last one, or Streamable HTTP; and the other one if the server has no endpoint for it. */
async function viaTransports<T>(
  { mcp, connection }: ServerAccess,
  viaHttp: () => Promise<T>,
  viaSse: () => Promise<T>,
  hasBegun: () => boolean,
): Promise<T> {
  const { transport = 'auto' } = mcp ?? {};
  if (transport === 'http' || mcp?.command !== undefined || mcp?.era === 'modern') return await viaHttp();
  if (transport === 'sse') return await viaSse();
  const [first, second] = connection?.transport === 'sse' ? [viaSse, viaHttp] : [viaHttp, viaSse];
  return await first().catch(async (error: unknown) => {
    if (!isWithoutEndpoint(error) || hasBegun()) throw error;
    return await second().catch((other: unknown) => {
      throw hasBegun() ? other : error;
    });
  });
}

async function workOnce<T>(
  server: ServerAccess,
  context: UpstreamContext,
  { hooks, maxBytes, isMaxForAll = false, isFresh = false, isListening = false, totalMs = limits.maxServerCallMs, sent }: WorkOptions,
  capabilities: DeclaredCapabilities,
  known: NegotiatedConnection | null,
  work: (connection: Connection) => Promise<T>,
  on: { opened(wire: Wire): void; connected(negotiated: NegotiatedConnection): void },
): Promise<T> {
  context.signal.throwIfAborted();
  const opened = await openWire({ server, context, capabilities, maxBytes, isMaxForAll, isListening, known, sent });
  const { wire } = opened;
  on.opened(wire);
  const client = createClient(server, capabilities);
  // The SDK's own timeouts are not used, because they continue while the user answers.
  const idleTimeout = createIdleTimeout(systemClock, { idleMs: server.timeoutMs ?? limits.serverTimeoutMs, maxMs: totalMs });
  idleTimeout.start((ms) => wire.fail(upstreamTimeout(server.name, ms)));
  const signal = AbortSignal.any([context.signal, wire.failed]);
  try {
    const rootsRead = Promise.withResolvers<void>();
    handleServerMessages(client, server, hooks, { idleTimeout, isAsked: () => !signal.aborted, rootsRead: rootsRead.resolve });
    const negotiated = await connect(client, wire, known, signal);
    on.connected(negotiated);
    const connection = toConnection(opened, client, negotiated.era, idleTimeout, signal, hooks);
    const told = await sendSessionSettings(connection, negotiated, server, hooks, rootsRead.promise);
    if (told !== negotiated) on.connected(told);
    return await work(connection);
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw wire.failure ?? error;
  } finally {
    idleTimeout.stop();
    await closeWire(wire, client, isFresh);
  }
}

/**
 * The server rejected the request because cached connection data is wrong: an expired session (404; 400 from many servers), or an era that
 * it no longer supports (400, 404, 405 or -32022). Nothing was done, so the request can be repeated.
 */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 404 || status === 405 || (error instanceof ProtocolError && error.code === unsupportedVersion);
}

function toConnection(
  { wire, url, listening }: OpenedWire,
  client: Client,
  era: 'modern' | 'legacy',
  idleTimeout: IdleTimeout,
  signal: AbortSignal,
  hooks: UpstreamHooks,
): Connection {
  const sent: RequestOptions = {
    signal,
    // Our timeout fires first, and stops while the user answers.
    timeout: limits.maxServerCallMs + 1_000,
    onprogress: (progress) => {
      idleTimeout.extend();
      hooks.progress?.(progress);
    },
  };
  // Servers of 2026 send log messages only on request.
  const level = era === 'modern' && hooks.notice !== undefined ? { [LOG_LEVEL_META_KEY]: hooks.logLevel ?? 'info' } : {};
  const meta = Object.keys({ ...hooks.meta, ...level }).length === 0 ? {} : { _meta: { ...hooks.meta, ...level } };
  const request: Connection['request'] = async (method, params, headers) => {
    idleTimeout.extend();
    const options = { ...sent, ...(headers && { headers }) };
    const result = await client.request({ method, params: { ...params, ...meta } }, unvalidatedResult, options);
    hooks.alive?.();
    return result;
  };
  let asking: Promise<void> | null = null;
  const connection: Connection = {
    era,
    client,
    wire,
    idleTimeout,
    signal,
    request,
    openAskingStream: () => (asking ??= connection.openServerStream(() => {})),
    async call(params, inputSchema, headers) {
      // HTTP+SSE has no headers for a single request.
      if (era === 'legacy') return request('tools/call', params, wire.isSse ? undefined : headers);
      idleTimeout.extend();
      // Without its output schema: we check the result ourselves, and a schema that does not compile must not stop the call.
      const toolDefinition = { name: params.name, inputSchema: { ...inputSchema, type: 'object' as const } };
      const result: Record<string, unknown> = await client.callTool({ ...params, ...meta }, { ...sent, headers, toolDefinition });
      return recordOf(result[unparsedResult]);
    },
    async openServerStream(onEnd) {
      // Its only stream is open, and the connection fails when it ends.
      if (wire.isSse) return;
      const stream = new StreamableHTTPClientTransport(url, {
        ...listening,
        fetch: async (...request) => {
          const response = await (listening.fetch as typeof fetch)(...request);
          if (!response.ok) onEnd();
          return response;
        },
        sessionId: wire.sessionId,
        protocolVersion: wire.protocolVersion,
        reconnectionScheduler: onEnd,
      });
      stream.onmessage = (message) => wire.receive(message);
      wire.closesWith(stream);
      await stream.start();
      const opening = stream.resumeStream('').catch(onEnd);
      // Some servers send no headers until they have a message.
      await withTimeout(systemClock, opening, serverStreamWaitMs, () => undefined);
    },
  };
  return connection;
}

/** Reads the result that the wire stored. */
const unvalidatedResult: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'moniker', validate: (value) => ({ value: recordOf(recordOf(value)[unparsedResult]) }) },
};

/** Cancels an abandoned call and ends our own session. Best effort, within a short timeout. */
async function closeWire(wire: Wire, client: Client, endsSession: boolean): Promise<void> {
  const sendLastMessages = async (): Promise<void> => {
    await wire.flushCancellations();
    if (endsSession && wire.failure === null) await wire.endSession();
  };
  const closed = withTimeout(systemClock, sendLastMessages(), cancellationNoticeMs, () => undefined)
    .catch(() => {
      // The server may already be gone.
    })
    .then(() => client.close());
  if (endsSession) await closed;
}
