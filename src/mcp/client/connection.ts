/**
 * One piece of work with an MCP server: begun with what is known of it, and over with it (in the Worker, connections belong to one
 * request). Where what was known (an era, a session) turns out to be wrong, the server has refused, and the work is done once more from
 * the beginning. Nothing else is tried twice.
 */
import {
  type Client,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type RequestOptions,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import type { AskableInput } from '../../core/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { JsonSchema } from '../../core/tool.ts';
import { recordOf } from '../../core/wire-value.ts';
import { withTimeLimit } from '../../net/time-limit.ts';
import type { UpstreamContext, UpstreamHooks } from '../../ports/upstream.ts';
import { type DeclaredCapabilities, toCapabilities } from './capabilities.ts';
import { statusOf, toFault, unsupportedVersion, upstreamTimeout } from './fault.ts';
import { createClient, isBrokenByProbe, openWire, type OpenedWire, shakeHands } from './handshake.ts';
import { handleServerMessages } from './inbound.ts';
import { type ConnectionMemory, type KeptConnection, memoryKey } from './memory.ts';
import { Patience } from './patience.ts';
import { asItCame, type Wire } from './wire.ts';

export type WorkOptions = {
  hooks: UpstreamHooks;
  /** Bytes that may come: for each answer, or for all together (`isMaxForAll`). */
  maxBytes: number;
  isMaxForAll?: boolean;
  /** Begin anew whatever is known, and end the session afterwards. */
  isFresh?: boolean;
  totalMs?: number;
  /** Told to the server, where it is more than the hooks can answer. */
  askable?: AskableInput;
};

export type Connection = {
  era: 'modern' | 'legacy';
  client: Client;
  wire: Wire;
  patience: Patience;
  /** Aborts with the context's signal, and with whatever ends the connection. */
  signal: AbortSignal;
  /** The result as it came. */
  request(method: string, params: Record<string, unknown>, headers?: Record<string, string>): Promise<Record<string, unknown>>;
  /** `tools/call`, with the headers of its arguments where the era has them. */
  call(params: ToolCallParams, inputSchema: JsonSchema, headers: Record<string, string>): Promise<Record<string, unknown>>;
  /** What the server says by itself (2025 eras), from when this resolves. `onEnd`: there is no such stream, or it has ended. */
  hearServer(onEnd: () => void): Promise<void>;
};

export type ToolCallParams = { name: string; arguments: Record<string, unknown> } & Record<string, unknown>;

/** Throws a problem with the server's name, or what `context.signal` was aborted with. */
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
  const known = options.isFresh === true ? null : (memory.get(key) ?? fromLastAnswer(server));
  const wires: Wire[] = [];
  const once = (begin: KeptConnection | null, as: ServerAccess): Promise<T> =>
    workOnce(as, context, options, capabilities, begin, work, {
      opened: (wire) => void wires.push(wire),
      connected(kept) {
        if (options.isFresh !== true) memory.set(key, kept);
      },
    });
  try {
    return await once(known, server).catch((error: unknown) => {
      if (known !== null && isRefusal(error)) {
        memory.forget(key, known);
        // In the middle of its work: what was done so far may have had an effect.
        if (wires.some(({ hasAnswered }) => hasAnswered)) throw error;
        context.log.debug('an MCP server is asked from the beginning', { server: server.name, era: known.era, status: statusOf(error) });
        return once(null, server);
      }
      if (known === null && isBrokenByProbe(error, server)) return once(null, { ...server, mcp: { ...server.mcp, era: 'legacy' } });
      throw error;
    });
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw toFault(server.name, error);
  }
}

async function workOnce<T>(
  server: ServerAccess,
  context: UpstreamContext,
  { hooks, maxBytes, isMaxForAll = false, isFresh = false, totalMs }: WorkOptions,
  capabilities: DeclaredCapabilities,
  known: KeptConnection | null,
  work: (connection: Connection) => Promise<T>,
  on: { opened(wire: Wire): void; connected(kept: KeptConnection): void },
): Promise<T> {
  context.signal.throwIfAborted();
  const opened = await openWire({ server, context, capabilities, maxBytes, isMaxForAll, known });
  const { wire } = opened;
  on.opened(wire);
  const client = createClient(server, capabilities);
  const patience = new Patience({
    eachMs: server.timeoutMs ?? limits.toolTimeoutMs,
    ...(totalMs !== undefined && { totalMs }),
    onLate: (ms) => wire.fail(upstreamTimeout(server.name, ms)),
  });
  const signal = AbortSignal.any([context.signal, wire.failed]);
  try {
    handleServerMessages(client, server, hooks, { patience, isAsked: () => !signal.aborted });
    const kept = await shakeHands(client, wire, known, signal);
    on.connected(kept);
    return await work(toConnection(opened, client, kept.era, patience, signal, hooks));
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw wire.failure ?? error;
  } finally {
    patience.end();
    await leave(wire, client, isFresh);
  }
}

/** The document's own word on the era counts more than what was met before. */
function fromLastAnswer({ connection, mcp }: ServerAccess): KeptConnection | null {
  if (connection?.era !== 'modern' || mcp?.era === 'legacy') return null;
  return { era: 'modern', version: connection.protocolVersion };
}

/**
 * The server did not take the request, because of what we thought to know of it: a session that is over (404; 400 by many), or an era
 * that it does not speak any more (400, 404, 405, or -32022). Nothing was done, so it may be sent again.
 */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 404 || status === 405 || (error instanceof ProtocolError && error.code === unsupportedVersion);
}

function toConnection(
  { wire, url, listening }: OpenedWire,
  client: Client,
  era: 'modern' | 'legacy',
  patience: Patience,
  signal: AbortSignal,
  hooks: UpstreamHooks,
): Connection {
  const sent: RequestOptions = {
    signal,
    // Ours runs out before it, and stops while a person thinks.
    timeout: limits.maxListeningMs + 1_000,
    onprogress: (progress) => {
      patience.renew();
      hooks.progress?.(progress);
    },
  };
  // Servers of 2026 tell of their log only those who want it.
  const meta = era === 'modern' && hooks.notice !== undefined ? { _meta: { [LOG_LEVEL_META_KEY]: 'info' } } : {};
  const request: Connection['request'] = async (method, params, headers) => {
    patience.renew();
    return client.request({ method, params: { ...params, ...meta } }, resultAsItCame, { ...sent, ...(headers && { headers }) });
  };
  return {
    era,
    client,
    wire,
    patience,
    signal,
    request,
    async call(params, inputSchema, headers) {
      if (era === 'legacy') return request('tools/call', params, headers);
      patience.renew();
      // Without its output schema: what is promised there is checked by us, and one that does not compile must not stop the call.
      const toolDefinition = { name: params.name, inputSchema: { ...inputSchema, type: 'object' as const } };
      const result: Record<string, unknown> = await client.callTool({ ...params, ...meta }, { ...sent, headers, toolDefinition });
      return recordOf(result[asItCame]);
    },
    async hearServer(onEnd) {
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
      // Some servers send not even headers before there is something to say.
      await withTimeLimit(opening, limits.serverStreamWaitMs, () => undefined);
    },
  };
}

/** Takes what the wire put aside. */
const resultAsItCame: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'moniker', validate: (value) => ({ value: recordOf(recordOf(value)[asItCame]) }) },
};

/** A call that is given up is told so, and a session of our own is ended: for a moment, and whatever comes of it. */
async function leave(wire: Wire, client: Client, endsSession: boolean): Promise<void> {
  const farewell = async (): Promise<void> => {
    await wire.farewellsSaid();
    if (endsSession && wire.failure === null) await wire.endSession();
  };
  const left = withTimeLimit(farewell(), limits.serverFarewellMs, () => undefined)
    .catch(() => {
      // The server may be gone already.
    })
    .then(() => client.close());
  if (endsSession) await left;
}
