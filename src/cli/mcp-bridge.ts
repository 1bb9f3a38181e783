/**
 * The bridge of `moniker mcp <toolset>`: an MCP server on standard input and output, for clients that start a command. It passes each message on to
 * `/mcp/{toolset}` of the service, and what comes back to the client. It answers a request itself only if the service cannot be reached.
 */
import { setTimeout } from 'node:timers/promises';
import { isRecord, recordOf, tryParse } from '../core/json/wire-value.ts';
import { printError } from '../local/printing.ts';
import { readBoundedLines } from './bounded-lines.ts';
import { connectService, type ConnectionOptions } from './connection.ts';
import { describeFailure } from './failure.ts';
import { withTimeout } from '../engine/timeout.ts';
import { modernHeaders } from '../mcp/client/declared-capabilities.ts';
import type { Endpoint } from '../mcp/client/endpoint.ts';
import { Transport } from '../mcp/client/transport.ts';
import { HttpFault } from '../mcp/client/upstream-fault.ts';
import { isId, mcpText, type RpcId, type McpMessage } from '../mcp/server/messages.ts';
import { metaNames } from '../mcp/server/revisions.ts';
import { systemClock } from '../platform/clock.ts';

/** Results have at most 16 MB; the rest is the envelope. */
const maxLineBytes = 17 * 1024 * 1024;
/** For open requests, and for the end of the session. */
const closingMs = 2_000;
const pollMs = 20;
/** JSON-RPC: "reserved for implementation-defined server-errors". */
const serviceErrorCode = -32_000;
/** Between two streams of a session: the service ends each after some time. */
const relistenMs = 1_000;

/** A message of the client, which the service checks. */
type Message = Record<string, unknown>;

/** Ends the process when the client closes standard input. */
export async function serveOverStdio(toolset: string, options: ConnectionOptions): Promise<void> {
  const { url, headers, send } = connectService(options);
  const endpoint: Endpoint = {
    url: new URL(`${url}/mcp/${encodeURIComponent(toolset)}`),
    send: ({ headers: own, accept, url: _none, ...init }) =>
      send(new Request(endpoint.url, { ...init, headers: { ...headers, ...own, accept } })),
  };
  const write = (text: string): void => {
    process.stdout.write(`${text}\n`);
  };
  /** `cancel`: closes a request of 2026-07-28, which has a transport of its own. */
  const open = new Map<RpcId, { isInitialize: boolean; cancel?(): void }>();
  const receive = (message: McpMessage): void => {
    if (message.kind === 'response') {
      const request = open.get(message.id);
      open.delete(message.id);
      const version = 'result' in message && message.result.protocolVersion;
      // Later requests of the session name the version in a header.
      if (request?.isInitialize && typeof version === 'string') service.session.version = version;
    }
    write(mcpText(message));
  };
  const connect = (): Transport => {
    // The service bounds its messages.
    const budget = (): { left: number } => ({ left: Number.POSITIVE_INFINITY });
    return new Transport({ server: 'Moniker', endpoint, isSse: false, budget, receive, fail: (problem) => printError(problem.detail) });
  };
  const service = connect();
  const listen = (): void => void service.openServerStream(() => void setTimeout(relistenMs, null, { ref: false }).then(listen));

  const toService = async (message: Message, text: string): Promise<void> => {
    const { id, method } = message;
    if (typeof method !== 'string' || !isId(id)) {
      if (method === 'notifications/cancelled') {
        const { cancel } = open.get(recordOf(message.params).requestId as RpcId) ?? {};
        // Revision 2026-07-28 cancels over HTTP by closing the request, and has no such notification there.
        if (cancel !== undefined) return cancel();
      }
      await service.post(text).catch((error: unknown) => printError(`moniker mcp: ${explain(error)}`));
      if (method === 'notifications/initialized') listen();
      return;
    }
    const params = recordOf(message.params);
    const revision = recordOf(params._meta)[metaNames.protocolVersion];
    const isInitialize = method === 'initialize';
    if (isInitialize) Object.assign(service.session, { id: '', version: '' });
    const own = typeof revision === 'string' ? { transport: connect(), headers: modernHeaders(revision, method, params) } : null;
    const cancel = own && { cancel: () => void (open.delete(id) && own.transport.close()) };
    open.set(id, { isInitialize, ...cancel });
    const options = { isWaiting: () => open.has(id), startsSession: isInitialize, hasResumption: own === null };
    try {
      await (own?.transport ?? service).post(text, { ...options, ...(own && { headers: own.headers }) });
    } catch (error) {
      // A request that was cancelled has no response.
      if (open.delete(id)) write(JSON.stringify(errorResponse(id, error)));
    }
  };

  for await (const line of readBoundedLines(process.stdin, maxLineBytes)) {
    if (line.trim() === '') continue;
    const message = tryParse(line);
    if (isMessage(message)) void toService(message, line);
    else printError('moniker mcp: skipped a line of standard input that is not a JSON-RPC message');
  }
  for (const deadline = Date.now() + closingMs; open.size > 0 && Date.now() < deadline; ) await setTimeout(pollMs);
  await withTimeout(systemClock, service.endSession(), closingMs, () => undefined).catch(() => undefined);
  // Also ends the event stream of the session.
  process.exit(0);
}

/** The error of the service if it sent one for this request, otherwise one that says what to do. */
function errorResponse(id: RpcId, error: unknown): Message {
  const sent = error instanceof HttpFault ? error.rpc : null;
  return { jsonrpc: '2.0', id, error: sent?.error.rpc ?? { code: serviceErrorCode, message: explain(error) } };
}

function explain(error: unknown): string {
  if (error instanceof HttpFault && error.status === 401)
    return 'The service refused the key. Pass the right one with --key or MONIKER_KEY.';
  if (error instanceof HttpFault) return `${error.status}: ${error.text}`;
  const { message, advice } = describeFailure(error);
  return [message, advice].filter(Boolean).join(' ');
}

/** Checks what this file relies on. */
function isMessage(value: unknown): value is Message {
  return isRecord(value) && value.jsonrpc === '2.0' && (typeof value.method === 'string' || 'id' in value);
}
