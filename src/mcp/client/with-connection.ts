/**
 * Connects to an MCP server for one piece of work. It starts from what is known of the server. If the known era or session is wrong, the
 * server rejects the request, and the work is repeated once from a new handshake. Nothing else is retried.
 */
import { limits } from '../../core/limits/limits.ts';
import type { AskableInput } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import { unlessAborted } from '../../engine/timeout.ts';
import type { UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { rpcCodes } from '../server/rpc-fault.ts';
import { Connection } from './connection.ts';
import { type ConnectionMemory, type NegotiatedConnection, memoryKey } from './connection-memory.ts';
import { type DeclaredCapabilities, toCapabilities } from './declared-capabilities.ts';
import { openEndpoint } from './endpoint.ts';
import { fromLastAnswer, isWithoutSession, noteWithoutSession, prefersSession, withEra, WithoutSession } from './era-choice.ts';
import { negotiate } from './handshake.ts';
import { sendSessionSettings } from './session-settings.ts';
import { isWithoutEndpoint, statusOf, toFault } from './upstream-fault.ts';

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
};

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
  const key = memoryKey(server, context.conversation, capabilities.legacy);
  const begin = (): NegotiatedConnection | null => (prefersSession(memory, server, hooks, capabilities) ? null : fromLastAnswer(server));
  const known = options.isFresh === true ? null : (memory.get(key) ?? begin());
  const connections: Connection[] = [];
  const once = (from: NegotiatedConnection | null, as: ServerAccess, needsSession = false): Promise<T> =>
    workOnce(as, context, options, capabilities, from, work, {
      opened: (connection) => void connections.push(connection),
      connected(negotiated) {
        if (needsSession && negotiated.era === 'legacy' && negotiated.sessionId === '') throw new WithoutSession();
        // An SSE session ends with its stream.
        if (options.isFresh !== true && as.mcp?.transport !== 'sse') memory.set(key, negotiated);
      },
    });
  const hasAnswered = (): boolean => connections.some((connection) => connection.hasAnswered);
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
      throw error;
    });
  const viaSse = (): Promise<T> => once(null, { ...server, mcp: { ...server.mcp, transport: 'sse' } });
  try {
    return await viaTransports(server, viaHttp, viaSse, () => hasAnswered() || connections.some(({ transport }) => transport.isStarted));
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw toFault(server.name, error);
  }
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
  { hooks, maxBytes, isMaxForAll = false, isFresh = false, isListening = false, totalMs = limits.maxServerCallMs }: WorkOptions,
  capabilities: DeclaredCapabilities,
  known: NegotiatedConnection | null,
  work: (connection: Connection) => Promise<T>,
  on: { opened(connection: Connection): void; connected(negotiated: NegotiatedConnection): void },
): Promise<T> {
  const { signal } = context;
  signal.throwIfAborted();
  const endpoint = await openEndpoint(server, context, isListening);
  const shared = { left: maxBytes };
  const budget = (): { left: number } => (isMaxForAll ? shared : { left: maxBytes });
  const connection = new Connection({ server, endpoint, hooks, capabilities, known, signal, budget, totalMs });
  on.opened(connection);
  try {
    if (connection.transport.isSse) await unlessAborted(connection.transport.start(), connection.signal);
    const negotiated = known ?? (await negotiate(connection, server, capabilities));
    on.connected(negotiated);
    const told = await sendSessionSettings(connection, negotiated, server, hooks);
    if (told !== negotiated) on.connected(told);
    return await work(connection);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw connection.failure ?? error;
  } finally {
    await connection.close(isFresh);
  }
}

/**
 * The server rejected the request because cached connection data is wrong: an expired session (404; 400 from many servers), or an era that
 * it no longer supports (400, 404, 405 or -32022). Nothing was done, so the request can be repeated.
 */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return (
    status === 400 ||
    status === 404 ||
    status === 405 ||
    (error instanceof ServerRpcError && error.rpc.code === rpcCodes.unsupportedRevision)
  );
}
